//! How long the log of a target takes for a flush, alone and during other I/O.

/// Times of a flush by how much data I/O is outstanding meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlushTimes {
    /// I/Os of data outstanding, ascending, and the mean time of a flush, seconds.
    points: Vec<(f64, f64)>,
    /// Standard deviation of the logarithm of these times.
    pub flush_deviation: f64,
    /// Whether the log itself was measured; else it is between a write alone and a write under load.
    pub is_measured: bool,
}

impl FlushTimes {
    /// A measured log; nothing of nothing.
    pub fn measured(mut points: Vec<(f64, f64)>, flush_deviation: f64) -> Option<Self> {
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        (!points.is_empty()).then_some(Self { points, flush_deviation, is_measured: true })
    }

    /// A log that takes the same whatever else is going on.
    pub fn constant(flush_s: f64, flush_deviation: f64) -> Self {
        Self { points: vec![(0.0, flush_s)], flush_deviation, is_measured: true }
    }

    /// A log of which only writes of data are known: at least as fast as one alone, at most as slow as those under load.
    pub fn between(alone_s: f64, loaded_s: f64) -> Self {
        let (low, high) = (alone_s.min(loaded_s), alone_s.max(loaded_s));
        let flush_deviation = (high / low).ln() / (2.0 * 1.96);
        Self { points: vec![(0.0, (low * high).sqrt())], flush_deviation, is_measured: false }
    }

    /// The time during a number of outstanding I/Os of data, seconds.
    pub fn flush_s(&self, outstanding: f64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at < outstanding);
        let last = self.points.len() - 1;
        let (Some(before), Some(next)) = (after.checked_sub(1), self.points.get(after)) else {
            return self.points[after.min(last)].1;
        };
        let before = self.points[before];
        before.1 + (next.1 - before.1) * (outstanding - before.0) / (next.0 - before.0)
    }

    /// The same log with every time multiplied.
    pub fn slower(&self, factor: f64) -> Self {
        let slower = |(at, flush_s): &(f64, f64)| (*at, flush_s * factor);
        Self { points: self.points.iter().map(slower).collect(), ..self.clone() }
    }

    /// The same log with every time longer by `more_s`, never below a tenth of itself.
    pub fn later(&self, more_s: f64) -> Self {
        let later = |(at, flush_s): &(f64, f64)| (*at, (flush_s + more_s).max(0.1 * flush_s));
        Self { points: self.points.iter().map(later).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_slower_beside_more_and_never_free() {
        let log = FlushTimes::measured(vec![(32.0, 0.003), (0.0, 0.001)], 0.05).unwrap();
        assert!(
            (log.flush_s(0.0) - 0.001).abs() < 1e-12 && (log.flush_s(16.0) - 0.002).abs() < 1e-12
        );
        assert!((log.flush_s(500.0) - 0.003).abs() < 1e-12);
        assert!((log.later(-1.0).flush_s(0.0) - 0.0001).abs() < 1e-12);
        let unknown = FlushTimes::between(0.001, 0.004);
        assert!((unknown.flush_s(9.0) - 0.002).abs() < 1e-12 && !unknown.is_measured);
    }
}
