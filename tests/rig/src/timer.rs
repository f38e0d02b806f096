//! The thread that answers each operation when it is due, however many are outstanding.

use crate::clock::monotonic_ns;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A lock that a panicking thread does not take with it: the rig must still unmount.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something to do at a time.
struct Job {
    due_ns: u64,
    sequence: u64,
    run: Box<dyn FnOnce() + Send>,
}

impl Job {
    fn key(&self) -> (u64, u64) {
        (self.due_ns, self.sequence)
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Job {}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Default)]
struct Queue {
    jobs: BinaryHeap<Reverse<Job>>,
    /// Nothing waits for its time any more.
    hurried: bool,
    stopped: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Where jobs are left for the timer's thread; clones lead to the same thread.
#[derive(Clone, Default)]
pub(crate) struct Appointments {
    shared: Arc<Shared>,
}

impl Appointments {
    /// Has `run` called at `due_ns` of the monotonic clock; equal times in order of `sequence`.
    pub(crate) fn add(&self, due_ns: u64, sequence: u64, run: impl FnOnce() + Send + 'static) {
        let mut queue = locked(&self.shared.queue);
        let first = queue.jobs.peek().is_none_or(|Reverse(job)| due_ns < job.due_ns);
        queue.jobs.push(Reverse(Job { due_ns, sequence, run: Box::new(run) }));
        drop(queue);
        if first {
            self.shared.changed.notify_one();
        }
    }

    /// Has everything called at once, now and from now on.
    pub(crate) fn hurry(&self) {
        locked(&self.shared.queue).hurried = true;
        self.shared.changed.notify_one();
    }

    /// The next job when it is due; none when the timer stops.
    fn next(&self) -> Option<Job> {
        let mut queue = locked(&self.shared.queue);
        loop {
            let wait_ns = match queue.jobs.peek() {
                None if queue.stopped => return None,
                None => u64::MAX,
                Some(_) if queue.hurried => 0,
                Some(Reverse(job)) => job.due_ns.saturating_sub(monotonic_ns()),
            };
            if wait_ns == 0 {
                return queue.jobs.pop().map(|Reverse(job)| job);
            }
            let waited = self.shared.changed.wait_timeout(queue, Duration::from_nanos(wait_ns));
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The thread; dropping it answers what is left at once and ends it.
pub(crate) struct Timer {
    appointments: Appointments,
    thread: Option<JoinHandle<()>>,
}

impl Timer {
    pub(crate) fn start() -> io::Result<Self> {
        let appointments = Appointments::default();
        let queue = appointments.clone();
        let thread = std::thread::Builder::new().name("rig-timer".to_owned()).spawn(move || {
            // The default slack of 50 us would be added to every scripted latency.
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            while let Some(job) = queue.next() {
                (job.run)();
            }
        })?;
        Ok(Self { appointments, thread: Some(thread) })
    }

    pub(crate) fn appointments(&self) -> Appointments {
        self.appointments.clone()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        locked(&self.appointments.shared.queue).stopped = true;
        self.appointments.hurry();
        if let Some(thread) = self.thread.take() {
            // A panic of a job was printed by its thread; the rig still unmounts.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_run_in_order_of_time_and_never_early() {
        let timer = Timer::start().unwrap();
        let (sender, receiver) = channel();
        let now = monotonic_ns();
        for (sequence, delay_ms) in [(0, 30u64), (1, 10), (2, 20), (3, 10)] {
            let sender = sender.clone();
            let due_ns = now + delay_ms * 1_000_000;
            timer.appointments().add(due_ns, sequence, move || {
                sender.send((sequence, monotonic_ns() >= due_ns)).unwrap();
            });
        }
        let ran: Vec<(u64, bool)> = receiver.iter().take(4).collect();
        assert_eq!(ran, [(1, true), (3, true), (2, true), (0, true)]);
    }

    #[test]
    fn dropping_the_timer_runs_what_is_left_at_once() {
        let timer = Timer::start().unwrap();
        let (sender, receiver) = channel();
        timer.appointments().add(u64::MAX, 0, move || sender.send(()).unwrap());
        drop(timer);
        assert_eq!(receiver.recv(), Ok(()));
    }
}
