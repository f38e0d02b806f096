//! A study, or the rows of an imported result, as one side of a comparison: cell by cell, with repeats joined.

use super::pooled::mean_of_repeats;
use super::sides::{SideFacts, SideFigure};
use assay_model::Estimate;
use assay_model::comparison::{Side, SideKind};
use assay_model::quantity_name::{NamedStatistic, QuantityName};
use assay_model::study::{CellResult, CellState, Setting, StudyResult, load_figure_unit};
use assay_model::verdict::Unit;

/// Which cells of a study are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyCells {
    /// All that were measured.
    All,
    /// The one of this number.
    Only(u32),
}

/// A study as one side; `None` where no such cell was measured.
pub fn facts_of_study(
    name: &str,
    target: &str,
    study: &StudyResult,
    wanted: StudyCells,
) -> Option<SideFacts> {
    let is_meant = |cell: &&CellResult| {
        let is_it = match wanted {
            StudyCells::All => true,
            StudyCells::Only(number) => cell.cell.number == number,
        };
        is_it && cell.state == CellState::Measured
    };
    let cells: Vec<&CellResult> = study.cells.iter().filter(is_meant).collect();
    let groups = groups(&cells);
    let has_several = groups.len() > 1;
    let side = Side {
        name: name.to_owned(),
        kind: SideKind::Study,
        target: target.to_owned(),
        elapsed_s: cells.iter().map(|cell| cell.elapsed_s).sum(),
        repeats: u32::try_from(groups.iter().map(Vec::len).min()?).unwrap_or(u32::MAX),
        nodes: None,
        ids: Vec::new(),
    };
    let measures = groups.iter().flat_map(|group| of_group(group, has_several));
    let made = groups.first().filter(|_| !has_several).map(|group| made(group));
    Some(SideFacts {
        measures: measures.collect(),
        made: made.unwrap_or_default(),
        ..SideFacts::new(side)
    })
}

/// Cells of equal settings, in the order of the study.
fn groups<'a>(cells: &[&'a CellResult]) -> Vec<Vec<&'a CellResult>> {
    let mut groups: Vec<Vec<&CellResult>> = Vec::new();
    for cell in cells {
        let is_same = |group: &&mut Vec<&CellResult>| group[0].cell.settings == cell.cell.settings;
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}

/// The settings of the only cell: where they differ, two results are answers to two questions.
fn made(group: &[&CellResult]) -> Vec<(String, String)> {
    let settings = group[0].cell.settings.iter();
    settings.map(|one| (one.factor.clone(), one.value.to_string())).collect()
}

/// The measures that every repeat of a cell has.
fn of_group(group: &[&CellResult], has_several: bool) -> Vec<SideFigure> {
    let settings = words(&group[0].cell.settings);
    let measures = group[0].measures.iter().filter_map(|named| {
        let runs: Vec<Estimate> = group
            .iter()
            .filter_map(|cell| {
                let same = cell.measures.iter().find(|other| {
                    other.quantity == named.quantity && other.subject == named.subject
                });
                same.map(|same| same.estimate)
            })
            .collect();
        if runs.len() < group.len() {
            return None;
        }
        let parts = [named.subject.clone(), has_several.then(|| settings.clone())];
        let subject: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let subject = (!subject.is_empty()).then(|| subject.join(", "));
        let estimate = if let [only] = runs.as_slice() { *only } else { mean_of_repeats(&runs) };
        let figure = SideFigure::new(&named.quantity, subject, unit(&named.quantity)?, estimate);
        let judged = named.subject.is_none() && is_judged(&named.quantity);
        Some(SideFigure { runs, judged, ..figure })
    });
    measures.collect()
}

/// Rates, means and p99 of every cell are judged.
fn is_judged(quantity: &str) -> bool {
    let name = QuantityName::of(quantity);
    name.is_mean() || name.is_q99() || unit(quantity).is_some_and(|unit| unit != Unit::Ns)
}

fn unit(quantity: &str) -> Option<Unit> {
    load_figure_unit(quantity).or_else(|| match QuantityName::of(quantity).statistic {
        Some(NamedStatistic::Iops) => Some(Unit::IosPerS),
        Some(NamedStatistic::Throughput) => Some(Unit::BytesPerS),
        Some(NamedStatistic::Mean | NamedStatistic::Max | NamedStatistic::Quantile(_)) => {
            Some(Unit::Ns)
        }
        None => None,
    })
}

/// The settings of a cell as they are printed: `sessions 96, read share 75%`.
fn words(settings: &[Setting]) -> String {
    let each = settings.iter().map(|one| {
        let mut parts: Vec<&str> = one.factor.split('.').collect();
        parts.dedup();
        format!("{} {}", parts.join(" ").replace('_', " "), one.value)
    });
    each.collect::<Vec<_>>().join(", ")
}
