//! CPU time by kind of process: of each what it had when it was first seen, and what it had when it was last seen.

use crate::model::Tasks;
use assay_model::counters::TaskCounters;
use std::collections::BTreeMap;

/// Time of a process on a CPU and in its queue by process id; `None` where it is gone.
pub type TaskTimes<'a> = &'a dyn Fn(u32) -> Option<TaskCounters>;

/// A process as a look tells it.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) kind: Kind,
    /// Seconds since 1970.
    pub(super) began_s: f64,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Client,
    Parallel,
    Background,
    Own,
}

impl Kind {
    /// The kind that `backend_type` names.
    pub(super) fn of(backend_type: &str) -> Self {
        match backend_type {
            "client backend" => Self::Client,
            "parallel worker" => Self::Parallel,
            _ => Self::Background,
        }
    }
}

/// One process so far.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    kind: Kind,
    first: TaskCounters,
    last: TaskCounters,
}

/// All processes that were seen. An id can come again for another process, so that it goes with the time it began.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    processes: BTreeMap<(u32, u64), Tracked>,
    /// Client sessions that began after the first look.
    begun: u64,
    /// When the first look was, by the server's clock.
    since_s: Option<f64>,
}

impl Tracker {
    /// Reads the times of all processes of a look.
    pub(super) fn read(&mut self, processes: &[Process], now_s: f64, times: TaskTimes<'_>) {
        let since_s = *self.since_s.get_or_insert(now_s);
        for process in processes {
            let Some(now) = times(process.id) else {
                continue;
            };
            let key = (process.id, assay_model::number::nanoseconds(process.began_s));
            if let Some(tracked) = self.processes.get_mut(&key) {
                tracked.last = now;
                continue;
            }
            // What began in the interval has spent everything in it.
            let is_new = process.began_s > since_s;
            self.begun += u64::from(is_new && process.kind == Kind::Client);
            let first = if is_new { TaskCounters::default() } else { now };
            let tracked = Tracked { kind: process.kind, first, last: now };
            self.processes.insert(key, tracked);
        }
    }

    /// The sums by kind; `None` where no process could be read.
    pub(super) fn sums(&self) -> Option<Tasks> {
        if self.processes.is_empty() {
            return None;
        }
        let mut tasks = Tasks::default();
        for tracked in self.processes.values() {
            let spent = tracked.last.since(&tracked.first);
            let sum = match tracked.kind {
                Kind::Client => &mut tasks.clients,
                Kind::Parallel => &mut tasks.parallel,
                Kind::Background => &mut tasks.background,
                Kind::Own => &mut tasks.own,
            };
            *sum = sum.plus(&spent);
        }
        Some(tasks)
    }

    /// Client sessions that began after the first look and were seen.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_in_the_interval_counts_whole_and_ids_may_come_again() {
        let process = |id, began_s| Process { id, kind: Kind::Client, began_s };
        let mut tracker = Tracker::default();
        let times = |on_cpu_ns| move |_| Some(TaskCounters { on_cpu_ns, queued_ns: 2 * on_cpu_ns });
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
}
