//! Results of fio: its JSON, its other outputs, and its logs.

mod histograms;
mod intervals;
mod json;
mod line;
mod load;
mod log;
mod printed;
mod quantiles;
mod rates;
mod runs;
mod terse;
mod text;

pub use line::is_log;
pub use log::{log_of_all_jobs, read_all as read_logs};

use super::imported::ImportedResult;
use assay_model::Result;

/// Whether a text is an output of fio itself.
pub fn is_output(text: &str) -> bool {
    text.contains("\"fio version\"") || terse::is_output(text) || text::is_output(text)
}

/// Reads an output of fio, in whatever form; of several in one the most exact counts.
///
/// # Errors
/// A usage error where it is cut off, holds several results, or nothing that was read or written.
pub fn import(text: &str) -> Result<ImportedResult> {
    let printed = if text.contains("\"fio version\"") {
        json::read(text)?
    } else if terse::is_output(text) {
        terse::read(text)?
    } else {
        text::read(text)?
    };
    runs::imported(printed)
}
