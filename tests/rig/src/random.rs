//! A small seeded generator, so that every scripted chance repeats exactly.

use assay_model::number::{count, real};
use std::ops::Range;
use std::time::Duration;

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of `SplitMix64`: a bijection of 64 bits without visible structure.
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The word at `index` of the endless sequence of `seed`, without walking to it.
pub(crate) const fn word_at(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(index.wrapping_mul(GOLDEN_GAMMA)))
}

impl Random {
    /// A generator whose whole sequence follows from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator of its own for part `stream` of what `seed` drives.
    pub(crate) const fn stream(seed: u64, stream: u64) -> Self {
        Self::new(mix(word_at(seed, stream)))
    }

    /// The next 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn unit(&mut self) -> f64 {
        real(self.next_u64() >> 11) / real(1 << 53)
    }

    /// Exponential with the given mean, rounded to a whole number.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        count(-(1.0 - self.unit()).ln() * real(mean))
    }

    /// A uniform duration in the half-open `range`; its start when the range is empty.
    pub fn duration(&mut self, range: &Range<Duration>) -> Duration {
        let width = range.end.saturating_sub(range.start);
        range.start + width.mul_f64(self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // Reference output of SplitMix64 for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn exponential_has_its_mean_and_its_median() {
        let mut random = Random::new(1);
        let mut draws: Vec<u64> = (0..20_000).map(|_| random.exponential(1_000_000)).collect();
        draws.sort_unstable();
        let mean = real(draws.iter().sum()) / 20_000.0;
        // Five standard errors: 1e6 / sqrt(20000) for the mean, the same for the median (ln 2
        // mean).
        assert!((mean - 1e6).abs() < 5.0 * 7_071.0, "mean {mean}");
        let median = real(draws[10_000]);
        assert!((median - 693_147.0).abs() < 5.0 * 7_071.0, "median {median}");
    }

    #[test]
    fn durations_stay_in_their_range() {
        let mut random = Random::new(2);
        let range = Duration::from_millis(3)..Duration::from_millis(5);
        assert!((0..1000).all(|_| range.contains(&random.duration(&range))));
    }
}
