//! How large the tables are: a factor of 1 makes about 1 GB of rows.

use assay_model::number::count;
use assay_model::{Error, Result};
use std::fmt;

/// Suppliers at scale 1.
const SUPPLIERS: f64 = 10_000.0;
/// Parts of one supplier.
const PARTS_OF_A_SUPPLIER: u64 = 20;
/// The largest scale that the benchmark knows.
const MOST: f64 = 100_000.0;

/// The factor.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct DssScale(f64);

impl DssScale {
    /// Checks a factor.
    ///
    /// # Errors
    /// A usage error when rows of that scale are not possible: small ones may give one part the
    /// same supplier twice.
    pub fn new(factor: f64) -> Result<Self> {
        let wrong =
            |what: &str, how: &str| Err(Error::usage(format!("--scale {factor}: {what}"), how));
        if !(factor.is_finite() && factor > 0.0 && factor <= MOST) {
            return wrong("no scale", "write a number such as 0.01, 1 or 10");
        }
        let scale = Self(factor);
        if !scale.has_different_suppliers() {
            return wrong(
                "so few suppliers that a part would have the same one twice",
                "write 0.01 or more; 0.01, 0.1, 1, 10 are usual",
            );
        }
        Ok(scale)
    }

    /// The factor.
    pub const fn factor(self) -> f64 {
        self.0
    }

    /// A share of the factor's rows.
    pub(super) fn rows(self, at_one: u32) -> u64 {
        count(f64::from(at_one) * self.0)
    }

    /// The four suppliers of a part lie one step apart on the circle of all suppliers (clause
    /// 4.2.3, `PS_SUPPKEY`).
    fn has_different_suppliers(self) -> bool {
        let suppliers = count(SUPPLIERS * self.0);
        if suppliers < 4 {
            return false;
        }
        let steps = (0..PARTS_OF_A_SUPPLIER).map(|turn| suppliers / 4 + turn);
        steps.into_iter().all(|step| (1..4).all(|times| !(times * step).is_multiple_of(suppliers)))
    }
}

impl fmt::Display for DssScale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_that_make_rows_are_told_from_those_that_do_not() {
        for good in [0.01, 0.02, 0.1, 1.0, 3.0, 100.0] {
            assert!(DssScale::new(good).is_ok(), "{good}");
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.0001, 0.001, 1e6] {
            assert!(DssScale::new(bad).is_err(), "{bad}");
        }
        assert_eq!(DssScale::new(0.01).unwrap().rows(1_500_000), 15_000);
    }
}
