//! One rung: sessions that begin in the same moment, an interval a second, and an end that loses nothing.

use super::counted::{Passed, Sight};
use super::database::Database;
use super::tables::Access;
use super::worker::{Common, Ended, KINDS, Slot, Worker};
use assay_loads::slob::Rules;
use assay_model::load::Rung;
use assay_model::measurement::{
    Conduct, ErrorCount, Finish, Interval, Joint, Measurement, NamedResult, PerOperation,
};
use assay_model::number::{count_of, narrow, rate, seconds};
use assay_model::units::Nanos;
use assay_model::{Estimate, Result};
use assay_postgres::connection::Interrupter;
use assay_stats::mean_interval;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Length of an interval.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How long a session may take for its last statement.
const PATIENCE: Duration = Duration::from_secs(20);
/// Fewer intervals say nothing about their own doubt.
const INTERVALS_MIN: usize = 5;

/// What ends a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Time.
    Time(Nanos),
    /// Steps of each session; the time is then the result.
    Steps(u64),
}

/// One rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RungPlan {
    /// Sessions.
    pub sessions: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// What ends it.
    pub length: Length,
    /// How rows are read.
    pub access: Access,
}

/// Told every interval; breaks when it cannot be kept.
type Observer<'a> = &'a mut dyn FnMut(&Interval, &Joint) -> ControlFlow<()>;

/// What the one who watches gathers.
struct Watch<'a> {
    slots: Vec<Arc<Mutex<Slot>>>,
    totals: Vec<NamedResult>,
    /// Statements a second of every whole interval.
    rates: Vec<f64>,
    begun: Instant,
    sessions: u32,
    observe: Observer<'a>,
    index: u64,
    last_ns: u64,
}

/// Measures one rung; `stop` ends it early and keeps what was measured.
///
/// # Errors
/// What the server says before the first statement; later failures are in the measurement.
pub fn measure(
    database: &mut Database,
    rules: &Rules,
    plan: &RungPlan,
    stop: &AtomicBool,
    observe: Observer<'_>,
) -> Result<Rung> {
    database.check_plan(plan.access, rules)?;
    let before = Sight::take(database, &[])?;
    let workers: Result<Vec<Worker>> = (0..plan.sessions)
        .map(|number| Worker::open(database, rules, plan.access, number))
        .collect();
    let workers = workers?;
    let started_unix_ns =
        narrow(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos());
    let common = Common {
        rules,
        block_bytes: database.knowledge.block_bytes,
        start: Barrier::new(workers.len() + 1),
        done: AtomicBool::new(false),
        steps: match plan.length {
            Length::Steps(steps) => Some(steps),
            Length::Time(_) => None,
        },
    };
    let mut watch = Watch::over(&workers, plan.sessions, observe);
    let (ended, finish) = run(workers, &common, plan, stop, &mut watch);
    let processes: Vec<u32> = ended.iter().map(|one| one.process).collect();
    let after = Sight::take(database, &processes);
    let passed = match &after {
        Ok(after) => after.since(&before, &ended),
        // A server that is gone tells nothing more; what the sessions measured stands.
        Err(_) => before.since(&before, &ended),
    };
    Ok(watch.rung(plan, finish, passed, &ended, started_unix_ns))
}

/// Lets the sessions begin, watches, and waits until all have ended.
fn run(
    workers: Vec<Worker>,
    common: &Common<'_>,
    plan: &RungPlan,
    stop: &AtomicBool,
    watch: &mut Watch<'_>,
) -> (Vec<Ended>, Finish) {
    let interrupters: Vec<Option<Interrupter>> = workers.iter().map(Worker::interrupter).collect();
    thread::scope(|scope| {
        let threads: Vec<ScopedJoinHandle<'_, Ended>> =
            workers.into_iter().map(|worker| scope.spawn(move || worker.work(common))).collect();
        common.start.wait();
        watch.begun = Instant::now();
        let finish = watch.until_over(plan.length, stop, &threads);
        common.done.store(true, Ordering::Relaxed);
        wait(&threads, &interrupters);
        let ended: Vec<Ended> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let finish = lost(&ended).map_or(finish, |reason| Finish::Failed { reason });
        (ended, finish)
    })
}

/// Why the sessions could not go on, when that ended all of them.
fn lost(ended: &[Ended]) -> Option<String> {
    let reasons = ended.iter().map(|one| one.lost.as_deref().filter(|words| !words.is_empty()));
    let reasons: Option<Vec<&str>> = reasons.collect();
    let reason = reasons?.first().map(|reason| (*reason).to_owned());
    reason.map(|reason| format!("all sessions were lost: {reason}"))
}

/// Waits for the last statements; who takes too long is cut off.
fn wait(threads: &[ScopedJoinHandle<'_, Ended>], interrupters: &[Option<Interrupter>]) {
    let begun = Instant::now();
    while !threads.iter().all(ScopedJoinHandle::is_finished) {
        if begun.elapsed() > PATIENCE {
            interrupters.iter().flatten().for_each(Interrupter::interrupt);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

impl<'a> Watch<'a> {
    fn over(workers: &[Worker], sessions: u32, observe: Observer<'a>) -> Self {
        Self {
            slots: workers.iter().map(|worker| Arc::clone(&worker.slot)).collect(),
            totals: nothing(),
            rates: Vec::new(),
            begun: Instant::now(),
            sessions,
            observe,
            index: 0,
            last_ns: 0,
        }
    }

    /// An interval a second until time, work, a person or the sessions end it.
    fn until_over(
        &mut self,
        length: Length,
        stop: &AtomicBool,
        threads: &[ScopedJoinHandle<'_, Ended>],
    ) -> Finish {
        let end = match length {
            Length::Time(time) => Some(Duration::from_nanos(time.0)),
            Length::Steps(_) => None,
        };
        loop {
            thread::sleep(LOOK);
            let passed = self.begun.elapsed();
            if stop.load(Ordering::Relaxed) {
                return Finish::Interrupted;
            }
            let over = end.is_some_and(|end| passed >= end);
            if over || threads.iter().all(ScopedJoinHandle::is_finished) {
                return Finish::Complete;
            }
            let due = Duration::from_nanos(self.last_ns) + INTERVAL;
            let near_end = end.is_some_and(|end| due + INTERVAL / 2 > end);
            if passed >= due && !near_end && self.interval(passed).is_break() {
                return Finish::Failed { reason: "an interval could not be kept".to_owned() };
            }
        }
    }

    /// Gathers what the sessions did since the last interval.
    fn interval(&mut self, passed: Duration) -> ControlFlow<()> {
        let mut streams = nothing();
        for slot in &self.slots {
            slot.lock().unwrap_or_else(PoisonError::into_inner).drain(&mut streams);
        }
        streams.retain(|stream| stream.operations.iter().next().is_some());
        let mut operations = PerOperation::default();
        for stream in &streams {
            operations.merge(&stream.operations);
        }
        let interval = Interval {
            index: self.index,
            start_ns: self.last_ns,
            end_ns: narrow(passed.as_nanos()),
            operations,
            outstanding_mean: f64::from(self.sessions),
        };
        self.rates.push(interval.iops());
        assay_model::measurement::merge_named(&mut self.totals, &streams);
        let joint =
            Joint { first_interval: self.index, intervals: 1, streams, targets: Vec::new() };
        (self.index, self.last_ns) = (self.index + 1, interval.end_ns);
        (self.observe)(&interval, &joint)
    }

    /// The rung, with the last interval up to the last statement.
    fn rung(
        mut self,
        plan: &RungPlan,
        finish: Finish,
        passed: Passed,
        ended: &[Ended],
        started_unix_ns: u64,
    ) -> Rung {
        let last = ended.iter().map(|one| one.at).max().unwrap_or(self.begun);
        // Whether the last interval can be kept is seen by the one who keeps it.
        let _ = self.interval(last.saturating_duration_since(self.begun));
        let errors = self.errors();
        let statements = self.statements();
        self.totals.retain(|stream| stream.operations.iter().next().is_some());
        let host_busy_share =
            passed.host.cpu.as_ref().map(assay_model::counters::CpuCounters::busy_share);
        let measurement = Measurement {
            format: 1,
            workload: format!("slob, {} sessions", plan.sessions),
            started_unix_ns,
            elapsed_ns: self.last_ns,
            finish,
            streams: self.totals,
            targets: Vec::new(),
            errors,
            conduct: conduct(&passed, plan.sessions, host_busy_share),
        };
        Rung {
            sessions: plan.sessions,
            repeat: plan.repeat,
            measurement,
            statements,
            database: passed.database,
            time: passed.time,
            device: passed.device,
            client_cpu_s: passed.client_cpu_s,
            server_cpu_s: passed.server_cpu_s,
            host_busy_share,
            physical: passed.physical,
        }
    }

    /// Statements a second; the first second, in which processes grow, and the last, which is no whole one, tell
    /// nothing about the doubt.
    fn statements(&self) -> Option<Estimate> {
        let all: u64 = self.totals.iter().map(|stream| stream.operations.ios()).sum();
        let value = rate(all, seconds(self.last_ns));
        let whole = self.rates.get(1..self.rates.len().saturating_sub(1)).unwrap_or_default();
        let mean = mean_interval(whole, 0.95).filter(|_| whole.len() >= INTERVALS_MIN)?;
        Some(Estimate {
            value,
            low: value.min(mean.low),
            high: value.max(mean.high),
            confidence: mean.confidence,
            n: count_of(mean.n),
        })
    }

    fn errors(&self) -> Vec<ErrorCount> {
        let mut errors: Vec<ErrorCount> = Vec::new();
        for slot in &self.slots {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            for (kind, words, ios) in slot.failures() {
                let operation = KINDS[kind].1;
                match errors
                    .iter_mut()
                    .find(|error| error.operation == operation && error.meaning == words)
                {
                    Some(error) => error.ios += ios,
                    None => errors.push(ErrorCount {
                        operation,
                        target: "the server".to_owned(),
                        errno: 0,
                        meaning: words.to_owned(),
                        ios,
                        first_offset_bytes: 0,
                    }),
                }
            }
        }
        errors
    }
}

/// No result of any kind.
fn nothing() -> Vec<NamedResult> {
    let named = |(name, _): &(&str, _)| NamedResult {
        name: (*name).to_owned(),
        operations: PerOperation::default(),
    };
    KINDS.iter().map(named).collect()
}

fn conduct(passed: &Passed, sessions: u32, host_busy_share: Option<f64>) -> Conduct {
    Conduct {
        backend: "postgresql".to_owned(),
        clock: "monotonic".to_owned(),
        cpu_user_s: passed.client_cpu_s,
        host_busy_share,
        outstanding_mean: f64::from(sessions),
        kernel: Some(passed.host.clone()),
        ..Conduct::default()
    }
}
