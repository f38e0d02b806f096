//! A run: one directory with its manifest, documents, events and cells.

use assay_model::measurement::Finish;
use assay_model::run::RunKind;

mod reader;
mod writer;

use crate::document::StoredDocument;
use crate::lock::Holder;
pub use reader::RunReader;
pub use writer::RunWriter;

pub(crate) const MANIFEST: &str = "run.json";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const CELLS: &str = "cells";
/// Blocks that did not hold what was written to them, both versions of each.
pub const FAULTS: &str = "faults.jsonl";

/// What a new run is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// What it is made for.
    pub kind: RunKind,
    /// Version of the program.
    pub tool_version: String,
    /// The command line as it was typed, word by word.
    pub command: Vec<String>,
    /// The targets as they were named.
    pub targets: Vec<String>,
    /// Now, nanoseconds since 1970 UTC.
    pub created_unix_ns: u64,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// It is being written.
    Writing(Holder),
    /// The program that wrote it was ended; what was measured is there.
    Unfinished,
    /// It is over.
    Finished(Finish),
}

/// Whether a file of this name belongs directly into a run's directory.
pub(crate) fn is_file(name: &str) -> bool {
    let others = [crate::lock::FILE_NAME, crate::watch::WATCH, crate::checksum::FILE_NAME];
    [MANIFEST, EVENTS, FAULTS].contains(&name)
        || others.contains(&name)
        || StoredDocument::ALL.iter().any(|document| document.file_name() == name)
}
