//! Straight lines: how fast a quantity rises with another or with time, and within what interval.

use crate::distribution::student_quantile;
use crate::estimate::IntervalEstimate;
use crate::long_run::LongRun;
use crate::series::{mean, variance};
use assay_model::number::real_len;

/// A fitted line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLine {
    /// The line's value at the mean of x, in the unit of y.
    pub centre: IntervalEstimate,
    /// The rise of y per unit of x.
    pub slope: IntervalEstimate,
    /// The mean of x, where the line is known best.
    pub mean_x: f64,
    /// Standard deviation of y around the line.
    pub scatter: f64,
}

impl FittedLine {
    /// The line's value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.centre.value + self.slope.value * (x - self.mean_x)
    }
}

/// The least-squares line through points whose errors are independent, with Student intervals.
///
/// Source: N. Draper and H. Smith, "Applied Regression Analysis", 3rd ed., chapter 1. `None` of
/// fewer than three points, any that is not finite, or all at one x.
///
/// # Panics
/// If the slices differ in length.
pub fn line(x: &[f64], y: &[f64], confidence: f64) -> Option<FittedLine> {
    let fit = TrendFit::of(x, y)?;
    let n = real_len(y.len());
    Some(fit.line(&TrendDoubt {
        error_variance: fit.scatter().powi(2),
        freedom: n - 2.0,
        effective_n: n,
        confidence,
    }))
}

/// The least-squares line through a correlated series against its index 0, 1, 2, …; slope per
/// observation.
///
/// The interval rests on the variation of the residuals at their lowest frequencies, as that of a
/// mean does; the very lowest one, which a line takes away, is left out. `None` of fewer than three
/// values or any that is not finite.
///
/// How often the 95% interval of the slope holds the truth, with its width, as for
/// [`crate::mean_interval`]:
///
/// | φ | n = 20 | 30 | 60 | 120 | 300 | 2000 |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | 0 | 95.5 (1.15, 2.53) | 94.8 (1.11, 1.82) | 95.8 (1.08, 1.46) | 96.0 (1.06, 1.40) | 95.7 (1.04, 1.36) | 96.3 (1.02, 1.33) |
/// | 0.5 | 94.2 (1.70, 22.6) | 95.7 (1.52, 4.29) | 95.7 (1.24, 2.34) | 95.0 (1.09, 1.65) | 95.6 (1.05, 1.37) | 96.5 (1.02, 1.30) |
/// | 0.8 | 93.5 (4.46, 13.8) | 95.3 (2.42, 12.2) | 96.7 (1.70, 8.25) | 96.2 (1.48, 2.92) | 95.5 (1.13, 1.73) | 96.2 (1.04, 1.33) |
/// | 0.9 | 92.5 (4.10, 7.44) | 94.2 (3.90, 6.98) | 95.7 (2.39, 5.96) | 96.8 (1.77, 4.67) | 96.6 (1.43, 2.55) | 96.3 (1.05, 1.34) |
/// | 0.95 | 91.3 (2.14, 3.73) | 92.8 (2.19, 3.70) | 94.2 (1.98, 3.48) | 96.3 (1.90, 3.12) | 97.6 (1.67, 2.65) | 96.5 (1.09, 1.48) |
pub fn trend(series: &[f64], confidence: f64) -> Option<FittedLine> {
    let steps: Vec<f64> = (0..series.len()).map(real_len).collect();
    let fit = TrendFit::of(&steps, series)?;
    let n = real_len(series.len());
    let long_run = LongRun::of(&fit.residuals, 2);
    Some(fit.line(&TrendDoubt {
        error_variance: long_run.variance,
        freedom: long_run.freedom,
        effective_n: (n / long_run.memory(variance(&fit.residuals))).max(1.0),
        confidence,
    }))
}

/// What the interval of a line rests on.
struct TrendDoubt {
    error_variance: f64,
    freedom: f64,
    effective_n: f64,
    confidence: f64,
}

struct TrendFit {
    mean_x: f64,
    mean_y: f64,
    slope: f64,
    spread_x: f64,
    residuals: Vec<f64>,
}

impl TrendFit {
    fn of(x: &[f64], y: &[f64]) -> Option<Self> {
        assert_eq!(x.len(), y.len(), "one y for each x");
        let (mean_x, mean_y) = (mean(x), mean(y));
        let spread_x: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let joint: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = joint / spread_x;
        // If all x are equal, the slope is 0 / 0.
        if x.len() < 3 || !slope.is_finite() {
            return None;
        }
        let residual = |(x, y): (&f64, &f64)| y - mean_y - slope * (x - mean_x);
        Some(Self {
            mean_x,
            mean_y,
            slope,
            spread_x,
            residuals: x.iter().zip(y).map(residual).collect(),
        })
    }

    fn scatter(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|residual| residual * residual).sum();
        (squares / (real_len(self.residuals.len()) - 2.0)).sqrt()
    }

    fn line(&self, doubt: &TrendDoubt) -> FittedLine {
        let n = self.residuals.len();
        let reach = student_quantile(0.5 + 0.5 * doubt.confidence, doubt.freedom);
        let around = |value: f64, weight: f64| {
            let half = reach * (doubt.error_variance / weight).sqrt();
            IntervalEstimate {
                value,
                low: value - half,
                high: value + half,
                confidence: doubt.confidence,
                n,
                effective_n: doubt.effective_n,
            }
        };
        FittedLine {
            centre: around(self.mean_y, real_len(n)),
            slope: around(self.slope, self.spread_x),
            mean_x: self.mean_x,
            scatter: self.scatter(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_leave_no_doubt_of_it() {
        let fit = line(&[1.0, 2.0, 4.0], &[5.0, 7.0, 11.0], 0.95).unwrap();
        assert!((fit.slope.value - 2.0).abs() < 1e-12 && fit.slope.half_width() < 1e-9);
        assert!((fit.at(10.0) - 23.0).abs() < 1e-9 && fit.scatter < 1e-9);
        let same = trend(&[3.0, 5.0, 7.0, 9.0], 0.95).unwrap();
        assert!((same.slope.value - 2.0).abs() < 1e-12);
    }

    #[test]
    fn no_line_goes_through_too_little() {
        assert_eq!(line(&[1.0, 2.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(line(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], 0.95), None);
        assert_eq!(trend(&[1.0, f64::INFINITY, 3.0], 0.95), None);
    }

    #[test]
    fn a_slow_wave_makes_the_trend_doubtful() {
        let wave: Vec<f64> = (0..100).map(|step| (f64::from(step) / 8.0).sin()).collect();
        let steps: Vec<f64> = (0..100).map(f64::from).collect();
        let (naive, honest) = (line(&steps, &wave, 0.95), trend(&wave, 0.95));
        let (naive, honest) = (naive.unwrap().slope, honest.unwrap().slope);
        assert!(honest.half_width() > 2.0 * naive.half_width());
        assert!(honest.effective_n < 50.0 && honest.covers(0.0));
    }
}
