//! The answers for a series of latency limits: how much each looser limit buys.

use super::card::bounded;
use super::table::{Cell, Table};
use crate::format::Formatter;
use crate::markup::{Markup, tag};
use crate::phrases::nines;
use assay_model::calibration::{Calibration, LimitStep, MixCalibration};
use assay_model::verdict::Unit;

/// A table with a row a limit and a column a mix; empty without a series, and in relative reports, because limits are
/// absolute.
pub(crate) fn body(calibration: &Calibration, format: &Formatter) -> Markup {
    let mixes: Vec<&MixCalibration> =
        calibration.mixes.iter().filter(|mix| !mix.steps.is_empty()).collect();
    let Some(first) = mixes.first().filter(|_| !format.is_relative()) else {
        return Markup::new();
    };
    let mut table = Table::new("Most IOPS by latency limit").slim().words("Limit");
    for mix in &mixes {
        table = table.numbers(format!("IOPS, {}", mix.name));
    }
    for (place, step) in first.steps.iter().enumerate() {
        let limit = &step.limit;
        let name = format!(
            "p{} ≤ {}",
            nines(limit.quantile),
            format.chosen(Unit::Ns, limit.service_time_ns)
        );
        let cells = mixes.iter().map(|mix| cell(mix.steps.get(place), format));
        table.row([Cell::Text(name)].into_iter().chain(cells).collect());
    }
    tag("h3").text("IOPS by latency limit").and(table.markup())
}

/// The answer of one mix for one limit.
fn cell(step: Option<&LimitStep>, format: &Formatter) -> Cell {
    let Some(capacity) = step.and_then(|step| step.iops.as_ref()) else {
        return Cell::Number("none".to_owned());
    };
    let value = bounded(capacity, &format.value(Unit::IosPerS, capacity.rate.value));
    Cell::Sure(value, format.interval(Unit::IosPerS, &capacity.rate))
}
