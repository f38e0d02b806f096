//! What the refusal of a database server means.

use serde::{Deserialize, Serialize};

/// What a refusal means, in any product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Transactions waited for each other, and this one gave way.
    Deadlock,
    /// A lock was not had in time.
    LockTimeout,
    /// Another transaction changed what this one read.
    Conflict,
    /// The server ends, or ended this session.
    Ended,
    /// Nothing can be written here.
    ReadOnly,
    /// The storage is full.
    Full,
    /// This user may not.
    Denied,
    /// The server takes no further session.
    TooManySessions,
    /// Anything else.
    Other,
}
