//! A study, or the rows of an imported result, as one side of a comparison: cell by cell, with
//! repeats joined.

use super::pooled::mean_of_repeats;
use super::sides::{SideFacts, SideFigure};
use assay_model::Estimate;
use assay_model::comparison::{Side, SideKind};
use assay_model::quantity_name::QuantityName;
use assay_model::study::{
    CellResult, CellState, StudyResult, StudySetting, load_figure_unit, measure_unit,
};
use assay_model::verdict::Unit;

/// Which cells of a study are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedCells {
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
    wanted: ComparedCells,
) -> Option<SideFacts> {
    let is_meant = |cell: &&CellResult| {
        let is_it = match wanted {
            ComparedCells::All => true,
            ComparedCells::Only(number) => cell.cell.number == number,
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
        causes: Vec::new(),
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
        // Whether it is judged follows from its own subject, not from the settings of its cell.
        let own = named.subject.clone();
        let figure = SideFigure::new(&named.quantity, own, unit(&named.quantity)?, estimate);
        Some(SideFigure { subject, runs, ..figure })
    });
    measures.collect()
}

/// The unit of rates, times and figures of loads; other numbers are not compared.
fn unit(quantity: &str) -> Option<Unit> {
    let is_compared =
        load_figure_unit(quantity).is_some() || QuantityName::of(quantity).statistic.is_some();
    is_compared.then(|| measure_unit(quantity))
}

/// The settings of a cell as they are printed: `sessions 96, read share 75%`.
fn words(settings: &[StudySetting]) -> String {
    let each = settings.iter().map(|one| {
        let mut parts: Vec<&str> = one.factor.split('.').collect();
        parts.dedup();
        format!("{} {}", parts.join(" ").replace('_', " "), one.value)
    });
    each.collect::<Vec<_>>().join(", ")
}
