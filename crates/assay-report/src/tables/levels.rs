//! The levels of a soak as a table: a row for each quantity and stretch of one level.

use super::{five, number, table};
use crate::input::GivenReport;
use assay_model::soak::SoakSeries;

/// The header line.
const HEADER: &str = "quantity,unit,from_s,to_s,value,low,high,confidence,n";

/// All levels of all quantities of a soak, or of a study's course; nothing where there is none.
pub fn levels_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let of_study = report.study.iter().filter_map(|study| study.course.as_ref());
    let rows =
        report.soak.iter().chain(of_study).flat_map(|soak| soak.courses.iter().flat_map(rows));
    table(HEADER, run_id, rows)
}

fn rows(series: &SoakSeries) -> Vec<Vec<String>> {
    let unit = super::unit_name(series.unit);
    let row = |level: &assay_model::soak::Level| {
        let place = [series.quantity.clone(), unit.to_owned()].into_iter();
        let span = [level.from_s, level.to_s].map(number);
        place.chain(span).chain(five(Some(&level.value))).collect()
    };
    series.levels.iter().map(row).collect()
}
