//! Rows of another program's result: what they hold, whatever it is called, with the interval of each number that has one.

use super::headline::Headline;
use super::quantity_names::{factor, quantity};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{Look, Table};
use assay_model::run::Utc;
use assay_model::study::{CellResult, StudyResult, measure_unit};
use assay_model::verdict::NamedEstimate;

/// Numbers of a row that stand in its line; the others stand below it.
const COLUMNS_MAX: usize = 7;
/// Numbers of the headline.
const HEADLINE_MAX: usize = 3;

/// Whether a study is the result of another program.
pub(super) fn is_imported(study: &StudyResult) -> bool {
    !study.cells.is_empty() && study.cells.iter().all(CellResult::is_imported)
}

/// What the only row says first; nothing where there are several.
pub(super) fn headline(study: &StudyResult, format: &Formatter) -> Option<Headline> {
    let [row] = study.cells.as_slice() else { return None };
    let whole = row.measures.iter().filter(|named| named.subject.is_none());
    let numbers: Vec<String> = whole
        .take(HEADLINE_MAX)
        .map(|named| format!("{} {}", quantity(&named.quantity), value(named, format)))
        .collect();
    let words = capital_words(&numbers.join(", "));
    Some(Headline { outcome: None, words: format!("{words} ({}).", study.study) })
}

/// A line for each row with as many of its numbers as fit.
pub(super) fn rows(study: &StudyResult, format: &Formatter) -> Table {
    let columns = columns(study);
    let has_dates = study.cells.iter().any(|row| row.started_unix_ns.is_some());
    let line = |row: &CellResult| {
        let mut cells =
            vec![row.cell.number.to_string(), settings(row), row.cell.repeat.to_string()];
        cells.extend(columns.iter().map(|name| {
            let found = row.measures.iter().find(|named| is_of(named, name));
            found.map_or_else(unknown, |named| value(named, format))
        }));
        cells.push(if row.elapsed_s > 0.0 { show_length(row.elapsed_s) } else { unknown() });
        cells.extend(has_dates.then(|| started(row)));
        cells
    };
    let table = Table::new("Every row in its order").look(Look::Dense);
    let table = table.words("row").words("settings").numbers("repeat");
    let table = columns.iter().fold(table, |table, name| table.numbers(quantity(name)));
    let table = table.numbers("measured");
    let table = if has_dates { table.words("started") } else { table };
    table.with(study.cells.iter().map(line))
}

/// A line for each number of each row, with its interval or that there is none.
pub(super) fn numbers(study: &StudyResult, format: &Formatter) -> Table {
    let lines = study.cells.iter().flat_map(|row| {
        row.measures.iter().map(|named| {
            let unit = measure_unit(&named.quantity);
            let interval = format.interval(unit, &named.estimate);
            let interval = if interval.is_empty() { "unknown".to_owned() } else { interval };
            vec![
                row.cell.number.to_string(),
                quantity(&named.quantity),
                named.subject.clone().unwrap_or_default(),
                value(named, format),
                interval,
                named.quantity.clone(),
            ]
        })
    });
    let table = Table::new("Every number of every row").look(Look::Dense);
    let table = table.words("row").words("what").words("of").numbers("value");
    table.numbers("95 % interval").words("name in criteria").with(lines)
}

/// The quantities of the whole rows in the order in which they appear.
fn columns(study: &StudyResult) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    let whole = study.cells.iter().flat_map(|row| &row.measures);
    for named in whole.filter(|named| named.subject.is_none()) {
        if !columns.contains(&named.quantity.as_str()) {
            columns.push(&named.quantity);
        }
    }
    columns.truncate(COLUMNS_MAX);
    columns
}

fn is_of(named: &NamedEstimate, quantity: &str) -> bool {
    named.quantity == quantity && named.subject.is_none()
}

fn value(named: &NamedEstimate, format: &Formatter) -> String {
    format.value(measure_unit(&named.quantity), named.estimate.value)
}

fn started(row: &CellResult) -> String {
    row.started_unix_ns.map_or_else(unknown, |at_ns| Utc::of(at_ns).to_string())
}

fn unknown() -> String {
    "–".to_owned()
}

fn settings(row: &CellResult) -> String {
    let settings = row.cell.settings.iter();
    let words: Vec<String> =
        settings.map(|setting| format!("{} {}", factor(&setting.factor), setting.value)).collect();
    words.join(", ")
}
