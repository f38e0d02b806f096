//! The refresh functions: new orders in, old orders out, a thousandth of all each time (clauses 2.6
//! and 2.7).
//!
//! Of 32 keys of orders only the first eight are used, so that there is room for three generations
//! of new ones between the old. A set takes the place of the thousandth that it removes: the tables
//! stay as large as they were, and the rows of a new order are those of the one that it replaces,
//! under a new key.

use super::{DssScale, DssTable};
use crate::sink::TablePart;
use assay_model::{Error, Result};
use std::ops::RangeInclusive;

/// Sets of one generation.
const SETS_OF_A_GENERATION: u32 = 1000;
/// Generations of keys besides the first.
const GENERATIONS: u32 = 3;
/// How many sets there are before the data must be loaded again.
pub const SETS: u32 = SETS_OF_A_GENERATION * GENERATIONS;

/// One set: what one call of each refresh function works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshSet {
    /// From 0.
    number: u32,
}

impl RefreshSet {
    /// The set of a number, from 1.
    ///
    /// # Errors
    /// An environment error when all sets are used up.
    pub fn new(number: u32) -> Result<Self> {
        if (1..=SETS).contains(&number) {
            return Ok(Self { number: number - 1 });
        }
        Err(Error::environment(
            format!("all {SETS} sets of new orders are used up"),
            "load the data again with --partial-data drop, or skip the refresh functions with \
             --no-refresh",
        ))
    }

    /// The part of orders and lines whose rows are used.
    pub fn part(self) -> TablePart {
        let number = self.number % SETS_OF_A_GENERATION + 1;
        TablePart {
            number: i32::try_from(number).unwrap_or(1),
            of: i32::try_from(SETS_OF_A_GENERATION).unwrap_or(1),
        }
    }

    /// Keys of the first generation and their new ones.
    pub fn rekey(self, key: i64) -> i64 {
        key | (i64::from(self.number / SETS_OF_A_GENERATION + 1) << 3)
    }

    /// Keys between which the old orders lie, and the bits that hold their generation.
    pub fn old_keys(self, scale: DssScale) -> (RangeInclusive<u64>, u64) {
        let all = DssTable::Orders.rows(scale);
        let each = all / u64::from(SETS_OF_A_GENERATION);
        let before = each * u64::from(self.number % SETS_OF_A_GENERATION);
        let is_last = self.number % SETS_OF_A_GENERATION == SETS_OF_A_GENERATION - 1;
        let last = if is_last { all } else { before + each };
        let bits = u64::from(self.number / SETS_OF_A_GENERATION) << 3;
        (order_key(before + 1) | bits..=order_key(last) | bits, bits)
    }

    /// The condition that old orders meet, by the name of their key's column.
    pub fn condition(self, scale: DssScale, column: &str) -> String {
        let (keys, bits) = self.old_keys(scale);
        format!("{column} BETWEEN {} AND {} AND ({column} & 24) = {bits}", keys.start(), keys.end())
    }
}

/// The key of the order of a number, from 1, of the first generation (clause 4.2.3, `O_ORDERKEY`).
pub(super) const fn order_key(number: u64) -> u64 {
    ((number >> 3) << 5) | (number & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tpchgen::generators::OrderGenerator;

    #[test]
    fn keys_are_those_of_the_generator() {
        for (number, order) in (1..).zip(OrderGenerator::new(0.01, 1, 1).iter()) {
            assert_eq!(u64::try_from(order.o_orderkey).unwrap(), order_key(number));
        }
    }

    #[test]
    fn a_set_removes_what_its_rows_replace() {
        let scale = DssScale::new(0.01).unwrap();
        for number in [1, 2, 500, 1000, 1001, 2000, 3000] {
            let set = RefreshSet::new(number).unwrap();
            let TablePart { number: part, of } = set.part();
            let rows = OrderGenerator::new(0.01, part, of);
            let (keys, bits) = set.old_keys(scale);
            let base: Vec<u64> =
                rows.iter().map(|row| u64::try_from(row.o_orderkey).unwrap()).collect();
            let old: Vec<u64> = base.iter().map(|key| key | bits).collect();
            assert_eq!((old.first(), old.last()), (Some(keys.start()), Some(keys.end())));
            let inside = keys.filter(|key| key & 0b1_1000 == bits).count();
            assert_eq!(inside, base.len(), "{number}");
            for key in base {
                let key = i64::try_from(key).unwrap();
                assert_eq!(set.rekey(key) & 0b1_1000, i64::from(number.div_ceil(1000)) << 3);
            }
        }
        assert!(RefreshSet::new(0).is_err() && RefreshSet::new(3001).is_err());
    }
}
