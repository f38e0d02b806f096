//! Chooses blocks to sample: reproducible, spread over the whole range.

/// A stream of numbers that depends on the seed only (`SplitMix64`, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform over all 64-bit values.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }

    /// At most `wanted` different numbers below `total`, ascending: the range is cut into equal
    /// parts, and one is taken of each at random, but the first of the first and the last of
    /// the last part.
    pub(crate) fn spread(&mut self, total: u64, wanted: u64) -> Vec<u64> {
        let parts = wanted.min(total);
        let begin = |part: u64| {
            assay_model::number::narrow(
                u128::from(part) * u128::from(total) / u128::from(parts.max(1)),
            )
        };
        let choose = |part| {
            let (low, high) = (begin(part), begin(part + 1));
            match part {
                0 => low,
                last if last + 1 == parts => high - 1,
                _ => low + self.next() % (high - low),
            }
        };
        (0..parts).map(choose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_and_the_last_are_always_there() {
        assert_eq!(Draw::new(1).spread(3, 100), [0, 1, 2]);
        let spread = Draw::new(1).spread(1_000_000, 64);
        assert_eq!((spread[0], spread[63], spread.len()), (0, 999_999, 64));
        assert!(Draw::new(1).spread(0, 64).is_empty());
    }

    proptest! {
        #[test]
        fn numbers_ascend_within_the_range(seed: u64, total in 1..=u64::MAX, wanted in 1u64..200) {
            let spread = Draw::new(seed).spread(total, wanted);
            prop_assert!(spread.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(spread.iter().all(|number| *number < total));
        }
    }
}
