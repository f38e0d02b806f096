//! From numbers to places, and the numbers that are worth writing on an axis.

use assay_model::Estimate;
use assay_model::number::{index, real_len};

/// How a range of numbers is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaleLaw {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long.
    Log,
}

/// A range of numbers on a range of places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AxisScale {
    /// How the numbers are laid out.
    law: ScaleLaw,
    /// The smallest number that has a place.
    pub(crate) low: f64,
    /// The largest number that has a place.
    pub(crate) high: f64,
    /// The place of the smallest number.
    from: f64,
    /// The place of the largest number.
    to: f64,
}

/// A number that is written on an axis, or only marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AxisTick {
    /// The number.
    pub(crate) value: f64,
    /// Whether it is written.
    pub(crate) labelled: bool,
}

impl AxisScale {
    /// Linear from 0 to a round number at or above `high`.
    pub(crate) fn from_zero(high: f64, ticks: usize) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = nice_step(high / real_len(ticks.max(1)));
        let rounded = (high / step - 1e-9).ceil() * step;
        Self { law: ScaleLaw::Linear, low: 0.0, high: rounded, from: 0.0, to: 1.0 }
    }

    /// Linear between two numbers.
    pub(crate) fn linear(low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { law: ScaleLaw::Linear, low, high, from: 0.0, to: 1.0 }
    }

    /// Logarithmic between the numbers, with a little room on both sides; at most nine powers of
    /// ten, whatever lies below.
    pub(crate) fn log(low: f64, high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let low = low.clamp(high * 1e-9, high);
        // A single number, or barely a difference, is shown in the middle of a factor of four.
        let widen = (2.0 / (high / low).sqrt()).max(1.15);
        Self { law: ScaleLaw::Log, low: low / widen, high: high * widen, from: 0.0, to: 1.0 }
    }

    /// Logarithmic exactly between the numbers.
    pub(crate) const fn log_exact(low: f64, high: f64) -> Self {
        Self { law: ScaleLaw::Log, low, high, from: 0.0, to: 1.0 }
    }

    /// Law, both numbers at the ends and both places, for who reads places back into numbers.
    pub(crate) const fn ends(&self) -> (ScaleLaw, [f64; 4]) {
        (self.law, [self.low, self.high, self.from, self.to])
    }

    /// The same numbers on places that lie this much farther.
    pub(crate) const fn moved(self, by: f64) -> Self {
        Self { from: self.from + by, to: self.to + by, ..self }
    }

    /// The same numbers on these places.
    pub(crate) const fn onto(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// The place of a number; numbers beyond the range are held at its ends.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.law {
            ScaleLaw::Linear => (value - self.low) / (self.high - self.low),
            ScaleLaw::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + share * (self.to - self.from)
    }

    /// Numbers worth writing, about `wanted` of them.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<AxisTick> {
        match self.law {
            ScaleLaw::Linear => self.linear_ticks(wanted),
            ScaleLaw::Log => self.log_ticks(wanted),
        }
    }

    /// Multiples of a round step.
    fn linear_ticks(&self, wanted: usize) -> Vec<AxisTick> {
        let step = nice_step((self.high - self.low) / real_len(wanted.max(1)));
        let first = (self.low / step - 1e-9).ceil();
        let count = index((self.high / step + 1e-9).floor() - first) + 1;
        (0..count)
            .map(|place| AxisTick { value: (first + real_len(place)) * step, labelled: true })
            .collect()
    }

    /// Powers of ten; between them 2 and 5 where there is room, and unlabelled marks where there is
    /// none.
    fn log_ticks(&self, wanted: usize) -> Vec<AxisTick> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let decades = (self.high / self.low).log10();
        let sparse = index((decades / real_len(wanted.max(1))).ceil()).max(1);
        let dense = decades * 3.0 <= real_len(wanted) + 1.0;
        let mut ticks = Vec::new();
        for step in 0..=index(last - first) {
            let decade = 10f64.powf(first + real_len(step));
            for digit in 1..10u32 {
                let value = decade * f64::from(digit);
                let labelled =
                    (digit == 1 && step % sparse == 0) || (dense && (digit == 2 || digit == 5));
                if value >= self.low * 0.999
                    && value <= self.high * 1.001
                    && (labelled || sparse == 1)
                {
                    ticks.push(AxisTick { value, labelled });
                }
            }
        }
        ticks
    }
}

/// The range of some estimates: their intervals, but no farther than twice the values beyond the
/// values, because one interval that says little must not hide all the others.
pub(crate) fn range_of<'a>(
    estimates: impl Iterator<Item = &'a Estimate> + Clone,
) -> Option<(f64, f64)> {
    let low = estimates.clone().map(|estimate| estimate.value).reduce(f64::min)?;
    let high = estimates.clone().map(|estimate| estimate.value).reduce(f64::max)?;
    let lowest = estimates.clone().map(|estimate| estimate.low).fold(low, f64::min);
    let highest = estimates.map(|estimate| estimate.high).fold(high, f64::max);
    Some((lowest.max(low / 2.0), highest.min(high * 2.0)))
}

/// The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `step`.
pub(crate) fn nice_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = step / power;
    let nice = [1.0, 2.0, 2.5, 5.0].into_iter().find(|nice| digit <= nice + 1e-9);
    nice.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labelled(scale: AxisScale, wanted: usize) -> Vec<f64> {
        let ticks = scale.ticks(wanted).into_iter().filter(|tick| tick.labelled);
        ticks.map(|tick| (tick.value * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labelled(AxisScale::from_zero(43_210.0, 5), 5),
            [0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0]
        );
        assert_eq!(
            labelled(AxisScale::linear(0.0, 60.0), 6),
            [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
        );
        assert_eq!(labelled(AxisScale::log_exact(90.0, 11_000.0), 5), [100.0, 1000.0, 10_000.0]);
        assert_eq!(labelled(AxisScale::log_exact(90.0, 1100.0), 5), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(labelled(AxisScale::log_exact(1e-6, 1.0), 3), [1e-6, 1e-4, 0.01, 1.0]);
    }

    #[test]
    fn an_interval_that_says_little_hides_nothing() {
        let estimate = |low, value, high| Estimate { value, low, high, confidence: 0.95, n: 2 };
        let sure = [estimate(90.0, 100.0, 110.0), estimate(190.0, 200.0, 220.0)];
        assert_eq!(range_of(sure.iter()), Some((90.0, 220.0)));
        let unsure = [estimate(0.0, 100.0, 1e9), sure[1]];
        assert_eq!(range_of(unsure.iter()), Some((50.0, 400.0)));
        assert_eq!(range_of([].iter()), None);
    }

    #[test]
    fn nothing_below_a_number_does_not_fill_the_axis() {
        let scale = AxisScale::log(0.0, 1e6);
        assert!(scale.low > 1e-4 && scale.high < 1e7);
        assert!(labelled(AxisScale::log(0.0, 0.0), 5).len() < 10);
    }

    #[test]
    fn a_single_number_has_room_on_both_sides() {
        let scale = AxisScale::log(1000.0, 1000.0).onto(0.0, 100.0);
        assert!((scale.place(1000.0) - 50.0).abs() < 1e-9);
        assert!((AxisScale::linear(5.0, 5.0).onto(0.0, 10.0).place(5.0)).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn places_keep_the_order_and_stay_inside(low in 1e-3f64..1e9, factor in 1.0f64..1e6, one in 1e-4f64..1e12, other in 1e-4f64..1e12) {
            for scale in [AxisScale::log(low, low * factor), AxisScale::linear(low, low * factor), AxisScale::from_zero(low, 5)] {
                let scale = scale.onto(300.0, 20.0);
                let (a, b) = (scale.place(one.min(other)), scale.place(one.max(other)));
                prop_assert!(a >= b - 1e-9);
                prop_assert!((20.0 - 1e-9..=300.0 + 1e-9).contains(&a));
                let ticks = scale.ticks(6);
                prop_assert!(ticks.len() < 80, "{}", ticks.len());
                for tick in ticks {
                    prop_assert!(tick.value >= scale.low * 0.99 - 1e-9 && tick.value <= scale.high * 1.01 + 1e-9);
                }
            }
        }

        #[test]
        fn some_number_is_always_written(low in 1e-3f64..1e9, factor in 1.0f64..1e9) {
            prop_assert!(!labelled(AxisScale::log(low, low * factor), 5).is_empty());
            prop_assert!(!AxisScale::from_zero(low, 5).ticks(5).is_empty());
        }
    }
}
