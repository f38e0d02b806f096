//! How observations that follow one another hang together: moments, autocorrelation, batches.

use assay_model::number::real_len;

/// The arithmetic mean; NaN of nothing.
pub fn mean(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / real_len(series.len())
}

/// The sample variance with n - 1 in the divisor; 0 of fewer than two values.
pub fn variance(series: &[f64]) -> f64 {
    if series.len() < 2 {
        return 0.0;
    }
    let centre = mean(series);
    let squares: f64 = series.iter().map(|value| (value - centre).powi(2)).sum();
    squares / real_len(series.len() - 1)
}

/// The autocovariance at `lag`: products of deviations `lag` apart, summed and divided by n, not by
/// their number.
///
/// The larger divisor keeps the autocovariances of all lags those of some process.
pub fn autocovariance(series: &[f64], lag: usize) -> f64 {
    let centre = mean(series);
    let later = series.iter().skip(lag);
    let products: f64 =
        series.iter().zip(later).map(|(now, then)| (now - centre) * (then - centre)).sum();
    products / real_len(series.len())
}

/// The autocorrelation at `lag`, in -1..=1; 0 of a series that does not vary.
pub fn autocorrelation(series: &[f64], lag: usize) -> f64 {
    let spread = autocovariance(series, 0);
    if spread > 0.0 { autocovariance(series, lag) / spread } else { 0.0 }
}

/// The lag-1 autocorrelation of the process behind a series whose mean was estimated from it.
///
/// The estimate from n values is low by about (1 + 4ρ)/n (Marriott and Pope, Biometrika 41, 1954;
/// Kendall, ibid.); this solves for ρ. With `fitted` further parameters (2 for a line) taken from
/// the series the bias grows in proportion.
pub(crate) fn unbiased_correlation(series: &[f64], fitted: f64) -> f64 {
    let n = real_len(series.len());
    let seen = autocorrelation(series, 1);
    if n <= 4.0 * fitted {
        return seen;
    }
    (n * seen + fitted) / (n - 4.0 * fitted)
}

/// Means of consecutive batches of `size` values; what does not fill a batch is left out at the
/// start, where a series is most likely still settling.
///
/// # Panics
/// If `size` is 0.
pub fn batch_means(series: &[f64], size: usize) -> Vec<f64> {
    assert!(size > 0, "a batch holds at least one value");
    let spare = series.len() % size;
    series[spare..].chunks_exact(size).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_few_values_are_those_done_by_hand() {
        let series = [2.0, 4.0, 9.0];
        assert_eq!((mean(&series), variance(&series)), (5.0, 13.0));
        // ((2-5)(4-5) + (4-5)(9-5)) / 3, over (9 + 1 + 16) / 3
        assert!((autocovariance(&series, 1) + 1.0 / 3.0).abs() < 1e-15);
        assert!((autocorrelation(&series, 1) + 1.0 / 26.0).abs() < 1e-15);
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let series = [7.0; 9];
        assert_eq!((variance(&series), autocorrelation(&series, 1)), (0.0, 0.0));
        assert!(variance(&[1.0]).abs() < 1e-15);
    }

    #[test]
    fn batches_leave_out_the_start() {
        let series = [100.0, 1.0, 3.0, 5.0, 9.0];
        assert_eq!(batch_means(&series, 2), [2.0, 7.0]);
        assert!(batch_means(&series, 6).is_empty());
    }
}
