//! A run and what is kept of it: its manifest, its events, and every interval in numbers.

use crate::measurement::{ErrorCount, Finish, Remark};
use serde::{Deserialize, Serialize};

mod summary;
mod utc;

pub use summary::{IntervalSummary, OperationSummary, TimeSummary};
pub use utc::Utc;

/// What a run was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// One workload on a target.
    Run,
    /// The search for what a target can give.
    Calibrate,
    /// All questions about a target at once, in about two minutes.
    Check,
    /// Which caches and tiers a target has.
    Locality,
    /// Whether storage keeps what it acknowledged.
    Verify,
    /// Hours or days of load, with or without rests.
    Soak,
    /// An experiment of many cells.
    Study,
    /// A benchmark on a database server.
    #[serde(alias = "load")]
    Bench,
    /// A look at the machine while others work.
    Watch,
}

impl RunKind {
    /// The word for it in documents and run ids.
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

    /// Whether `--resume` takes up a run that was cut short.
    pub const fn can_go_on(self) -> bool {
        matches!(self, Self::Run | Self::Soak | Self::Study)
    }
}

/// The document that makes a directory a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunManifest {
    /// Version of the document's form: 1.
    pub format: u32,
    /// UTC time, kind and four random characters: `20261121-083955-run-k3f9`; sorts by time.
    pub id: String,
    /// What it was made for.
    pub kind: RunKind,
    /// Version of the program that began it.
    pub tool_version: String,
    /// The command line as it was typed, word by word.
    pub command: Vec<String>,
    /// The targets as they were named.
    pub targets: Vec<String>,
    /// When it was begun, nanoseconds since 1970 UTC.
    pub created_unix_ns: u64,
    /// When it was finished, nanoseconds since 1970 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_unix_ns: Option<u64>,
    /// How it ended; nothing while it is written, and after the program was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

/// Something that happened during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, nanoseconds since 1970 UTC.
    pub at_unix_ns: u64,
    /// In which cell; none for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// What.
    pub what: EventKind,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A phase began, for example `warm_up` or `measure`.
    PhaseBegin {
        /// Name of the phase.
        name: String,
    },
    /// A phase ended.
    PhaseEnd {
        /// Name of the phase.
        name: String,
    },
    /// I/Os failed: only those since the event before of the same kind of failure.
    Errors(ErrorCount),
    /// Something that a reader must know.
    Remark(Remark),
    /// The run was taken up again after it had ended too early.
    Resumed,
}
