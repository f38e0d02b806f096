//! What showing a measurement costs: the CPU time of the threads that do it, and the share of a
//! core that it is.

use assay_model::number::{narrow, seconds};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// CPU time, added up over threads.
#[derive(Debug)]
pub(crate) struct MonitorCost {
    begun: Instant,
    spent_ns: AtomicU64,
}

impl MonitorCost {
    /// Nothing was spent yet.
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), spent_ns: AtomicU64::new(0) }
    }

    /// Does something and counts the CPU time that this thread needed for it.
    pub(crate) fn count<T>(&self, what: impl FnOnce() -> T) -> T {
        let before_ns = thread_ns();
        let done = what();
        let spent_ns = thread_ns().saturating_sub(before_ns);
        self.spent_ns.fetch_add(spent_ns, Ordering::Relaxed);
        done
    }

    /// CPU time so far, s.
    pub(crate) fn spent_s(&self) -> f64 {
        seconds(self.spent_ns.load(Ordering::Relaxed))
    }

    /// CPU time by the time that passed: the share of one core.
    pub(crate) fn share(&self) -> f64 {
        let passed_s = self.begun.elapsed().as_secs_f64();
        if passed_s > 0.0 { self.spent_s() / passed_s } else { 0.0 }
    }
}

/// CPU time of this thread so far, ns.
pub(crate) fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (whole, part) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    narrow(u128::from(whole) * 1_000_000_000 + u128::from(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_spends_is_counted_and_waiting_is_not() {
        let cost = MonitorCost::new();
        assert!(cost.spent_s().abs() < f64::EPSILON);
        let until = thread_ns() + 2_000_000;
        cost.count(|| while thread_ns() < until {});
        let spent_s = cost.spent_s();
        assert!(spent_s >= 0.001, "{spent_s}");
        assert!(cost.share() > 0.0 && cost.share() <= 1.5);
    }
}
