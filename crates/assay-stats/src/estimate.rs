//! A number with its doubt, and the arithmetic of two such numbers.

/// An estimated number: the value, the interval that holds the truth, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalEstimate {
    /// The best single guess, in the unit of the observations.
    pub value: f64,
    /// Lower end of the interval; never above `value`.
    pub low: f64,
    /// Upper end of the interval; never below `value`.
    pub high: f64,
    /// How often an interval made this way holds the truth, in (0, 1): 0.95.
    pub confidence: f64,
    /// How many observations were seen.
    pub n: usize,
    /// How many independent observations would be worth as much; at most `n`.
    pub effective_n: f64,
}

impl IntervalEstimate {
    /// A number known exactly: an interval of width zero.
    pub fn exact(value: f64, confidence: f64) -> Self {
        Self { value, low: value, high: value, confidence, n: 1, effective_n: 1.0 }
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }

    /// Half the width as a share of the value's size; infinite at 0.
    pub fn relative_half_width(&self) -> f64 {
        self.half_width() / self.value.abs()
    }

    /// Whether the interval holds `truth`.
    pub fn covers(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }

    /// The estimate of `factor` times the quantity: a change of unit.
    pub fn scaled(&self, factor: f64) -> Self {
        let (one, other) = (self.low * factor, self.high * factor);
        Self { value: self.value * factor, low: one.min(other), high: one.max(other), ..*self }
    }

    /// The estimate of this quantity minus an independent one.
    ///
    /// The interval is recovered from the two intervals alone, so it stays right where they are
    /// skew (MOVER: Zou and Donner, Statistics in Medicine 27(10), 2008).
    pub fn minus(&self, other: &Self) -> Self {
        let value = self.value - other.value;
        Self {
            value,
            low: value - (self.value - self.low).hypot(other.high - other.value),
            high: value + (self.high - self.value).hypot(other.value - other.low),
            confidence: self.confidence.min(other.confidence),
            n: self.n.min(other.n),
            effective_n: self.effective_n.min(other.effective_n),
        }
    }

    /// The estimate of this quantity divided by an independent one; `None` unless both intervals
    /// are above 0.
    ///
    /// The difference of the logarithms, taken back (MOVER for ratios: Zou and Donner, 2008, §3.3).
    pub fn over(&self, other: &Self) -> Option<Self> {
        if self.low <= 0.0 || other.low <= 0.0 {
            return None;
        }
        let ratio = self.mapped(f64::ln).minus(&other.mapped(f64::ln));
        Some(ratio.mapped(f64::exp))
    }

    /// The estimate of an increasing function of the quantity.
    fn mapped(&self, increasing: impl Fn(f64) -> f64) -> Self {
        Self {
            value: increasing(self.value),
            low: increasing(self.low),
            high: increasing(self.high),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn around(value: f64, below: f64, above: f64) -> IntervalEstimate {
        IntervalEstimate {
            value,
            low: value - below,
            high: value + above,
            confidence: 0.95,
            n: 30,
            effective_n: 12.0,
        }
    }

    #[test]
    fn the_doubts_of_a_difference_add_like_the_sides_of_a_right_angle() {
        let difference = around(10.0, 3.0, 5.0).minus(&around(4.0, 12.0, 4.0));
        let ends = (difference.value, difference.low, difference.high);
        assert_eq!(ends, (6.0, 1.0, 19.0));
    }

    #[test]
    fn a_ratio_needs_numbers_above_zero() {
        let ratio = around(6.0, 0.0, 0.0).over(&around(3.0, 0.0, 0.0)).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-15 && ratio.half_width() < 1e-15);
        assert_eq!(around(1.0, 0.1, 0.1).over(&around(1.0, 2.0, 0.1)), None);
    }

    #[test]
    fn a_change_of_unit_may_turn_the_interval_round() {
        let turned = around(10.0, 3.0, 5.0).scaled(-2.0);
        assert_eq!((turned.low, turned.high), (-30.0, -14.0));
        assert!(turned.covers(-20.0) && !turned.covers(-13.9));
        assert!((turned.relative_half_width() - 0.4).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn exchanging_the_two_mirrors_difference_and_ratio(
            one in 1.0..9.0, other in 1.0..9.0, below in 0.0..0.9, above in 0.0..9.0,
        ) {
            let (one, other) = (around(one, below, above), around(other, below / 2.0, above / 3.0));
            let (there, back) = (one.minus(&other), other.minus(&one));
            prop_assert!((there.low + back.high).abs() < 1e-12);
            prop_assert!(there.low <= there.value && there.value <= there.high);
            let (there, back) = (one.over(&other).unwrap(), other.over(&one).unwrap());
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-12);
        }
    }
}
