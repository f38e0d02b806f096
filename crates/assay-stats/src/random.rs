//! Seeded random numbers: xoshiro256++ seeded by splitmix64, so that equal seeds give equal runs on
//! every machine.
//!
//! Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47
//! (2021).

use assay_model::number::{narrow, real};

/// A stream of random numbers; not for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

/// The splitmix64 step: every bit of the input reaches every bit of the output.
pub const fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let second = seed.wrapping_add(STEP);
        let third = second.wrapping_add(STEP);
        Self { state: [mix(seed), mix(second), mix(third), mix(third.wrapping_add(STEP))] }
    }

    /// A stream of its own for part `index` of whatever `seed` stands for.
    pub const fn part(seed: u64, index: u64) -> Self {
        Self::new(mix(seed) ^ mix(index.wrapping_mul(0xd1b5_4a32_d192_ed03)))
    }

    /// 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let [first, second, third, fourth] = self.state;
        let result = first.wrapping_add(fourth).rotate_left(23).wrapping_add(first);
        let (third_mixed, fourth_mixed) = (third ^ first, fourth ^ second);
        self.state = [
            first ^ fourth_mixed,
            second ^ third_mixed,
            third_mixed ^ (second << 17),
            fourth_mixed.rotate_left(45),
        ];
        result
    }

    /// A number in `0..limit`, 0 for a limit of 0. The bias of the multiplication is below limit /
    /// 2^64.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        narrow((u128::from(self.next_u64()) * u128::from(limit)) >> 64)
    }

    /// A number in `0.0..1.0`, of 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        real(self.next_u64() >> 11) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An exponential number of mean 1, never infinite.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normal number of mean 0 and variance 1, by Marsaglia's polar method (SIAM Review 6, 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Whether an event of this probability happens.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_sequence() {
        // The first outputs for seed 1234567 of Vigna's reference program.
        let step = 0x9e37_79b9_7f4a_7c15u64;
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for (index, value) in (0u64..).zip(expected) {
            assert_eq!(mix(1_234_567u64.wrapping_add(step.wrapping_mul(index))), value);
        }
    }

    #[test]
    fn xoshiro_gives_the_published_sequence() {
        // State 1, 2, 3, 4, as in the reference vectors of the rand_xoshiro project.
        let mut random = Random { state: [1, 2, 3, 4] };
        let expected = [41_943_041u64, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!(expected.map(|_| random.next_u64()), expected);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let (mut random, draws) = (Random::new(7), 200_000u32);
        let mean = (0..draws).map(|_| random.exponential()).sum::<f64>() / f64::from(draws);
        let half = (0..draws).map(|_| random.unit()).sum::<f64>() / f64::from(draws);
        assert!((mean - 1.0).abs() < 0.01 && (half - 0.5).abs() < 0.003, "{mean} {half}");
        assert!((0..1000).all(|_| random.below(10) < 10));
    }
}
