//! The cells of a study as a table: a row for each cell and quantity, a column for each factor.

use super::{five, number, table};
use crate::input::GivenReport;
use crate::render::csv::csv;
use assay_model::study::{CellResult, CellState, StudyResult};

/// All cells of a study; nothing where there is none. One that was not measured has a row without a
/// quantity.
pub fn cells_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let study = report.study.as_ref()?;
    let factors = factors(study);
    let header = ["study", "cell", "repeat", "state", "elapsed_s"].map(str::to_owned).into_iter();
    let header = header.chain(factors.iter().map(|factor| format!("factor_{factor}")));
    let header: Vec<String> = header.collect();
    let header = csv([header]);
    let more = "quantity,subject,value,low,high,confidence,n";
    let rows = study.cells.iter().flat_map(|cell| rows(study, cell, &factors));
    table(&format!("{},{more}", header.trim_end()), run_id, rows)
}

/// The factors of all cells, in the study's order.
fn factors(study: &StudyResult) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for setting in study.cells.iter().flat_map(|cell| &cell.cell.settings) {
        if !names.contains(&setting.factor) {
            names.push(setting.factor.clone());
        }
    }
    names
}

fn rows(study: &StudyResult, result: &CellResult, factors: &[String]) -> Vec<Vec<String>> {
    let state = match result.state {
        CellState::Measured => "measured",
        CellState::Failed { .. } => "failed",
        CellState::LeftOut { .. } => "left_out",
    };
    let cell = &result.cell;
    let mut place = vec![study.study.clone(), cell.number.to_string(), cell.repeat.to_string()];
    place.extend([state.to_owned(), number(result.elapsed_s)]);
    place.extend(factors.iter().map(|factor| {
        let setting = cell.settings.iter().find(|setting| setting.factor == *factor);
        setting.map(|setting| setting.value.to_string()).unwrap_or_default()
    }));
    if result.measures.is_empty() {
        return vec![[place, vec![String::new(); 7]].concat()];
    }
    let measured = result.measures.iter().map(|measure| {
        let mut cells = place.clone();
        cells.push(measure.quantity.clone());
        cells.push(measure.subject.clone().unwrap_or_default());
        cells.extend(five(Some(&measure.estimate)));
        cells
    });
    measured.collect()
}
