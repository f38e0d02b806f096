//! Where a quantile lies, for independent observations and for a correlated series of counted
//! intervals.
//!
//! Quantiles are never averaged: every interval is a pair of ranks or levels that is read from the
//! joined observations.

use crate::distribution::{binomial, normal_quantile};
use crate::estimate::IntervalEstimate;
use crate::mean::{
    DISCOUNT_OF_SHARES, LinearRatio, MeanError, PART_OF_SHARE, burst_factors, bursts,
    excess_factor, mean_error, most_factor,
};
use crate::root;
use crate::slow_part::slow_error;
use crate::special::incomplete_beta;
use assay_model::number::{count, index, index_of, real, real_len};

/// Of fewer independent times beyond a quantile its farther end deserves no trust.
pub const FEWEST_CLUSTERS: f64 = 10.0;

/// What a smaller share of the observations does is a tail.
pub const TAIL: f64 = 0.25;

/// How many times as many observations lie beyond the level that bounds the clusters of a tail.
const BROADER: f64 = 10.0;

/// From this binomial variance on the normal approximation is within one rank of the exact one.
const NORMAL_FROM_VARIANCE: f64 = 1e4;

/// The ranks, counted from 1 at the smallest, between which a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of the lower end; `None` where even the smallest observation may lie above the
    /// quantile.
    pub low: Option<u64>,
    /// Rank of the upper end; `None` where even the largest observation may lie below the
    /// quantile.
    pub high: Option<u64>,
}

/// Ranks for `quantile` in 0..=1 of `n` independent observations, exact or, where that is as good,
/// normal.
pub fn ranks(n: u64, quantile: f64, confidence: f64) -> Ranks {
    if real(n) * quantile * (1.0 - quantile) < NORMAL_FROM_VARIANCE {
        exact_ranks(n, quantile, confidence)
    } else {
        normal_ranks(n, quantile, confidence)
    }
}

/// The narrowest ranks whose tails each hold at most (1 - confidence)/2 of the binomial law.
///
/// X(r) lies above the quantile only if fewer than r observations lie below it (David and Nagaraja,
/// "Order Statistics", 3rd ed., §7.1). Holds for every continuous law; for others it errs on the
/// safe side.
pub fn exact_ranks(n: u64, quantile: f64, confidence: f64) -> Ranks {
    let tail = 0.5 * (1.0 - confidence);
    let too_low = first(n, |k| binomial(k, n, quantile).lower > tail);
    let high = first(n, |k| binomial(k, n, quantile).upper <= tail) + 1;
    Ranks { low: (too_low > 0).then_some(too_low), high: (high <= n).then_some(high) }
}

/// The same ranks by the normal approximation with continuity and skewness correction (Cornish and
/// Fisher, 1938).
pub fn normal_ranks(n: u64, quantile: f64, confidence: f64) -> Ranks {
    let z = normal_quantile(0.5 + 0.5 * confidence);
    let half = z * (real(n) * quantile * (1.0 - quantile)).sqrt();
    let centre = real(n) * quantile + (z * z - 1.0) * (1.0 - 2.0 * quantile) / 6.0;
    let (low, high) = ((centre - half + 0.5).floor(), (centre + half + 0.5).ceil());
    Ranks { low: (low >= 1.0).then(|| count(low)), high: (high <= real(n)).then(|| count(high)) }
}

/// The smallest k in 0..=n with `holds(k)`, which turns from false to true once and holds at n.
fn first(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The quantile of independent observations in ascending order, with its interval.
///
/// The value is the observation at rank ⌈n · quantile⌉. An end that the observations cannot bound
/// is infinite. `None` of no observations.
pub fn quantile_interval(
    ascending: &[f64],
    quantile: f64,
    confidence: f64,
) -> Option<IntervalEstimate> {
    let n = ascending.len();
    let Ranks { low, high } = ranks(u64::try_from(n).ok()?, quantile, confidence);
    let at = |rank: u64| ascending.get(index_of(rank - 1)).copied();
    let rank = index((real_len(n) * quantile).ceil()).clamp(1, n.max(1));
    Some(IntervalEstimate {
        value: *ascending.get(rank - 1)?,
        low: low.and_then(at).unwrap_or(f64::NEG_INFINITY),
        high: high.and_then(at).unwrap_or(f64::INFINITY),
        confidence,
        n,
        effective_n: real_len(n),
    })
}

/// The levels in 0..=1 of the joined observations between which a quantile of a correlated series
/// lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Read the lower end at this quantile of the joined observations; `None` where they do not
    /// bound it.
    pub low: Option<f64>,
    /// Read the upper end at this quantile of the joined observations; `None` where they do not
    /// bound it.
    pub high: Option<f64>,
    /// How many independent observations the joined ones are worth here.
    pub effective_n: f64,
    /// How many independent times observations were beyond the quantile, on its rarer side;
    /// neighbours that were beyond together count as one. Below [`FEWEST_CLUSTERS`] the
    /// farther end deserves no trust.
    pub clusters: f64,
}

/// Between which levels `quantile` of a correlated series lies, from how many observations of each
/// interval exceed it.
///
/// `counts` holds the observations of each interval, `above` how many of them lie above the
/// quantile of all joined. The share above is a mean, so batch means give its error; that error
/// says how many independent observations the series is worth, and the binomial law of that many
/// gives the levels (the inversion of Woodruff, JASA 47, 1952, with the effective size of Korn and
/// Graubard, Survey Methodology 24, 1998). `None` of fewer than two intervals or no observations.
///
/// How often the 95% interval holds the truth, in percent of 1,000 simulated series of 30, 60 and
/// 300 intervals with 200 observations each around a level that wanders with coefficient φ:
///
/// | φ | quantile 0.5 | 0.9 | 0.99 | 0.999 |
/// | --- | --- | --- | --- | --- |
/// | 0 | 99.2, 99.2, 99.6 | 97.6, 97.5, 97.5 | 97.8, 97.8, 97.5 | 99.9, 100.0, 97.8 |
/// | 0.5 | 98.3, 99.1, 99.8 | 96.7, 97.1, 97.2 | 97.7, 97.8, 97.9 | 100.0, 99.9, 99.3 |
/// | 0.8 | 97.1, 98.0, 99.0 | 95.2, 95.8, 97.3 | 94.3, 95.3, 97.6 | 99.8, 99.1, 98.8 |
/// | 0.9 | 94.0, 96.4, 98.3 | 91.2, 94.5, 96.5 | 88.1, 93.0, 97.1 | 99.7, 98.6, 98.3 |
///
/// # Panics
/// If the slices differ in length.
pub fn quantile_levels(
    counts: &[u64],
    above: &[u64],
    quantile: f64,
    confidence: f64,
) -> Option<Levels> {
    let size = EffectiveSize::of(counts, above, confidence)?;
    Some(levels(&size, quantile, confidence))
}

/// The level whose crossings bound the clusters of a tail: ten times as many observations lie
/// beyond it; `None` where the quantile lies too near the middle to have one.
pub fn broader_level(quantile: f64) -> Option<f64> {
    let level = 1.0 - BROADER * (1.0 - quantile);
    (level > 0.5 + 1e-9).then_some(level)
}

/// [`quantile_levels`] of rows of a second or more, which may hold a few swings of slow noise only;
/// of an upper tail that is made by the same bursts as what lies below it.
///
/// `above_broader` counts the observations above [`broader_level`], where there is one. Their
/// clusters, in proportion, are the most that the tail may have: a run without long queues shows
/// single slow I/Os only, which look independent, but queues already show at the broader level.
/// Neither are there more clusters than the number of intervals can show.
///
/// # Panics
/// If the slices differ in length.
pub fn tail_levels(
    counts: &[u64],
    above: &[u64],
    above_broader: Option<&[u64]>,
    quantile: f64,
    confidence: f64,
) -> Option<Levels> {
    let mut size = EffectiveSize::of_rows(counts, above, quantile, confidence)?;
    if let Some(above_broader) = above_broader {
        let broader = EffectiveSize::with_error(counts, above_broader, confidence, slow_error)?;
        size.limit(broader.clusters / BROADER);
    }
    Some(levels(&size, quantile, confidence))
}

/// How many clusters of a tail some intervals can show at most: their variance is known to the root
/// of 2 over their number, so that few intervals that are alike by chance do not show many.
///
/// Of 800 runs of 10 s of seven servers at 90% load, in ten intervals, 3.8% had an upper end of p90
/// below the truth without it: those in which all servers were almost never busy, whose I/Os beyond
/// p90 then look independent.
fn most_clusters(intervals: usize) -> f64 {
    const PART: f64 = 5.0;
    real_len(intervals).powi(2) / PART
}

/// The level of the upper end of `quantile` by what was beyond another value, which lies about
/// there; `None` where nothing was.
///
/// Whether a value may be the quantile is asked of the bursts beyond that value, not of those
/// beyond the quantile that was seen: in a run that was too calm the one that was seen lies too
/// low, where I/Os are beyond it one by one. Asked once, at the end of [`quantile_levels`], it took
/// the upper ends below the truth from 3 to 2 in 100 runs of queues of 60 s; asked until it
/// does not rise any more, it made intervals several times as wide for nothing.
///
/// # Panics
/// If the slices differ in length.
pub fn upper_level(counts: &[u64], above: &[u64], quantile: f64, confidence: f64) -> Option<f64> {
    let size = EffectiveSize::of_rows(counts, above, quantile, confidence)?;
    let seen = size.clusters > 0.0 && !size.is_independent();
    seen.then(|| 1.0 - (1.0 - quantile) / size.most_factor(1.0 - quantile, confidence))
}

/// The levels that an effective size gives.
fn levels(size: &EffectiveSize, quantile: f64, confidence: f64) -> Levels {
    let tail = 0.5 * (1.0 - confidence);
    let rare = quantile.min(1.0 - quantile);
    // The share beyond may differ by these factors from what was seen: the farther of this and the
    // binomial law counts.
    let (few, many) =
        if size.is_independent() { (1.0, 1.0) } else { share_factors(size, rare, confidence) };
    let (nearer, farther) = (1.0 - rare * many, 1.0 - rare * few);
    let (skew_low, skew_high) =
        if quantile < 0.5 { (1.0 - farther, 1.0 - nearer) } else { (nearer, farther) };
    let low = lower_level(size.n, quantile, tail).map(|level| level.min(skew_low));
    let high = lower_level(size.n, 1.0 - quantile, tail).map(|level| (1.0 - level).max(skew_high));
    Levels {
        low: low.filter(|level| *level > 0.0),
        high: high.filter(|level| *level < 1.0),
        effective_n: size.n,
        clusters: size.clusters,
    }
}

/// By which factors the share seen beyond a quantile may be below and above the true one.
///
/// Of few clusters even their number is left to chance, so that a run that saw any at all saw too
/// many: the upper factor is then that of a count (F. Garwood, Biometrika 28, 1936).
fn share_factors(size: &EffectiveSize, rare: f64, confidence: f64) -> (f64, f64) {
    let clusters = size.clusters;
    let (below, above) = burst_factors(clusters.max(0.5), confidence);
    let many = if clusters < FEWEST_CLUSTERS { above.max(1.0 / below) } else { above };
    (1.0 / size.most_factor(rare, confidence), many)
}

/// What part of a share is made by unequal bursts: of a tail only, for what half or a quarter of
/// all do is not a burst.
const fn part_of_share(rare: f64) -> f64 {
    if rare < TAIL { PART_OF_SHARE } else { 1.0 }
}

/// The level p at which a binomial of size `n` and chance `quantile` stays at or below n · p with
/// probability `tail`.
fn lower_level(n: f64, quantile: f64, tail: f64) -> Option<f64> {
    let at_most = |level: f64| {
        let (misses, hits) = (n * (1.0 - level), n * level + 1.0);
        incomplete_beta(misses, hits, 1.0 - quantile, quantile).lower
    };
    if n <= 0.0 || at_most(0.0) > tail {
        return None;
    }
    Some(root::increasing(0.0, quantile, |level| at_most(level) - tail))
}

/// The share of observations that are hits, joined over correlated intervals, with its interval.
///
/// Clopper and Pearson's limits (Biometrika 26, 1934) at the effective size of Korn and Graubard
/// (1998). `None` of fewer than two intervals or no observations.
///
/// # Panics
/// If the slices differ in length.
pub fn share_interval(counts: &[u64], hits: &[u64], confidence: f64) -> Option<IntervalEstimate> {
    let EffectiveSize { share, n, .. } = EffectiveSize::of(counts, hits, confidence)?;
    let tail = 0.5 * (1.0 - confidence);
    Some(IntervalEstimate {
        value: share,
        low: 1.0 - largest_share(n, n * (1.0 - share), tail),
        high: largest_share(n, n * share, tail),
        confidence,
        n: counts.len(),
        effective_n: n,
    })
}

/// The highest chance that `hits` of `trials` leave with this confidence, one-sided and exact
/// (Clopper and Pearson, Biometrika 26, 1934); 1 where nothing was tried.
pub fn chance_at_most(hits: u64, trials: u64, confidence: f64) -> f64 {
    use assay_model::number::real;
    if trials == 0 { 1.0 } else { largest_share(real(trials), real(hits), 1.0 - confidence) }
}

/// The chance at which `n` trials give at most `hits` hits with probability `tail` only.
fn largest_share(n: f64, hits: f64, tail: f64) -> f64 {
    if hits >= n {
        return 1.0;
    }
    root::increasing(hits / n, 1.0, |chance| {
        tail - incomplete_beta(n - hits, hits + 1.0, 1.0 - chance, chance).lower
    })
}

/// What correlated intervals say about a share.
struct EffectiveSize {
    /// The joined share of hits.
    share: f64,
    /// How many observations there are.
    total: f64,
    /// How many independent observations are worth as much.
    n: f64,
    /// How many of those are of the rarer kind.
    clusters: f64,
    /// How many times the share may be by the bursts of a tail that are seen.
    excess: f64,
}

fn reals(numbers: &[u64]) -> Vec<f64> {
    numbers.iter().map(|number| real(*number)).collect()
}

impl EffectiveSize {
    /// Student's excess over the normal law is paid in observations, so that the limits need not
    /// know the degrees of freedom.
    fn of(counts: &[u64], hits: &[u64], confidence: f64) -> Option<Self> {
        Self::with_error(counts, hits, confidence, mean_error)
    }

    /// What rows of a second say about the share beyond an upper quantile.
    fn of_rows(counts: &[u64], above: &[u64], quantile: f64, confidence: f64) -> Option<Self> {
        let mut size = Self::with_error(counts, above, confidence, slow_error)?;
        if 1.0 - quantile < TAIL {
            size.limit(most_clusters(counts.len()));
            let rows = LinearRatio::of(&reals(above), &reals(counts))?.rows();
            size.excess = excess_factor(&rows, DISCOUNT_OF_SHARES, confidence);
        }
        Some(size)
    }

    /// The same with a rule for the error of the mean of correlated residuals.
    fn with_error(
        counts: &[u64],
        hits: &[u64],
        confidence: f64,
        error: fn(&[f64]) -> Option<MeanError>,
    ) -> Option<Self> {
        let linear = LinearRatio::of(&reals(hits), &reals(counts))?;
        let (share, total) = (linear.value, real(counts.iter().sum()));
        let error = error(&linear.residuals)?;
        let rare = share.min(1.0 - share);
        if rare <= 0.0 || error.standard_error <= 0.0 {
            return Some(Self { share, total, n: total, clusters: total * rare, excess: 1.0 });
        }
        let clusters = bursts(error.standard_error / rare, error.freedom, confidence);
        // A share of r that c bursts determine varies as that of c (1 - r) / r observations does.
        let n = (clusters * (1.0 - rare) / rare).min(total);
        // Of what is not a tail, bursts are as many as the error says, not only as many as lie
        // beyond it. Few of them do not know their error so well: of runs of 10 s at 90%
        // load, 4 in 100 then have a median below the truth.
        let beyond = clusters.min(n * rare);
        let known = (clusters - 2.0 * FEWEST_CLUSTERS).min(total * rare);
        let clusters = if rare < TAIL { beyond } else { beyond.max(known) };
        Some(Self { share, total, n, clusters, excess: 1.0 })
    }

    /// Allows at most this many clusters.
    fn limit(&mut self, clusters: f64) {
        if clusters < self.clusters {
            self.n *= clusters / self.clusters;
            self.clusters = clusters;
        }
    }

    /// How many times what was seen the share beyond may be.
    fn most_factor(&self, rare: f64, confidence: f64) -> f64 {
        most_factor(self.clusters, part_of_share(rare), confidence).max(self.excess)
    }

    /// Whether every observation is worth a full independent one.
    fn is_independent(&self) -> bool {
        self.n >= self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quantile_of_few_values_is_bounded_only_where_they_reach() {
        let ascending: Vec<f64> = (1..=10).map(f64::from).collect();
        let median = quantile_interval(&ascending, 0.5, 0.95).unwrap();
        assert_eq!((median.value, median.low, median.high), (5.0, 2.0, 9.0));
        let tail = quantile_interval(&ascending, 0.99, 0.95).unwrap();
        assert_eq!((tail.value, tail.high), (10.0, f64::INFINITY));
        assert_eq!(quantile_interval(&[], 0.5, 0.95), None);
    }

    #[test]
    fn intervals_that_agree_exactly_count_as_independent_observations() {
        let levels = quantile_levels(&[100; 40], &[10; 40], 0.9, 0.95).unwrap();
        assert!((levels.effective_n - 4000.0).abs() < 1e-6);
        let ranks = exact_ranks(4000, 0.9, 0.95);
        let (low, high) = (real(ranks.low.unwrap()), real(ranks.high.unwrap()));
        assert!((levels.low.unwrap() * 4000.0 - low).abs() < 1.0);
        assert!((levels.high.unwrap() * 4000.0 - high).abs() < 1.0);
    }

    #[test]
    fn what_moves_between_intervals_counts_for_less() {
        let above: Vec<u64> = (0..40).map(|index| if index < 20 { 2 } else { 18 }).collect();
        let levels = quantile_levels(&[100; 40], &above, 0.9, 0.95).unwrap();
        assert!(levels.effective_n < 40.0, "{levels:?}");
    }

    #[test]
    fn a_tail_has_no_more_clusters_than_what_lies_below_it() {
        // Single slow I/Os in every interval, but queues in four of forty only.
        let counts = [1000; 40];
        let above: Vec<u64> = (0..40).map(|index| 9 + index % 3).collect();
        let broader: Vec<u64> =
            (0..40).map(|index| if index % 10 == 2 { 700 } else { 33 }).collect();
        let alone = quantile_levels(&counts, &above, 0.99, 0.95).unwrap();
        let bounded = tail_levels(&counts, &above, Some(&broader), 0.99, 0.95).unwrap();
        assert!(alone.clusters > 100.0 && bounded.clusters < FEWEST_CLUSTERS, "{bounded:?}");
        assert!(bounded.low < alone.low);
        assert!((broader_level(0.99).unwrap() - 0.9).abs() < 1e-12);
        assert_eq!((broader_level(0.95), broader_level(0.5)), (None, None));
    }

    #[test]
    fn few_clusters_leave_their_number_to_chance() {
        // Garwood's limits of a count of one: 0.0253 at the lower end.
        let of = |clusters: f64| {
            let size = EffectiveSize { share: 0.01, total: 1e4, n: 1e3, clusters, excess: 1.0 };
            share_factors(&size, 0.01, 0.95).1
        };
        let many = of(1.0);
        assert!((many - 1.0 / 0.025_317_8).abs() < 0.01, "{many}");
        let many = of(FEWEST_CLUSTERS);
        assert!((many - burst_factors(FEWEST_CLUSTERS, 0.95).1).abs() < 1e-12);
    }

    #[test]
    fn few_intervals_show_few_clusters() {
        let alike = |intervals: usize| {
            let (counts, above) = (vec![1000; intervals], vec![100; intervals]);
            tail_levels(&counts, &above, None, 0.9, 0.95).unwrap().clusters
        };
        // The square of their number over five.
        assert!((alike(10) - 20.0).abs() < 1e-9, "{}", alike(10));
        assert!((alike(60) - 720.0).abs() < 1e-9, "{}", alike(60));
    }

    #[test]
    fn nothing_beyond_bounds_nothing_beyond() {
        let levels = quantile_levels(&[20, 20], &[0, 0], 0.99, 0.95).unwrap();
        assert_eq!(levels.high, None);
        assert_eq!(quantile_levels(&[0, 0], &[0, 0], 0.99, 0.95), None);
        assert_eq!(quantile_levels(&[20], &[1], 0.99, 0.95), None);
    }

    #[test]
    fn a_share_of_nothing_or_all_keeps_one_open_side() {
        let none = share_interval(&[50, 50], &[0, 0], 0.95).unwrap();
        assert_eq!((none.value, none.low), (0.0, 0.0));
        // The rule of three at 97.5%: 1 - 0.025^(1/100)
        assert!((none.high - (1.0 - 0.025_f64.powf(0.01))).abs() < 1e-12);
        let all = share_interval(&[50, 50], &[50, 50], 0.95).unwrap();
        assert_eq!((all.value, all.high), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn normal_ranks_are_within_one_of_the_exact_where_they_are_used(
            n in 50_000u64..400_000, quantile in 0.3..0.7,
        ) {
            let (exact, normal) = (exact_ranks(n, quantile, 0.95), normal_ranks(n, quantile, 0.95));
            prop_assert_eq!(ranks(n, quantile, 0.95), normal);
            prop_assert!(exact.low.unwrap().abs_diff(normal.low.unwrap()) <= 1);
            prop_assert!(exact.high.unwrap().abs_diff(normal.high.unwrap()) <= 1);
        }
    }
}
