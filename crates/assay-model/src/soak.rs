//! What hours or days of load showed: whether the target became steady, what changed when, what it
//! lost, and whether rest brought it back.

use crate::estimate::Estimate;
use crate::spelling::defaults;
use crate::units::Nanos;
use crate::verdict::{Outcome, Unit};
use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

/// A soak and what came of it. Times are seconds since the load began, rests included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Name of the workload.
    pub workload: String,
    /// What was planned.
    pub plan: SoakCycles,
    /// Time under load, s.
    pub worked_s: f64,
    /// Time from the beginning to the end, s.
    pub elapsed_s: f64,
    /// Whether it ended in a steady state.
    pub state: SoakState,
    /// The rule by which it is steady or not, with its parameters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What rules of others say of the same IOPS.
    pub rules: Vec<RuleFinding>,
    /// Every quantity over time.
    pub courses: Vec<SoakSeries>,
    /// Changes of the IOPS that were noticed while they happened.
    pub noticed: Vec<Alarm>,
    /// What rests brought, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests: Option<Rests>,
    /// Largest loss of rate that is acceptable, as a share.
    pub tolerance: f64,
    /// PASS when it is steady and lost no more than the tolerance.
    pub outcome: Outcome,
}

/// Load and rests in turn; the fields are options of `assay soak`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SoakCycles {
    /// Time under load; with --cycles, in each of them
    #[arg(
        long = "time",
        aliases = ["work", "duration", "runtime"],
        value_name = "TIME",
        default_value = "8h"
    )]
    pub work: Nanos,
    /// Rest after the load of each cycle
    #[arg(long, value_name = "TIME", requires = "cycles", default_value = "0s")]
    pub rest: Nanos,
    /// Number of cycles of load and rest
    #[arg(
        long,
        value_name = "N",
        requires_all = ["work", "rest"],
        default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=100_000)
    )]
    pub cycles: u32,
    /// Rest at the end, followed by one more cycle that shows whether the target recovered
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub final_rest: Nanos,
}

impl Default for SoakCycles {
    fn default() -> Self {
        defaults()
    }
}

/// Whether a soak ended in a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum SoakState {
    /// The last level held to the end.
    Steady {
        /// Since when, s.
        since_s: f64,
    },
    /// Levels came and went, or the last one drifted, to the end.
    NeverSteady,
    /// The noise remembers so long that the soak cannot tell its wandering from changes of level.
    LongMemory {
        /// How long it seems to remember, s; a soak should be fifty times as long at least.
        memory_s: f64,
    },
    /// There is too little to say either.
    TooShort,
}

/// What a rule of others says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleFinding {
    /// The rule with its parameters.
    pub rule: String,
    /// When it first called the target steady, s of load; absent when it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_at_s: Option<f64>,
}

/// One quantity over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SoakSeries {
    /// The name that criteria use.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// Its values, one a batch.
    pub points: Vec<SoakPoint>,
    /// The stretches of one level, in their order.
    pub levels: Vec<Level>,
    /// What the last stretch gains from its begin to its end, as a share of its level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Estimate>,
    /// Since when it is steady, s; absent when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_since_s: Option<f64>,
    /// The last level over the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_of_first: Option<Estimate>,
    /// Whether users certainly lost more than the tolerance.
    pub degraded: bool,
}

/// One batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SoakPoint {
    /// Its begin, s.
    pub at_s: f64,
    /// Its value.
    pub value: f64,
}

/// A stretch of one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its begin, s.
    pub from_s: f64,
    /// Its end, s.
    pub to_s: f64,
    /// Its mean.
    pub value: Estimate,
}

/// A change that was noticed while it happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// When it began, s.
    pub at_s: f64,
    /// When it was noticed, s.
    pub noticed_s: f64,
    /// IOPS before.
    pub before_iops: f64,
    /// IOPS since.
    pub after_iops: f64,
}

/// What rests brought.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rests {
    /// Share of the time that was rest.
    pub idle_share: f64,
    /// IOPS in the first batch after a rest over those in the last batch before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_of_before: Option<Estimate>,
    /// IOPS after the final rest over those of the best level before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_of_best: Option<Estimate>,
}
