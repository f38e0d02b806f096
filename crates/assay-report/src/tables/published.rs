//! Published figures of a study as a table: a row a figure.

use super::{known, number, table};
use crate::input::GivenReport;

/// The header line.
const HEADER: &str = "study,array,figure,place,unit,published,measured,difference_share,use";

/// The published figures of a study; nothing where there is none.
pub fn published_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let rows = report.study.iter().flat_map(|study| {
        study.published.iter().map(|one| {
            let figure = &one.figure;
            vec![
                study.study.clone(),
                one.array.clone(),
                figure.name.clone(),
                figure.place.clone(),
                figure.unit_name().to_owned(),
                number(figure.published_value),
                known(one.measured_value),
                known(one.error()),
                one.remark().to_owned(),
            ]
        })
    });
    table(HEADER, run_id, rows)
}
