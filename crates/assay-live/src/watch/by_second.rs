//! The server's own I/O second by second, from counters read once a second.

use assay_model::number::{count, real};
use assay_model::profile::IoSample;
use std::time::Duration;

/// Length of a step.
const STEP_S: f64 = 1.0;
/// Steps that are kept: an hour. A longer interval keeps the last one.
const STEPS_MAX: usize = 3600;
/// A shorter rest at the end is not a second.
const REST_S: f64 = 0.5;

/// The server's own counters of I/O since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounters {
    /// Reads of data.
    pub reads: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Writes of data and temporary files.
    pub writes: u64,
    /// Bytes of them.
    pub write_bytes: u64,
    /// Writes of the log.
    pub log_writes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Transactions.
    pub transactions: u64,
}

/// Counters turned into rates of each second.
#[derive(Debug)]
pub(super) struct BySecond {
    last: IoCounters,
    last_s: f64,
    pub(super) seconds: Vec<IoSample>,
}

impl BySecond {
    pub(super) const fn new(first: IoCounters) -> Self {
        Self { last: first, last_s: 0.0, seconds: Vec::new() }
    }

    /// Whether the next second has passed. Seconds are those of the clock, so that a late look
    /// makes the next one shorter.
    pub(super) fn is_due(&self, elapsed: Duration) -> bool {
        elapsed.as_secs_f64() >= (self.last_s / STEP_S).floor() * STEP_S + STEP_S
    }

    /// Takes the counters at the end of a second.
    pub(super) fn add(&mut self, elapsed: Duration, now: IoCounters) {
        let at_s = elapsed.as_secs_f64();
        let length_s = (at_s - self.last_s).max(1e-3);
        let per_s =
            |of: fn(&IoCounters) -> u64| real(of(&now).saturating_sub(of(&self.last))) / length_s;
        let second = IoSample {
            at_s,
            read_iops: per_s(|one| one.reads),
            read_bytes_per_s: per_s(|one| one.read_bytes),
            write_iops: per_s(|one| one.writes),
            write_bytes_per_s: per_s(|one| one.write_bytes),
            log_iops: per_s(|one| one.log_writes),
            log_bytes_per_s: per_s(|one| one.log_bytes),
            transactions_per_s: per_s(|one| one.transactions),
        };
        // A look that came late stands for all the seconds that it covers.
        let seconds = count((length_s / STEP_S).round()).max(1);
        (0..seconds).for_each(|_| self.seconds.push(second));
        let surplus = self.seconds.len().saturating_sub(STEPS_MAX);
        self.seconds.drain(..surplus);
        (self.last, self.last_s) = (now, at_s);
    }

    /// The last second, if enough of it has passed.
    pub(super) fn finish(&mut self, elapsed: Duration, now: IoCounters) {
        if elapsed.as_secs_f64() - self.last_s >= REST_S * STEP_S {
            self.add(elapsed, now);
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_the_rates_of_their_counters_and_late_looks_fill_what_they_cover() {
        let at = |reads: u64| IoCounters { reads, log_writes: reads / 2, ..IoCounters::default() };
        let mut series = BySecond::new(at(100));
        assert!(!series.is_due(Duration::from_millis(990)));
        assert!(series.is_due(Duration::from_millis(1010)));
        series.add(Duration::from_secs(1), at(300));
        series.add(Duration::from_secs(4), at(900));
        series.finish(Duration::from_millis(4100), at(901));
        let rates: Vec<f64> = series.seconds.iter().map(|second| second.read_iops).collect();
        assert_eq!(rates, [200.0; 4]);
        assert_eq!(series.seconds[0].log_iops, 100.0);
        series.finish(Duration::from_millis(4600), at(1200));
        assert_eq!(series.seconds.len(), 5);
        for step in 5..9000 {
            series.add(Duration::from_secs(step), at(1200));
        }
        assert_eq!(series.seconds.len(), STEPS_MAX);
    }
}
