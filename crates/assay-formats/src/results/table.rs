//! Rows of numbers in intervals: their means with an interval of confidence.

use assay_model::Estimate;
use assay_model::number::real_len;
use assay_model::verdict::NamedEstimate;
use assay_stats::batches::mean_of_batches;

/// The mean of a quantity over intervals of equal length, s; a number alone where they are too few or vary too much for an
/// interval of confidence.
pub fn mean(quantity: &str, values: &[f64], interval_s: f64) -> Option<NamedEstimate> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let value = values.iter().sum::<f64>() / real_len(values.len());
    let estimate = mean_of_batches(values, interval_s);
    let estimate = estimate.unwrap_or_else(|_| Estimate::exact(value, 1));
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
        let few = mean("iops", &values[..7], 1.0).unwrap().estimate;
        assert!((few.confidence - 1.0).abs() < 1e-9 && few.n == 1);
        assert!(mean("iops", &[], 1.0).is_none());
    }

    #[test]
    fn values_at_the_end_widen_the_interval_as_others_do() {
        let values: Vec<f64> = (0..29).map(|at| if at < 20 { 1000.0 } else { 2000.0 }).collect();
        let found = mean("iops", &values, 1.0).unwrap().estimate;
        assert!((found.value - 1310.3).abs() < 0.1, "{found:?}");
        assert!(found.low >= found.high || found.high > 1500.0, "{found:?}");
    }
}
