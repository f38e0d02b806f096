//! How long the log of a target takes for a flush, alone and during other I/O, and how long its
//! flushes hold reads up.

use crate::demand::PredictedDemand;
use assay_stats::group_commit;

/// Times of a flush by how much data I/O is outstanding meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlushTimes {
    /// Queue depth of data, ascending, and the mean time of a flush, seconds.
    points: Vec<(f64, f64)>,
    /// Queue depth of data, ascending, and how much longer a read takes while the log is always
    /// busy, seconds.
    read_delays: Vec<(f64, f64)>,
    /// Standard deviation of the logarithm of these times.
    pub flush_deviation: f64,
    /// Whether the log itself was measured; else it is between a write alone and a write under
    /// load.
    pub is_measured: bool,
}

impl FlushTimes {
    /// A measured log; nothing of nothing.
    pub fn measured(mut points: Vec<(f64, f64)>, flush_deviation: f64) -> Option<Self> {
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let is_measured = true;
        (!points.is_empty()).then(|| Self {
            points,
            flush_deviation,
            is_measured,
            ..Self::default()
        })
    }

    /// A log that takes the same whatever else is going on.
    pub fn constant(flush_s: f64, flush_deviation: f64) -> Self {
        let points = vec![(0.0, flush_s)];
        Self { points, flush_deviation, is_measured: true, ..Self::default() }
    }

    /// A log of which only writes of data are known: at least as fast as one alone, at most as slow
    /// as those under load.
    pub fn between(alone_s: f64, loaded_s: f64) -> Self {
        let (low, high) = (alone_s.min(loaded_s), alone_s.max(loaded_s));
        let flush_deviation = (high / low).ln() / (2.0 * 1.96);
        let points = vec![(0.0, (low * high).sqrt())];
        Self { points, flush_deviation, ..Self::default() }
    }

    /// The same log with what reads next to it had to wait longer.
    #[must_use]
    pub fn delaying(self, mut read_delays: Vec<(f64, f64)>) -> Self {
        read_delays.sort_by(|left, right| left.0.total_cmp(&right.0));
        Self { read_delays, ..self }
    }

    /// Whether reads were measured during flushes.
    pub const fn has_read_delays(&self) -> bool {
        !self.read_delays.is_empty()
    }

    /// The time during a number of outstanding I/Os of data, seconds.
    pub fn flush_s(&self, queue_depth: f64) -> f64 {
        interpolated(&self.points, queue_depth).unwrap_or(0.0)
    }

    /// How much longer a read takes at a throughput because the log is busy for a share of the
    /// time, seconds: it arrives at random, so it meets a flush as often as there is one.
    pub(crate) fn read_delay_s(
        &self,
        demand: &PredictedDemand,
        throughput_per_s: f64,
        queue_depth: f64,
    ) -> f64 {
        let Some(delay_s) = interpolated(&self.read_delays, queue_depth) else {
            return 0.0;
        };
        let flush_s = self.flush_s(queue_depth);
        delay_s * demand.log_busy_share(throughput_per_s, flush_s)
    }

    /// The same log with every time multiplied.
    pub fn slower(&self, factor: f64) -> Self {
        let slower = |times: &[(f64, f64)]| -> Vec<(f64, f64)> {
            times.iter().map(|(at, time_s)| (*at, time_s * factor)).collect()
        };
        let read_delays = slower(&self.read_delays);
        Self { points: slower(&self.points), read_delays, ..self.clone() }
    }

    /// The same log with every time longer by `more_s`, never below a tenth of itself.
    pub fn later(&self, more_s: f64) -> Self {
        let later = |(at, flush_s): &(f64, f64)| (*at, (flush_s + more_s).max(0.1 * flush_s));
        Self { points: self.points.iter().map(later).collect(), ..self.clone() }
    }
}

impl PredictedDemand {
    /// Share of time in which the log is busy: with the flushes of commits, which go together, and
    /// with others at random.
    fn log_busy_share(&self, throughput_per_s: f64, flush_s: f64) -> f64 {
        let commits_per_s = throughput_per_s * self.commits_mean;
        let commits = group_commit::open(commits_per_s, flush_s, 0.0).busy_share;
        let others = (throughput_per_s * self.other_flushes_mean * flush_s).min(1.0);
        1.0 - (1.0 - commits) * (1.0 - others)
    }
}

/// The height at `x` of the line through points with ascending places; that of the first or the
/// last outside of them.
fn interpolated(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = points.partition_point(|(at, _)| *at < x);
    let (Some(before), Some(next)) =
        (after.checked_sub(1).and_then(|place| points.get(place)), points.get(after))
    else {
        return points.get(after).or(points.last()).map(|(_, value)| *value);
    };
    Some(before.1 + (next.1 - before.1) * (x - before.0) / (next.0 - before.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_wait_as_often_as_the_log_is_busy() {
        let log = FlushTimes::measured(vec![(0.0, 0.004)], 0.05).unwrap();
        let log = log.delaying(vec![(1.0, 0.002), (9.0, 0.004)]);
        // A log that is never used delays nothing; one that always is delays by what was measured.
        let mut demand = PredictedDemand { commits_mean: 1.0, ..PredictedDemand::default() };
        assert!(log.read_delay_s(&demand, 0.0, 5.0).abs() < 1e-12);
        assert!((log.read_delay_s(&demand, 1e5, 5.0) - 0.003).abs() < 1e-6);
        // Nine commits in ten idle times: U = x / (x + e^-x) with x = 0.1.
        let share = 0.1 / (0.1 + (-0.1_f64).exp());
        assert!((log.read_delay_s(&demand, 25.0, 1.0) / 0.002 - share).abs() < 1e-9);
        // Other flushes are busy another tenth of the time, at random.
        demand.other_flushes_mean = 1.0;
        let both = 1.0 - (1.0 - share) * 0.9;
        assert!((log.read_delay_s(&demand, 25.0, 1.0) / 0.002 - both).abs() < 1e-9);
    }

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
