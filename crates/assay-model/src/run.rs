//! Run manifest, events and interval summaries.

use crate::measurement::{ErrorCount, Finish, Remark};
use serde::{Deserialize, Serialize};

mod summary;
mod utc;

pub use summary::{IntervalSummary, OperationSummary, TimeSummary};
pub use utc::Utc;

/// Type of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// One workload on a target.
    Run,
    /// Calibration of a target.
    Calibrate,
    /// Combined check of a target, about two minutes.
    Check,
    /// Detection of the caches and tiers of a target.
    Locality,
    /// Durability test of acknowledged writes.
    Verify,
    /// Soak test of hours or days, with or without rests.
    Soak,
    /// Experiment with many cells.
    Study,
    /// Benchmark of a database server.
    #[serde(alias = "load")]
    Bench,
    /// Passive observation of a host under its own load.
    Watch,
}

impl RunKind {
    /// Name in documents and run ids.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Calibrate => "calibrate",
            Self::Check => "check",
            Self::Locality => "locality",
            Self::Verify => "verify",
            Self::Soak => "soak",
            Self::Study => "study",
            Self::Bench => "bench",
            Self::Watch => "watch",
        }
    }

    /// Whether `--resume` can continue an interrupted run.
    pub const fn can_go_on(self) -> bool {
        matches!(self, Self::Run | Self::Soak | Self::Study)
    }
}

/// Run manifest, the document that identifies a directory as a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunManifest {
    /// Version of the document format: 1.
    pub format: u32,
    /// UTC time, kind and four random characters: `20261121-083955-run-k3f9`; sorts by time.
    pub id: String,
    /// Type of the run.
    pub kind: RunKind,
    /// Version of Assay that started the run.
    pub tool_version: String,
    /// Command line, one entry per argument.
    pub command: Vec<String>,
    /// Target names from the command line.
    pub targets: Vec<String>,
    /// Start time, ns since 1970-01-01 UTC.
    pub created_unix_ns: u64,
    /// End time, ns since 1970-01-01 UTC; absent if not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_unix_ns: Option<u64>,
    /// Completion status; absent during the run and if the program was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

/// Event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Time of the event, ns since 1970-01-01 UTC.
    pub at_unix_ns: u64,
    /// Cell of the event; absent for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Content of the event.
    pub what: EventKind,
}

/// Content of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Start of a phase, for example `warm_up` or `measure`.
    PhaseBegin {
        /// Name of the phase.
        name: String,
    },
    /// End of a phase.
    PhaseEnd {
        /// Name of the phase.
        name: String,
    },
    /// Failed I/Os since the previous event for this kind of failure.
    Errors(ErrorCount),
    /// Remark on the result.
    Remark(Remark),
    /// Resumption of an interrupted run.
    Resumed,
}
