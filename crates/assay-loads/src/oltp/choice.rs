//! Random choices of the specification: numbers that are not uniform, and the constants behind
//! them.

use assay_stats::random::Random;

/// The constants C of the function `NURand`, one for each range.
///
/// Source: TPC-C, clause 2.1.6: they are chosen once for loading and once for running, and those of
/// last names must lie a certain way apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// For last names (A = 255).
    pub last_name: u32,
    /// For customers (A = 1023).
    pub customer: u32,
    /// For items (A = 8191).
    pub item: u32,
}

/// A stream of choices.
#[derive(Clone, Debug)]
pub struct Choices {
    random: Random,
    constants: Constants,
}

impl Constants {
    /// Those of loading.
    pub fn of_loading(seed: u64) -> Self {
        let mut random = Random::part(seed, 0xC0);
        let mut below = |limit| u32::try_from(random.below(limit)).unwrap_or(0);
        Self { last_name: below(256), customer: below(1024), item: below(8192) }
    }

    /// Those of running: the difference of last names lies in 65..=119 without 96 and 112.
    pub fn of_running(seed: u64) -> Self {
        let loading = Self::of_loading(seed);
        let mut random = Random::part(seed, 0xC1);
        let mut below = |limit| u32::try_from(random.below(limit)).unwrap_or(0);
        let last_name = loop {
            let chosen = below(256);
            let apart = chosen.abs_diff(loading.last_name);
            if (65..=119).contains(&apart) && apart != 96 && apart != 112 {
                break chosen;
            }
        };
        Self { last_name, customer: below(1024), item: below(8192) }
    }
}

impl Choices {
    /// The stream of a part of whatever the seed stands for.
    pub const fn new(seed: u64, part: u64, constants: Constants) -> Self {
        Self { random: Random::part(seed, part), constants }
    }

    /// The bare stream.
    pub const fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// A number from `low` to `high`, all equally likely.
    #[inline]
    pub fn uniform(&mut self, low: u32, high: u32) -> u32 {
        low + u32::try_from(self.random.below(u64::from(high - low) + 1)).unwrap_or(0)
    }

    /// Whether something happens that has this chance in percent.
    #[inline]
    pub fn percent(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    /// `NURand(A, x, y)` of clause 2.1.6: some numbers are met more often; `constant` decides
    /// which.
    #[inline]
    fn skewed(&mut self, a: u32, constant: u32, low: u32, high: u32) -> u32 {
        let mixed = self.uniform(0, a) | self.uniform(low, high);
        (mixed + constant) % (high - low + 1) + low
    }

    /// A customer of a district, 1..=3000.
    #[inline]
    pub fn customer(&mut self) -> u32 {
        self.skewed(1023, self.constants.customer, 1, super::CUSTOMERS)
    }

    /// An item, 1..=100,000.
    #[inline]
    pub fn item(&mut self) -> u32 {
        self.skewed(8191, self.constants.item, 1, super::ITEMS)
    }

    /// The number of a last name, 0..=999.
    #[inline]
    pub fn last_name(&mut self) -> u32 {
        self.skewed(255, self.constants.last_name, 0, 999)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_running_keep_their_distance() {
        for seed in 0..500 {
            let (load, run) = (Constants::of_loading(seed), Constants::of_running(seed));
            let apart = load.last_name.abs_diff(run.last_name);
            assert!((65..=119).contains(&apart) && apart != 96 && apart != 112, "{seed}: {apart}");
        }
    }

    /// The exact distribution of (r1 | r2) by counting all pairs is the oracle of the drawn one.
    #[test]
    fn last_names_are_as_skewed_as_all_pairs_say() {
        let constants = Constants { last_name: 123, customer: 0, item: 0 };
        let mut exact = vec![0_u32; 1000];
        for first in 0..=255_u32 {
            for second in 0..=999_u32 {
                exact[usize::try_from(((first | second) + 123) % 1000).unwrap()] += 1;
            }
        }
        let mut choices = Choices::new(5, 0, constants);
        let (mut drawn, draws) = (vec![0_u32; 1000], 2_560_000);
        for _ in 0..draws {
            drawn[usize::try_from(choices.last_name()).unwrap()] += 1;
        }
        // Ten times as many draws as pairs: chi-square of 999 degrees of freedom is above 1,200
        // once in 100,000.
        let mut chi_square = 0.0;
        for (drawn, exact) in drawn.iter().zip(&exact) {
            let expected = 10.0 * f64::from(*exact);
            if expected > 0.0 {
                chi_square += (f64::from(*drawn) - expected).powi(2) / expected;
            } else {
                assert_eq!(*drawn, 0);
            }
        }
        assert!(chi_square < 1200.0, "{chi_square}");
    }

    #[test]
    fn choices_stay_in_their_ranges() {
        let mut choices = Choices::new(1, 1, Constants::of_running(9));
        for _ in 0..100_000 {
            assert!((1..=3000).contains(&choices.customer()));
            assert!((1..=100_000).contains(&choices.item()));
            assert!((5..=15).contains(&choices.uniform(5, 15)));
        }
    }
}
