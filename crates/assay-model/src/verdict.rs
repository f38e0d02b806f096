//! Limits and verdicts: each criterion with its evidence, outcome and reason.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

mod criteria;
mod unit;

pub use criteria::{Bound, Criteria, Criterion, parse_criteria};
pub use unit::Unit;

/// Outcome of one criterion or of all criteria.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// The whole interval meets the limit.
    Pass,
    /// The whole interval violates the limit.
    Fail,
    /// The limit lies inside the interval, or evidence is missing or biased.
    Inconclusive,
}

/// Limit in base units: ns, per second, bytes per second, share in 0..=1, or count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Maximum.
    AtMost(f64),
    /// Minimum.
    AtLeast(f64),
}

/// Direction in which a caveat biases the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// The storage appears better than it is: a PASS is unreliable.
    Flattering,
    /// The storage appears worse than it is: a FAIL is unreliable.
    Unflattering,
    /// Direction unknown: neither a PASS nor a FAIL is reliable.
    Unknown,
}

/// Caveat of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// Observation.
    pub what: String,
    /// Direction of the bias.
    pub bias: Bias,
    /// Action that avoids the caveat.
    pub remedy: String,
}

/// Level change under constant load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LevelChange {
    /// Time of the change, s since the start of the measurement.
    pub at_s: f64,
    /// IOPS before the change.
    pub before_iops: Estimate,
    /// IOPS after the change.
    pub after_iops: Estimate,
    /// Mean service time before the change, ns.
    pub before_ns: Estimate,
    /// Mean service time after the change, ns.
    pub after_ns: Estimate,
    /// Whether the later level lasted until the end, for long enough to be judged on its own.
    pub settled: bool,
}

/// Estimate for a criterion, with its basis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Quantity in base units; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Measured time, s; 0 if not applicable.
    #[serde(default)]
    pub elapsed_s: f64,
    /// For a quantile: number of separate clusters of slower I/Os. Adjacent slow I/Os form one
    /// cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// Level change; if the later level settled, the estimate covers only that level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_change: Option<LevelChange>,
    /// Caveats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// Words for the required increase in measured time, rounded up: a factor, because the time option
/// covers the whole command, of which the judged value may have used only a part.
pub fn times_as_long(factor: f64) -> String {
    match factor {
        _ if factor <= 1.5 => "1.5 times as long".to_owned(),
        _ if factor <= 2.0 => "twice as long".to_owned(),
        _ => format!("{:.0} times as long", factor.ceil()),
    }
}

/// Named quantity with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedEstimate {
    /// Quantity name as used in criteria, for example `read.service_time.q0.99`.
    pub quantity: String,
    /// Stream, target or mix; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Estimate in the base unit of the quantity.
    pub estimate: Estimate,
}

/// Reason for an outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Reason {
    /// The whole interval lies on one side of the limit.
    Clear,
    /// The run was too short for an interval, but every second was on one side of the limit by more
    /// than a factor of 2.
    FarFromLimit {
        /// Lowest one-second value, in the unit of the limit.
        lowest_value: f64,
        /// Highest one-second value, in the unit of the limit.
        highest_value: f64,
    },
    /// The limit lies inside the interval.
    Straddles {
        /// Total measured time likely to be enough for a decision, s, if the value does not change;
        /// absent if no reasonable time is enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enough_s: Option<f64>,
    },
    /// The quantity was not measured.
    NoEvidence {
        /// Measurement required.
        missing: String,
    },
    /// The interval excludes the limit, but a caveat of the evidence may explain that.
    Doubtful,
}

/// Outcome of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Quantity name of the criterion, for example `target.read.service_time.mean`.
    pub quantity: String,
    /// Stream, target or mix; absent if the criterion is not judged per subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Quantity in words.
    pub label: String,
    /// Load of the measurement in words, for example `one at a time`; empty if the quantity name
    /// implies it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// Unit of the limit and of the estimate.
    pub unit: Unit,
    /// Required limit.
    pub limit: Limit,
    /// Evidence for the outcome.
    pub evidence: Evidence,
    /// Outcome of the criterion.
    pub outcome: Outcome,
    /// Reason for the outcome.
    pub reason: Reason,
    /// Purpose of the criterion.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Source of the limit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Optional criterion without evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OmittedCriterion {
    /// Quantity name of the criterion.
    pub quantity: String,
    /// The quantity in words.
    pub label: String,
    /// Measurement required.
    pub missing: String,
}

/// Outcomes of all criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Version of the document format: 1.
    pub format: u32,
    /// Name of the criteria.
    pub criteria: String,
    /// FAIL if any criterion failed, otherwise INCONCLUSIVE if any is inconclusive, otherwise PASS.
    pub outcome: Outcome,
    /// Judgements, in the order of the criteria.
    pub judgements: Vec<Judgement>,
    /// Optional criteria without evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedCriterion>,
}

impl Outcome {
    /// Name: `PASS`, `FAIL` or `INCONCLUSIVE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }

    /// Combined outcome: FAIL if any failed, otherwise INCONCLUSIVE if any is inconclusive or there
    /// are none, otherwise PASS.
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
    /// Limit value in base units.
    pub const fn value(self) -> f64 {
        match self {
            Self::AtMost(value) | Self::AtLeast(value) => value,
        }
    }
}

#[cfg(test)]
mod tests;
