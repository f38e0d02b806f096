//! What was verified so far and what that took, counted by all workers at once.

use assay_integrity::Promise;
use assay_model::integrity::VerificationCoverage;
use assay_model::number::real;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a run.
#[derive(Debug, Default)]
pub struct VerifyTally {
    writes: AtomicU64,
    checked: AtomicU64,
    unwritten: AtomicU64,
    skipped: AtomicU64,
    racing: AtomicU64,
    torn_racing: AtomicU64,
    redrawn: AtomicU64,
    stamping: AtomicTimed,
    checking: AtomicTimed,
}

/// Work of which a part was timed.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimedWork {
    done: u64,
    sampled: u64,
    time_ns: u64,
}

#[derive(Debug, Default)]
struct AtomicTimed {
    done: AtomicU64,
    sampled: AtomicU64,
    time_ns: AtomicU64,
}

/// One in this many is timed.
const EVERY: u64 = 32;

impl TimedWork {
    /// Whether the next one is to be timed.
    pub const fn is_due(&self) -> bool {
        self.done.is_multiple_of(EVERY)
    }

    /// One more was done, in a time that is known of some.
    pub const fn add(&mut self, time_ns: Option<u64>) {
        self.done += 1;
        if let Some(time_ns) = time_ns {
            self.sampled += 1;
            self.time_ns += time_ns;
        }
    }

    /// Mean time of one, ns.
    pub fn mean_ns(&self) -> f64 {
        real(self.time_ns) / real(self.sampled.max(1))
    }

    /// Time of all, ns.
    pub fn total_ns(&self) -> f64 {
        self.mean_ns() * real(self.done)
    }
}

impl AtomicTimed {
    fn merge(&self, part: &TimedWork) {
        self.done.fetch_add(part.done, Ordering::Relaxed);
        self.sampled.fetch_add(part.sampled, Ordering::Relaxed);
        self.time_ns.fetch_add(part.time_ns, Ordering::Relaxed);
    }

    fn read(&self) -> TimedWork {
        TimedWork {
            done: self.done.load(Ordering::Relaxed),
            sampled: self.sampled.load(Ordering::Relaxed),
            time_ns: self.time_ns.load(Ordering::Relaxed),
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl VerifyTally {
    pub fn add_write(&self) {
        count(&self.writes);
    }

    pub fn add_unwritten(&self) {
        count(&self.unwritten);
    }

    pub fn add_skipped(&self) {
        count(&self.skipped);
    }

    pub fn add_redrawn(&self) {
        count(&self.redrawn);
    }

    /// A block was compared; `mixed` says that it held sectors of several versions, all of them
    /// allowed.
    #[inline]
    pub fn add_checked(&self, promise: &Promise, mixed: bool) {
        count(&self.checked);
        if promise.busy || mixed {
            count(&self.racing);
        }
        if mixed {
            count(&self.torn_racing);
        }
    }

    /// A worker's times.
    pub fn merge(&self, stamping: &TimedWork, checking: &TimedWork) {
        self.stamping.merge(stamping);
        self.checking.merge(checking);
    }

    /// Times of stamping writes and of checking reads.
    pub fn times(&self) -> (TimedWork, TimedWork) {
        (self.stamping.read(), self.checking.read())
    }

    /// Fills in what was counted.
    pub fn cover(&self, coverage: &mut VerificationCoverage) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        coverage.stamped_writes = read(&self.writes);
        coverage.checked_reads = read(&self.checked);
        coverage.unwritten_reads = read(&self.unwritten);
        coverage.skipped_reads = read(&self.skipped);
        coverage.racing_reads = read(&self.racing);
        coverage.torn_racing_reads = read(&self.torn_racing);
        coverage.redrawn_writes = read(&self.redrawn);
    }
}
