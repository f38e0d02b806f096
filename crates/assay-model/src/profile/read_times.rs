//! Single-block read latency, by who saw them: a statement, the canary, the kernel's block layer.

use crate::Histogram;
use serde::{Deserialize, Serialize};

/// Who saw the time; times of two of them are of different things and are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadObserver {
    /// The load's own statements that touch one block: the way to the server and back is in it, and
    /// reads that the server's cache answered.
    Statement,
    /// A session that reads one random block at a modest rate during the load, timed by the server
    /// from the start of the statement to its row; reads that the server's cache answered are
    /// among them.
    Canary,
    /// The same statement once more for the same block, which is in the server's cache then: the
    /// part of the other time that is not a read.
    CanaryCached,
    /// Reads of the device between issue and completion, by any program and of any size: in
    /// profiles of 0.2.0 only.
    BlockLayer,
}

/// Times of reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadTimes {
    /// Who saw them.
    pub seen_by: ReadObserver,
    /// The table that was read, or the device.
    pub subject: String,
    /// Each time is known within this share of itself.
    pub error_share: f64,
    /// The times, ns.
    pub service: Histogram,
}

impl ReadObserver {
    /// Description.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Statement => "statement of one block",
            Self::Canary => "canary: a random block",
            Self::CanaryCached => "canary: same block again",
            Self::BlockLayer => "device: issue to end",
        }
    }
}
