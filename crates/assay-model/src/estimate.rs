//! A number with its doubt: value, interval, confidence and how many independent observations stand
//! behind it.

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
    /// Upper end of the interval; infinite, and absent in a document, where only the lower one is
    /// known: `at least`.
    #[serde(default = "unbounded", skip_serializing_if = "is_unbounded")]
    pub high: f64,
    /// How often such an interval covers the truth, 0..=1; usually 0.95.
    pub confidence: f64,
    /// Independent observations behind it, after allowing for correlation.
    pub n: u64,
}

/// The upper end of an interval that has none.
const fn unbounded() -> f64 {
    f64::INFINITY
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_unbounded(high: &f64) -> bool {
    high.is_infinite()
}

impl Estimate {
    /// Whether only the lower end is known: the quantity is at least `low`, and may be anything
    /// above.
    pub const fn is_at_least(&self) -> bool {
        self.high.is_infinite()
    }

    /// A number known without doubt, from `n` observations.
    pub const fn exact(value: f64, n: u64) -> Self {
        Self { value, low: value, high: value, confidence: 1.0, n }
    }

    /// A number of which no interval is known, so that it may be anything: it contradicts no other
    /// number.
    pub const fn without_interval(value: f64, n: u64) -> Self {
        Self { value, low: 0.0, high: f64::INFINITY, confidence: 0.0, n }
    }

    /// Whether anything is known of how far the number may be off.
    pub const fn has_interval(&self) -> bool {
        self.confidence > 0.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_an_interval_contradicts_nothing() {
        let read = Estimate::without_interval(5.0, 1);
        assert!(!read.has_interval() && read.covers(0.0) && read.covers(1e12));
        assert!(Estimate::exact(5.0, 1).has_interval() && !read.scaled(2.0).has_interval());
        let text = serde_json::to_string(&read).expect("numbers");
        assert_eq!(serde_json::from_str::<Estimate>(&text).expect("the same"), read);
    }

    #[test]
    fn an_interval_with_one_end_survives_its_document() {
        let bound =
            Estimate { value: 60.0, low: 54.0, high: f64::INFINITY, confidence: 0.95, n: 7 };
        let text = serde_json::to_string(&bound).expect("numbers");
        assert_eq!(text, r#"{"value":60.0,"low":54.0,"confidence":0.95,"n":7}"#);
        let read: Estimate = serde_json::from_str(&text).expect("the same");
        assert!(read == bound && read.is_at_least() && read.covers(1e12) && !read.covers(53.0));
        assert!(read.relative_half_width().is_infinite());
    }
}
