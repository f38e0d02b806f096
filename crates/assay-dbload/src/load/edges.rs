//! The edges of a measured time's intervals: a step belongs to the interval in which it ended,
//! however late anybody looks.

use std::time::{Duration, Instant};

/// Length of an interval.
pub(super) const INTERVAL: Duration = Duration::from_nanos(super::plan::INTERVAL.0);

/// A measured time cut into intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    started: Instant,
    /// Its length; a step of a given number of steps has none.
    length: Option<Duration>,
}

impl Edges {
    pub(super) const fn new(started: Instant, length: Option<Duration>) -> Self {
        Self { started, length }
    }

    /// Measured time at a moment.
    pub(super) fn elapsed(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.started)
    }

    /// The interval of a step that ended then; none after the end of the measured time.
    pub(super) fn index(&self, ended: Instant) -> Option<u64> {
        let elapsed = self.elapsed(ended);
        if self.length.is_some_and(|length| elapsed > length) {
            return None;
        }
        let index = elapsed.as_secs() / INTERVAL.as_secs();
        Some(self.last().map_or(index, |last| index.min(last)))
    }

    /// The last interval: it takes a rest that is shorter than half an interval.
    fn last(&self) -> Option<u64> {
        let halves = self.length?.as_millis() / (INTERVAL.as_millis() / 2);
        Some(u64::try_from(halves.div_ceil(2).max(1) - 1).unwrap_or(u64::MAX))
    }

    /// When an interval ends, as measured time.
    pub(super) fn end_of(&self, index: u64) -> Duration {
        match self.length {
            Some(length) if self.is_last(index) => length,
            _ => INTERVAL * u32::try_from(index + 1).unwrap_or(u32::MAX),
        }
    }

    /// Whether the measured time ends with it.
    pub(super) fn is_last(&self, index: u64) -> bool {
        self.last().is_some_and(|last| index >= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(length_ms: u64) -> (Edges, Instant) {
        let started = Instant::now();
        (Edges::new(started, Some(Duration::from_millis(length_ms))), started)
    }

    /// The intervals of a time end with it, and none is shorter than half of one.
    #[test]
    fn edges_cover_a_time_without_a_short_rest() {
        for (length_ms, ends_ms) in [
            (300, vec![300]),
            (1000, vec![1000]),
            (1400, vec![1400]),
            (1500, vec![1000, 1500]),
            (3000, vec![1000, 2000, 3000]),
            (3499, vec![1000, 2000, 3499]),
        ] {
            let (edges, _) = edges(length_ms);
            let last = (0..9).find(|index| edges.is_last(*index)).unwrap();
            let ends: Vec<u64> = (0..=last)
                .map(|index| u64::try_from(edges.end_of(index).as_millis()).unwrap())
                .collect();
            assert_eq!(ends, ends_ms, "{length_ms}");
        }
    }

    #[test]
    fn a_step_counts_in_the_interval_in_which_it_ended() {
        let (edges, started) = edges(2400);
        let index = |after_ms| edges.index(started + Duration::from_millis(after_ms));
        assert_eq!([0, 999, 1000, 2399].map(index), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(index(2401), None);
        let endless = Edges::new(started, None);
        assert_eq!(endless.index(started + Duration::from_secs(7)), Some(7));
        assert!(!endless.is_last(u64::MAX - 1));
    }
}
