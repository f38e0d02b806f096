//! Criteria as a person writes them, and the verdict: every criterion with its evidence, its
//! outcome and the reason.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

mod criteria;
mod unit;

pub use criteria::{Bound, Criteria, Criterion, parse_criteria};
pub use unit::Unit;

/// What a criterion, or all of them together, came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// The whole interval lies on the good side of the limit.
    Pass,
    /// The whole interval lies on the bad side of the limit.
    Fail,
    /// The limit lies inside the interval, or the evidence is missing or doubtful.
    Inconclusive,
}

/// A limit in base units: nanoseconds, per second, bytes per second, a share in 0..=1, or a count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The quantity may be this or less.
    AtMost(f64),
    /// The quantity may be this or more.
    AtLeast(f64),
}

/// Into which direction a doubt moves what was measured, seen from the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// The storage looks better than it is: a PASS does not hold.
    Flattering,
    /// The storage looks worse than it is: a FAIL does not hold.
    Unflattering,
    /// Neither a PASS nor a FAIL holds.
    Unknown,
}

/// Something about the measurement that a conclusion has to allow for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// What was seen.
    pub what: String,
    /// Where it moves the result.
    pub bias: Bias,
    /// What to do for a result without it.
    pub remedy: String,
}

/// A level that was left for another one while the load was the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LevelChange {
    /// When, s since the measured time began.
    pub at_s: f64,
    /// I/Os per second before.
    pub before_iops: Estimate,
    /// I/Os per second after.
    pub after_iops: Estimate,
    /// Mean service time before, ns.
    pub before_ns: Estimate,
    /// Mean service time after, ns.
    pub after_ns: Estimate,
    /// Whether the level after held to the end and for long enough to be judged by itself.
    pub settled: bool,
}

/// The number that a criterion is judged by, and what it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The quantity in base units; `None` where nothing was measured that gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Measured time behind it, s; 0 where that does not apply.
    #[serde(default)]
    pub elapsed_s: f64,
    /// Of a quantile: how many times, apart from one another, I/Os took longer. Neighbours that
    /// did so together are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// The level that was left; where the one after it settled, the estimate is of that one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_change: Option<LevelChange>,
    /// What a conclusion has to allow for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// How much longer to measure, in words: a factor, because whoever reads it chose the time of a
/// whole command, of which the judged number may have got a part. Rounded up.
pub fn times_as_long(factor: f64) -> String {
    match factor {
        _ if factor <= 1.5 => "1.5 times as long".to_owned(),
        _ if factor <= 2.0 => "twice as long".to_owned(),
        _ => format!("{:.0} times as long", factor.ceil()),
    }
}

/// A quantity that is known with its doubt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedEstimate {
    /// The name as criteria write it, for example `read.service_time.q0.99`.
    pub quantity: String,
    /// The stream, target or mix that it was taken of, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What is known, in the base unit of the quantity.
    pub estimate: Estimate,
}

/// Why the outcome is what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Reason {
    /// The whole interval lies on one side of the limit.
    Clear,
    /// The run was too short for an interval, but every second was on one side of the limit by more
    /// than a factor of 2.
    FarFromLimit {
        /// The lowest second, in the unit of the limit.
        lowest_value: f64,
        /// The highest second.
        highest_value: f64,
    },
    /// A quantile has too few slow I/Os for an upper end, but the mean of all times bounds it below
    /// the limit: of times with this mean, no larger share can be longer.
    BoundedByMean {
        /// The quantile does not exceed this, in the unit of the limit.
        highest_value: f64,
    },
    /// The limit lies inside the interval.
    Straddles {
        /// Measured time in all after which the interval is likely to leave the limit, s, if the
        /// value stays where it is; `None` where no reasonable time would do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enough_s: Option<f64>,
    },
    /// Nothing was measured that gives the quantity.
    NoEvidence {
        /// What would have to be measured.
        missing: String,
    },
    /// The interval is clear of the limit, but a doubt of the evidence could have carried it there.
    Doubtful,
}

/// One criterion, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The quantity as the criterion names it, for example `target.read.service_time.mean`.
    pub quantity: String,
    /// The stream, target or mix that it was taken of, where the criterion is judged for each of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The quantity in words.
    pub label: String,
    /// The load at which it was measured, in words, for example `one at a time`; empty where the
    /// name says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// Unit of the limit and of the estimate.
    pub unit: Unit,
    /// The limit.
    pub limit: Limit,
    /// What it is judged by.
    pub evidence: Evidence,
    /// What it came to.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// Why the criterion is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Source of the limit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// An optional criterion for which there was nothing to judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OmittedCriterion {
    /// The quantity as the criterion names it.
    pub quantity: String,
    /// The quantity in words.
    pub label: String,
    /// What would have to be measured.
    pub missing: String,
}

/// All criteria, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Name of the criteria.
    pub criteria: String,
    /// FAIL if any criterion failed, else INCONCLUSIVE if any is, else PASS.
    pub outcome: Outcome,
    /// In the order of the criteria.
    pub judgements: Vec<Judgement>,
    /// Optional criteria without evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedCriterion>,
}

impl Outcome {
    /// The word for it: `PASS`, `FAIL` or `INCONCLUSIVE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }

    /// Several outcomes together: FAIL if any failed, else INCONCLUSIVE if any is or there is none,
    /// else PASS.
    pub fn of_all(outcomes: impl IntoIterator<Item = Self>) -> Self {
        let worse = |one: Self, other: Self| match (one, other) {
            (Self::Fail, _) | (_, Self::Fail) => Self::Fail,
            (Self::Inconclusive, _) | (_, Self::Inconclusive) => Self::Inconclusive,
            (Self::Pass, Self::Pass) => Self::Pass,
        };
        let all = outcomes.into_iter().reduce(worse);
        all.unwrap_or(Self::Inconclusive)
    }
}

impl Limit {
    /// The limit as a number, in base units.
    pub const fn value(self) -> f64 {
        match self {
            Self::AtMost(value) | Self::AtLeast(value) => value,
        }
    }
}

#[cfg(test)]
mod tests;
