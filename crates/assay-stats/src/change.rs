//! Whether a series keeps one level, and where it changes if it does not.

use crate::estimate::IntervalEstimate;
use crate::long_run::LongRun;
use crate::mean::mean_interval;
use crate::random::Random;
use crate::series::{mean, variance};
use assay_model::number::{index, real_len};

/// A level holds for at least this share of the series, so that one cluster of outliers is not a
/// level.
const SHORTEST_SHARE: f64 = 0.02;

/// A level holds for at least this many observations.
const SHORTEST: usize = 5;

/// At most this many series of one level are simulated; 1 in 1,000 is the smallest p-value.
const MOST_SIMULATIONS: u32 = 999;

/// Simulation ends early once this many simulated series seemed to move as much as the real one.
const ENOUGH_AS_LARGE: u32 = 20;

/// Splits of splits of splits are looked for, which makes 8 stretches at most.
const DEEPEST: u32 = 3;

/// The simulated series are always the same ones, so that a series always gets the same answer.
const SEED: u64 = 0x5eed;

/// The split of a series into two levels that fits it best, and how well that is founded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelShift {
    /// Index of the first observation of the second level.
    pub at: usize,
    /// How often a series of one level, as correlated as this one, seems to move as much; at least
    /// 0.001.
    pub p_value: f64,
    /// The level before the shift.
    pub before: IntervalEstimate,
    /// The level from the shift on.
    pub after: IntervalEstimate,
}

impl LevelShift {
    /// The level after minus the level before.
    pub fn change(&self) -> IntervalEstimate {
        self.after.minus(&self.before)
    }
}

/// The best single shift of level; `None` of fewer than 10 values, any that is not finite, or a
/// series that does not vary.
///
/// The split is the exact least-squares one. Its gain over one level is measured in units of the
/// long-run variance of the residuals and compared with the gain in simulated autoregressive series
/// of one level that have the same effective size (a parametric bootstrap: Davison and Hinkley,
/// "Bootstrap Methods and their Application", 1997, §4.2; stopped early as in Besag and Clifford,
/// Biometrika 78, 1991), so neither correlation nor the search over all splits raises the alarm.
/// Levels shorter than 2% of the series or 5 observations are not searched for.
///
/// Takes up to a thousand passes over the series: give long ones as means of batches.
///
/// A second shift counts as noise here and may hide the first: where more than one is possible, use
/// [`segments`].
///
/// False alarms in percent of 1,000 simulated series of one level, n values with first-order
/// autoregressive noise of coefficient φ, at p-values of 0.05 and 0.01:
///
/// | φ | n = 30 | 60 | 120 | 300 | 1200 |
/// | --- | --- | --- | --- | --- | --- |
/// | 0 | 3.4, 0.4 | 3.5, 0.5 | 6.5, 0.3 | 4.8, 0.7 | 5.5, 0.7 |
/// | 0.5 | 7.4, 2.4 | 7.0, 3.0 | 6.5, 1.5 | 7.4, 1.0 | 6.2, 0.6 |
/// | 0.8 | 11.2, 3.8 | 7.7, 2.4 | 8.6, 2.1 | 7.4, 1.5 | 4.9, 1.0 |
/// | 0.9 | 13.1, 6.6 | 8.1, 3.8 | 9.8, 4.0 | 8.6, 2.1 | 5.7, 1.2 |
pub fn level_shift(series: &[f64], confidence: f64) -> Option<LevelShift> {
    if !can_shift(series) {
        return None;
    }
    let split = SeriesSplit::of(series);
    let (before, after) = series.split_at(split.at);
    Some(LevelShift {
        at: split.at,
        p_value: split.p_value(series, &[split.at]),
        before: mean_interval(before, confidence)?,
        after: mean_interval(after, confidence)?,
    })
}

/// A stretch of a series that keeps one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Index of its first observation.
    pub start: usize,
    /// Index after its last observation.
    pub end: usize,
    /// Its mean.
    pub level: IntervalEstimate,
}

/// The stretches of one level that a series consists of, in order; empty of fewer than two values
/// or any that is not finite.
///
/// Binary segmentation (Scott and Knott, Biometrics 30, 1974) to at most 8 stretches, with the test
/// of [`level_shift`] at `false_alarm`. Shifts within both sides of a split are found first and
/// taken out of its residuals, so that one shift does not hide another.
///
/// Series of one level that are cut at a `false_alarm` of 0.01, in percent as for [`level_shift`]:
///
/// | φ | n = 30 | 60 | 120 | 300 | 1200 |
/// | --- | --- | --- | --- | --- | --- |
/// | 0 | 0.4 | 0.5 | 0.3 | 0.7 | 0.7 |
/// | 0.5 | 4.2 | 4.1 | 2.1 | 1.0 | 0.7 |
/// | 0.8 | 6.7 | 4.6 | 3.2 | 1.5 | 1.1 |
/// | 0.9 | 11.1 | 7.7 | 6.4 | 3.1 | 1.6 |
pub fn segments(series: &[f64], false_alarm: f64, confidence: f64) -> Vec<Segment> {
    let mut edges = vec![0];
    edges.extend(shifts(series, false_alarm, DEEPEST));
    edges.push(series.len());
    let stretch = |pair: &[usize]| {
        let level = mean_interval(&series[pair[0]..pair[1]], confidence)?;
        Some(Segment { start: pair[0], end: pair[1], level })
    };
    edges.windows(2).filter_map(stretch).collect()
}

/// Where the level of a series shifts, in order: the best split and those within its sides, or
/// nothing.
fn shifts(series: &[f64], false_alarm: f64, depth: u32) -> Vec<usize> {
    if depth == 0 || !can_shift(series) {
        return Vec::new();
    }
    let split = SeriesSplit::of(series);
    let (before, after) = series.split_at(split.at);
    let mut found = shifts(before, false_alarm, depth - 1);
    found.push(split.at);
    let within = shifts(after, false_alarm, depth - 1);
    found.extend(within.into_iter().map(|at| split.at + at));
    if split.p_value(series, &found) <= false_alarm { found } else { Vec::new() }
}

/// Whether a series is long enough and varies, so that a shift can be looked for.
fn can_shift(series: &[f64]) -> bool {
    series.len() >= 2 * SHORTEST
        && series.iter().all(|value| value.is_finite())
        && variance(series).sqrt() > 1e-12 * mean(series).abs()
}

/// The least-squares split of a series.
struct SeriesSplit {
    at: usize,
    /// By how much it lowers the sum of squares: S(k)² n / (k (n - k)).
    gain: f64,
}

impl SeriesSplit {
    fn of(series: &[f64]) -> Self {
        let n = real_len(series.len());
        let shortest = index((n * SHORTEST_SHARE).ceil()).max(SHORTEST);
        let (centre, mut sum) = (mean(series), 0.0);
        let mut best = Self { at: shortest, gain: 0.0 };
        for (index, value) in series[..series.len() - shortest].iter().enumerate() {
            sum += value - centre;
            let (at, before) = (index + 1, real_len(index + 1));
            let gain = sum * sum * n / (before * (n - before));
            if at >= shortest && gain > best.gain {
                best = Self { at, gain };
            }
        }
        best
    }

    /// How often a series of one level gains as much over its noise, given all shifts of this one.
    ///
    /// By simulation that stops once the answer is clear.
    fn p_value(&self, series: &[f64], shifts: &[usize]) -> f64 {
        let noise = SeriesNoise::around(series, shifts);
        let mut random = Random::new(SEED);
        let mut as_large = 0;
        for drawn in 1..=MOST_SIMULATIONS {
            let simulated = autoregression(series.len(), noise.coefficient(), &mut random);
            let other = Self::of(&simulated);
            let other_noise = SeriesNoise::around(&simulated, &[other.at]);
            if other.gain * noise.long_run >= self.gain * other_noise.long_run {
                as_large += 1;
            }
            if as_large == ENOUGH_AS_LARGE {
                return f64::from(as_large) / f64::from(drawn);
            }
        }
        f64::from(as_large + 1) / f64::from(MOST_SIMULATIONS + 1)
    }
}

/// What is left of a series without its shifts.
struct SeriesNoise {
    /// Its long-run variance.
    long_run: f64,
    /// How many neighbours carry the same information.
    memory: f64,
}

impl SeriesNoise {
    fn around(series: &[f64], shifts: &[usize]) -> Self {
        let mut residuals = series.to_vec();
        let mut rest = residuals.as_mut_slice();
        let mut start = 0;
        for shift in shifts {
            let (stretch, later) = rest.split_at_mut(shift - start);
            subtract_mean(stretch);
            (rest, start) = (later, *shift);
        }
        subtract_mean(rest);
        let long_run = LongRun::of(&residuals, 2);
        Self { long_run: long_run.variance, memory: long_run.memory(variance(&residuals)) }
    }

    /// The coefficient φ of the first-order autoregression that remembers as long: (1 + φ)/(1 - φ).
    fn coefficient(&self) -> f64 {
        ((self.memory - 1.0) / (self.memory + 1.0)).min(0.98)
    }
}

fn subtract_mean(stretch: &mut [f64]) {
    let level = mean(stretch);
    for value in stretch {
        *value -= level;
    }
}

/// `len` values of a stationary first-order autoregression with variance 1.
fn autoregression(len: usize, coefficient: f64, random: &mut Random) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = random.normal();
    let next = || {
        let now = value;
        value = coefficient * value + shock * random.normal();
        now
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Levels with a little noise, as (length, level).
    fn stairs(steps: &[(usize, f64)]) -> Vec<f64> {
        let mut random = Random::new(9);
        let stretch = |(length, level): &(usize, f64)| std::iter::repeat_n(*level, *length);
        steps.iter().flat_map(stretch).map(|level| level + 0.05 * random.normal()).collect()
    }

    #[test]
    fn a_clear_shift_is_found_where_it_is() {
        let shift = level_shift(&stairs(&[(12, 5.0), (48, 3.0)]), 0.95).unwrap();
        assert_eq!((shift.at, shift.p_value), (12, 0.001));
        assert!(shift.before.covers(5.0) && shift.after.covers(3.0));
        assert!(shift.change().covers(-2.0) && shift.change().half_width() < 0.1);
    }

    #[test]
    fn a_step_without_noise_is_a_shift_and_a_constant_is_none() {
        let step: Vec<f64> = (0..40).map(|index| if index < 15 { 0.1 } else { 0.3 }).collect();
        let shift = level_shift(&step, 0.95).unwrap();
        assert_eq!((shift.at, shift.p_value), (15, 0.001));
        assert_eq!(level_shift(&[0.1; 40], 0.95), None);
        assert_eq!(level_shift(&[1.0, 2.0, 3.0, 4.0], 0.95), None);
        assert_eq!(level_shift(&[f64::NAN; 40], 0.95), None);
    }

    #[test]
    fn a_staircase_falls_into_its_steps() {
        let found = segments(&stairs(&[(20, 9.0), (40, 4.0), (60, 5.0)]), 0.01, 0.95);
        let edges: Vec<_> = found.iter().map(|part| (part.start, part.end)).collect();
        assert_eq!(edges, [(0, 20), (20, 60), (60, 120)]);
        assert!(found[1].level.covers(4.0));
        assert_eq!(segments(&[1.0], 0.01, 0.95), []);
    }

    proptest! {
        #[test]
        fn the_split_is_the_best_of_all(series in prop::collection::vec(-1.0..1.0, 12..40)) {
            let squares = |part: &[f64]| {
                let centre = mean(part);
                part.iter().map(|value| (value - centre).powi(2)).sum::<f64>()
            };
            let SeriesSplit { at, gain } = SeriesSplit::of(&series);
            let of = |at: usize| squares(&series) - squares(&series[..at]) - squares(&series[at..]);
            prop_assert!((of(at) - gain).abs() < 1e-9);
            prop_assert!((SHORTEST..=series.len() - SHORTEST).all(|other| of(other) <= gain + 1e-9));
        }
    }
}
