//! The documents of a report together, for other programs.

use crate::input::GivenReport;
use assay_model::{Error, Result};
use serde::Serialize;

/// The report as it is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "Report"))]
pub(crate) struct Written<'a> {
    /// Version of the document's form: 1.
    format: u32,
    #[serde(flatten)]
    report: &'a GivenReport,
}

/// The report as JSON: every document as it is written on its own, under the names of the fields of
/// [`GivenReport`].
///
/// # Errors
/// A usage error when a number in a document is none (not finite), which JSON cannot hold.
pub fn json(report: &GivenReport) -> Result<String> {
    let written = serde_json::to_string_pretty(&Written { format: 1, report });
    written.map(|text| text + "\n").map_err(|error| {
        let hint = "run again: the documents of this run are damaged";
        Error::usage(format!("the report cannot be written as JSON: {error}"), hint)
    })
}
