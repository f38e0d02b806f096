//! A table as JSON lines: an object for each row, for programs that stream.

use crate::render::csv::unguarded;
use serde_json::{Map, Number, Value};

/// The rows of a CSV text with a header line. A column is one of numbers where all of its cells
/// are; an empty cell is null.
pub fn json_lines(table: &str) -> String {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names: Vec<String> =
        reader.headers().map(|names| names.iter().map(str::to_owned).collect()).unwrap_or_default();
    // A table that was just written is one that can be read.
    let rows: Vec<csv::StringRecord> = reader.records().filter_map(Result::ok).collect();
    let is_number = |place: usize| {
        rows.iter()
            .all(|row| row.get(place).is_none_or(|cell| cell.is_empty() || number(cell).is_some()))
    };
    let numeric: Vec<bool> = (0..names.len()).map(is_number).collect();
    let line = |row: &csv::StringRecord| {
        let cells = names.iter().zip(row.iter()).zip(&numeric);
        let object: Map<String, Value> =
            cells.map(|((name, cell), numeric)| (name.clone(), value(cell, *numeric))).collect();
        Value::Object(object).to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

fn value(cell: &str, numeric: bool) -> Value {
    match (cell, numeric) {
        ("", _) => Value::Null,
        (cell, true) => number(cell).map_or(Value::Null, Value::Number),
        (cell, false) => Value::String(unguarded(cell).to_owned()),
    }
}

/// A whole number stays one.
fn number(cell: &str) -> Option<Number> {
    let whole =
        cell.parse::<u64>().map(Number::from).or_else(|_| cell.parse::<i64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(cell.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_one_type() {
        let lines = json_lines("run_id,name,ios,share,none\na,1,2,0.5,\nb,\"x,\"\"y\",3,1e-9,\n");
        let rows: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            rows[0],
            serde_json::json!({"run_id": "a", "name": "1", "ios": 2, "share": 0.5, "none": null})
        );
        assert_eq!(rows[1]["name"], "x,\"y");
        assert!(json_lines("a\n'=x\n").contains("\"=x\""));
        assert_eq!(json_lines("a,b\n"), "");
    }
}
