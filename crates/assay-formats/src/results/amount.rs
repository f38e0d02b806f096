//! Numbers in results of other programs: unreadable ones are unknown, impossible ones are refused.

use super::imported::refused;
use assay_model::Result;

/// The largest number that a result can hold in any unit; sums of millions of them stay finite.
const LARGEST: f64 = 1e18;
/// What programs write in place of a number that they do not have.
const ABSENT: [&str; 7] = ["", "-", "n/a", "na", "nan", "-nan", "null"];

/// Where a number stands in a result.
#[derive(Clone, Copy, Debug)]
pub struct NumberPlace<'a> {
    /// The program that wrote it.
    pub program: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// What the number is of: its column or its word.
    pub what: &'a str,
}

/// The number, if it is finite, not negative, and small enough to be one of storage.
pub fn possible(number: f64) -> Option<f64> {
    // Of the two zeros the one without a sign.
    (number.is_finite() && (0.0..=LARGEST).contains(&number)).then_some(number.abs())
}

impl NumberPlace<'_> {
    /// A rate, a time, an amount: finite and not negative. None where the program wrote that it has
    /// none.
    ///
    /// # Errors
    /// A usage error with the line where it is neither.
    pub fn amount(&self, text: &str) -> Result<Option<f64>> {
        let text = text.trim();
        if ABSENT.iter().any(|absent| text.eq_ignore_ascii_case(absent)) {
            return Ok(None);
        }
        let number = text.parse::<f64>().ok().and_then(possible);
        number.map(Some).ok_or_else(|| self.refused(text))
    }

    fn refused(&self, text: &str) -> assay_model::Error {
        let what = format!("line {}: {} cannot be '{text}'", self.line, self.what);
        refused(self.program, &what, "correct the number, or remove its line")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_possible_or_unknown_or_refused() {
        let place = NumberPlace { program: "x", line: 3, what: "iops" };
        for (text, number) in [(" 5 ", 5.0), ("1.5e3", 1500.0), ("-0", 0.0)] {
            let read = place.amount(text).unwrap().unwrap();
            assert!(read.to_bits() == f64::to_bits(number), "{text}");
        }
        for text in ["", " ", "-", "n/a", "NaN", "-nan", "null"] {
            assert_eq!(place.amount(text).unwrap(), None, "{text}");
        }
        for text in ["inf", "-inf", "infinity", "-5", "1e308", "five", "1,5", "0x10"] {
            let error = place.amount(text).unwrap_err();
            assert!(error.message().contains("line 3: iops cannot be"), "{error}");
        }
    }
}
