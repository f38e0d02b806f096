//! What bounds a quantile of times beyond which too few I/Os lie for an upper end of its own.

use crate::near_limit::widening;
use assay_model::Histogram;
use assay_model::number::real;
use assay_stats::batches::ratio_of_batches_at_most;
use assay_stats::moment_bound::quantile_at_most;

/// The sum over the I/Os of each batch.
pub(crate) fn sums(batches: &[Option<&Histogram>], of: impl Fn(&Histogram) -> f64) -> Vec<f64> {
    batches.iter().map(|batch| batch.map_or(0.0, &of)).collect()
}

/// All times together, ns.
pub(crate) fn sum_of_times(histogram: &Histogram) -> f64 {
    histogram.mean_ns() * real(histogram.ios())
}

/// The time that a quantile does not exceed by the upper ends of the mean and of the mean square,
/// ns; `None` of too few rows, or of times that were not counted but interpolated.
///
/// The mean of all times rests on every I/O and not only on the few slow ones. In a closed load it
/// is the queue depth over the rate (J. Little, Operations Research 9, 1961): a tail that would
/// break the limit would have slowed the whole load.
pub(crate) fn by_moments(
    batches: &[Option<&Histogram>],
    batch_s: f64,
    elapsed_s: f64,
    quantile: f64,
) -> Option<f64> {
    if batches.iter().flatten().any(|batch| !batch.knows_quantile(quantile)) {
        return None;
    }
    let ios = sums(batches, |batch| real(batch.ios()));
    let bound = |of: fn(&Histogram) -> f64, power: i32| {
        let sums = sums(batches, of);
        let value = sums.iter().sum::<f64>() / ios.iter().sum::<f64>();
        let most = ratio_of_batches_at_most(&sums, &ios, batch_s)?;
        // A short run does not show slow noise, of the mean as little as of any other number.
        let most = value * (most / value).powf(widening(elapsed_s));
        most.is_finite().then(|| quantile_at_most(most, power, quantile))
    };
    [bound(sum_of_times, 1), bound(sum_of_squares, 2)].into_iter().flatten().reduce(f64::min)
}

/// Each time at the upper end of its bucket, ns²: never less than it was.
fn sum_of_squares(histogram: &Histogram) -> f64 {
    let buckets = histogram.buckets();
    buckets.map(|(lowest, width, ios)| real(lowest + width).powi(2) * real(ios)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Precision;

    /// A second with 20,000 times of 60 µs and a few others.
    fn second(slow: u64, slow_ns: u64) -> Histogram {
        let mut histogram = Histogram::new(Precision::Coarse);
        histogram.record_many(60_000, 20_000);
        histogram.record_many(slow_ns, slow);
        histogram
    }

    fn bound(seconds: &[Histogram], quantile: f64) -> Option<f64> {
        let batches: Vec<Option<&Histogram>> = seconds.iter().map(Some).collect();
        by_moments(&batches, 1.0, real(assay_model::number::count_of(seconds.len())), quantile)
    }

    #[test]
    fn one_burst_in_a_minute_is_bounded_by_the_mean_square() {
        let mut seconds = vec![second(0, 1); 60];
        let calm_ns = bound(&seconds, 0.99).unwrap();
        // Ten times the root of the mean square; buckets are up to 1.6% wide.
        assert!((600_000.0..620_000.0).contains(&calm_ns), "{calm_ns}");
        seconds[11] = second(400, 162_000);
        let most_ns = bound(&seconds, 0.99).unwrap();
        assert!(most_ns > calm_ns && most_ns < 3e6, "{most_ns}");
        let rarer_ns = bound(&seconds, 0.999).unwrap();
        assert!(rarer_ns > 3.0 * most_ns, "{rarer_ns}");
    }

    #[test]
    fn one_burst_that_makes_the_mean_leaves_a_bound_beyond_itself() {
        let mut seconds = vec![second(0, 1); 60];
        seconds[11] = second(400, 300_000_000);
        // The next burst may be many times as large as the only one that was seen.
        assert!(bound(&seconds, 0.99).unwrap() > 1.5 * 300_000_000.0);
    }

    #[test]
    fn short_runs_and_interpolated_times_bound_nothing() {
        assert_eq!(bound(&vec![second(0, 1); 7], 0.99), None);
        let known = second(0, 1).known_at([0.5, 0.9]);
        assert_eq!(bound(&vec![known; 30], 0.99), None);
    }
}
