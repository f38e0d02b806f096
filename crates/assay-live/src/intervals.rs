//! The statistics book as a profile of a live server asks it.

use crate::host_context::IntervalEstimator;
use assay_model::Estimate;
use assay_stats::batches::{mean_of_batches, ratio_of_batches};

/// Intervals by the lowest frequencies of a series of batches.
#[derive(Clone, Copy, Debug)]
pub struct Intervals;

impl IntervalEstimator for Intervals {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        mean_of_batches(observations)
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        ratio_of_batches(numerators, denominators)
    }
}
