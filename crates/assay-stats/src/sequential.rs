//! Decisions about a limit before the whole time of a load is over, at three fixed looks.

use crate::distribution::{gamma_quantile, normal_quantile, student_quantile};
use crate::mean::LinearRatio;
use crate::series::mean;
use crate::short_run::short_run_error;
use assay_model::number::real_len;

/// Wrong decisions against the storage, and for it, over all looks.
pub const ERROR_SHARE_MAX: f64 = 0.025;
/// Fewer bursts than this decide nothing: half a burst, as for intervals.
const FEWEST_BURSTS: f64 = 0.5;
/// With more I/Os beyond a limit, a row on average, bursts are rarer than the count.
const COUNTS_PER_ROW: f64 = 4.0;

/// A time of the judged load at which it may be decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionLook {
    /// Seconds of the load, and as many rows.
    pub time_s: usize,
    /// The least distance of a rate or a mean time from its limit, on the scale of logarithms.
    pub rate_margin_share: f64,
    /// The least factor between a share beyond a limit and the share that is allowed.
    pub share_factor: f64,
    /// Whether the storage may pass; it may fail at every look.
    pub may_pass: bool,
}

/// The looks: none before 20 s, because a device that starts cold for 10 s, or a cache that lasts
/// for 15 s, decides wrongly there whatever the statistics. Wide margins replace the knowledge of
/// slow noise that a short series cannot have.
pub const LOOKS: [DecisionLook; 3] = [
    DecisionLook { time_s: 20, rate_margin_share: 0.25, share_factor: 1.5, may_pass: false },
    DecisionLook { time_s: 40, rate_margin_share: 0.10, share_factor: 1.2, may_pass: true },
    DecisionLook { time_s: 80, rate_margin_share: 0.02, share_factor: 1.05, may_pass: true },
];

/// What a look says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookOutcome {
    /// Measure on.
    Undecided,
    /// On the bad side of the limit.
    Fail,
    /// On the good side of the limit.
    Pass,
}

/// Which side of a limit is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSide {
    /// A rate is at least the limit.
    AtLeast,
    /// A time is at most the limit.
    AtMost,
}

/// What a look says of one criterion, and the numbers that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookDecision {
    /// What it says.
    pub outcome: LookOutcome,
    /// The mean over the seconds that decide, in the unit of the limit.
    pub value: f64,
    /// The end towards 0 of what the look does not exclude, margin included.
    pub low: f64,
    /// The other end.
    pub high: f64,
    /// The mean over the last quarter.
    pub last_value: f64,
}

/// The numbers of I/Os of a second that took longer than a limit, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeyondCount {
    /// Longer than the limit at the least: buckets that lie above it.
    pub least_ios: f64,
    /// The same at most: also the bucket that the limit divides.
    pub most_ios: f64,
    /// All.
    pub ios: f64,
}

impl DecisionLook {
    /// Whether a rate, or a mean time, is on one side of a limit.
    ///
    /// `rows` are the first [`time_s`](Self::time_s) one-second values; `criteria` (at least 1) is
    /// the number of criteria of which any may fail. The first quarter is left out, which may be
    /// cold or cached; the last quarter must agree, which may lie beyond a cliff. The levels of the
    /// three looks add up (Bonferroni), so nothing is assumed of their dependence.
    ///
    /// `None` of too few rows, of any that is not finite, or of a mean or limit that is not
    /// positive.
    pub fn decide_mean(
        &self,
        rows: &[f64],
        limit: f64,
        good: LimitSide,
        criteria: usize,
    ) -> Option<LookDecision> {
        let parts = LookParts::of(rows, self.time_s)?;
        let (value, last_value) = (mean(parts.late), mean(parts.last));
        if !(value > 0.0 && limit > 0.0) {
            return None;
        }
        let error = short_run_error(parts.late)?;
        let reach = |level: f64| {
            let times = student_quantile(1.0 - level, error.freedom);
            (times * error.standard_error / value).max(self.rate_margin_share)
        };
        let sign = if good == LimitSide::AtLeast { 1.0 } else { -1.0 };
        let distance = |value: f64| sign * (value / limit).ln();
        let (far, last) = (distance(value), distance(last_value));
        let agrees = |last: f64| last > 0.5 * self.rate_margin_share;
        let outcome = if far < -reach(fail_level(criteria)) && agrees(-last) {
            LookOutcome::Fail
        } else if self.may_pass && far > reach(level()) && agrees(last) {
            LookOutcome::Pass
        } else {
            LookOutcome::Undecided
        };
        let wide = reach(fail_level(criteria)).exp();
        Some(LookDecision { outcome, value, low: value / wide, high: value * wide, last_value })
    }

    /// Whether the share of I/Os beyond a time is at most `share_max`, in (0, 1): 1% for p99.
    ///
    /// PASS uses all seconds, because a cold start only makes the tail worse; FAIL leaves out the
    /// first quarter. Limits are those of a gamma law of as many bursts as the error of the share
    /// is worth, one a second at most, and not within Garwood's limits of the count itself
    /// (Biometrika 28, 1936).
    ///
    /// `None` of too few rows, or of seconds without any I/O at all.
    pub fn decide_share(
        &self,
        rows: &[BeyondCount],
        share_max: f64,
        criteria: usize,
    ) -> Option<LookDecision> {
        let parts = LookParts::of(rows, self.time_s)?;
        let late = BeyondShare::of(parts.late, BeyondCount::least, fail_level(criteria))?;
        let all = BeyondShare::of(parts.all, BeyondCount::most, level())?;
        let last_value = share(parts.last, BeyondCount::least)?;
        let last_most = share(parts.last, BeyondCount::most)?;
        let is_far = late.low > share_max && late.value > self.share_factor * share_max;
        let is_near = all.high < share_max && all.value < share_max / self.share_factor;
        let outcome = if is_far && last_value > share_max {
            LookOutcome::Fail
        } else if self.may_pass && is_near && last_most < share_max {
            LookOutcome::Pass
        } else {
            LookOutcome::Undecided
        };
        let decided = if outcome == LookOutcome::Fail { late } else { all };
        let BeyondShare { value, low, high } = decided;
        Some(LookDecision { outcome, value, low, high, last_value })
    }
}

/// How many times wider than its 95% interval a number must be clear of its limit at a look, where
/// any of several criteria may fail: the ratio of Student's quantiles with the three degrees of
/// freedom that the look at 20 s has.
pub fn widening(criteria: usize) -> f64 {
    const FREEDOM: f64 = 3.0;
    student_quantile(1.0 - fail_level(criteria), FREEDOM) / student_quantile(0.975, FREEDOM)
}

/// The chance that is spent for an error at one look.
fn level() -> f64 {
    ERROR_SHARE_MAX / real_len(LOOKS.len())
}

/// The same where any of several criteria may fail the storage.
fn fail_level(criteria: usize) -> f64 {
    level() / real_len(criteria.max(1))
}

/// The seconds of a look.
struct LookParts<'a, Row> {
    all: &'a [Row],
    /// Without the first quarter.
    late: &'a [Row],
    last: &'a [Row],
}

impl<'a, Row> LookParts<'a, Row> {
    fn of(rows: &'a [Row], time_s: usize) -> Option<Self> {
        let all = rows.get(..time_s)?;
        Some(Self { all, late: &all[time_s / 4..], last: &all[time_s - time_s / 4..] })
    }
}

impl BeyondCount {
    const fn least(&self) -> f64 {
        self.least_ios
    }

    const fn most(&self) -> f64 {
        self.most_ios
    }
}

/// The share over rows; `None` without I/Os.
fn share(rows: &[BeyondCount], beyond: fn(&BeyondCount) -> f64) -> Option<f64> {
    let all: f64 = rows.iter().map(|row| row.ios).sum();
    (all > 0.0).then(|| rows.iter().map(beyond).sum::<f64>() / all)
}

/// A share with limits on either side, each wrong at most at a level.
#[derive(Clone, Copy)]
struct BeyondShare {
    value: f64,
    low: f64,
    high: f64,
}

impl BeyondShare {
    fn of(rows: &[BeyondCount], beyond: fn(&BeyondCount) -> f64, level: f64) -> Option<Self> {
        let counts: Vec<f64> = rows.iter().map(beyond).collect();
        let ios: Vec<f64> = rows.iter().map(|row| row.ios).collect();
        let linear = LinearRatio::of(&counts, &ios)?;
        let (value, all) = (linear.value, ios.iter().sum::<f64>());
        let bursts = worth_bursts(&linear.residuals, value, level)?;
        let low = value * bursts / gamma_quantile(1.0 - level, bursts);
        let high = value * bursts / gamma_quantile(level, bursts);
        let counted = counts.iter().sum::<f64>();
        // There is at most one burst a row: the count itself matters only where it is small.
        if counted > COUNTS_PER_ROW * real_len(rows.len()) {
            return Some(Self { value, low, high });
        }
        let fewest = if counted > 0.0 { gamma_quantile(level, counted) / all } else { 0.0 };
        let most = gamma_quantile(1.0 - level, counted + 1.0) / all;
        Some(Self { value, low: low.min(fewest), high: high.max(most) })
    }
}

/// How many bursts of equal size determine a share as well as its rows do, Student's excess over
/// the normal law paid in bursts; no more than one a second.
fn worth_bursts(residuals: &[f64], value: f64, level: f64) -> Option<f64> {
    let error = short_run_error(residuals)?;
    if value <= 0.0 {
        return Some(FEWEST_BURSTS);
    }
    let excess = student_quantile(1.0 - level, error.freedom) / normal_quantile(1.0 - level);
    let relative = error.standard_error / value * excess;
    Some(relative.powi(-2).clamp(FEWEST_BURSTS, real_len(residuals.len())))
}

#[cfg(test)]
mod tests;
