//! CPU time by kind of process: what each of them used from one sample to the next goes to the kind
//! that it is then.

use crate::Tasks;
use assay_model::counters::TaskCounters;
use assay_model::number::nanoseconds;
use std::collections::BTreeMap;

/// Time of a process or thread on a CPU and in its queue by its number; `None` where it is gone.
pub type TaskTimes<'a> = &'a dyn Fn(u32) -> Option<TaskCounters>;

/// A process or thread as a sample shows it.
#[derive(Clone, Copy, Debug)]
pub struct TrackedProcess {
    /// Its number.
    pub id: u32,
    /// What it does.
    pub kind: ProcessKind,
    /// When it began, seconds since 1970. `None` where nothing says so and every sample lists all:
    /// then one that the first sample did not see began after it.
    pub began_s: Option<f64>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    /// It serves a session.
    Client,
    /// It serves a session's statement as a parallel worker.
    Parallel,
    /// It serves no session.
    Background,
    /// It serves one of Assay's own sessions.
    Own,
}

/// All processes that were seen. An id can come again for another process, so that it goes with the
/// time it began.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    /// What each had used when it was last seen.
    last: BTreeMap<(u32, u64), TaskCounters>,
    tasks: Tasks,
    /// Client sessions that began after the first sample.
    begun: u64,
    /// When the first sample was, by the server's clock.
    since_s: Option<f64>,
}

impl Tracker {
    /// Reads the times of all processes of a sample.
    pub(super) fn read(&mut self, processes: &[TrackedProcess], now_s: f64, times: TaskTimes<'_>) {
        let is_first = self.since_s.is_none();
        let since_s = *self.since_s.get_or_insert(now_s);
        for process in processes {
            let Some(now) = times(process.id) else {
                continue;
            };
            let key = (process.id, process.began_s.map_or(0, nanoseconds));
            let last = self.last.insert(key, now);
            // What began in the interval has spent everything in it.
            let is_new = process.began_s.map_or(!is_first, |began_s| began_s > since_s);
            if last.is_none() && is_new {
                self.begun += u64::from(process.kind == ProcessKind::Client);
            }
            let from = last.unwrap_or(if is_new { TaskCounters::default() } else { now });
            self.add(process.kind, &now.since(&from));
        }
    }

    fn add(&mut self, kind: ProcessKind, spent: &TaskCounters) {
        let sum = match kind {
            ProcessKind::Client => &mut self.tasks.clients,
            ProcessKind::Parallel => &mut self.tasks.parallel,
            ProcessKind::Background => &mut self.tasks.background,
            ProcessKind::Own => &mut self.tasks.own,
        };
        *sum = sum.plus(spent);
    }

    /// The sums by kind; `None` where no process could be read.
    pub(super) fn sums(&self) -> Option<Tasks> {
        (!self.last.is_empty()).then_some(self.tasks)
    }

    /// Client sessions that began after the first sample and were seen.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(on_cpu_ns: u64) -> impl Fn(u32) -> Option<TaskCounters> {
        move |_| Some(TaskCounters { on_cpu_ns, queued_ns: 2 * on_cpu_ns })
    }

    #[test]
    fn what_began_in_the_interval_counts_whole_and_ids_may_come_again() {
        let process =
            |id, began_s| TrackedProcess { id, kind: ProcessKind::Client, began_s: Some(began_s) };
        let mut tracker = Tracker::default();
        tracker.read(&[process(7, 10.0)], 100.0, &times(50));
        tracker.read(&[process(7, 10.0), process(8, 100.5)], 101.0, &times(80));
        // Process 7 is gone, and another one has its id.
        tracker.read(&[process(7, 101.5)], 102.0, &times(5));
        tracker.read(&[process(9, 101.5)], 103.0, &|_| None);
        let sums = tracker.sums().unwrap();
        assert_eq!(sums.clients.on_cpu_ns, (80 - 50) + 80 + 5);
        assert_eq!(sums.clients.queued_ns, 2 * sums.clients.on_cpu_ns);
        assert_eq!(tracker.begun(), 2);
        assert_eq!(Tracker::default().sums(), None);
    }

    /// A thread that waits for its next session is nobody's; what it uses for one is that
    /// session's.
    #[test]
    fn threads_may_change_what_they_do() {
        let thread = |id, kind| TrackedProcess { id, kind, began_s: None };
        let mut tracker = Tracker::default();
        tracker.read(&[thread(7, ProcessKind::Background)], 100.0, &times(50));
        let both = [thread(7, ProcessKind::Client), thread(8, ProcessKind::Client)];
        tracker.read(&both, 101.0, &times(60));
        tracker.read(&[thread(7, ProcessKind::Background), both[1]], 102.0, &times(65));
        let sums = tracker.sums().unwrap();
        assert_eq!(sums.clients.on_cpu_ns, 10 + 60 + 5);
        assert_eq!((sums.background.on_cpu_ns, tracker.begun()), (5, 1));
    }
}
