//! A number with its doubt: value, interval, confidence and how many independent observations stand behind it.

use serde::{Deserialize, Serialize};

/// An estimated quantity; the unit is in the name of the field that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The best guess.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How often such an interval covers the truth, 0..=1; usually 0.95.
    pub confidence: f64,
    /// Independent observations behind it, after allowing for correlation.
    pub n: u64,
}

impl Estimate {
    /// A number known without doubt, from `n` observations.
    pub const fn exact(value: f64, n: u64) -> Self {
        Self { value, low: value, high: value, confidence: 1.0, n }
    }

    /// Half the interval's width over the value's size; infinite for a value of 0 with a width.
    pub fn relative_half_width(&self) -> f64 {
        let half = (self.high - self.low) / 2.0;
        if half <= 0.0 { 0.0 } else { half / self.value.abs() }
    }

    /// Whether the interval covers a number.
    pub fn covers(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// The same in another unit.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..*self
        }
    }
}
