//! A ladder of loads with the reason of its end.

use super::ladder::Ladder;
use assay_model::calibration::Bound;

/// A ladder with the reason of its end.
pub(super) struct Climbed {
    pub(super) ladder: Ladder,
    pub(super) bound: Bound,
}
