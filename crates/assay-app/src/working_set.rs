//! The part of the targets that a workload works on.

use crate::progress::ProgressSender;
use assay_methods::study::within;
use assay_model::Workload;
use assay_model::number::share;
use assay_model::units::Bytes;

/// The workload on the part of larger targets that it asks for; what is measured says where it went
/// by its spans.
pub(crate) fn within_capacity(
    workload: &Workload,
    length: u64,
    progress: &ProgressSender,
) -> Workload {
    let Some(capacity) = workload.capacity else { return workload.clone() };
    let narrowed = Workload { capacity: None, ..workload.clone() };
    if capacity.0 <= length {
        return within(narrowed, share(capacity.0, length));
    }
    // A test file is smaller by its header, which is not worth a word.
    if capacity.0 - length > capacity.0 / 50 {
        progress.say(&format!(
            "note: the workload needs {capacity} of data, but the target has {}: all of it is used",
            Bytes(length)
        ));
    }
    narrowed
}
