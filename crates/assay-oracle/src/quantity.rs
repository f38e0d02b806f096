//! One number of a report with its unit, its rounding and the place it was read from.

use crate::section::OracleSection;

/// The base unit of a number, after suffixes and headings were taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OracleUnit {
    /// Things without a unit of their own: waits, requests, blocks, identifiers.
    Count,
    /// Things per second.
    PerSecond,
    /// Things per transaction.
    PerTransaction,
    /// Seconds.
    Seconds,
    /// Bytes; suffixes are powers of 1024.
    Bytes,
    /// Bytes per second; suffixes are powers of 1024.
    BytesPerSecond,
    /// Parts of a whole: what is printed in percent, divided by 100.
    Share,
    /// Whatever the row's label says.
    Labelled,
}

/// A number that was read with certainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OracleQuantity {
    /// The value in its base unit.
    pub value: f64,
    /// Half a unit of the last printed digit, in the same unit: the report cannot be held to less.
    pub rounding_width: f64,
    /// The base unit.
    pub unit: OracleUnit,
    /// The section it stood in.
    pub section: OracleSection,
    /// The line of the file, from 1.
    pub line: u32,
}

impl OracleQuantity {
    /// The same number in another unit: `factor` of that unit is one of this.
    pub(crate) fn scaled(self, factor: f64, unit: OracleUnit) -> Self {
        Self {
            value: self.value * factor,
            rounding_width: self.rounding_width * factor,
            unit,
            ..self
        }
    }

    /// Whether two numbers say the same within their rounding and `tolerance` of the greater.
    pub fn agrees(&self, other: &Self, tolerance: f64) -> bool {
        let slack = self.rounding_width + other.rounding_width;
        let greater = self.value.abs().max(other.value.abs());
        (self.value - other.value).abs() <= slack + tolerance * greater
    }

    /// Where it stood, as a person would look it up: `Load Profile, line 25`.
    pub fn place(&self) -> String {
        format!("{}, line {}", self.section.title(), self.line)
    }
}

/// Something that stands in the report and could not be read with certainty; it is absent from the
/// result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFact {
    /// The section it stood in.
    pub section: OracleSection,
    /// The line of the file, from 1.
    pub line: u32,
    /// What stood there, shortened; untrusted text of the report.
    pub text: String,
    /// Why it was not read.
    pub reason: &'static str,
}

/// A value that cannot be true, or two values that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The section of the value in question.
    pub section: OracleSection,
    /// The line of the file, from 1; 0 where the contradiction has no single place.
    pub line: u32,
    /// What contradicts what, with both numbers.
    pub message: String,
}
