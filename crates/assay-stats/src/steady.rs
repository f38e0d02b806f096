//! Whether a series is steady and since when: our rule, and the two that others use.

use crate::estimate::IntervalEstimate;
use crate::mean::mean_interval;
use crate::pelt::changes;
use crate::series::{autocorrelation, mean, unbiased_correlation, variance};
use crate::trend::{FittedLine, line, trend};
use assay_model::number::{index, real_len};

/// A level of our rule holds for at least this many batches.
const SHORTEST: usize = 3;

/// The steady stretch of our rule has at least this many batches: fewer say nothing about a drift.
const STEADY_MIN: usize = 10;

/// Places at which a stretch is tried to have settled.
const SETTLED_PLACES: usize = 24;

/// How many times steeper a stretch moves before it has settled.
const STEEPER: f64 = 4.0;

/// Correlation of neighbouring batches from which on wandering looks like changes of level.
const LONG_MEMORY: f64 = 0.6;

/// The same where changes were found that the wandering explains.
const WANDERING: f64 = 0.4;

/// A series of fewer memories than this says nothing of whether it will come back.
const FEWEST_MEMORIES: f64 = 4.0;

/// What is new in a batch and larger than this many standard deviations is not noise.
const AT_A_BLOW: f64 = 4.2;

/// News that are more skewed than this come from one side, as in a saw-tooth, and are not noise: of
/// 48 normal values the skewness has a standard error of √(6/48) = 0.35.
const ONE_SIDED: f64 = 1.2;

/// News that are correlated with the one before by more than this are not noise: waves and slow
/// approaches go on.
const TOLD_BY_LAST: f64 = 0.4;

/// What a change must gain to be believed in noise that remembers, in logarithms of the length.
const CHANGE_PRICE: f64 = 3.0;

/// A drift goes on where the last stretch has this share of the slope over the last two.
const GOES_ON: f64 = 0.5;

/// The first batch of a stretch that is this many standard deviations from the rest holds some of
/// the level before.
const FAR: f64 = 4.0;

/// A phase at the beginning differs from what follows by more than this share of it: what differs
/// less is a slow approach.
const LEAD_APART: f64 = 0.5;

/// Rounds in a window of the five-round rule.
const ROUNDS: usize = 5;

/// The parameters of our rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// Changes and drifts below this share of the level do not matter.
    pub tolerance: f64,
    /// How sure a drift must be, in (0, 1).
    pub confidence: f64,
    /// The steady stretch reaches over at least this share of the series, so that a pause is not
    /// taken for a state.
    pub share: f64,
    /// The drift must be known to within this share of the level: an unknown drift does not make
    /// it steady.
    pub doubt_share: f64,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self { tolerance: 0.01, confidence: 0.99, share: 0.25, doubt_share: 0.1 }
    }
}

/// What our rule finds.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Index of the first batch of the steady stretch that the series ends with; `None` when it is
    /// not steady.
    pub since: Option<usize>,
    /// First indices of the stretches after the first one.
    pub changes: Vec<usize>,
    /// What the last stretch gained from its first to its last batch, as a share of its level.
    pub drift: Option<IntervalEstimate>,
    /// The mean of the last stretch.
    pub level: Option<IntervalEstimate>,
    /// How many batches the noise seems to remember, where that is too long to separate its
    /// wandering from changes of level: `since` is `None` then, which says nothing.
    pub long_memory_n: Option<f64>,
}

/// Whether a series of batch means ends in a steady state: its last level holds long enough and
/// does not drift.
///
/// Changes are those of [`changes`], less those that are smaller than the tolerance or than what
/// correlated noise does by itself. A fall is louder than the level that it ends in, and hides how
/// that was reached: what follows the last change is looked at again by itself, until it has none.
/// There are no changes where a first-order autoregression explains the series as well, and the
/// last one is none where a straight line does. The drift is the [`trend`] over the last stretch;
/// it counts when it is sure and larger than the tolerance. Batches should be longer than the
/// memory of the noise: 60 s for intervals of 1 s.
pub fn steadiness(batches: &[f64], rule: &SteadyRule) -> SteadyState {
    let lead = lead(batches);
    let mut found = steadiness_behind(&batches[lead..], rule);
    if lead > 0 {
        found.changes.iter_mut().for_each(|at| *at += lead);
        found.changes.insert(0, lead);
        found.since = found.since.map(|since| since + lead);
    }
    found
}

/// How many batches at the beginning are a short phase of their own, too short for [`changes`]:
/// each of them lies far to the same side of all that follow.
fn lead(batches: &[f64]) -> usize {
    let is_apart = |lead: &usize| {
        let (first, rest) = batches.split_at(*lead);
        let (level, spread) = (mean(rest), variance(rest).sqrt());
        let least = first.iter().copied().fold(f64::INFINITY, f64::min);
        let most = first.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let gap = (FAR * spread).max(LEAD_APART * level.abs());
        least > level + gap || most < level - gap
    };
    let longest = SHORTEST.min(batches.len().saturating_sub(STEADY_MIN));
    (1..=longest).rev().find(is_apart).unwrap_or(0)
}

fn steadiness_behind(batches: &[f64], rule: &SteadyRule) -> SteadyState {
    let mut changes = all_changes(batches, rule.tolerance);
    let wanders = wanders(batches, &changes) && long_memory(batches, 0.0).is_some();
    if wanders {
        changes.clear();
    } else if is_slope(batches, &changes) {
        changes.pop();
    }
    let mut start = changes.last().map_or(0, |last| last + mixed(&batches[*last..]));
    let needed = index(rule.share * real_len(batches.len())).max(STEADY_MIN);
    if !is_steady(&batches[start..], needed, rule)
        && let Some(settled) = settles(&batches[start..], needed, rule)
    {
        start += settled;
        changes.push(start);
    }
    if let Some(last) = changes.last_mut() {
        *last = start;
    }
    let last = batches.get(start..).unwrap_or_default();
    let memory = long_memory(batches, if wanders { WANDERING } else { LONG_MEMORY });
    let steady = is_steady(last, needed, rule) && !(wanders && memory.is_some());
    SteadyState {
        since: steady.then_some(start),
        changes,
        drift: drift(last, rule.confidence),
        level: mean_interval(last, rule.confidence),
        long_memory_n: memory.filter(|_| !steady),
    }
}

/// Whether a stretch is long enough, its drift known, and not significantly larger than what
/// matters.
fn is_steady(stretch: &[f64], needed: usize, rule: &SteadyRule) -> bool {
    let drifts =
        |drift: &IntervalEstimate| !drift.covers(0.0) && drift.value.abs() > rule.tolerance;
    let is_known = |drift: &IntervalEstimate| drift.half_width() <= rule.doubt_share;
    let drift = drift(stretch, rule.confidence);
    stretch.len() >= needed
        && drift.is_some_and(|drift| is_known(&drift) && !drifts(&drift))
        && !turns(stretch, rule)
}

/// Whether a stretch certainly goes one way in its first half and the other way in its second: half
/// a wave has no trend as a whole.
fn turns(stretch: &[f64], rule: &SteadyRule) -> bool {
    let (first, second) = stretch.split_at(stretch.len() / 2);
    let sure = |half: &[f64]| {
        let drift = drift(half, rule.confidence)?;
        (!drift.covers(0.0) && drift.value.abs() > rule.tolerance).then_some(drift.value)
    };
    sure(first).zip(sure(second)).is_some_and(|(first, second)| first * second < 0.0)
}

/// Where a stretch that approaches its level more and more slowly has reached it: the first place
/// behind which it is steady and before which it certainly moved in a steeper way. What drifts on
/// and on moves alike before and behind every place.
fn settles(stretch: &[f64], needed: usize, rule: &SteadyRule) -> Option<usize> {
    let step = (stretch.len() / SETTLED_PLACES).max(1);
    let last = stretch.len().checked_sub(needed)?;
    (STEADY_MIN..=last).step_by(step).find(|place| {
        let (before, behind) = stretch.split_at(*place);
        let slope = |part: &[f64]| Some(trend(part, rule.confidence)?.slope);
        let (Some(steep), Some(flat)) = (slope(before), slope(behind)) else { return false };
        steep.value.abs() > STEEPER * flat.value.abs()
            && !steep.minus(&flat).covers(0.0)
            && is_steady(behind, needed, rule)
    })
}

/// Whether noise that remembers explains the series as well as the changes do: by the criterion of
/// Schwarz on what is new in each batch, both times under a first-order autoregression.
fn wanders(batches: &[f64], changes: &[usize]) -> bool {
    let n = real_len(batches.len());
    let (plain, stepped) = (news(batches, &[]), news(batches, changes));
    let price = CHANGE_PRICE * real_len(changes.len()) * n.ln();
    let gained = variance(&plain).ln() - variance(&stepped).max(f64::MIN_POSITIVE).ln();
    !changes.is_empty() && n * gained < price && is_noise(&plain)
}

/// What is new in each batch, given the levels between changes and a first-order autoregression
/// around them.
///
/// Of the first one it is what makes all equally likely (Prais and Winsten): a series that begins
/// far from its level shows it.
fn news(batches: &[f64], changes: &[usize]) -> Vec<f64> {
    let residuals = residuals(batches, changes);
    let coefficient = unbiased_correlation(&residuals, 1.0).clamp(0.0, 1.0);
    let first = residuals.first().map(|first| first * (1.0 - coefficient * coefficient).sqrt());
    let later = residuals.windows(2).map(|two| two[1] - coefficient * two[0]);
    first.into_iter().chain(later).collect()
}

/// Whether news may be chance: none of them is a blow, they do not come from one side, and one does
/// not predict the next.
fn is_noise(news: &[f64]) -> bool {
    let largest = news.iter().map(|one| one.abs()).fold(0.0, f64::max);
    largest < AT_A_BLOW * variance(news).sqrt()
        && skewness(news).abs() < ONE_SIDED
        && autocorrelation(news, 1) < TOLD_BY_LAST
}

/// Whether the last two stretches are parts of one drift: a straight line explains them as well as
/// the change between them does, and the last one goes on alike.
fn is_slope(batches: &[f64], changes: &[usize]) -> bool {
    let [earlier @ .., last] = changes else { return false };
    let both = &batches[earlier.last().copied().unwrap_or(0)..];
    let behind = &batches[*last..];
    let (Some(whole), Some(rest)) = (fitted(both), fitted(behind)) else { return false };
    let at = both.len() - behind.len();
    let squares: f64 = residuals(both, &[at]).iter().map(|one| one * one).sum();
    whole.scatter.powi(2) * real_len(both.len() - 2) < squares
        && rest.slope.value / whole.slope.value > GOES_ON
}

/// The straight line through a stretch.
fn fitted(stretch: &[f64]) -> Option<FittedLine> {
    let steps: Vec<f64> = (0..stretch.len()).map(real_len).collect();
    line(&steps, stretch, 0.95)
}

/// How many batches at the beginning of a stretch hold some of the level before: 1 where the first
/// one is far from the rest.
fn mixed(stretch: &[f64]) -> usize {
    let Some((first, rest)) = stretch.split_first() else { return 0 };
    usize::from((first - mean(rest)).abs() > FAR * variance(rest).sqrt())
}

/// How many batches the noise remembers, where a first-order autoregression explains the whole
/// series: it has a long memory, a small share of the series, and nothing in it came at a blow.
fn long_memory(batches: &[f64], least: f64) -> Option<f64> {
    let coefficient = unbiased_correlation(batches, 1.0);
    if batches.len() < 2 * STEADY_MIN || !(least..1.0).contains(&coefficient) {
        return None;
    }
    let memory = -1.0 / coefficient.ln();
    let line = trend(batches, 0.99)?;
    let wanders = line.slope.covers(0.0) && memory * FEWEST_MEMORIES < real_len(batches.len());
    (wanders && is_noise(&news(batches, &[]))).then_some(memory)
}

/// The third standardised moment: 0 of what is symmetric.
fn skewness(values: &[f64]) -> f64 {
    let (centre, spread) = (mean(values), variance(values).sqrt());
    if spread <= 0.0 {
        return 0.0;
    }
    let cubes: Vec<f64> = values.iter().map(|value| ((value - centre) / spread).powi(3)).collect();
    mean(&cubes)
}

/// The changes that matter, of the whole and then of what follows the last one.
fn all_changes(batches: &[f64], tolerance: f64) -> Vec<usize> {
    let mut all: Vec<usize> = Vec::new();
    loop {
        let start = all.last().copied().unwrap_or(0);
        let rest = &batches[start..];
        let found = material(rest, changes(rest, SHORTEST), tolerance);
        if found.is_empty() {
            return all;
        }
        all.extend(found.into_iter().map(|at| start + at));
    }
}

/// What a stretch gained, as a share of its level.
fn drift(stretch: &[f64], confidence: f64) -> Option<IntervalEstimate> {
    let line = trend(stretch, confidence)?;
    let gained = line.slope.scaled(real_len(stretch.len() - 1));
    let level = line.centre.value.abs();
    Some(if level > 0.0 { gained.scaled(level.recip()) } else { gained })
}

/// The changes that matter, the weakest taken out one after another until all do.
fn material(batches: &[f64], mut changes: Vec<usize>, tolerance: f64) -> Vec<usize> {
    // Of all stretches that may be some: with the noise of fewer, one slow change would hide the
    // others.
    let (noise, tails) = long_run_noise(batches, &changes);
    let price = 6.0 * noise * real_len(batches.len().max(2)).ln();
    loop {
        let weak = changes
            .iter()
            .enumerate()
            .map(|(which, _)| {
                // Means of few values keep the tails of the noise: what is short has to be
                // stronger.
                let strength = strength(batches, &changes, which, tolerance);
                (
                    which,
                    strength / (1.0 + tails / real_len(shortest_side(batches, &changes, which))),
                )
            })
            .filter(|(_, strength)| *strength <= price)
            .min_by(|one, other| one.1.total_cmp(&other.1));
        let Some((weakest, _)) = weak else {
            return changes;
        };
        changes.remove(weakest);
    }
}

/// The length of the shorter of the two stretches that a change divides.
fn shortest_side(batches: &[f64], changes: &[usize], which: usize) -> usize {
    let before = which.checked_sub(1).map_or(0, |earlier| changes[earlier]);
    let after = changes.get(which + 1).copied().unwrap_or(batches.len());
    (changes[which] - before).min(after - changes[which])
}

/// By how much a change lowers the squares, twice; 0 when it is within the tolerance.
fn strength(batches: &[f64], changes: &[usize], which: usize, tolerance: f64) -> f64 {
    let before = which.checked_sub(1).map_or(0, |earlier| changes[earlier]);
    let after = changes.get(which + 1).copied().unwrap_or(batches.len());
    let (left, right) = (&batches[before..changes[which]], &batches[changes[which]..after]);
    let step = mean(right) - mean(left);
    if step.abs() <= tolerance * mean(batches).abs() {
        return 0.0;
    }
    let (n, m) = (real_len(left.len()), real_len(right.len()));
    2.0 * step * step * n * m / (n + m)
}

/// What is left of a series without the levels between its changes.
fn residuals(batches: &[f64], changes: &[usize]) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(batches.len());
    let mut edges = vec![0];
    edges.extend(changes);
    edges.push(batches.len());
    for pair in edges.windows(2) {
        let stretch = &batches[pair[0]..pair[1]];
        let level = mean(stretch);
        residuals.extend(stretch.iter().map(|value| value - level));
    }
    residuals
}

/// The variance of the noise around the stretches, with what neighbours have in common counted in,
/// and by how much its fourth moment exceeds that of the normal law.
fn long_run_noise(batches: &[f64], changes: &[usize]) -> (f64, f64) {
    let residuals = residuals(batches, changes);
    let correlation = unbiased_correlation(&residuals, 1.0).clamp(0.0, 0.6);
    let spread = variance(&residuals);
    let fourth = mean(&residuals.iter().map(|residual| residual.powi(4)).collect::<Vec<_>>());
    let tails =
        if spread > 0.0 { (fourth / (spread * spread) - 3.0).clamp(0.0, 30.0) } else { 0.0 };
    (spread * (1.0 + correlation) / (1.0 - correlation), tails)
}

/// The rule of five rounds: the first round of the first five in a row whose range is at most 20%
/// and whose fitted line moves at most 10% of their mean.
///
/// (SNIA, Solid State Storage Performance Test Specification 2.0.2, 2020.)
pub fn five_rounds(rounds: &[f64]) -> Option<usize> {
    rounds.windows(ROUNDS).position(|window| {
        let centre = mean(window);
        let low = window.iter().copied().fold(f64::INFINITY, f64::min);
        let high = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let moved = slope(window) * real_len(ROUNDS - 1);
        high - low <= 0.20 * centre && moved.abs() <= 0.10 * centre
    })
}

/// The rule of a slope: the first observation of the first `window` whose least-squares slope is
/// below `limit` of its mean per observation.
///
/// (fio, `steadystate=iops_slope:0.1%`: `limit` 0.001, one observation a second.)
pub fn slope_rule(series: &[f64], window: usize, limit: f64) -> Option<usize> {
    if window < 2 {
        return None;
    }
    series.windows(window).position(|window| (slope(window) / mean(window)).abs() < limit)
}

/// The least-squares slope per observation.
fn slope(series: &[f64]) -> f64 {
    let middle = (real_len(series.len()) - 1.0) / 2.0;
    let (mut joint, mut spread) = (0.0, 0.0);
    for (at, value) in series.iter().enumerate() {
        let distance = real_len(at) - middle;
        joint += distance * value;
        spread += distance * distance;
    }
    joint / spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noisy(levels: &[(usize, f64)]) -> Vec<f64> {
        let mut random = Random::new(4);
        let stretch = |(length, level): &(usize, f64)| std::iter::repeat_n(*level, *length);
        let levels = levels.iter().flat_map(stretch);
        levels.map(|level| level + random.normal()).collect()
    }

    #[test]
    fn five_rounds_need_a_small_range_and_a_small_slope() {
        assert_eq!(five_rounds(&[50.0, 100.0, 101.0, 99.0, 100.0, 102.0]), Some(1));
        // A decay of 2.4% a round passes: 4 × 2.4% is below 10%.
        assert_eq!(five_rounds(&[100.0, 97.6, 95.3, 93.0, 90.7]), Some(0));
        assert_eq!(five_rounds(&[100.0, 97.0, 94.0, 91.0, 88.0]), None);
        assert_eq!(five_rounds(&[100.0, 130.0, 100.0, 130.0, 100.0]), None);
        assert_eq!(five_rounds(&[1.0; 4]), None);
    }

    #[test]
    fn the_slope_rule_looks_at_one_window() {
        let climb: Vec<f64> = (0..40).map(|at| f64::from(at.min(20)) + 100.0).collect();
        assert_eq!(slope_rule(&climb, 10, 0.001), Some(19));
        assert_eq!(slope_rule(&climb, 10, 0.02), Some(0));
        assert_eq!(slope_rule(&climb, 60, 0.02), None);
        assert_eq!(slope_rule(&climb, 1, 0.02), None);
    }

    #[test]
    fn a_level_after_a_fall_is_steady_and_a_ramp_is_not() {
        let rule = SteadyRule::default();
        let fall = steadiness(&noisy(&[(60, 200.0), (60, 100.0)]), &rule);
        assert_eq!((fall.since, fall.changes), (Some(60), vec![60]));
        assert!(fall.level.unwrap().covers(100.0));
        let pause = steadiness(&noisy(&[(100, 200.0), (20, 100.0)]), &rule);
        assert_eq!(pause.since, None);
        let ramp: Vec<f64> = noisy(&[(120, 200.0)])
            .iter()
            .enumerate()
            .map(|(at, value)| value + 0.05 * real_len(at))
            .collect();
        assert_eq!(steadiness(&ramp, &rule).since, None);
        assert_eq!(steadiness(&[1.0, 1.0], &rule).since, None);
        assert_eq!(steadiness(&[7.0; 30], &rule).since, Some(0));
    }

    /// A fall by half that is reached slowly: 200, and from batch 60 on 100 and what is left of the
    /// rest.
    fn slow_fall(tau: f64) -> Vec<f64> {
        let left = |at: usize| 100.0 * (-real_len(at.saturating_sub(60)) / tau).exp();
        let noise = noisy(&[(240, 100.0)]);
        noise.iter().enumerate().map(|(at, value)| value + left(at)).collect()
    }

    #[test]
    fn the_level_after_a_slow_fall_is_dated_when_it_is_reached() {
        let rule = SteadyRule::default();
        for tau in [8.0, 15.0, 25.0] {
            let since = steadiness(&slow_fall(tau), &rule).since.unwrap();
            // Within 4% of the new level, and not long after it is within 1%.
            let (near, there) = (60 + index(tau * 25.0f64.ln()), 60 + index(tau * 100.0f64.ln()));
            assert!((near - 5..=there + 30).contains(&since), "{tau}: {near} {since} {there}");
        }
        // What still falls at the end is not steady, however slowly it does.
        assert_eq!(steadiness(&slow_fall(70.0), &rule).since, None);
    }

    #[test]
    fn a_drift_is_not_two_levels() {
        let drifting =
            |at: usize, noise: f64| 100.0 + 2.0 * real_len(at) / 180.0 + 0.3 * (noise - 100.0);
        let series: Vec<f64> = noisy(&[(180, 100.0)])
            .into_iter()
            .enumerate()
            .map(|(at, one)| drifting(at, one))
            .collect();
        assert_eq!(steadiness(&series, &SteadyRule::default()).since, None);
    }

    #[test]
    fn the_batch_that_holds_a_fall_belongs_to_neither_side() {
        let series = noisy(&[(100, 500.0), (1, 330.0), (79, 250.0)]);
        let found = steadiness(&series, &SteadyRule::default());
        assert_eq!(found.since, Some(101), "{found:?}");
    }

    #[test]
    fn noise_that_remembers_for_minutes_is_not_told_from_changes() {
        let mut alarms = [0; 2];
        for seed in 1..=20 {
            let mut random = Random::new(seed);
            let mut value = 0.0;
            let mut next = || {
                value = 0.8 * value + 0.6 * random.normal();
                1000.0 + 20.0 * value
            };
            let series: Vec<f64> = std::iter::repeat_with(&mut next).take(180).collect();
            let found = steadiness(&series, &SteadyRule::default());
            alarms[0] += u32::from(found.since.is_some_and(|since| since > 0));
            alarms[1] += u32::from(found.since.is_none() && found.long_memory_n.is_none());
        }
        assert!(alarms[0] <= 1 && alarms[1] <= 1, "{alarms:?}");
    }

    #[test]
    fn a_wave_as_long_as_the_series_is_not_steady() {
        let wave = |at: usize| 100.0 + 10.0 * (real_len(at) / 40.0).sin();
        let series: Vec<f64> = (0..120).map(wave).collect();
        assert_eq!(steadiness(&series, &SteadyRule::default()).since, None);
    }
}
