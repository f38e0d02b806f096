//! The documents of a report together, for other programs.

use crate::input::Report;
use assay_model::{Error, Result};

/// The report as JSON: every document as it is written on its own, under the names of the fields of [`Report`].
///
/// # Errors
/// A usage error when a number in a document is none (not finite), which JSON cannot hold.
pub fn json(report: &Report) -> Result<String> {
    let written = serde_json::to_string_pretty(report);
    written.map(|text| text + "\n").map_err(|error| {
        let hint = "run again: the documents of this run are damaged";
        Error::usage(format!("the report cannot be written as JSON: {error}"), hint)
    })
}
