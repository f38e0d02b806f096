//! Comparison of runs or profiles: ratios with confidence intervals, distributions, parity and
//! scaling.

use crate::estimate::Estimate;
use crate::verdict::{Doubt, Outcome, Reason, Unit};
use serde::{Deserialize, Serialize};

mod overlay;

pub use overlay::{Overlay, OverlayAxis, OverlayLine, OverlayPoint};

/// Comparison of one or more sides with the first side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Version of the document format: 1.
    pub format: u32,
    /// Compared sides; the first one is the base.
    pub sides: Vec<Side>,
    /// Permitted differences between the configurations of the sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Comparison of each other side with the base.
    pub pairs: Vec<Pair>,
    /// Scaling of quantities with the number of nodes; empty if no node counts were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Curves, distributions and time series of several sides on a common axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Acceptable degradation, as a share; absent unless the comparison tests for non-inferiority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Combined outcome of all pairs, PASS if no judged measure of any side is worse than the base
    /// by more than the tolerance; absent if there is no tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Source of the run-to-run variation of one storage system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum SpreadSource {
    /// Repeats on both sides.
    Repeats,
    /// Earlier runs of the same workload on the same storage, alone or with the repeats.
    History {
        /// Number of earlier runs.
        runs: u32,
    },
    /// Value from the command line.
    Stated,
    /// Simulated device, which has no run-to-run variation.
    Simulated,
    /// Counters of a report, whose run-to-run variation is unknown.
    Counted,
    /// Single run, whose variation is unknown: no difference is reported as significant.
    #[default]
    Unknown,
}

/// Reason why two values of a measure are shown but not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonRefusal {
    /// Times at different rates: the faster side did more work.
    OtherRate,
    /// Parameter that an array model assumes, not a result.
    Assumed,
}

/// Type of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SideKind {
    /// Storage workload, or queries on a database.
    #[default]
    Run,
    /// Database report, or observation of a live server.
    Profile,
    /// A calibration.
    Calibration,
    /// Database load with steps of sessions.
    Load,
    /// Check, which has a calibration, a workload and a database load.
    Check,
    /// Cells of a study, or rows of an imported result.
    Study,
}

impl SideKind {
    /// Name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Profile => "profile",
            Self::Calibration => "calibration",
            Self::Load => "load",
            Self::Check => "check",
            Self::Study => "study",
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Name of the run, or its id if it has none; or name of the profile.
    pub name: String,
    /// Ids of runs that have another name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Type of the side.
    pub kind: SideKind,
    /// Measured target.
    pub target: String,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Number of merged runs.
    pub repeats: u32,
    /// Number of nodes or bricks; absent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<f64>,
    /// Causes other than the storage that shaped its numbers, as clauses, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// Configuration difference between two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Key in the document, for example `stream.0.read_share`.
    pub key: String,
    /// Value of the base.
    pub base: String,
    /// Value of the other side.
    pub other: String,
}

/// Comparison of one side with the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Index of the other side.
    pub other: usize,
    /// Measures that both sides have.
    pub measures: Vec<Measure>,
    /// Distributions of both sides, by operation or wait event.
    pub histograms: Vec<Buckets>,
    /// Checks that both sides did equal work per request.
    pub parity: Vec<Parity>,
    /// Source of the run-to-run variation.
    pub run_to_run: SpreadSource,
    /// Combined outcome of the judged measures; absent if there is no tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

impl Pair {
    /// Primary measure, chosen before the comparison.
    pub fn primary(&self) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.primary)
    }
}

/// Preferred direction of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Higher is better, as for rates.
    Higher,
    /// Lower is better, as for times.
    Lower,
}

/// Values of one measure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Quantity name as used in criteria.
    pub quantity: String,
    /// Stream or target; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Unit of both values.
    pub unit: Unit,
    /// Preferred direction.
    pub better: Direction,
    /// Value of the base.
    pub base: Estimate,
    /// Value of the other side.
    pub other: Estimate,
    /// Ratio of the other side to the base; absent if an interval includes 0 or if the values are
    /// not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// Reason why the values are not compared; absent if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<ComparisonRefusal>,
    /// Whether this is the primary measure, chosen before the comparison and tested on its own.
    #[serde(default)]
    pub primary: bool,
    /// Whether the sides differ significantly and by more than 1%. The primary measure is tested on
    /// its own, the others with a correction for their number.
    pub different: bool,
    /// Runs of each side that would find a difference of this size in 80% of comparisons; absent
    /// if a difference was found, if it is below 1%, or if the run-to-run variation is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u32>,
    /// Whether the measure counts towards the outcome of the pair.
    pub judged: bool,
    /// Whether the other side is worse than the base by no more than the tolerance; absent if there
    /// is no tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Reason for the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Caveats of either side that prevent a conclusion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// Distribution on both sides, in wall-clock time: rate and mean concurrency per range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// Counted operation or event, for example `read`.
    pub what: String,
    /// Ranges in ascending order.
    pub rows: Vec<Bucket>,
}

/// Range of times on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Lower bound of the range, ns, inclusive.
    pub low_ns: u64,
    /// Upper bound of the range, ns, exclusive; absent if the range is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// Values of the base.
    pub base: ComparedShare,
    /// Values of the other side.
    pub other: ComparedShare,
}

/// Values of one range on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComparedShare {
    /// I/Os in the range per second of wall-clock time.
    pub iops: f64,
    /// Share of all I/Os, 0..=1.
    pub share: f64,
    /// Mean concurrency of I/Os in the range: rate × midpoint of the range.
    #[serde(alias = "outstanding")]
    pub queue_depth: f64,
}

/// Check that both sides did equal work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Parity {
    /// Compared ratio, for example `SQL executions per logical read`.
    pub what: String,
    /// Value of the base.
    pub base: f64,
    /// Value of the other side.
    pub other: f64,
    /// Maximum difference, as a share.
    pub limit: f64,
    /// PASS if the difference is within the limit.
    pub outcome: Outcome,
}

/// Scaling of one quantity with the number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// Quantity name.
    pub quantity: String,
    /// Unit of the quantity.
    pub unit: Unit,
    /// One point per side, in ascending order of nodes.
    pub points: Vec<ScalingPoint>,
    /// Fitted scaling law; requires at least four points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<ScalingLaw>,
}

/// One point of a scaling curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScalingPoint {
    /// Number of nodes, bricks or sessions.
    pub nodes: f64,
    /// Total value of all nodes.
    pub value: Estimate,
    /// Ratio to linear scaling from the smallest point; 1 is linear.
    pub of_linear: Estimate,
}

/// Universal Scalability Law, X(N) = λN / (1 + σ(N - 1) + κN(N - 1)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScalingLaw {
    /// λ: value of one node, in the unit of the quantity.
    pub of_one: Estimate,
    /// σ: contention, the serial share of the work.
    pub contention: Estimate,
    /// κ: coherency cost of each pair.
    pub coherency: Estimate,
    /// Number of nodes at the maximum; absent if the value always increases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_nodes: Option<f64>,
}

impl ScalingLaw {
    /// Predicted value for a number of nodes.
    pub fn at(&self, nodes: f64) -> f64 {
        let below = 1.0
            + self.contention.value * (nodes - 1.0)
            + self.coherency.value * nodes * (nodes - 1.0);
        self.of_one.value * nodes / below
    }
}
