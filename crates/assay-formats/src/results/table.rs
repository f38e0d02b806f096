//! Rows of numbers in intervals: their means with an interval of confidence, by Student's t on batches of the intervals.

use assay_model::Estimate;
use assay_model::number::{count_of, real_len};
use assay_model::verdict::NamedEstimate;

/// Batches of intervals, so that neighbours that follow one another count once.
const BATCHES: usize = 10;
/// Student's t for 95 % and nine degrees of freedom (ISO 3534, table).
const T_NINE: f64 = 2.262;

/// A value of an interval, and how much of the whole it stands for: a mean time for as many I/Os.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
}

/// The mean of a quantity over intervals of equal length; without an interval where there are fewer than twenty.
pub fn mean(quantity: &str, values: &[f64]) -> Option<NamedEstimate> {
    let equal: Vec<Weighted> =
        values.iter().map(|value| Weighted { value: *value, weight: 1.0 }).collect();
    weighted_mean(quantity, &equal)
}

/// The mean of a quantity over intervals that stand for different amounts; intervals of nothing do not count.
pub fn weighted_mean(quantity: &str, values: &[Weighted]) -> Option<NamedEstimate> {
    if values.iter().any(|one| !one.value.is_finite() || !one.weight.is_finite()) {
        return None;
    }
    let values: Vec<Weighted> = values.iter().copied().filter(|one| one.weight > 0.0).collect();
    let whole = sum(&values);
    let value = whole.ratio()?;
    let estimate = if values.len() < 2 * BATCHES {
        Estimate::without_interval(value, count_of(values.len()))
    } else {
        let half = half_width(&values, whole, value);
        let (low, high) = ((value - half).max(0.0), value + half);
        Estimate { value, low, high, confidence: 0.95, n: count_of(BATCHES) }
    };
    Some(NamedEstimate { quantity: quantity.to_owned(), subject: None, estimate })
}

/// The sum of values by their weights, and the sum of the weights.
#[derive(Clone, Copy)]
struct WeightedSum {
    amount: f64,
    weight: f64,
}

impl WeightedSum {
    fn ratio(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.amount / self.weight)
    }
}

fn sum(values: &[Weighted]) -> WeightedSum {
    let amount = values.iter().map(|one| one.value * one.weight).sum();
    WeightedSum { amount, weight: values.iter().map(|one| one.weight).sum() }
}

/// Half the width of the interval of a ratio, from the residuals of batches that hold all values (Cochran, Sampling
/// Techniques, 3rd edition, 6.4): for equal weights that of the mean of batches.
fn half_width(values: &[Weighted], whole: WeightedSum, ratio: f64) -> f64 {
    let bound = |batch: usize| batch * values.len() / BATCHES;
    let batches = (0..BATCHES).map(|batch| sum(&values[bound(batch)..bound(batch + 1)]));
    let squares: f64 = batches.map(|one| (one.amount - ratio * one.weight).powi(2)).sum();
    let (count, freedom) = (real_len(BATCHES), real_len(BATCHES - 1));
    T_NINE * (squares * count / freedom).sqrt() / whole.weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_an_interval_when_there_is_enough() {
        let values: Vec<f64> =
            (0..100).map(|index| if index % 2 == 0 { 90.0 } else { 110.0 }).collect();
        let found = mean("iops", &values).unwrap().estimate;
        assert!((found.value - 100.0).abs() < 1e-9 && found.covers(100.0) && found.n == 10);
        assert!(!mean("iops", &values[..19]).unwrap().estimate.has_interval());
        assert!(mean("iops", &[]).is_none());
    }

    #[test]
    fn batches_hold_all_values() {
        // 20 of 1000 and 9 of 2000: the mean is 1310.34, and what varies is seen.
        let values: Vec<f64> = [vec![1000.0; 20], vec![2000.0; 9]].concat();
        let found = mean("iops", &values).unwrap().estimate;
        assert!((found.value - 1310.34).abs() < 0.01 && found.low < 1100.0 && found.high > 1500.0);
    }

    #[test]
    fn equal_batches_have_the_interval_of_their_mean() {
        // Ten batches of two: 1, 2 … 10; Student's t of their mean by hand.
        let values: Vec<f64> = (0..20_u32).map(|index| f64::from(index / 2 + 1)).collect();
        let found = mean("iops", &values).unwrap().estimate;
        let deviation = (82.5_f64 / 9.0).sqrt();
        assert!((found.high - (5.5 + 2.262 * deviation / 10.0_f64.sqrt())).abs() < 1e-9);
    }

    #[test]
    fn a_mean_time_counts_as_often_as_it_happened() {
        let values = [(1e6, 1000.0), (1e8, 10.0), (5.0, 0.0)];
        let values = values.map(|(value, weight)| Weighted { value, weight });
        let found = weighted_mean("t", &values).unwrap().estimate;
        assert!((found.value - 1_980_198.0).abs() < 1.0 && !found.has_interval());
        assert!(weighted_mean("t", &values[2..]).is_none());
    }
}
