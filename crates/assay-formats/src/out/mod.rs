//! Runs as other programs would have written them, so that their parsers and dashboards work.

mod fio_json;
mod fio_options;
mod orion;
mod slob;

pub use fio_json::fio_json;
pub use orion::{OrionFiles, orion, orion_matrix};
pub use slob::slob;

use assay_model::measurement::Measurement;
use assay_model::run::IntervalSummary;
use assay_model::workload::Workload;

/// A measurement with what it was asked for, and its intervals in numbers.
pub struct OutputRun<'a> {
    /// What came of it.
    pub measurement: &'a Measurement,
    /// What was asked for, where it was I/O on storage.
    pub workload: Option<&'a Workload>,
    /// Its intervals.
    pub intervals: &'a [IntervalSummary],
}
