//! The primary measure of a comparison, chosen by the kind of measurement and not by its result.

use super::same_measure::Both;
use assay_model::quantity_name::{NamedTime, QuantityName};
use assay_model::verdict::Unit;

/// In this order, as far as both sides have them.
const BY_NAME: [&str; 8] = [
    "calibration.read.iops_max",
    "calibration.write.iops_max",
    "calibration.mix.iops_max",
    "iops",
    "physical_reads",
    "read.iops",
    "write.iops",
    "throughput",
];

/// The place of the primary measure: the rate of the whole, else what a database load counts where
/// it does most, else the mean of queries, else the first rate, else the first measure.
pub(super) fn primary(common: &[Both<'_>]) -> Option<usize> {
    let of_whole = |name: &&str| {
        common.iter().position(|both| both.base.quantity == **name && both.base.subject.is_none())
    };
    let named = BY_NAME.iter().find_map(of_whole);
    let in_a_cell =
        || BY_NAME.iter().find_map(|name| most(common, |both| both.base.quantity == **name));
    named
        .or_else(in_a_cell)
        .or_else(|| most(common, |both| both.base.unit == Unit::PerMinute))
        .or_else(|| common.iter().position(is_query))
        .or_else(|| most(common, |both| both.base.unit == Unit::IosPerS))
        .or_else(|| (!common.is_empty()).then_some(0))
}

/// The largest of some measures on the base.
fn most(common: &[Both<'_>], wanted: impl Fn(&Both<'_>) -> bool) -> Option<usize> {
    let found = common.iter().enumerate().filter(|(_, both)| wanted(both));
    let most = found
        .max_by(|one, other| one.1.base.estimate.value.total_cmp(&other.1.base.estimate.value));
    most.map(|(place, _)| place)
}

fn is_query(both: &Both<'_>) -> bool {
    let name = QuantityName::of(&both.base.quantity);
    name.time == Some(NamedTime::Query) && both.base.subject.is_none()
}
