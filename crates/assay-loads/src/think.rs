//! How long people think between two transactions.

use assay_model::units::Nanos;
use assay_stats::random::Random;

/// The longest think time, in means (TPC-C, clause 5.2.5.4), so that no session sleeps through a
/// measurement.
const MEANS_MAX: f64 = 10.0;

/// A think time: exponential around its mean, in seconds, and cut.
pub(crate) fn thought(random: &mut Random, mean_s: f64) -> Nanos {
    Nanos::from_seconds(mean_s * random.exponential().min(MEANS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_have_their_mean_and_an_end() {
        let mut random = Random::part(1, 2);
        let all: Vec<f64> = (0..40_000).map(|_| thought(&mut random, 0.25).seconds()).collect();
        let mean = all.iter().sum::<f64>() / 40_000.0;
        // Four standard errors of an exponential mean: 0.25 / 200 * 4.
        assert!((mean - 0.25).abs() < 0.005, "{mean}");
        assert!(all.iter().all(|one| *one <= 2.5));
        assert_eq!(thought(&mut random, 0.0), Nanos(0));
    }
}
