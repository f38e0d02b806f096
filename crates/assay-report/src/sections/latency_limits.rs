//! The answers for a series of latency limits: how much each looser limit buys.

use crate::format::Formatter;
use crate::phrases::{bounded, within_limit};
use crate::view::{CellLook, Estimated, ViewBlock, ViewCell, ViewTable};
use assay_model::calibration::{Calibration, LimitStep, MixCalibration};
use assay_model::verdict::Unit;

/// A table with a row a limit and a column a mix; nothing without a series, and in relative
/// reports, because limits are absolute.
pub(super) fn block<'a>(calibration: &Calibration, format: &Formatter) -> Option<ViewBlock<'a>> {
    let mixes: Vec<&MixCalibration> =
        calibration.mixes.iter().filter(|mix| !mix.steps.is_empty()).collect();
    let first = mixes.first().filter(|_| !format.is_relative())?;
    let mut table =
        ViewTable::new("Maximum IOPS by latency limit").look(CellLook::Slim).words("Limit");
    for mix in &mixes {
        table = table.numbers(format!("IOPS, {}", mix.name));
    }
    for (place, step) in first.steps.iter().enumerate() {
        let limit = &step.limit;
        let name = format!("{} {}", limit.quantile, within_limit(limit, format));
        let cells = mixes.iter().map(|mix| cell(mix.steps.get(place), format));
        table.row([ViewCell::Words(name)].into_iter().chain(cells).collect());
    }
    Some(ViewBlock::part("IOPS by latency limit", vec![ViewBlock::Table(table)]))
}

/// The answer of one mix for one limit.
fn cell(step: Option<&LimitStep>, format: &Formatter) -> ViewCell {
    let Some(capacity) = step.and_then(|step| step.iops.as_ref()) else {
        return ViewCell::Number("none".to_owned());
    };
    let shown = format.estimated(Unit::IosPerS, &capacity.rate);
    ViewCell::Estimate(Estimated { value: bounded(capacity, Unit::IosPerS, format), ..shown })
}
