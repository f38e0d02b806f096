//! When a node ends: its driver said so or has gone, its lease ran out, or a signal came.

use assay_cluster::schedule::lease_ns;
use assay_engine::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often it looks.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A program that did not run for as long was paused with its machine, or had no processor for it,
/// ns.
const STANDSTILL_NS: u64 = 1_000_000_000;
/// A driver that has not said its period is waited for as long.
const PERIOD_NS: u64 = 10_000_000_000;

/// Keeps the flag by which a measurement ends.
pub(super) struct Watchdog {
    /// Ends the measurement that runs.
    stop: AtomicBool,
    /// Ends the node.
    ended: AtomicBool,
    /// Whether it ends because its lease ran out.
    is_alone: AtomicBool,
    /// Set by signals.
    signal: Arc<AtomicBool>,
    heard_ns: AtomicU64,
    period_ns: AtomicU64,
}

impl Watchdog {
    pub(super) fn new(signal: Arc<AtomicBool>) -> Self {
        Self {
            stop: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            is_alone: AtomicBool::new(false),
            signal,
            heard_ns: AtomicU64::new(monotonic_ns()),
            period_ns: AtomicU64::new(PERIOD_NS),
        }
    }

    /// The driver says how often it will be heard.
    pub(super) fn begin(&self, period_ns: u64, now_ns: u64) {
        self.period_ns.store(period_ns.max(1), Ordering::Relaxed);
        self.heard(now_ns);
    }

    /// The driver was heard: its lease is new.
    pub(super) fn heard(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// The flag of whatever runs.
    pub(super) const fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Ends what runs.
    pub(super) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Lets the next measurement run, unless the node is to end.
    pub(super) fn arm(&self) {
        self.stop.store(self.has_ended(), Ordering::Relaxed);
    }

    /// Ends the node.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.halt();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Whether the node ends because its lease ran out: then nobody hears its last words.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Whether the lease has run out at a moment.
    fn is_forgotten(&self, now_ns: u64) -> bool {
        let lease_ns = lease_ns(self.period_ns.load(Ordering::Relaxed));
        now_ns.saturating_sub(self.heard_ns.load(Ordering::Relaxed)) > lease_ns
    }

    /// Looks until the node ends, and says for how long it stood still, ns, where it did.
    pub(super) fn watch(&self, say: impl Fn(u64)) {
        let mut looked_ns = monotonic_ns();
        while !self.has_ended() {
            std::thread::sleep(POLL_INTERVAL);
            let now_ns = monotonic_ns();
            stood_still_ns(looked_ns, now_ns).into_iter().for_each(&say);
            looked_ns = now_ns;
            let is_forgotten = self.is_forgotten(now_ns);
            self.is_alone.fetch_or(is_forgotten, Ordering::Relaxed);
            if self.signal.load(Ordering::Relaxed) || is_forgotten {
                self.end();
            }
        }
    }
}

/// For how long nothing ran between two looks, where that is worth a word.
fn stood_still_ns(looked_ns: u64, now_ns: u64) -> Option<u64> {
    Some(now_ns.saturating_sub(looked_ns)).filter(|still_ns| *still_ns >= STANDSTILL_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_five_periods_runs_from_the_last_word() {
        let dog = Watchdog::new(Arc::default());
        dog.begin(1_000_000_000, 10_000_000_000);
        assert!(!dog.is_forgotten(15_000_000_000) && dog.is_forgotten(15_000_000_001));
        dog.heard(12_000_000_000);
        assert!(!dog.is_forgotten(17_000_000_000) && dog.is_forgotten(17_000_000_001));
    }

    #[test]
    fn a_halt_ends_one_measurement_and_an_end_all_of_them() {
        let dog = Watchdog::new(Arc::default());
        dog.halt();
        assert!(dog.stop().load(Ordering::Relaxed) && !dog.has_ended());
        dog.arm();
        assert!(!dog.stop().load(Ordering::Relaxed));
        dog.end();
        dog.arm();
        assert!(dog.stop().load(Ordering::Relaxed) && dog.has_ended());
    }

    #[test]
    fn who_was_paused_between_two_looks_stood_still() {
        assert_eq!(stood_still_ns(5, 1_000_000_004), None);
        assert_eq!(stood_still_ns(5, 2_000_000_005), Some(2_000_000_000));
    }

    #[test]
    fn a_signal_ends_the_watch() {
        let signal = Arc::new(AtomicBool::new(true));
        let dog = Watchdog::new(signal);
        dog.watch(|_| ());
        assert!(dog.has_ended() && !dog.is_alone());
    }

    #[test]
    fn who_ends_with_the_lease_has_nobody_to_hear_it() {
        let dog = Watchdog::new(Arc::default());
        // Heard of last at the start of the clock.
        dog.begin(1, 0);
        dog.watch(|_| ());
        assert!(dog.has_ended() && dog.is_alone());
    }
}
