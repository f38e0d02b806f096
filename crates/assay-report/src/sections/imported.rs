//! Rows of an imported result: every number, with its interval if it has one.

use super::headline::Headline;
use super::quantity_names::{factor, quantity};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{CellLook, ViewTable};
use assay_model::run::Utc;
use assay_model::study::{CellResult, StudyResult, StudySetting, measure_unit};
use assay_model::verdict::NamedEstimate;

/// Numbers of a row that stand in its line; the others stand below it.
const COLUMNS_MAX: usize = 7;
/// Numbers of the headline.
const HEADLINE_MAX: usize = 3;

/// Whether a study is the result of another program.
pub(super) fn is_imported(study: &StudyResult) -> bool {
    !study.cells.is_empty() && study.cells.iter().all(CellResult::is_imported)
}

/// What the only row says first; of several how the first number follows its factor.
pub(super) fn headline(study: &StudyResult, range: Option<String>, format: &Formatter) -> Headline {
    let [row] = study.cells.as_slice() else {
        let rows = format!("{} rows", study.cells.len());
        let words = range.map_or_else(|| rows.clone(), |range| format!("{range}; {rows}"));
        return Headline { outcome: None, words: format!("{words} ({}).", study.study) };
    };
    let whole = row.measures.iter().filter(|named| named.subject.is_none());
    let numbers: Vec<String> = whole
        .take(HEADLINE_MAX)
        .map(|named| format!("{} {}", quantity(&named.quantity), value(named, format)))
        .collect();
    let words = capital_words(&numbers.join(", "));
    Headline { outcome: None, words: format!("{words} ({}).", study.study) }
}

/// The values of a quantity in all rows, with the words for each.
pub(super) fn values(study: &StudyResult, name: &str, format: &Formatter) -> Vec<(f64, String)> {
    let cells = study.cells.iter().filter_map(|row| {
        let found = row.measures.iter().find(|named| is_of(named, name))?;
        let words = format!("{} in row {}", value(found, format), row.cell.number);
        Some((found.estimate.value, words))
    });
    cells.collect()
}

/// The settings that several rows have in common, in a sentence.
pub(super) fn common(study: &StudyResult) -> Option<String> {
    let (first, others) = study.cells.split_first().filter(|(_, others)| !others.is_empty())?;
    let is_common = |setting: &&StudySetting| is_in_all(setting, others);
    let words = words_of(first.cell.settings.iter().filter(is_common));
    (!words.is_empty()).then(|| format!("All rows: {words}."))
}

fn is_in_all(setting: &StudySetting, rows: &[CellResult]) -> bool {
    rows.iter().all(|row| row.cell.settings.contains(setting))
}

/// A line for each row with as many of its numbers as fit.
pub(super) fn rows(study: &StudyResult, format: &Formatter) -> ViewTable {
    let columns = columns(study);
    let has_dates = study.cells.iter().any(|row| row.started_unix_ns.is_some());
    let line = |row: &CellResult| {
        let mut cells =
            vec![row.cell.number.to_string(), settings(row, study), row.cell.repeat.to_string()];
        cells.extend(columns.iter().map(|name| {
            let found = row.measures.iter().find(|named| is_of(named, name));
            found.map_or_else(unknown, |named| value(named, format))
        }));
        cells.push(if row.elapsed_s > 0.0 { show_length(row.elapsed_s) } else { unknown() });
        cells.extend(has_dates.then(|| started(row)));
        cells
    };
    let table = ViewTable::new("Rows").look(CellLook::Dense);
    let table = table.words("row").words("settings").numbers("repeat");
    let table = columns.iter().fold(table, |table, name| table.numbers(quantity(name)));
    let table = table.numbers("measured");
    let table = if has_dates { table.words("started") } else { table };
    table.with(study.cells.iter().map(line))
}

/// A line for each number of each row, with its interval or that there is none.
pub(super) fn numbers(study: &StudyResult, format: &Formatter) -> ViewTable {
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
    let table = ViewTable::new("Numbers of each row").look(CellLook::Dense);
    let table = table.words("row").words("what").words("of").numbers("value");
    table.numbers("95% interval").words("name in criteria").with(lines)
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

/// The settings of a row that tell it from others; of the only row all.
fn settings(row: &CellResult, study: &StudyResult) -> String {
    let is_one = study.cells.len() == 1;
    let own = row.cell.settings.iter();
    words_of(own.filter(|setting| is_one || !is_in_all(setting, &study.cells)))
}

fn words_of<'a>(settings: impl Iterator<Item = &'a StudySetting>) -> String {
    let words = settings.map(|setting| format!("{} {}", factor(&setting.factor), setting.value));
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::study::{Cell, CellState, FactorValue};

    fn row(number: u32, sessions: u64, rate: f64) -> CellResult {
        let setting = |factor: &str, value| StudySetting { factor: factor.to_owned(), value };
        let settings = vec![
            setting("sessions", FactorValue::Whole(sessions)),
            setting("scale", FactorValue::Whole(2)),
        ];
        CellResult {
            started_unix_ns: Some(1_736_937_000_000_000_000),
            measures: vec![NamedEstimate {
                quantity: "transactions".to_owned(),
                subject: None,
                estimate: Estimate::without_interval(rate, 1),
            }],
            ..CellResult::new(
                Cell { number, repeat: 1, settings, restored: false },
                CellState::Measured,
            )
        }
    }

    fn study(cells: Vec<CellResult>) -> StudyResult {
        StudyResult {
            format: 1,
            study: "pgbench: x".to_owned(),
            description: String::new(),
            planned: 2,
            notes: Vec::new(),
            cells,
            curves: Vec::new(),
            scaling: Vec::new(),
            course: None,
            published: Vec::new(),
            mean_latency_max: None,
        }
    }

    #[test]
    fn one_row_says_its_numbers_and_several_what_they_have_in_common() {
        let format = Formatter::default();
        let one = study(vec![row(1, 4, 829.0)]);
        assert_eq!(headline(&one, None, &format).words, "Transactions 829/s (pgbench: x).");
        assert_eq!(
            (common(&one), settings(&one.cells[0], &one)),
            (None, "sessions 4, scale 2".into())
        );
        let two = study(vec![row(1, 4, 829.0), row(2, 8, 1000.0)]);
        assert_eq!(headline(&two, None, &format).words, "2 rows (pgbench: x).");
        assert_eq!(common(&two).as_deref(), Some("All rows: scale 2."));
        assert_eq!(settings(&two.cells[1], &two), "sessions 8");
        let table = numbers(&two, &format);
        assert_eq!(table.rows.len(), 2);
        let found: Vec<String> =
            values(&two, "transactions", &format).into_iter().map(|(_, words)| words).collect();
        assert_eq!(found, ["829/s in row 1", "1,000/s in row 2"]);
    }
}
