//! The statistics book as a profile of a live server asks it.

use crate::host_context::IntervalEstimator;
use crate::samples::SessionSamples;
use assay_model::Estimate;
use assay_model::number::real_len;
use assay_stats::batches::ratio_of_batches;

/// Intervals of what was sampled: what samples see comes in bursts, as times do.
#[derive(Clone, Copy, Debug)]
pub struct SampleIntervals {
    sample_s: f64,
}

impl SampleIntervals {
    /// For samples that follow one another in equal steps on average.
    pub fn new(samples: &SessionSamples) -> Self {
        Self { sample_s: samples.elapsed_s / real_len(samples.taken.len().max(1)) }
    }
}

impl IntervalEstimator for SampleIntervals {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        self.ratio(observations, &vec![1.0; observations.len()])
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        ratio_of_batches(numerators, denominators, self.sample_s).ok()
    }
}
