//! Two or more runs or profiles side by side: ratios with their doubt, distributions, parity,
//! scaling.

use crate::estimate::Estimate;
use crate::verdict::{Doubt, Outcome, Reason, Unit};
use serde::{Deserialize, Serialize};

mod overlay;

pub use overlay::{Overlay, OverlayAxis, OverlayLine, OverlayPoint};

/// Several sides compared with the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Version of the document's form: 1.
    pub format: u32,
    /// What is compared; the first one is the base.
    pub sides: Vec<Side>,
    /// What differs in how the sides were made, and was allowed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Each other side against the base.
    pub pairs: Vec<Pair>,
    /// How quantities grow with the number of nodes, where those were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Curves, distributions and courses of several sides over the same axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Change for the worse that does not matter, as a share; absent where the question was not
    /// whether one side is as good as the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// All pairs together, where there is a tolerance: PASS when no judged measure of any side is
    /// worse than the base by more than it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Where it is known from by how much one and the same storage differs from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum SpreadSource {
    /// Both sides have repeats that show it.
    Repeats,
    /// Earlier runs of the same workload on the same storage show it, alone or with the repeats.
    History {
        /// How many there are.
        runs: u32,
    },
    /// It was stated on the command line.
    Stated,
    /// A simulated device does not differ from run to run.
    Simulated,
    /// Numbers of a report are counted, and nothing says how they would come out again.
    Counted,
    /// A single run cannot show it: no difference is called one.
    #[default]
    Unknown,
}

/// Why two values of a measure are shown and not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonRefusal {
    /// Times of loads at different rates: the faster side did more.
    OtherRate,
    /// A parameter that the model of an array assumes, not a result.
    Assumed,
}

/// What a side is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SideKind {
    /// A workload on storage, or queries on a database.
    #[default]
    Run,
    /// A report, or a look at a live server.
    Profile,
    /// A calibration.
    Calibration,
    /// A ladder of sessions on a database.
    Load,
    /// A calibration, a workload and a ladder together.
    Check,
    /// The cells of a study, or the rows of an imported result.
    Study,
}

impl SideKind {
    /// The word for it.
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
    /// What the run is called, else its id; or the name of the profile.
    pub name: String,
    /// Ids of runs that are called by another name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// What kind of thing it is.
    pub kind: SideKind,
    /// What was measured.
    pub target: String,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// How many runs of it were joined.
    pub repeats: u32,
    /// Nodes or bricks behind it, where they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<f64>,
    /// Causes other than the storage that shaped its numbers, as clauses, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// Something that is not the same on all sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Its place in the document, for example `stream.0.read_share`.
    pub key: String,
    /// Its value on the base.
    pub base: String,
    /// Its value on the other side.
    pub other: String,
}

/// One side against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Index of the other side.
    pub other: usize,
    /// Every measure that both sides have.
    pub measures: Vec<Measure>,
    /// Distributions side by side, per operation or wait event.
    pub histograms: Vec<Buckets>,
    /// Parity for a request.
    pub parity: Vec<Parity>,
    /// Where the variation from run to run is known from.
    pub run_to_run: SpreadSource,
    /// The judged measures together, where there is a tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

impl Pair {
    /// The measure that was chosen before anything was compared.
    pub fn primary(&self) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.primary)
    }
}

/// Which direction of a measure users like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Rates.
    Higher,
    /// Times.
    Lower,
}

/// One measure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The name that criteria use.
    pub quantity: String,
    /// The stream or target, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Unit of both values.
    pub unit: Unit,
    /// What users like.
    pub better: Direction,
    /// The base.
    pub base: Estimate,
    /// The other side.
    pub other: Estimate,
    /// Other over base; `None` where an interval reaches 0, or where they are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// Why they are not compared, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<ComparisonRefusal>,
    /// Whether it was chosen before anything was compared, and is tested by itself.
    #[serde(default)]
    pub primary: bool,
    /// Whether the sides differ significantly and by more than 1%: the primary measure by itself,
    /// the others with all of them considered.
    pub different: bool,
    /// Runs of each side that would find a difference of this size in 80% of comparisons; absent
    /// if a difference was found, if it is below 1%, or if the run-to-run variation is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u32>,
    /// Whether the measure counts for the outcome of the pair.
    pub judged: bool,
    /// Whether the other side is no worse than the base by more than the tolerance, where there is
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What about either side keeps a conclusion from being drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// One distribution of both sides, by wall clock: its rate, and the mean number of sessions in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// What is counted, for example `read`.
    pub what: String,
    /// The ranges in ascending order.
    pub rows: Vec<Bucket>,
}

/// One range of times on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Shortest time in it, ns.
    pub low_ns: u64,
    /// Times in it are shorter than this, ns; absent where it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// The base.
    pub base: ComparedShare,
    /// The other side.
    pub other: ComparedShare,
}

/// What lies in one range on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComparedShare {
    /// I/Os in it, a second of wall clock.
    pub iops: f64,
    /// Share of all I/Os.
    pub share: f64,
    /// I/Os that are in it at any time: rate times the range's middle.
    #[serde(alias = "outstanding")]
    pub queue_depth: f64,
}

/// One check that both sides did the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Parity {
    /// What is compared, for example `SQL executions per logical read`.
    pub what: String,
    /// The base.
    pub base: f64,
    /// The other side.
    pub other: f64,
    /// How far they may lie apart, as a share.
    pub limit: f64,
    /// PASS within the limit.
    pub outcome: Outcome,
}

/// How one quantity grows with the number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// One point a side, in ascending order of nodes.
    pub points: Vec<ScalingPoint>,
    /// The fitted law, from four points on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<ScalingLaw>,
}

/// One point of a scaling curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScalingPoint {
    /// Nodes, bricks, sessions.
    pub nodes: f64,
    /// What they give together.
    pub value: Estimate,
    /// What they give over what the smallest point promises if growth were linear; 1 is linear.
    pub of_linear: Estimate,
}

/// The Universal Scalability Law, X(N) = λN / (1 + σ(N - 1) + κN(N - 1)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScalingLaw {
    /// λ, in the unit of the quantity.
    pub of_one: Estimate,
    /// σ: share of the work that only one at a time can do.
    pub contention: Estimate,
    /// κ: what each pair costs to stay coherent.
    pub coherency: Estimate,
    /// Where the most is given; absent where more always give more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_nodes: Option<f64>,
}

impl ScalingLaw {
    /// What a number of nodes gives.
    pub fn at(&self, nodes: f64) -> f64 {
        let below = 1.0
            + self.contention.value * (nodes - 1.0)
            + self.coherency.value * nodes * (nodes - 1.0);
        self.of_one.value * nodes / below
    }
}
