//! Predicted performance of a database on other storage: inputs, result per target, and caveats.

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

/// Version of the document format that this program reads and writes.
pub const FORMAT: u32 = 1;

/// Predicted performance of a database on one or more targets: the document `*.projection.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// Version of the document format: 1.
    pub format: u32,
    /// Display name of the profiled database.
    pub profile: String,
    /// Database product, as named in the profile.
    pub product: String,
    /// Unit of work to which times and counts refer.
    pub unit: WorkUnit,
    /// Model inputs with sources and intervals.
    pub inputs: Vec<ProjectionInput>,
    /// Measured state of the database.
    pub base: ProjectedState,
    /// Accuracy of the model on the calibration of the original storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closure: Option<Closure>,
    /// Caveats that apply to all targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// One result per target, in command-line order.
    pub targets: Vec<ProjectedTarget>,
    /// Result of replaying the I/O of the database on the target at its original rate; absent if no
    /// check did so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<DemandReplay>,
    /// Standard deviation of the model error in the logarithm of throughput; included in every
    /// interval.
    pub model_deviation: f64,
    /// Number of random draws of the inputs from their intervals.
    pub draws: u32,
    /// Seed of the random draws.
    pub seed: u64,
    /// Names of the formulas in the manual.
    pub formulas: Vec<String>,
}

/// Unit of database work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    /// Transaction, ended by a commit or rollback.
    #[default]
    Transaction,
    /// SQL statement execution.
    Execution,
    /// Read request, used if nothing else is counted.
    Read,
}

impl WorkUnit {
    /// Name of one unit.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Execution => "execution",
            Self::Read => "read",
        }
    }
}

/// Source and timing of the work requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Population {
    /// Work per second as measured.
    SameWork,
    /// Users with a think time between units of work.
    Users {
        /// Number of users, each with one session.
        sessions: f64,
        /// Mean think time from the end of one unit to the start of the next, seconds.
        think_time_s: f64,
    },
    /// Sessions without think time.
    Closed {
        /// Mean number of active sessions.
        sessions: f64,
    },
}

/// Components of the time of one unit of work, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeParts {
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// CPU queue time, seconds.
    pub cpu_queue_s: f64,
    /// Read time for all block sizes, seconds.
    pub reads_s: f64,
    /// Commit time, seconds.
    pub commit_s: f64,
    /// Time of foreground writes and of waits for late writes (free buffers, log switches),
    /// seconds.
    pub writes_s: f64,
    /// Wait time for other sessions and instances, seconds.
    pub contention_s: f64,
    /// Other time, seconds.
    pub other_s: f64,
}

impl TimeParts {
    /// Names and values of the components in seconds, in a fixed order.
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

    /// Sum of the components, seconds.
    pub fn sum_s(&self) -> f64 {
        self.named().iter().map(|(_, part_s)| part_s).sum()
    }

    /// Returns every component multiplied by a factor.
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

/// Measured or predicted state of a database for one population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectedState {
    /// Source and timing of the work requests.
    pub population: Population,
    /// Units of work per second.
    pub throughput_per_s: Estimate,
    /// DB time per unit of work, seconds.
    pub response_s: Estimate,
    /// Components of the DB time.
    pub parts: TimeParts,
    /// DB time divided by elapsed time.
    pub average_active_sessions: f64,
    /// CPU utilization by the database and all other processes, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_busy_share: Option<f64>,
    /// Mean latency of small reads, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_s: Option<f64>,
    /// Mean commit wait, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_latency_s: Option<f64>,
    /// Mean number of outstanding reads.
    #[serde(alias = "reads_outstanding")]
    pub read_queue_depth: f64,
}

/// Resource that limits throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThroughputLimit {
    /// CPU capacity.
    Cpu,
    /// Maximum storage IOPS, reads and writes.
    Iops,
    /// Sustained data writes of the storage.
    Writes,
    /// Storage bandwidth, bytes per second.
    Bandwidth,
    /// Log bandwidth, bytes per second.
    Log,
    /// Number of sessions.
    Sessions,
}

impl ThroughputLimit {
    /// Name in documents and tables.
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

/// Maximum throughput that one resource allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThroughputBound {
    /// Limiting resource.
    pub limit: ThroughputLimit,
    /// Maximum units of work per second.
    pub most_per_s: f64,
    /// Whether this is a lower bound, because the capacity may exceed the measured value.
    #[serde(default, skip_serializing_if = "is_no")]
    pub at_least: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_no(flag: &bool) -> bool {
    !*flag
}

/// Source of the values of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetOrigin {
    /// Measurement.
    Measured,
    /// Array model, calibrated in virtual time.
    Simulated,
    /// Vendor data sheet.
    DataSheet,
}

impl TargetOrigin {
    /// Name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Simulated => "simulated",
            Self::DataSheet => "from data sheet",
        }
    }
}

/// Completeness of the result for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProjectionAnswer {
    /// Throughput and response time with intervals.
    Answered,
    /// Bounds of throughput and response time only.
    Bounds,
    /// No result; the caveats say what to measure.
    Refused,
}

/// Predicted performance on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectedTarget {
    /// Target name from the command line.
    pub name: String,
    /// Source of the target's values.
    pub origin: TargetOrigin,
    /// Completeness of the result.
    pub answer: ProjectionAnswer,
    /// One state per population; empty if there is no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<ProjectedState>,
    /// Measured units of work per second, if requested and if they exceed the capacity of the
    /// target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload_per_s: Option<f64>,
    /// Limits in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<ThroughputBound>,
    /// Throughput and response time by number of sessions without think time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<SessionPoint>,
    /// Storage latency curve of the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage_curve: Vec<StoragePoint>,
    /// Read latency budget for the required response time; absent if none is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<LatencyBudget>,
    /// Inputs whose longer measurement would narrow the intervals, largest effect first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitivity: Vec<Sensitivity>,
    /// Caveats of the result, most severe first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
}

/// Throughput and response time at one number of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionPoint {
    /// Number of sessions without think time.
    pub sessions: f64,
    /// Units of work per second.
    pub throughput_per_s: f64,
    /// DB time per unit of work, seconds.
    pub response_s: f64,
}

/// Read latency at one storage load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoragePoint {
    /// Mean number of outstanding reads.
    #[serde(alias = "reads_outstanding")]
    pub read_queue_depth: f64,
    /// Reads per second.
    pub read_iops: f64,
    /// Mean read latency, seconds.
    pub read_latency_s: f64,
}

/// Read latency budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyBudget {
    /// Required response time, seconds.
    pub response_limit_s: f64,
    /// Maximum latency of one read, seconds; negative if no storage can meet the response time.
    pub read_latency_max_s: f64,
    /// Reads per second at the measured work rate.
    pub read_iops: f64,
    /// Whether the response time is met at the measured work rate.
    pub outcome: Outcome,
}

/// Model result for the original storage of the profile, compared with the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Closure {
    /// Calibration name from the command line.
    pub name: String,
    /// Ratio of model throughput to measured throughput, minus 1.
    pub throughput_error: f64,
    /// Ratio of model response time to measured response time, minus 1.
    pub response_error: f64,
    /// Database overhead per storage read, seconds; constant across targets.
    pub read_overhead_s: f64,
    /// Database overhead per commit, seconds; constant across targets.
    pub commit_overhead_s: f64,
    /// Factor for response times on every target: the part of the error on the original storage
    /// that is expected on other storage.
    #[serde(default = "unchanged")]
    pub response_factor: f64,
}

/// Default factor for documents without this field.
const fn unchanged() -> f64 {
    1.0
}

impl ProjectedTarget {
    /// First state whose population matches the predicate.
    pub fn state(&self, wanted: impl Fn(&Population) -> bool) -> Option<&ProjectedState> {
        self.states.iter().find(|state| wanted(&state.population))
    }

    /// Lowest bound.
    pub fn next_limit(&self) -> Option<&ThroughputBound> {
        self.bounds.first()
    }
}

impl Projection {
    /// Completeness of all targets together: the least complete one.
    pub fn answer(&self) -> ProjectionAnswer {
        self.targets.iter().map(|target| target.answer).max().unwrap_or(ProjectionAnswer::Refused)
    }
}
