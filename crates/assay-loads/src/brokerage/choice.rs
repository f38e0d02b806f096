//! Choices with a skew: some are met more often, and a keyed permutation decides which.

use assay_stats::permutation::Permutation;
use assay_stats::random::{Random, mix};
use assay_stats::zipf::Zipf;

/// Numbers 1..=places of which the k-th in an order of its own has weight k to the minus theta.
#[derive(Clone, Debug)]
pub(super) struct Skewed {
    places: u64,
    zipf: Option<Zipf>,
    scatter: Permutation,
}

impl Skewed {
    /// `places` at least 1; a theta of 0 makes all equally likely.
    pub(super) fn new(places: u32, theta: f64, key: u64) -> Self {
        let places = u64::from(places.max(1));
        let zipf = (theta > 0.0).then(|| Zipf::new(places, theta));
        Self { places, zipf, scatter: Permutation::new(places, mix(key)) }
    }

    /// The next number.
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        let rank = match &self.zipf {
            Some(zipf) => zipf.rank(random) - 1,
            None => random.below(self.places),
        };
        self.scattered(rank)
    }

    /// The number at a place of the order, from 0.
    pub(super) fn scattered(&self, rank: u64) -> u32 {
        u32::try_from(self.scatter.image(rank % self.places) + 1).unwrap_or(1)
    }

    /// How many there are.
    pub(super) const fn places(&self) -> u64 {
        self.places
    }
}

/// A number below a limit.
pub(super) fn below(random: &mut Random, limit: u32) -> u32 {
    u32::try_from(random.below(u64::from(limit))).unwrap_or(0)
}

/// A number from `low` to `high`.
pub(super) fn between(random: &mut Random, low: u32, high: u32) -> u32 {
    low + below(random, high - low + 1)
}

/// Whether something happens that has this chance in percent.
pub(super) fn percent(random: &mut Random, percent: u32) -> bool {
    below(random, 100) < percent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's statistic of counts, the k-th of which has weight k to the minus theta.
    fn chi_square(seen: &[u32], theta: f64) -> f64 {
        let weights: Vec<f64> = (1..=seen.len())
            .map(|rank| f64::from(u32::try_from(rank).unwrap()).powf(-theta))
            .collect();
        let (total, draws) = (weights.iter().sum::<f64>(), seen.iter().sum::<u32>());
        let term = |(seen, weight): (&u32, &f64)| {
            let expected = f64::from(draws) * weight / total;
            (f64::from(*seen) - expected).powi(2) / expected
        };
        seen.iter().zip(&weights).map(term).sum()
    }

    #[test]
    fn numbers_follow_the_law_of_their_place_wherever_they_lie() {
        for theta in [0.0, 0.4, 0.6, 1.0] {
            let skewed = Skewed::new(200, theta, 7);
            let mut random = Random::new(5);
            let mut drawn = [0_u32; 201];
            for _ in 0..400_000 {
                drawn[usize::try_from(skewed.draw(&mut random)).unwrap()] += 1;
            }
            assert_eq!(drawn[0], 0);
            let ordered: Vec<u32> = (0..200)
                .map(|rank| drawn[usize::try_from(skewed.scattered(rank)).unwrap()])
                .collect();
            // Of 199 degrees of freedom: outside of 125 to 295 less than once in 50,000.
            let statistic = chi_square(&ordered, theta);
            assert!((125.0..295.0).contains(&statistic), "theta {theta}: {statistic}");
        }
    }
}
