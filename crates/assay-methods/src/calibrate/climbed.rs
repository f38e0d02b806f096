//! A ladder of loads with the reason of its end.

use super::ladder::Ladder;
use assay_model::calibration::CapacityBound;

/// A ladder with the reason of its end.
pub(super) struct Climbed {
    pub(super) ladder: Ladder,
    pub(super) bound: CapacityBound,
}
