//! The fastest step of a study's ladder within a limit on the mean latency, for each setting of the
//! other factors.

use super::quantity_names::settings;
use crate::format::Formatter;
use crate::view::{CellLook, ViewBlock, ViewSection, ViewTable};
use assay_model::study::{CellResult, StudyResult};
use assay_model::verdict::Unit;

/// The rate of a cell.
fn iops(cell: &CellResult) -> f64 {
    cell.value("iops", None).unwrap_or(0.0)
}

/// The fastest cell within the limit of each ladder that has one, in the order of the ladders.
fn best(study: &StudyResult) -> Vec<&CellResult> {
    let Some(limit) = study.mean_latency_max else { return Vec::new() };
    let mut best: Vec<&CellResult> = Vec::new();
    let others = |cell: &CellResult| {
        cell.cell.settings.split_last().map(|(_, others)| others.to_vec()).unwrap_or_default()
    };
    for cell in study.cells.iter().filter(|cell| cell.is_within(limit)) {
        match best.iter_mut().find(|known| others(known) == others(cell)) {
            Some(known) if iops(known) < iops(cell) => *known = cell,
            Some(_) => {}
            None => best.push(cell),
        }
    }
    best
}

/// The rates of the slowest and the fastest ladder within the limit.
pub(super) fn words(study: &StudyResult, format: &Formatter) -> Option<String> {
    let best = best(study);
    let by = |one: &&&CellResult, other: &&&CellResult| iops(one).total_cmp(&iops(other));
    let (least, most) = (best.iter().min_by(by)?, best.iter().max_by(by)?);
    let at = |cell: &CellResult| {
        format!("{} at {}", format.value(Unit::IosPerS, iops(cell)), settings(cell))
    };
    let rates = match best.len() {
        1 => at(most),
        _ => format!("{} to {}", at(least), at(most)),
    };
    let limit = format.chosen(Unit::Ns, assay_model::number::real(study.mean_latency_max?.0));
    Some(format!("IOPS with mean latency within {limit}: {rates}"))
}

/// Every ladder with its fastest step.
pub(super) fn section<'a>(study: &StudyResult, format: &Formatter) -> Option<ViewSection<'a>> {
    let best = best(study);
    let row = |cell: &&CellResult| {
        let mean = |name: &str| {
            let found = cell.value(name, None);
            found.map_or_else(|| "–".to_owned(), |mean_ns| format.value(Unit::Ns, mean_ns))
        };
        let [read, write] = ["read", "write"].map(|of| mean(&format!("{of}.service_time.mean")));
        vec![settings(cell), format.value(Unit::IosPerS, iops(cell)), read, write]
    };
    let table = ViewTable::new("Fastest step within the limit on both means").look(CellLook::Slim);
    let table = table.words("settings").numbers("IOPS").numbers("read mean").numbers("write mean");
    let table = ViewBlock::Table(table.with(best.iter().map(row)));
    let (id, title) = ("steps", "Fastest steps within the limit".to_owned());
    (!best.is_empty()).then(|| ViewSection { id, title, blocks: vec![table] })
}
