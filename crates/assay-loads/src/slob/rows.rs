//! The rows of a table in the order in which they are stored: keys scattered, so that neighbours in
//! key are not neighbours on storage.

use super::{SlobRules, TEXT_BYTES, TEXT_COLUMNS, TextSource};
use assay_stats::permutation::Permutation;
use assay_stats::random::mix;
use std::ops::Range;

/// A row.
#[derive(Clone, Debug)]
pub struct SlobRow {
    /// The key, 1..=scale.
    pub key: u64,
    /// The columns of text, one behind the other.
    pub text: [u8; TEXT_COLUMNS * TEXT_BYTES],
}

/// Part of a table's rows.
#[derive(Clone, Debug)]
pub struct SlobRows {
    permutation: Permutation,
    filler: TextSource,
    places: Range<u64>,
}

impl SlobRows {
    /// The rows of a table that are stored at these places, from 0; parts differ in their content
    /// by where they begin.
    pub fn of(rules: &SlobRules, table: u32, places: Range<u64>) -> Self {
        let seed = rules.seed ^ mix(u64::from(table));
        Self {
            permutation: Permutation::new(rules.scale_blocks.max(1), seed),
            filler: TextSource::new(rules.compressible.0, seed, places.start),
            places,
        }
    }

    /// Writes the next row into `row`; false when there is none.
    pub fn next_into(&mut self, row: &mut SlobRow) -> bool {
        let Some(place) = self.places.next() else {
            return false;
        };
        row.key = self.permutation.image(place) + 1;
        self.filler.fill(&mut row.text);
        true
    }
}

impl Default for SlobRow {
    fn default() -> Self {
        Self { key: 0, text: [0; TEXT_COLUMNS * TEXT_BYTES] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(table: u32, places: Range<u64>) -> Vec<u64> {
        let rules = SlobRules { scale_blocks: 1000, ..SlobRules::default() };
        let (mut rows, mut row, mut keys) =
            (SlobRows::of(&rules, table, places), SlobRow::default(), Vec::new());
        while rows.next_into(&mut row) {
            keys.push(row.key);
        }
        keys
    }

    #[test]
    fn parts_together_hold_every_key_once_and_scattered() {
        let whole = keys(0, 0..1000);
        let mut parts = [keys(0, 0..300), keys(0, 300..1000)].concat();
        assert_eq!(whole, parts);
        let neighbours = whole.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 10).count();
        assert!(neighbours < 40, "{neighbours}");
        parts.sort_unstable();
        assert_eq!(parts, (1..=1000).collect::<Vec<u64>>());
        assert_ne!(whole, keys(1, 0..1000));
    }
}
