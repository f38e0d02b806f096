//! Plain statistics with exact expected answers.

use assay_judge::{Statistics, Tail};
use assay_model::comparison::ScalingLaw;
use assay_model::number::{real, real_len};
use assay_model::{Estimate, Histogram};

/// Two standard errors about the mean, as if the observations were independent; needs four of them.
pub(crate) struct Plain;

impl Statistics for Plain {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        let n = real_len(observations.len());
        let mean = observations.iter().sum::<f64>() / n;
        let squares: f64 = observations.iter().map(|value| (value - mean).powi(2)).sum();
        let reach = 2.0 * (squares / (n - 1.0) / n).sqrt();
        (n >= 4.0).then(|| Estimate {
            value: mean,
            low: mean - reach,
            high: mean + reach,
            confidence: 0.95,
            n: assay_model::number::count(n),
        })
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        let (above, below) = (numerators.iter().sum::<f64>(), denominators.iter().sum::<f64>());
        let ratio = above / below;
        let mean = below / real_len(denominators.len());
        let rests = numerators.iter().zip(denominators);
        let rests: Vec<f64> =
            rests.map(|(above, below)| ratio + (above - ratio * below) / mean).collect();
        self.mean(&rests)
    }

    fn quotient(&self, of: &Estimate, by: &Estimate) -> Option<Estimate> {
        (of.low > 0.0 && by.low > 0.0).then(|| Estimate {
            value: of.value / by.value,
            low: of.low / by.high,
            high: of.high / by.low,
            ..*of
        })
    }

    fn of_repeats(&self, values: &[f64]) -> Option<Estimate> {
        self.mean(values)
    }

    fn reach(&self, confidence: f64) -> f64 {
        1.0 / (1.0 - confidence)
    }

    fn normal_reach(&self, _confidence: f64) -> f64 {
        2.0
    }

    fn scaling_law(&self, _points: &[(f64, f64)]) -> Option<ScalingLaw> {
        None
    }

    fn quantile(&self, histograms: &[&Histogram], quantile: f64) -> Option<Tail> {
        let each: Vec<f64> = histograms.iter().map(|one| real(one.quantile_ns(quantile))).collect();
        Some(Tail { estimate: self.mean(&each)?, clusters: 100 })
    }

    /// The first value that is twice or half the one before.
    fn level_change(&self, observations: &[f64]) -> Option<usize> {
        let changed = |pair: &[f64]| pair[0] > 1.9 * pair[1] || pair[1] > 1.9 * pair[0];
        Some(observations.windows(2).position(changed)? + 1)
    }
}
