//! Rows of numbers in intervals: their means with an interval of confidence.

use assay_model::Estimate;
use assay_model::number::{count_of, real_len};
use assay_model::verdict::NamedEstimate;
use assay_stats::batches::{mean_of_batches, ratio_of_batches};

/// A value of an interval, and how much of the whole it stands for: a mean time for as many I/Os.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueShare {
    /// The value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
}

/// The mean of a quantity over intervals of equal length, s; without an interval of confidence
/// where they are too few or vary too much.
pub fn mean(quantity: &str, values: &[f64], interval_s: f64) -> Option<NamedEstimate> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let value = values.iter().sum::<f64>() / real_len(values.len());
    let known = mean_of_batches(values, interval_s);
    let estimate =
        known.unwrap_or_else(|_| Estimate::without_interval(value, count_of(values.len())));
    Some(NamedEstimate { quantity: quantity.to_owned(), subject: None, estimate })
}

/// The mean of a quantity over intervals that stand for different amounts; intervals of nothing do
/// not count.
pub fn weighted_mean(
    quantity: &str,
    values: &[ValueShare],
    interval_s: f64,
) -> Option<NamedEstimate> {
    if values.iter().any(|one| !one.value.is_finite() || !one.weight.is_finite()) {
        return None;
    }
    let counted = || values.iter().filter(|one| one.weight > 0.0);
    let amounts: Vec<f64> = counted().map(|one| one.value * one.weight).collect();
    let weights: Vec<f64> = counted().map(|one| one.weight).collect();
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return None;
    }
    let value = amounts.iter().sum::<f64>() / all;
    let known = ratio_of_batches(&amounts, &weights, interval_s);
    let estimate =
        known.unwrap_or_else(|_| Estimate::without_interval(value, count_of(weights.len())));
    Some(NamedEstimate { quantity: quantity.to_owned(), subject: None, estimate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_an_interval_when_there_is_enough() {
        let values: Vec<f64> =
            (0..100).map(|index| if index % 3 == 0 { 90.0 } else { 105.0 }).collect();
        let found = mean("iops", &values, 1.0).unwrap().estimate;
        assert!((found.value - 99.9).abs() < 1e-9 && found.covers(100.0) && found.low < 99.9);
        assert!(!mean("iops", &values[..7], 1.0).unwrap().estimate.has_interval());
        assert!(mean("iops", &[], 1.0).is_none());
    }

    #[test]
    fn a_level_that_doubled_near_the_end_is_no_narrow_interval() {
        // 20 of 1000 and 9 of 2000: the mean is 1310.34, and what varies is seen.
        let values: Vec<f64> = [vec![1000.0; 20], vec![2000.0; 9]].concat();
        let found = mean("iops", &values, 1.0).unwrap().estimate;
        assert!((found.value - 1310.34).abs() < 0.01 && !found.has_interval(), "{found:?}");
    }

    #[test]
    fn a_mean_time_counts_as_often_as_it_happened() {
        let values = [(1e6, 1000.0), (1e8, 10.0), (5.0, 0.0)];
        let values = values.map(|(value, weight)| ValueShare { value, weight });
        let found = weighted_mean("t", &values, 1.0).unwrap().estimate;
        assert!((found.value - 1_980_198.0).abs() < 1.0 && !found.has_interval());
        assert!(weighted_mean("t", &values[2..], 1.0).is_none());
    }
}
