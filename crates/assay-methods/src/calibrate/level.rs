//! Whether the rate under one and the same load fell to a lower level: the end of a burst.

use assay_model::number::real_len;
use assay_stats::IntervalEstimate;
use assay_stats::change::level_shift;
use assay_stats::series::{batch_means, mean, variance};

/// A level that is lower by less than this share is not called another level.
pub(super) const LEAST_FALL: f64 = 0.05;

/// How often a steady rate may be suspected; what is suspected still has to be confirmed by fresh
/// slices.
const FALSE_ALARM: f64 = 0.002;

/// Longer series are looked at in batches, so that a look stays cheap.
const POINTS_MAX: usize = 120;

/// A level that was left for a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fall {
    /// Index of the first observation of the lower level.
    pub(super) at: usize,
    /// The level before.
    pub(super) before: IntervalEstimate,
    /// The level after.
    pub(super) after: IntervalEstimate,
}

/// The fall in a series of rates under one load, if there is one that a steady series would barely
/// show.
pub(super) fn fall(series: &[f64]) -> Option<Fall> {
    let size = series.len().div_ceil(POINTS_MAX).max(1);
    let batches = batch_means(series, size);
    if !is_suspect(&batches) {
        return None;
    }
    let shift = level_shift(&batches, super::rung::CONFIDENCE)?;
    let change = shift.change();
    let real = change.high < 0.0 && change.value < -LEAST_FALL * shift.before.value;
    (real && shift.p_value <= FALSE_ALARM).then_some(Fall {
        at: shift.at * size,
        before: shift.before,
        after: shift.after,
    })
}

/// A quick look that spares the costly one: some split lies three standard errors and the least
/// fall apart.
fn is_suspect(series: &[f64]) -> bool {
    const SHORTEST: usize = 5;
    if series.len() < 2 * SHORTEST {
        return false;
    }
    (SHORTEST..=series.len() - SHORTEST).any(|at| {
        let (before, after) = series.split_at(at);
        let drop = mean(before) - mean(after);
        let squared =
            variance(before) / real_len(before.len()) + variance(after) / real_len(after.len());
        drop > LEAST_FALL * mean(before) && drop * drop > 9.0 * squared
    })
}

/// I/Os that a full reserve held: what was done above the sustained rate until the rate fell, less
/// what came back while less was done (a token bucket, full at the beginning). Each stretch is its
/// length in s and its rate.
pub(super) fn reserve(stretches: &[(f64, f64)], sustained: f64) -> f64 {
    stretches
        .iter()
        .fold(0.0, |used: f64, (length_s, iops)| (used + (iops - sustained) * length_s).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    fn noisy(levels: &[(usize, f64)], share: f64) -> Vec<f64> {
        let mut random = Random::new(11);
        levels
            .iter()
            .flat_map(|(length, level)| std::iter::repeat_n(*level, *length))
            .map(|level| level * (1.0 + share * random.normal()))
            .collect()
    }

    #[test]
    fn a_fall_is_found_where_it_happened() {
        let series = noisy(&[(300, 40_000.0), (60, 17_000.0)], 0.02);
        let fall = fall(&series).unwrap();
        assert!((297..=303).contains(&fall.at), "{}", fall.at);
        assert!(fall.after.value < fall.before.value);
    }

    #[test]
    fn noise_a_rise_and_a_small_fall_are_no_fall() {
        for levels in [
            vec![(400, 40_000.0)],
            vec![(100, 20_000.0), (100, 40_000.0)],
            vec![(200, 40_000.0), (200, 39_000.0)],
        ] {
            assert_eq!(fall(&noisy(&levels, 0.02)), None);
        }
    }

    #[test]
    fn what_came_back_counts_against_what_was_used() {
        // 2 s at 3,000 above, 1 s at 5,000 below: the reserve was full again, then 4 s at 1,000
        // above.
        let used = reserve(&[(2.0, 13_000.0), (2.0, 5_000.0), (4.0, 11_000.0)], 10_000.0);
        assert!((used - 4_000.0).abs() < 1e-9);
    }
}
