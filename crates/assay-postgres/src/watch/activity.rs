//! Looks at the sessions again and again, at moments that no rhythm of the load can hide from.

use super::Watcher;
use super::columns::{or_zero, real, text};
use super::tracking::{Kind, Process, TaskTimes, Tracker};
use crate::model::{Look, Looks, Seen, Snapshot, Tasks};
use assay_model::Result;
use assay_model::random::Random;
use postgres::Row;
use std::sync::atomic::{AtomicBool, Ordering};
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
            looks.push(look(&rows, late));
            if let Some(times) = times.filter(|_| Instant::now() >= tasks_due) {
                self.track(&mut tracker, &rows, times);
                tasks_due += TASKS_EVERY;
            }
            show(begun.elapsed().as_secs_f64(), looks.last().map_or(0, Look::active));
            due = next(due, plan.every, &mut random);
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
            before,
            after,
            looks: Looks { looks, elapsed_s, tasks },
        })
    }

    /// All sessions and processes of the server but our own.
    pub(super) fn look(&mut self) -> Result<Vec<Row>> {
        let own: Vec<i32> = self.own().iter().filter_map(|id| i32::try_from(*id).ok()).collect();
        self.server.ask(&self.look, &[&own])
    }

    fn track(&self, tracker: &mut Tracker, rows: &[Row], times: TaskTimes<'_>) {
        let now_s = rows.first().and_then(|row| real(row, 9)).unwrap_or_default();
        let others = rows.iter().map(|row| Process {
            id: u32::try_from(or_zero(row, 0)).unwrap_or_default(),
            kind: Kind::of(&text(row, 1).unwrap_or_default()),
            began_s: real(row, 8).unwrap_or_default(),
        });
        let own = self.own().map(|id| Process { id, kind: Kind::Own, began_s: 0.0 });
        let all: Vec<Process> = others.chain(own).collect();
        tracker.read(&all, now_s, times);
    }
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
fn next(due: Instant, every: Duration, random: &mut Random) -> Instant {
    let next = due + every.mul_f64(0.5 + random.unit());
    next.max(Instant::now())
}

fn rest(until: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(NAP));
    }
}

/// What the rows of a look say of client sessions.
fn look(rows: &[Row], is_late: bool) -> Look {
    let mut look = Look { is_late, ..Look::default() };
    for row in rows {
        if text(row, 1).as_deref() != Some("client backend") {
            continue;
        }
        look.connected += 1;
        if text(row, 2).as_deref() == Some("active") {
            let kind = text(row, 3).unwrap_or_default();
            let event = text(row, 4).unwrap_or_default();
            *look.sessions.entry(Seen::new(&kind, &event)).or_insert(0) += 1;
        }
    }
    look
}
