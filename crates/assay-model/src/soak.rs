//! Results of a soak test of hours or days: steady state, level changes, performance loss and
//! recovery after rest.

use crate::estimate::Estimate;
use crate::spelling::defaults;
use crate::units::Nanos;
use crate::verdict::{Outcome, Unit};
use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

/// Results of a soak test. Times are seconds since the load began, including rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// Version of the document format: 1.
    pub format: u32,
    /// Name of the workload.
    pub workload: String,
    /// Planned cycles of load and rest.
    pub plan: SoakCycles,
    /// Total time under load, s.
    pub worked_s: f64,
    /// Elapsed time, s.
    pub elapsed_s: f64,
    /// Steady-state result.
    pub state: SoakState,
    /// Steady-state rule with its parameters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// Results of other steady-state rules for the same IOPS.
    pub rules: Vec<RuleFinding>,
    /// Time series of all quantities.
    pub courses: Vec<SoakSeries>,
    /// IOPS changes detected during the run.
    pub noticed: Vec<Alarm>,
    /// Effect of rests; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests: Option<Rests>,
    /// Maximum acceptable loss of rate, 0..=1.
    pub tolerance: f64,
    /// PASS if the target is steady and its loss is within the tolerance.
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

/// Steady-state result of a soak test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum SoakState {
    /// The last level lasted until the end.
    Steady {
        /// Start of the steady state, s.
        since_s: f64,
    },
    /// The level changed repeatedly, or the last level drifted, until the end.
    NeverSteady,
    /// The noise is autocorrelated for too long to distinguish it from level changes.
    LongMemory {
        /// Estimated correlation time, s; a soak test should be at least 50 times as long.
        memory_s: f64,
    },
    /// Too few data for a steady-state result.
    TooShort,
}

/// Result of another steady-state rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleFinding {
    /// Rule with its parameters.
    pub rule: String,
    /// Time under load when the rule first reported a steady state, s; absent if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_at_s: Option<f64>,
}

/// Time series of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SoakSeries {
    /// Quantity name as used in criteria.
    pub quantity: String,
    /// Unit of the values.
    pub unit: Unit,
    /// One value per batch.
    pub points: Vec<SoakPoint>,
    /// Periods of constant level, in time order.
    pub levels: Vec<Level>,
    /// Change over the last level, as a share of that level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Estimate>,
    /// Start of the steady state, s; absent if not steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_since_s: Option<f64>,
    /// Ratio of the last level to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_of_first: Option<Estimate>,
    /// Whether performance certainly decreased by more than the tolerance.
    pub degraded: bool,
}

/// Value of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SoakPoint {
    /// Start of the batch, s.
    pub at_s: f64,
    /// Value of the quantity in the batch.
    pub value: f64,
}

/// Period of constant level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Start, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Mean with its confidence interval.
    pub value: Estimate,
}

/// Change detected during the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// Start of the change, s.
    pub at_s: f64,
    /// Time of detection, s.
    pub noticed_s: f64,
    /// IOPS before the change.
    pub before_iops: f64,
    /// IOPS after the change.
    pub after_iops: f64,
}

/// Effect of rests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rests {
    /// Share of the time spent at rest, 0..=1.
    pub idle_share: f64,
    /// Ratio of the IOPS in the first batch after a rest to those in the last batch before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_of_before: Option<Estimate>,
    /// Ratio of the IOPS after the final rest to those of the best earlier level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_of_best: Option<Estimate>,
}
