//! Rows of reports as a table for people, as CSV and as JSON, with the unit in every name.

use assay_oracle::{COLUMNS, TableCell, TableColumn};
use serde_json::{Map, Number, Value};

/// One report a line, columns under one another.
pub fn text(rows: &[Vec<TableCell>]) -> String {
    let mut lines: Vec<Vec<String>> =
        vec![COLUMNS.iter().map(|column| column.name.replace('_', " ")).collect()];
    lines.push(COLUMNS.iter().map(|column| column.unit.to_owned()).collect());
    lines.extend(rows.iter().map(|row| row.iter().map(shown).collect()));
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let is_text =
        |column: usize| COLUMNS[column].unit.is_empty() && COLUMNS[column].name != "sessions";
    let mut written = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if is_text(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        written.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        written.push('\n');
    }
    written
}

/// The same as CSV: one header, an empty field where the report says nothing.
pub fn csv(rows: &[Vec<TableCell>]) -> String {
    let head = keys();
    let records = rows.iter().map(|row| row.iter().map(field).collect());
    assay_report::csv(std::iter::once(head).chain(records))
}

/// Names of the columns for programs.
pub fn keys() -> Vec<String> {
    COLUMNS.iter().map(key).collect()
}

/// The same as objects.
pub fn json(rows: &[Vec<TableCell>]) -> Value {
    let object = |row: &Vec<TableCell>| {
        let pairs = COLUMNS.iter().zip(row);
        let pairs = pairs.map(|(column, cell)| (key(column), value(cell)));
        Value::Object(pairs.collect::<Map<String, Value>>())
    };
    Value::Array(rows.iter().map(object).collect())
}

fn value(cell: &TableCell) -> Value {
    match cell {
        TableCell::Absent => Value::Null,
        TableCell::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        TableCell::Text(text) => Value::String(text.clone()),
    }
}

/// The name of a column with its unit, for those who have no line of units: `read_latency_ms`.
fn key(column: &TableColumn) -> String {
    let unit = match column.unit {
        "1/s" if column.name.ends_with("iops") => "",
        "1/s" => "_per_s",
        "ms" => "_ms",
        "us" => "_us",
        "s" => "_s",
        "s/s" => "_s_per_s",
        "MiB/s" => "_mib_per_s",
        "blocks/s" => "_blocks_per_s",
        "%" => "_percent",
        _ => "",
    };
    format!("{}{unit}", column.name)
}

/// Four digits are what reports are good for; a dash stands where one says nothing.
fn shown(cell: &TableCell) -> String {
    match cell {
        TableCell::Absent => "-".to_owned(),
        TableCell::Text(text) => text
            .chars()
            .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
            .collect(),
        TableCell::Number(number) => match number.abs() {
            0.0 => "0".to_owned(),
            large if large >= 1000.0 => format!("{number:.0}"),
            middle if middle >= 10.0 => format!("{number:.1}"),
            _ => format!("{number:.2}"),
        },
    }
}

/// A cell as a field. What a spreadsheet would run as a formula gets an apostrophe before it, which
/// such programs take for the sign of text (OWASP, CSV Injection).
fn field(cell: &TableCell) -> String {
    match cell {
        TableCell::Absent => String::new(),
        TableCell::Number(number) => number.to_string(),
        TableCell::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            format!("'{text}")
        }
        TableCell::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str) -> Vec<TableCell> {
        let mut row = vec![TableCell::Absent; COLUMNS.len()];
        row[0] = TableCell::Text(file.to_owned());
        row[3] = TableCell::Number(4818.5);
        row
    }

    #[test]
    fn every_form_has_every_column() {
        let rows = [row("a.txt"), row("b,\"c\".txt")];
        let text = text(&rows);
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("4818") && text.contains("total iops"));
        let csv = csv(&rows);
        assert!(csv.starts_with("file,database,bound_by,total_iops,read_iops,read_latency_ms,"));
        assert!(csv.contains("\n\"b,\"\"c\"\".txt\",,,4818.5,,"));
        let json = json(&rows);
        assert_eq!(json[1]["file"], "b,\"c\".txt");
        assert_eq!(json[0]["total_iops"], 4818.5);
        assert!(json[0]["sessions"].is_null());
    }

    #[test]
    fn a_formula_stays_text() {
        let of = |text: &str| field(&TableCell::Text(text.to_owned()));
        assert_eq!(of("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(of("@SUM(1)"), "'@SUM(1)");
        assert_eq!(of("SHOP"), "SHOP");
    }

    #[test]
    fn names_of_columns_are_different_and_carry_their_unit() {
        let mut keys: Vec<String> = COLUMNS.iter().map(key).collect();
        assert!(
            keys.contains(&"redo_mib_per_s".to_owned())
                && keys.contains(&"db_time_s_per_s".to_owned())
        );
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), COLUMNS.len());
    }
}
