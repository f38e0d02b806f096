//! Looks at the sessions again and again, at moments that no rhythm of the load can hide from.

use super::Watcher;
use super::canary::Canary;
use super::columns::id;
use super::tracking::{Kind, Process, TaskTimes, Tracker};
use crate::connection::Row;
use crate::model::{Look, Looks, Seen, Snapshot, Tasks};
use assay_model::Result;
use assay_model::number::seconds;
use assay_model::profile::ReadTimes;
use assay_model::random::Random;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often CPU times are read: each of them is a file to open.
const TASKS_EVERY: Duration = Duration::from_secs(1);
/// A look that is later than this share of its period was held up.
const LATE_SHARE: f64 = 0.2;
/// Longer intervals have looks enough with one a second.
const LONG: Duration = Duration::from_secs(3600);
/// How long a wait may last before the caller is asked whether to go on.
const NAP: Duration = Duration::from_millis(100);

/// How long and how often to look.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Length of the interval.
    pub length: Duration,
    /// Mean distance of two looks.
    pub every: Duration,
}

impl Plan {
    /// Ten looks a second, in more than an hour one.
    pub fn of(length: Duration) -> Self {
        let every = if length > LONG { 1000 } else { 100 };
        Self { length, every: Duration::from_millis(every) }
    }
}

/// Two snapshots and the looks between them.
#[derive(Debug)]
pub struct Observed {
    /// At the begin.
    pub before: Snapshot,
    /// At the end.
    pub after: Snapshot,
    /// In between.
    pub looks: Looks,
    /// CPU time of the threads that watched, seconds.
    pub own_cpu_s: f64,
    /// What a canary saw, where there was one.
    pub read_times: Vec<ReadTimes>,
    /// Whether the interval went to its end.
    pub complete: bool,
}

impl Watcher {
    /// Watches for an interval. `times` gives CPU times of the server's processes where it runs on this host; `show`
    /// hears after each look how many seconds have passed and how many sessions were active.
    ///
    /// # Errors
    /// When the server goes away.
    pub fn observe(
        &mut self,
        plan: Plan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<Observed> {
        let own_cpu_s = thread_cpu_s();
        let before = self.snapshot()?;
        let begun = Instant::now();
        let mut tracker = Tracker::default();
        let mut looks = Vec::new();
        let mut random = Random::new(
            u64::from(self.process_id()) ^ assay_model::number::nanoseconds(before.at_s),
        );
        let (mut due, mut tasks_due) = (begun, begun);
        while begun.elapsed() < plan.length && !stop.load(Ordering::Relaxed) {
            let rows = self.look()?;
            let late = begun_late(due, plan.every);
            looks.push(look(&rows, begun.elapsed().as_secs_f64(), late));
            if let Some(times) = times.filter(|_| Instant::now() >= tasks_due) {
                self.track(&mut tracker, &rows, times);
                tasks_due += TASKS_EVERY;
            }
            show(begun.elapsed().as_secs_f64(), looks.last().map_or(0, Look::active));
            due = spread(due, plan.every, &mut random);
            rest(due.min(begun + plan.length), stop);
        }
        if let Some(times) = times {
            let rows = self.look()?;
            self.track(&mut tracker, &rows, times);
        }
        let elapsed_s = begun.elapsed().as_secs_f64();
        let after = self.snapshot()?;
        let tasks = tracker.sums().map(|tasks| Tasks {
            missed_sessions: begun_sessions(&before, &after).saturating_sub(tracker.begun()),
            ..tasks
        });
        Ok(Observed {
            complete: elapsed_s >= 0.99 * plan.length.as_secs_f64(),
            own_cpu_s: thread_cpu_s() - own_cpu_s,
            read_times: Vec::new(),
            before,
            after,
            looks: Looks { looks, elapsed_s, tasks },
        })
    }

    /// The same while a canary reads single blocks; its own time is left out like ours.
    ///
    /// # Errors
    /// When the server goes away.
    pub fn observe_beside(
        &mut self,
        canary: Canary,
        plan: Plan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<Observed> {
        self.look_past(canary.process_id())?;
        let done = AtomicBool::new(false);
        let (observed, seen) = thread::scope(|scope| {
            let reading = scope.spawn(|| canary.read_until(&done));
            let observed = self.observe(plan, times, stop, show);
            done.store(true, Ordering::Relaxed);
            let seen = reading.join();
            (observed, seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let mut observed = observed?;
        let (after, name) = (&mut observed.after, self.database.database.clone());
        *after.own_time_s.entry(name.clone()).or_default() += seen.own_time_s;
        *after.own_statements.entry(name).or_default() += seen.own_statements;
        let lost = seen.lost.map(|why| format!("some of the canary's reads: {why}"));
        after.missing.extend(lost);
        observed.own_cpu_s += seen.own_cpu_s;
        observed.read_times = seen.times;
        Ok(observed)
    }

    /// All sessions and processes of the server but our own.
    pub(super) fn look(&mut self) -> Result<Vec<Row>> {
        self.server.look()
    }

    fn track(&self, tracker: &mut Tracker, rows: &[Row], times: TaskTimes<'_>) {
        let now_s = rows.first().and_then(|row| row.real(9)).unwrap_or_default();
        let others = rows.iter().map(|row| Process {
            id: id(row, 0),
            kind: Kind::of(row.text(1)),
            began_s: row.real(8).unwrap_or_default(),
        });
        let own = self.own.iter().map(|id| Process { id: *id, kind: Kind::Own, began_s: 0.0 });
        let all: Vec<Process> = others.chain(own).collect();
        tracker.read(&all, now_s, times);
    }
}

/// CPU time of this thread so far, seconds.
pub(super) fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = u64::try_from(time.tv_sec).unwrap_or(0);
    let part = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds(whole * 1_000_000_000 + part)
}

/// Sessions that the server counted as begun.
fn begun_sessions(before: &Snapshot, after: &Snapshot) -> u64 {
    let sum =
        |snapshot: &Snapshot| snapshot.databases.values().map(|one| one.sessions).sum::<u64>();
    sum(after).saturating_sub(sum(before))
}

fn begun_late(due: Instant, every: Duration) -> bool {
    let late = Instant::now().saturating_duration_since(due);
    late > every.mul_f64(LATE_SHARE)
}

/// A distance between half and one and a half of the mean, so that looks do not fall into step with the load; what was
/// missed is not made up for.
pub(super) fn spread(due: Instant, every: Duration, random: &mut Random) -> Instant {
    let next = due + every.mul_f64(0.5 + random.unit());
    next.max(Instant::now())
}

/// Waits, but not longer than until it is stopped.
pub(super) fn rest(until: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(NAP));
    }
}

/// What the rows of a look say of client sessions.
fn look(rows: &[Row], at_s: f64, is_late: bool) -> Look {
    let mut look = Look { at_s, is_late, ..Look::default() };
    for row in rows {
        if row.text(1) != "client backend" {
            continue;
        }
        look.connected += 1;
        if row.text(2) == "active" {
            *look.sessions.entry(Seen::new(row.text(3), row.text(4))).or_insert(0) += 1;
        }
    }
    look
}
