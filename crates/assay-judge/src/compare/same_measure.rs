//! One measure of both sides: values, the better direction, and whether a model assumes it.

use super::sides::SideFigure;
use assay_model::comparison::{ComparisonRefusal, Direction};
use assay_model::verdict::Unit;

/// The same measure of both sides.
pub(super) struct Both<'a> {
    pub(super) base: &'a SideFigure,
    pub(super) other: &'a SideFigure,
}

/// Rates and their opposite.
pub(super) const fn better(unit: Unit) -> Direction {
    match unit {
        Unit::IosPerS | Unit::PerMinute | Unit::PerHour | Unit::BytesPerS | Unit::Bytes => {
            Direction::Higher
        }
        Unit::Ns | Unit::Share | Unit::Count => Direction::Lower,
    }
}

/// Whether a measure is a parameter that a model assumes on either side.
pub(super) fn assumed(both: &Both<'_>) -> Option<ComparisonRefusal> {
    (both.base.is_assumed || both.other.is_assumed).then_some(ComparisonRefusal::Assumed)
}
