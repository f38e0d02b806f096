//! What judging asks of a statistics book: intervals from observations that follow one another in time.

use assay_model::comparison::ScalingLaw;
use assay_model::{Estimate, Histogram};

/// A quantile with what its far end rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// The quantile; without an upper end where too few clusters lie beyond it to tell one.
    pub estimate: Estimate,
    /// How many independent times values were beyond it.
    pub clusters: u64,
}

/// Makes intervals from a series of batches in their order in time; every method gives `None` where the series is
/// too short to say anything about its own doubt. Neighbouring batches may resemble one another: allowing for
/// that is the task of whoever implements this.
pub trait Statistics {
    /// The mean of equally long observations.
    fn mean(&self, observations: &[f64]) -> Option<Estimate>;

    /// The sum of the numerators over the sum of the denominators, for example of times over numbers of I/Os.
    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate>;

    /// The value below which a share `quantile` (0..=1) of all values lies; one histogram a batch, some may be empty.
    fn quantile(&self, histograms: &[&Histogram], quantile: f64) -> Option<Tail>;

    /// Index of the first of the observations of another level, where they surely do not keep one.
    fn level_change(&self, observations: &[f64]) -> Option<usize>;

    /// One quantity over another one that was measured independently; `None` unless both are surely above 0.
    fn quotient(&self, of: &Estimate, by: &Estimate) -> Option<Estimate>;

    /// The mean of independent repeats, two at least.
    fn of_repeats(&self, values: &[f64]) -> Option<Estimate>;

    /// How many standard errors an interval of a mean reaches to each side at this confidence, with as few batches as
    /// an interval may rest on.
    fn reach(&self, confidence: f64) -> f64;

    /// How many standard deviations a normal interval reaches to each side at this confidence.
    fn normal_reach(&self, confidence: f64) -> f64;

    /// The Universal Scalability Law through nodes and what they give; `None` of too few points.
    fn scaling_law(&self, points: &[(f64, f64)]) -> Option<ScalingLaw>;
}
