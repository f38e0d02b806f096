//! A number of a profile with its source, and what a rate counts.

use serde::{Deserialize, Serialize};

/// A number and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The value, in the unit that the field's name ends with.
    pub value: f64,
    /// Section and line it was read from, or the formula and its inputs.
    pub source: String,
}

impl Figure {
    /// A number with its source.
    pub fn new(value: f64, source: impl Into<String>) -> Self {
        Self { value, source: source.into() }
    }
}

/// What is counted as a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateKind {
    /// Requests of sessions and of the buffer cache for data and temporary files.
    Database,
    /// The same with control files, redo and backup: what reaches the storage.
    Total,
    /// Requests as the table by type of file counts them.
    FileType,
    /// Requests summed over tablespaces: data and temporary files only.
    Tablespace,
    /// Blocks, not requests: one request can move many.
    Blocks,
}
