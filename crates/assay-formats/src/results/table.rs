//! Rows of numbers in intervals: their means with an interval of confidence, by Student's t on batches of the intervals.

use assay_model::Estimate;
use assay_model::number::{count_of, real_len};
use assay_model::verdict::NamedEstimate;

/// Batches of intervals, so that neighbours that follow one another count once.
const BATCHES: usize = 10;
/// Student's t for 95 % and nine degrees of freedom (ISO 3534, table).
const T_NINE: f64 = 2.262;

/// The mean of a quantity over intervals of equal length; without an interval where there are fewer than twenty.
pub fn mean(quantity: &str, values: &[f64]) -> Option<NamedEstimate> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let average = |values: &[f64]| values.iter().sum::<f64>() / real_len(values.len());
    let value = average(values);
    let estimate = if values.len() < 2 * BATCHES {
        Estimate::exact(value, count_of(values.len()))
    } else {
        let length = values.len() / BATCHES;
        let means: Vec<f64> = values.chunks_exact(length).take(BATCHES).map(average).collect();
        let centre = average(&means);
        let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
        let half = T_NINE * (squares / real_len(BATCHES - 1) / real_len(BATCHES)).sqrt();
        Estimate {
            value,
            low: value - half,
            high: value + half,
            confidence: 0.95,
            n: count_of(BATCHES),
        }
    };
    Some(NamedEstimate { quantity: quantity.to_owned(), subject: None, estimate })
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
        assert!((mean("iops", &values[..2]).unwrap().estimate.confidence - 1.0).abs() < 1e-9);
        assert!(mean("iops", &[]).is_none());
    }
}
