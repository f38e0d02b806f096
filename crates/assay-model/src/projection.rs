//! What a database would do on other storage: its inputs, the answer for each target, and what
//! stands against it.

use crate::estimate::Estimate;
use crate::verdict::Outcome;
use serde::{Deserialize, Serialize};

mod input;
mod objection;
mod replay;
mod verification;

pub use input::{InputKind, ProjectionInput, Sensitivity};
pub use objection::{Effect, Objection, ObjectionKind};
pub use replay::{DemandReplay, ReplayedClass};
pub use verification::{
    ErrorSummary, UnansweredStep, Verification, VerificationCase, Verifications,
};

/// The version of the document that this program writes and reads.
pub const FORMAT: u32 = 1;

/// What a database would do on each of several targets: the document `*.projection.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// Version of the document's form: 1.
    pub format: u32,
    /// The database whose profile it was, for people.
    pub profile: String,
    /// The product, in the profile's word.
    pub product: String,
    /// What one unit of work is; times and counts are of one.
    pub unit: WorkUnit,
    /// A model input with its source and interval.
    pub inputs: Vec<ProjectionInput>,
    /// The database as it was measured.
    pub base: ProjectedState,
    /// How well the model gives what was measured, on the calibration of the storage that it was
    /// measured on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closure: Option<Closure>,
    /// What stands against any answer, whatever the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// One answer a target, in the order in which they were named.
    pub targets: Vec<ProjectedTarget>,
    /// What the database's own I/O took on the target, where a check issued it there at the
    /// database's own rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<DemandReplay>,
    /// How far the model itself misses, as a standard deviation of the logarithm of throughput; it
    /// is in every interval.
    pub model_deviation: f64,
    /// How often inputs were drawn from their intervals.
    pub draws: u32,
    /// Seed of these draws.
    pub seed: u64,
    /// The formulas by their names in the manual.
    pub formulas: Vec<String>,
}

/// One unit of the database's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    /// A transaction, ended by a commit or a rollback.
    #[default]
    Transaction,
    /// A statement.
    Execution,
    /// A read request, where nothing else is counted.
    Read,
}

impl WorkUnit {
    /// The word for one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Execution => "execution",
            Self::Read => "read",
        }
    }
}

/// Who asks for work, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Population {
    /// The same work a second as was measured.
    SameWork,
    /// Users who think between two units of work.
    Users {
        /// How many, each with a session.
        sessions: f64,
        /// Mean time from the end of one unit to the start of the next, seconds.
        think_time_s: f64,
    },
    /// Sessions that never think.
    Closed {
        /// How many are active on average.
        sessions: f64,
    },
}

/// Where the time of one unit of work goes, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeParts {
    /// On a processor.
    pub cpu_s: f64,
    /// Ready for one.
    pub cpu_queue_s: f64,
    /// In reads of all sizes.
    pub reads_s: f64,
    /// In commits.
    pub commit_s: f64,
    /// In writes that sessions wait for, and for writes that came too late: free buffers, the
    /// switch of a log.
    pub writes_s: f64,
    /// Waiting for other sessions and other instances.
    pub contention_s: f64,
    /// In anything else.
    pub other_s: f64,
}

impl TimeParts {
    /// Names and seconds of the parts, in a fixed order.
    pub const fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("CPU", self.cpu_s),
            ("CPU queue", self.cpu_queue_s),
            ("reads", self.reads_s),
            ("commit", self.commit_s),
            ("writes", self.writes_s),
            ("contention", self.contention_s),
            ("other", self.other_s),
        ]
    }

    /// The whole.
    pub fn sum_s(&self) -> f64 {
        self.named().iter().map(|(_, part_s)| part_s).sum()
    }

    /// Every part multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            cpu_s: self.cpu_s * factor,
            cpu_queue_s: self.cpu_queue_s * factor,
            reads_s: self.reads_s * factor,
            commit_s: self.commit_s * factor,
            writes_s: self.writes_s * factor,
            contention_s: self.contention_s * factor,
            other_s: self.other_s * factor,
        }
    }
}

/// A database under one population, measured or projected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectedState {
    /// Who asks.
    pub population: Population,
    /// Units of work a second.
    pub throughput_per_s: Estimate,
    /// DB time of one, seconds.
    pub response_s: Estimate,
    /// Where it goes.
    pub parts: TimeParts,
    /// DB time over elapsed time.
    pub average_active_sessions: f64,
    /// Busy share of the processors by the database's sessions and all else on them, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_busy_share: Option<f64>,
    /// Mean time of one small read, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_s: Option<f64>,
    /// Mean wait for one commit, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_latency_s: Option<f64>,
    /// Reads that are outstanding on average.
    #[serde(alias = "reads_outstanding")]
    pub read_queue_depth: f64,
}

/// What can keep a database from more work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThroughputLimit {
    /// All processors busy.
    Cpu,
    /// Reads and writes of the storage at its most IOPS.
    Iops,
    /// Writes of data that the storage sustains.
    Writes,
    /// Bytes per second.
    Bandwidth,
    /// The log: bytes of it a second.
    Log,
    /// Nothing but the sessions themselves: there are no more of them.
    Sessions,
}

impl ThroughputLimit {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Iops => "IOPS of the storage",
            Self::Writes => "sustained writes",
            Self::Bandwidth => "bandwidth",
            Self::Log => "log throughput",
            Self::Sessions => "sessions",
        }
    }
}

/// The most work a second that one resource allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThroughputBound {
    /// The resource.
    pub limit: ThroughputLimit,
    /// Units of work a second.
    pub most_per_s: f64,
    /// Whether the resource may have more than was measured of it.
    #[serde(default, skip_serializing_if = "is_no")]
    pub at_least: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_no(flag: &bool) -> bool {
    !*flag
}

/// Where the figures of a target come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetOrigin {
    /// It was measured.
    Measured,
    /// It is a model of an array, calibrated in virtual time.
    Simulated,
    /// It is what a data sheet promises.
    DataSheet,
}

impl TargetOrigin {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Simulated => "simulated",
            Self::DataSheet => "from data sheet",
        }
    }
}

/// How far a target can be answered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProjectionAnswer {
    /// Throughput and response, with intervals.
    Answered,
    /// Only between which bounds they lie.
    Bounds,
    /// Not at all; the objections say what to measure.
    Refused,
}

/// What the database would do on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectedTarget {
    /// The target, as it was named.
    pub name: String,
    /// Where its figures come from.
    pub origin: TargetOrigin,
    /// How far it is answered.
    pub answer: ProjectionAnswer,
    /// One a population; none where it is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<ProjectedState>,
    /// The same work a second as was measured, where that was asked for and is more than the
    /// target can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload_per_s: Option<f64>,
    /// Limits, the lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<ThroughputBound>,
    /// Throughput and response by the number of sessions without think time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<SessionPoint>,
    /// The storage by itself, as the model sees it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage_curve: Vec<StoragePoint>,
    /// Read latency budget for the response that was asked for, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<LatencyBudget>,
    /// What measuring longer would narrow, the widest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitivity: Vec<Sensitivity>,
    /// What stands against the answer, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
}

/// Throughput and response of a number of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionPoint {
    /// Sessions without think time.
    pub sessions: f64,
    /// Units of work a second.
    pub throughput_per_s: f64,
    /// DB time of one, seconds.
    pub response_s: f64,
}

/// A load of the storage and what a read takes then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoragePoint {
    /// Reads outstanding.
    #[serde(alias = "reads_outstanding")]
    pub read_queue_depth: f64,
    /// Reads per second.
    pub read_iops: f64,
    /// Mean time of one, seconds.
    pub read_latency_s: f64,
}

/// Read latency budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyBudget {
    /// The response that was asked for, seconds.
    pub response_limit_s: f64,
    /// What is left for one read, seconds; below 0 where no storage can keep the response.
    pub read_latency_max_s: f64,
    /// Reads a second at the work that was measured.
    pub read_iops: f64,
    /// Whether the response is kept at the work that was measured.
    pub outcome: Outcome,
}

/// The model's answer for the storage that the profile was measured on, compared with what was
/// measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Closure {
    /// The calibration of that storage, as it was named.
    pub name: String,
    /// The model's throughput over the measured one, less 1.
    pub throughput_error: f64,
    /// The model's response over the measured one, less 1.
    pub response_error: f64,
    /// What the database adds to each read of the storage, seconds; it is kept on every target.
    pub read_overhead_s: f64,
    /// What it adds to each commit, seconds; kept likewise.
    pub commit_overhead_s: f64,
    /// By what responses on every target are multiplied: the part of the miss on the present
    /// storage that is expected there, too.
    #[serde(default = "unchanged")]
    pub response_factor: f64,
}

/// The factor of an answer from before such a part was known.
const fn unchanged() -> f64 {
    1.0
}

impl ProjectedTarget {
    /// The state of a population's kind.
    pub fn state(&self, wanted: impl Fn(&Population) -> bool) -> Option<&ProjectedState> {
        self.states.iter().find(|state| wanted(&state.population))
    }

    /// The lowest bound.
    pub fn next_limit(&self) -> Option<&ThroughputBound> {
        self.bounds.first()
    }
}

impl Projection {
    /// How far all targets together are answered: the least of them.
    pub fn answer(&self) -> ProjectionAnswer {
        self.targets.iter().map(|target| target.answer).max().unwrap_or(ProjectionAnswer::Refused)
    }
}
