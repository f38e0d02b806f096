//! What follows from the factors of a study as a table: a row a point of each curve.

use super::{five, table, unit_name};
use crate::input::GivenReport;

/// The header line.
const HEADER: &str =
    "study,factor,at,factor_value,quantity,unit,value,low,high,confidence,n,repeats";

/// All points of all curves of a study; nothing where there is none.
pub fn factors_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let rows = report.study.iter().flat_map(|study| {
        study.curves.iter().flat_map(|curve| {
            curve.points.iter().map(|point| {
                let mut cells = vec![study.study.clone(), curve.factor.clone(), curve.at.clone()];
                cells.extend([point.value.to_string(), curve.quantity.clone()]);
                cells.push(unit_name(curve.unit).to_owned());
                cells.extend(five(Some(&point.estimate)));
                cells.push(point.repeats.to_string());
                cells
            })
        })
    });
    table(HEADER, run_id, rows)
}
