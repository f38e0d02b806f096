//! Where a monotone function crosses zero, to the last bits, in a known number of steps.

/// The crossing of an increasing `function` between `low` and `high`, by the ITP method.
///
/// ITP (Oliveira and Takahashi, ACM TOMS 47(1), 2020) converges like the secant rule and never
/// needs more than one step beyond bisection. Where the function does not change sign the nearer
/// end is returned.
pub(crate) fn increasing(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (at_low, at_high) = (function(low), function(high));
    if at_low >= 0.0 {
        return low;
    }
    if at_high <= 0.0 {
        return high;
    }
    RootBracket { low, high, at_low, at_high }.narrow(function)
}

struct RootBracket {
    low: f64,
    high: f64,
    at_low: f64,
    at_high: f64,
}

impl RootBracket {
    fn width(&self) -> f64 {
        self.high - self.low
    }

    fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    fn narrow(mut self, function: impl Fn(f64) -> f64) -> f64 {
        let tolerance = 2.0 * f64::EPSILON * self.low.abs().max(self.high.abs());
        let truncation = 0.2 / self.width();
        let mut allowance = self.width();
        while self.width() > 2.0 * tolerance {
            let point = self.guess(truncation, allowance, tolerance);
            let value = function(point);
            if value > 0.0 {
                (self.high, self.at_high) = (point, value);
            } else if value < 0.0 {
                (self.low, self.at_low) = (point, value);
            } else {
                return point;
            }
            allowance *= 0.5;
        }
        self.middle()
    }

    /// Interpolate, truncate towards the middle, project so that bisection's pace is kept.
    fn guess(&self, truncation: f64, allowance: f64, tolerance: f64) -> f64 {
        let middle = self.middle();
        let secant =
            (self.at_high * self.low - self.at_low * self.high) / (self.at_high - self.at_low);
        let towards = (middle - secant).signum();
        let shift = (truncation * self.width() * self.width()).max(tolerance);
        let truncated =
            if shift <= (middle - secant).abs() { secant + towards * shift } else { middle };
        let radius = (allowance - 0.5 * self.width()).max(0.0);
        let point = middle - towards * radius.min((truncated - middle).abs());
        if point > self.low && point < self.high { point } else { middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn finds_the_crossing_to_the_last_bits_and_no_slower_than_bisection() {
        let steps = Cell::new(0);
        let counted = |x: f64| {
            steps.set(steps.get() + 1);
            x.powi(9) - 2.0
        };
        let root = increasing(0.0, 100.0, counted);
        assert!((root - 2.0_f64.powf(1.0 / 9.0)).abs() < 1e-14);
        assert!(steps.get() <= 58, "{} steps", steps.get());
    }

    #[test]
    fn an_end_is_returned_where_there_is_no_crossing() {
        assert_eq!(increasing(1.0, 2.0, |x| x).to_bits(), 1.0_f64.to_bits());
        assert_eq!(increasing(-2.0, -1.0, |x| x).to_bits(), (-1.0_f64).to_bits());
    }
}
