//! A keyed permutation of 0..n in constant memory: random order without a table.
//!
//! A Feistel network over the smallest power of two that holds n, walked until it lands below n
//! (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, cycle walking).

use crate::random::mix;

const ROUNDS: u64 = 4;

/// One permutation of `0..places`, chosen by the key.
#[derive(Clone, Debug)]
pub struct Permutation {
    places: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `0..places` for a key; `places` must be at least 1.
    pub fn new(places: u64, key: u64) -> Self {
        let bits = (64 - (places - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let keys = [0, 1, 2, 3].map(|round| mix(key ^ mix(round)));
        Self {
            places,
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1 << (bits - low_bits)) - 1,
            keys,
        }
    }

    /// The image of `index`, which must be below `places`; every image below `places` comes from
    /// one index.
    pub fn image(&self, index: u64) -> u64 {
        let mut value = self.shuffle(index);
        while value >= self.places {
            value = self.shuffle(value);
        }
        value
    }

    /// One pass over the whole power of two: halves mix each other in turn.
    fn shuffle(&self, value: u64) -> u64 {
        let (mut low, mut high) = (value & self.low_mask, value >> self.low_bits);
        for round in 0..ROUNDS {
            let key = self.keys[usize::from(round.to_le_bytes()[0])];
            if round % 2 == 0 {
                high ^= mix(low ^ key) & self.high_mask;
            } else {
                low ^= mix(high ^ key) & self.low_mask;
            }
        }
        (high << self.low_bits) | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::index_of;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_met_exactly_once(places in 1u64..5000, key in any::<u64>()) {
            let permutation = Permutation::new(places, key);
            let mut met = vec![false; index_of(places)];
            for index in 0..places {
                let image = index_of(permutation.image(index));
                prop_assert!(!std::mem::replace(&mut met[image], true));
            }
        }

        #[test]
        fn large_domains_stay_inside(places in 1u64 << 30..1 << 45, key in any::<u64>(), index in any::<u64>()) {
            prop_assert!(Permutation::new(places, key).image(index % places) < places);
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let permutation = Permutation::new(1 << 20, 9);
        let close = (0..1000).filter(|index| {
            permutation.image(*index).abs_diff(permutation.image(index + 1)) < 1 << 10
        });
        assert!(close.count() < 10);
    }
}
