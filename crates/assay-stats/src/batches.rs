//! Intervals of means and ratios of what was observed in batches, as documents carry them.

use crate::mean::{positive_mean_interval, positive_ratio_interval, ratio_interval};
use crate::mean_interval;
use assay_model::Estimate;
use assay_model::number::{count, count_of, index_of, real};

/// The share of intervals that hold the truth.
pub const CONFIDENCE: f64 = 0.95;
/// Fewer batches say nothing about their own doubt.
pub const BATCHES_MIN: usize = 5;

/// The mean of equally long batches with its interval; `None` below [`BATCHES_MIN`]. That of rates and times never reaches below 0.
pub fn mean_of_batches(observations: &[f64]) -> Option<Estimate> {
    let enough = observations.len() >= BATCHES_MIN;
    let interval = if are_positive(observations) { positive_mean_interval } else { mean_interval };
    enough.then(|| interval(observations, CONFIDENCE)).flatten().map(noun)
}

/// The sum of the numerators over the sum of the denominators with its interval; `None` below [`BATCHES_MIN`].
pub fn ratio_of_batches(numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
    let enough = numerators.len().min(denominators.len()) >= BATCHES_MIN;
    let interval = if are_positive(numerators) { positive_ratio_interval } else { ratio_interval };
    enough.then(|| interval(numerators, denominators, CONFIDENCE)).flatten().map(noun)
}

fn are_positive(observations: &[f64]) -> bool {
    observations.iter().all(|value| *value >= 0.0)
}

/// The same interval as a noun of the documents; it holds no more observations than are worth one each.
pub fn noun(estimate: crate::Estimate) -> Estimate {
    Estimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: count(estimate.effective_n).clamp(1, count_of(estimate.n.max(1))),
    }
}

/// A noun of the documents as the book reads it; its observations are worth one each.
pub fn book(estimate: &Estimate) -> crate::Estimate {
    crate::Estimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: index_of(estimate.n),
        effective_n: real(estimate.n),
    }
}
