//! Intervals for any statistic of a correlated series by resampling the series in blocks.

use crate::distribution::{normal, student_quantile};
use crate::estimate::IntervalEstimate;
use crate::random::Random;
use crate::series::{autocorrelation, autocovariance};
use assay_model::number::{count_of, index, index_of, real_len};

/// This many insignificant autocorrelations in a row end the memory of a series (K of the rule, for
/// n below 10^25).
const QUIET_RUN: usize = 5;

/// How a series is resampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Mean length of the blocks that stay together, in observations, at least 1; see
    /// [`block_length`].
    pub block_length: f64,
    /// How many series are drawn: 1,000 fix the ends to about a tenth of the width.
    pub resamples: usize,
    /// The same seed draws the same series.
    pub seed: u64,
}

/// The interval of `statistic` over `len` observations by the stationary bootstrap.
///
/// `statistic` gets the indices of the drawn observations (`len` of them, each below `len`, repeats
/// included) and returns the statistic of those observations joined: for a quantile it merges the
/// histograms of the drawn intervals and reads the quantile. It is called once with all indices in
/// order for the value itself.
///
/// Blocks have geometric lengths and wrap around the end (Politis and Romano, JASA 89, 1994). The
/// ends are quantiles of the drawn values, moved outwards as Student's law asks for as many
/// observations as there are blocks (the expanded interval of Hesterberg, The American Statistician
/// 69, 2015). `None` of fewer than two observations, fewer than two blocks, or no resamples.
///
/// It errs on the narrow side of what is correlated: with twice the [`block_length`] the 95%
/// interval of a mean holds the truth in 94, 92, 91 and 88% of simulated series of 300 values with
/// autoregressive coefficients 0, 0.5, 0.8 and 0.9. Where [`crate::mean_interval`],
/// [`crate::mean::ratio_interval`] or [`crate::quantile::quantile_levels`] apply they keep their
/// promise better.
///
/// ```
/// use assay_stats::bootstrap::{Resampling, bootstrap_interval};
///
/// // Three latency classes, counted in each of six intervals; the quantile is that of the joined counts.
/// let counts = [[70, 20, 10], [80, 15, 5], [60, 30, 10], [75, 15, 10], [50, 40, 10], [90, 5, 5]];
/// let latency_us = [100.0, 200.0, 400.0];
/// let resampling = Resampling { block_length: 1.0, resamples: 1000, seed: 1 };
/// let estimate = bootstrap_interval(counts.len(), &resampling, 0.95, |drawn| {
///     let joined = |class: usize| drawn.iter().map(|at| counts[*at][class]).sum::<u32>();
///     let needed = (joined(0) + joined(1) + joined(2)) * 3 / 4;
///     let reaches = |class: &usize| (0..=*class).map(joined).sum::<u32>() >= needed;
///     latency_us[(0..3).find(reaches).unwrap()]
/// })
/// .unwrap();
/// assert_eq!((estimate.value, estimate.low, estimate.high), (200.0, 100.0, 200.0));
/// ```
pub fn bootstrap_interval(
    len: usize,
    resampling: &Resampling,
    confidence: f64,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Option<IntervalEstimate> {
    let blocks = real_len(len) / resampling.block_length.max(1.0);
    if blocks < 2.0 || resampling.resamples == 0 {
        return None;
    }
    let mut indices: Vec<usize> = (0..len).collect();
    let value = statistic(&indices);
    let drawn = draw(&mut indices, resampling, statistic);
    let tail = expanded_tail(blocks, confidence);
    Some(IntervalEstimate {
        value,
        low: interpolated(&drawn, tail).min(value),
        high: interpolated(&drawn, 1.0 - tail).max(value),
        confidence,
        n: len,
        effective_n: blocks,
    })
}

/// The statistic of each drawn series, in ascending order.
fn draw(
    indices: &mut [usize],
    resampling: &Resampling,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Vec<f64> {
    let mut random = Random::new(resampling.seed);
    let mut drawn: Vec<f64> = (0..resampling.resamples)
        .map(|_| {
            stationary_indices(indices, resampling.block_length, &mut random);
            statistic(indices)
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    drawn
}

/// Fills `indices` with blocks of geometric length that start anywhere and wrap around.
fn stationary_indices(indices: &mut [usize], block_length: f64, random: &mut Random) {
    let len = indices.len();
    let restart = 1.0 / block_length.max(1.0);
    let mut at = len;
    for slot in indices {
        at = if at == len || random.unit() < restart {
            index_of(random.below(count_of(len)))
        } else {
            (at + 1) % len
        };
        *slot = at;
    }
}

/// The share of drawn values to leave out at each end, from Student's law with one block fewer as
/// freedom.
fn expanded_tail(blocks: f64, confidence: f64) -> f64 {
    let reach = student_quantile(0.5 + 0.5 * confidence, blocks - 1.0);
    normal(reach * (blocks / (blocks - 1.0)).sqrt()).upper
}

/// The quantile at `level` of ascending values, interpolated between neighbours (Hyndman and Fan,
/// 1996, type 7).
fn interpolated(ascending: &[f64], level: f64) -> f64 {
    let position = level * real_len(ascending.len() - 1);
    let below = index(position).min(ascending.len() - 1);
    let above = (below + 1).min(ascending.len() - 1);
    let share = position - real_len(below);
    ascending[below] + share * (ascending[above] - ascending[below])
}

/// The mean block length with which the stationary bootstrap errs least on the mean of `series`.
///
/// The rule of Politis and White (Econometric Reviews 23, 2004) with the constant corrected by
/// Patton, Politis and White (ibid. 28, 2009). At least 1, at most the smaller of 3√n and n/3. For
/// a quantile give it the share of observations beyond that quantile in each interval. 1 of fewer
/// than 8 values.
pub fn block_length(series: &[f64]) -> f64 {
    let n = real_len(series.len());
    let spread = autocovariance(series, 0);
    if series.len() < 8 || spread <= 0.0 {
        return 1.0;
    }
    let bandwidth = bandwidth(series);
    let (mut slope, mut long_run) = (0.0, spread);
    for lag in 1..=bandwidth {
        let weighted = 2.0 * flat_top(lag, bandwidth) * autocovariance(series, lag);
        slope += weighted * real_len(lag);
        long_run += weighted;
    }
    let best = (slope / long_run).abs().powf(2.0 / 3.0) * n.cbrt();
    best.min((3.0 * n.sqrt()).min(n / 3.0).ceil()).max(1.0)
}

/// The trapezoid that keeps small lags whole and fades out the rest.
fn flat_top(lag: usize, bandwidth: usize) -> f64 {
    (2.0 - 2.0 * real_len(lag) / real_len(bandwidth)).min(1.0)
}

/// Twice the lag at which a run of autocorrelations starts to be lost in the noise band ±2√(log10 n
/// / n).
fn bandwidth(series: &[f64]) -> usize {
    let n = real_len(series.len());
    let most = index(n.sqrt().ceil()) + QUIET_RUN;
    let band = 2.0 * (n.log10() / n).sqrt();
    let mut quiet = 0;
    for lag in 1..most.min(series.len() - 1) {
        let lost = autocorrelation(series, lag).abs() < band;
        quiet = if lost { quiet + 1 } else { 0 };
        if quiet == QUIET_RUN {
            return (2 * (lag + 1 - QUIET_RUN)).min(most);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{mean, variance};

    fn resampling(block_length: f64, resamples: usize) -> Resampling {
        Resampling { block_length, resamples, seed: 42 }
    }

    fn wave() -> Vec<f64> {
        (0..60).map(|step| (f64::from(step) / 5.0).sin()).collect()
    }

    /// The exact variance of a drawn mean (Politis and Romano, 1994, lemma 1).
    fn exact_variance(series: &[f64], block_length: f64) -> f64 {
        let (n, stay) = (real_len(series.len()), 1.0 - 1.0 / block_length);
        let weighted = |lag: usize| {
            let share = real_len(lag) / n;
            let kept = (1.0 - share) * stay.powf(real_len(lag));
            let wrapped = share * stay.powf(n - real_len(lag));
            2.0 * (kept + wrapped) * autocovariance(series, lag)
        };
        let linked: f64 = (1..series.len()).map(weighted).sum();
        (autocovariance(series, 0) + linked) / n
    }

    #[test]
    fn drawn_means_vary_exactly_as_theory_says() {
        let series = wave();
        for block_length in [1.0, 4.0, 15.0] {
            let mut indices: Vec<usize> = (0..series.len()).collect();
            let joined_mean = |drawn: &[usize]| {
                drawn.iter().map(|index| series[*index]).sum::<f64>() / real_len(drawn.len())
            };
            let drawn = draw(&mut indices, &resampling(block_length, 4000), joined_mean);
            let ratio = variance(&drawn) / exact_variance(&series, block_length);
            // The variance of 4,000 normal values errs by 2.2%.
            assert!((ratio - 1.0).abs() < 0.08, "block length {block_length}: {ratio}");
            assert!((mean(&drawn) - mean(&series)).abs() < 0.02);
        }
    }

    #[test]
    fn the_seed_decides_and_the_whole_series_gives_the_value() {
        let series = wave();
        let largest =
            |drawn: &[usize]| drawn.iter().map(|index| series[*index]).fold(f64::MIN, f64::max);
        let once = bootstrap_interval(60, &resampling(3.0, 200), 0.95, largest).unwrap();
        let again = bootstrap_interval(60, &resampling(3.0, 200), 0.95, largest).unwrap();
        assert_eq!(once, again);
        assert!((once.value - largest(&(0..60).collect::<Vec<_>>())).abs() < 1e-15);
        assert!(once.low <= once.value && once.high >= once.value);
    }

    #[test]
    fn a_series_of_one_block_has_no_interval() {
        let first = |drawn: &[usize]| real_len(drawn[0]);
        assert_eq!(bootstrap_interval(10, &resampling(6.0, 100), 0.95, first), None);
        assert_eq!(bootstrap_interval(10, &resampling(2.0, 0), 0.95, first), None);
        assert_eq!(bootstrap_interval(0, &resampling(1.0, 100), 0.95, first), None);
    }

    #[test]
    fn short_and_constant_series_need_no_blocks() {
        for series in [&[1.0; 50][..], &[1.0, 2.0, 4.0]] {
            assert!((block_length(series) - 1.0).abs() < 1e-15);
        }
    }
}
