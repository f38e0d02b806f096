//! What the model is given, and how much of an answer's doubt comes from which input.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// An input of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// Units of work per second.
    Throughput,
    /// DB time of one, seconds.
    Response,
    /// CPU time of one, seconds.
    Cpu,
    /// Processors that the database can have.
    Processors,
    /// Small reads of one unit of work.
    Reads,
    /// Mean wait for such a read, seconds.
    ReadLatency,
    /// Large reads that sessions wait for, in one unit of work.
    LargeReads,
    /// Writes in the background that one unit of work causes.
    Writes,
    /// Commits that sessions wait for, in one unit of work.
    Commits,
    /// Mean wait for one, seconds.
    CommitLatency,
    /// Mean time of a flush of the log, seconds.
    FlushTime,
    /// Waits for other sessions in one unit of work, seconds.
    Contention,
    /// All other waits of one unit of work, seconds.
    Other,
    /// The curve of the target.
    Curve,
    /// The model itself.
    Model,
}

impl InputKind {
    /// Description.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "work per second",
            Self::Response => "DB time",
            Self::Cpu => "CPU time",
            Self::Processors => "processors",
            Self::Reads => "small reads",
            Self::ReadLatency => "read latency",
            Self::LargeReads => "large reads",
            Self::Writes => "background writes",
            Self::Commits => "commits",
            Self::CommitLatency => "commit latency",
            Self::FlushTime => "flush of the log",
            Self::Contention => "contention",
            Self::Other => "other waits",
            Self::Curve => "curve of the storage",
            Self::Model => "the model",
        }
    }
}

/// An input with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectionInput {
    /// What it is; its unit follows from that.
    pub kind: InputKind,
    /// The value of one unit of work, or a second where the kind says so, with its interval.
    pub value: Estimate,
    /// Section and line, or the formula.
    pub source: String,
}

/// How much of the doubt about an answer comes from one input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// The input.
    pub kind: InputKind,
    /// Relative change of throughput in the closed population by one standard deviation of the
    /// input.
    pub throughput_deviation: f64,
}
