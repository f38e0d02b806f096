//! Noise that lasts about as long as the series: a wider interval if the lowest frequencies stand
//! out.

use crate::long_run::cosine_powers;
use crate::mean::{MeanError, mean_error};
use crate::series::{mean, variance};
use assay_model::number::real_len;

/// Frequencies that are looked at, and the fewest of them that an error is read from.
const LOWEST: usize = 4;
const FEWEST: usize = 3;
/// From this multiple of the plain variance on, the lowest frequencies themselves may be more than
/// the fit says.
const RAISED: f64 = 1.5;
/// From this one on, noise of which the series holds a few swings only is likely.
const SLOW: f64 = 2.0;
/// The error is then larger by up to this share, less for longer series: these hold more swings.
const ALLOWANCE: f64 = 0.6;
/// Rows of the series for which the allowance is meant.
const ROWS: f64 = 60.0;

/// [`mean_error`] with an allowance for noise that lasts a fifth of the series or longer.
///
/// How often a limit that lies half a percent on the wrong side of the truth is passed, in percent
/// of 4,000 series of 60 rows that vary by 4% (simulated apart, with `NumPy`), and how often the
/// 95% interval covers; without and with the allowance:
///
/// | noise | passed | covered |
/// | --- | --- | --- |
/// | none from one row to the next | 0.1, 0.1 | 96, 96 |
/// | first-order autoregression, φ = 0.6 | 0.9, 0.4 | 95, 98 |
/// | memory of 14 rows | 3.1, 1.0 | 92, 97 |
/// | memories of 1 and of 10 rows, as much of each | 4.0, 1.1 | 86, 96 |
/// | memory of 10 rows under as much white noise | 4.6, 1.5 | 83, 94 |
/// | memory of 14 rows under as much white noise | 7.2, 2.4 | 77, 92 |
pub(crate) fn slow_error(series: &[f64]) -> Option<MeanError> {
    let plain = mean_error(series)?;
    let spread = variance(series);
    if series.len() <= LOWEST || spread <= 0.0 {
        return Some(plain);
    }
    let n = real_len(series.len());
    let powers = cosine_powers(series, 1, LOWEST);
    let raised = mean(&powers) / spread;
    if raised <= RAISED {
        return Some(plain);
    }
    let lowest = MeanError {
        standard_error: (mean(&powers[..FEWEST]) / n).sqrt(),
        freedom: real_len(FEWEST),
        effective_n: (spread / mean(&powers[..FEWEST]) * n).clamp(1.0, n),
        frequencies: FEWEST,
    };
    let wider = if lowest.half_width(0.95) > plain.half_width(0.95) { lowest } else { plain };
    let more = if raised > SLOW { 1.0 + ALLOWANCE * (ROWS / n).min(1.0) } else { 1.0 };
    Some(MeanError {
        standard_error: wider.standard_error * more,
        effective_n: (wider.effective_n / (more * more)).max(1.0),
        ..wider
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// In how many of 400 series of 60 rows the upper end lies below the truth, in percent, and the
    /// mean half-width.
    fn missed(slow: f64, white: f64) -> (f64, f64) {
        let mut random = Random::new(71);
        let keeps = (-1.0_f64 / 14.0).exp();
        let (mut missed, mut widths) = (0.0, 0.0);
        for _ in 0..400 {
            let mut level = random.normal();
            let series: Vec<f64> = (0..60)
                .map(|_| {
                    level = keeps * level + (1.0 - keeps * keeps).sqrt() * random.normal();
                    100.0 + slow * level + white * random.normal()
                })
                .collect();
            let half = slow_error(&series).map_or(0.0, |error| error.half_width(0.95));
            missed += f64::from(u8::from(mean(&series) + half < 100.0)) / 4.0;
            widths += half / 400.0;
        }
        (missed, widths)
    }

    #[test]
    fn noise_that_lasts_a_quarter_of_the_series_rarely_hides() {
        let ((pure, _), (under, _), (white, half)) =
            (missed(4.0, 0.0), missed(3.0, 3.0), missed(0.0, 4.0));
        assert!(pure <= 3.0 && under <= 5.0, "{pure} {under}");
        // Of white noise knowing it would make the half-width 1.96 · 4 / √60 = 1.01.
        assert!(white <= 4.0 && half < 1.6, "{white} {half}");
    }

    #[test]
    fn a_short_or_constant_series_stays_as_it_is() {
        assert_eq!(slow_error(&[1.0]), None);
        for series in [&[1.0, 3.0, 2.0][..], &[5.0; 50]] {
            assert_eq!(slow_error(series), mean_error(series));
        }
    }
}
