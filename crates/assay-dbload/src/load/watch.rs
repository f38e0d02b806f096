//! The one who watches a step: an interval a second, and an end that loses nothing.

use super::counters::CounterDelta;
use super::edges::{Edges, INTERVAL};
use super::link::ServerLink;
use super::method::{Method, StepKind};
use super::plan::{RungHooks, RungPlan};
use super::slot::{IntervalSlot, happened, nothing};
use super::worker::EndedStep;
use assay_model::load::{Length, LoadKind, Retries, Rung};
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, ErrorCount, Finish, Interval, Measurement, NamedResult,
    PerOperation, Window,
};
use assay_model::number::{narrow, rate, seconds};
use assay_model::{Estimate, measurement};
use assay_stats::batches::mean_of_batches;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the end is looked for.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// What the one who watches gathers.
pub(super) struct StepWatch<'a> {
    kind: LoadKind,
    backend: BackendKind,
    kinds: &'a [StepKind],
    slots: Vec<Arc<Mutex<IntervalSlot>>>,
    totals: Vec<NamedResult>,
    /// Steps a second of every whole interval.
    rates: Vec<f64>,
    edges: Edges,
    sessions: u32,
    index: u64,
    last_ns: u64,
    /// The measured time is over: what was under way then is in no rate and in no time.
    is_closed: bool,
}

impl<'a> StepWatch<'a> {
    pub(super) fn over<M: Method>(
        slots: Vec<Arc<Mutex<IntervalSlot>>>,
        method: &'a M,
        sessions: u32,
    ) -> Self {
        Self {
            kind: method.kind(),
            backend: M::Link::DIALECT.facts().backend,
            kinds: method.kinds(),
            slots,
            totals: nothing(method.kinds()),
            rates: Vec::new(),
            edges: Edges::new(Instant::now(), None),
            sessions,
            index: 0,
            last_ns: 0,
            is_closed: false,
        }
    }

    /// The measured time begins; sessions may have made their first steps already.
    pub(super) fn begin(&mut self, length: Length) {
        let length = match length {
            Length::Time(time) => Some(Duration::from_nanos(time.0)),
            Length::Steps(_) => None,
        };
        self.edges = Edges::new(Instant::now(), length);
        for slot in &self.slots {
            slot.lock().unwrap_or_else(PoisonError::into_inner).begin(self.edges);
        }
    }

    /// Forgets what was counted while sessions warmed up; they must pause meanwhile.
    pub(super) fn forget(&self) {
        for slot in &self.slots {
            slot.lock().unwrap_or_else(PoisonError::into_inner).forget();
        }
    }

    /// An interval a second until time, work, a person or the sessions end it.
    pub(super) fn until_over(
        &mut self,
        threads: &[ScopedJoinHandle<'_, EndedStep>],
        hooks: &mut RungHooks<'_>,
    ) -> Finish {
        loop {
            thread::sleep(self.nap());
            (hooks.on_tick)();
            let elapsed = self.edges.elapsed(Instant::now());
            if hooks.stop.load(Ordering::Relaxed) {
                let kept = self.interval(elapsed, IntervalSlot::drain_all, hooks);
                self.is_closed = true;
                return if kept.is_break() { not_kept() } else { Finish::Interrupted };
            }
            while elapsed >= self.edges.end_of(self.index) {
                let end = self.edges.end_of(self.index);
                self.is_closed = self.edges.is_last(self.index);
                if self.interval(end, IntervalSlot::drain, hooks).is_break() {
                    return not_kept();
                }
                if self.is_closed {
                    return Finish::Complete;
                }
            }
            if threads.iter().all(ScopedJoinHandle::is_finished) {
                return Finish::Complete;
            }
        }
    }

    /// How long nothing is to be looked at: until the next edge, and no longer than a look.
    fn nap(&self) -> Duration {
        let edge = self.edges.end_of(self.index);
        let left = edge.saturating_sub(self.edges.elapsed(Instant::now()));
        if left.is_zero() { LOOK } else { LOOK.min(left) }
    }

    /// Gathers what the sessions did since the last interval.
    fn interval(
        &mut self,
        end: Duration,
        drain: fn(&mut IntervalSlot, &[StepKind], &mut [NamedResult]),
        hooks: &mut RungHooks<'_>,
    ) -> ControlFlow<()> {
        let mut streams = nothing(self.kinds);
        for slot in &self.slots {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            drain(&mut slot, self.kinds, &mut streams);
        }
        streams.retain(happened);
        let mut operations = PerOperation::default();
        for stream in &streams {
            operations.merge(&stream.operations);
        }
        let interval = Interval {
            index: self.index,
            start_ns: self.last_ns,
            end_ns: narrow(end.as_nanos()),
            operations,
            queue_depth_mean: f64::from(self.sessions),
        };
        self.rates.push(interval.iops());
        measurement::merge_named(&mut self.totals, &streams);
        let joint =
            Window { first_interval: self.index, intervals: 1, streams, targets: Vec::new() };
        (self.index, self.last_ns) = (self.index + 1, interval.end_ns);
        (hooks.observe)(&interval, &joint)
    }

    /// The step; where work and not time ended it, with the last interval up to the last step.
    pub(super) fn rung(
        mut self,
        plan: &RungPlan,
        finish: Finish,
        delta: CounterDelta,
        ended: &[EndedStep],
        hooks: &mut RungHooks<'_>,
    ) -> Rung {
        if !self.is_closed {
            let last = ended.iter().map(|one| one.at).max();
            let last = last.map_or(Duration::ZERO, |last| self.edges.elapsed(last));
            // Whether the last interval can be kept is seen by the one who keeps it.
            let _ = self.interval(last, IntervalSlot::drain_all, hooks);
        }
        let errors = self.errors();
        let retries = self.retries();
        let all: u64 = self.totals.iter().map(|stream| stream.operations.ios()).sum();
        let statements = statements(all, self.last_ns, self.whole_rates());
        self.totals.retain(happened);
        let host_busy_share =
            delta.host.cpu.as_ref().map(assay_model::counters::CpuCounters::busy_share);
        let measurement = Measurement {
            format: 1,
            workload: self.kind.title(plan.sessions),
            started_unix_ns: 0,
            elapsed_ns: self.last_ns,
            finish,
            streams: self.totals,
            targets: Vec::new(),
            errors,
            conduct: conduct(self.backend, &delta, plan.sessions, host_busy_share),
        };
        Rung {
            sessions: plan.sessions,
            repeat: plan.repeat,
            measurement,
            statements: statements.map(|found| found.estimate),
            is_widened: statements.is_some_and(|found| found.is_widened),
            interval_rates_per_s: self.rates,
            retries,
            backlog: None,
            database: delta.database,
            time: delta.time,
            device: delta.device,
            client_cpu_s: delta.client_cpu_s,
            server_cpu_s: delta.server_cpu_s,
            host_busy_share,
            commit_parity: None,
            databases: Vec::new(),
            physical: delta.physical,
            profile: None,
        }
    }

    /// The rates of the whole intervals: the last one is none where work ended it.
    fn whole_rates(&self) -> &[f64] {
        let last = self.rates.len().saturating_sub(usize::from(!self.is_closed));
        self.rates.get(..last).unwrap_or_default()
    }

    fn errors(&self) -> Vec<ErrorCount> {
        let mut errors: Vec<ErrorCount> = Vec::new();
        for slot in &self.slots {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            for (kind, words, ios) in slot.failures() {
                let operation = self.kinds[kind].operation;
                let same = |error: &&mut ErrorCount| {
                    error.operation == operation && error.meaning == words
                };
                match errors.iter_mut().find(same) {
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

    /// What was refused and tried again, by kind and words.
    fn retries(&self) -> Vec<Retries> {
        let mut all: Vec<Retries> = Vec::new();
        for slot in &self.slots {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            for (kind, class, words, times) in slot.retries() {
                let name = self.kinds[kind].name;
                match all.iter_mut().find(|one| one.stream == name && one.meaning == words) {
                    Some(one) => one.times += times,
                    None => all.push(Retries {
                        stream: name.to_owned(),
                        class: Some(class),
                        meaning: words.to_owned(),
                        times,
                    }),
                }
            }
        }
        all
    }
}

/// Steps a second with their interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StatementRate {
    pub(super) estimate: Estimate,
    /// Whether the interval had to be widened to contain the rate of all time.
    pub(super) is_widened: bool,
}

/// Steps a second of `all` in a time, with the interval of the rates of its whole intervals; the
/// first second, in which processes grow, says nothing about it.
pub(super) fn statements(all: u64, elapsed_ns: u64, whole: &[f64]) -> Option<StatementRate> {
    let value = rate(all, seconds(elapsed_ns));
    let whole = whole.get(1..).unwrap_or_default();
    let mean = mean_of_batches(whole, INTERVAL.as_secs_f64()).ok()?;
    let estimate = Estimate { value, low: value.min(mean.low), high: value.max(mean.high), ..mean };
    Some(StatementRate { estimate, is_widened: !(mean.low..=mean.high).contains(&value) })
}

fn not_kept() -> Finish {
    Finish::Failed { reason: "an interval could not be kept".to_owned() }
}

fn conduct(
    backend: BackendKind,
    delta: &CounterDelta,
    sessions: u32,
    host_busy_share: Option<f64>,
) -> Conduct {
    Conduct {
        backend,
        clock: ClockKind::Monotonic,
        cpu_user_s: delta.client_cpu_s,
        host_busy_share,
        queue_depth_mean: f64::from(sessions),
        kernel: Some(delta.host.clone()),
        ..Conduct::default()
    }
}
