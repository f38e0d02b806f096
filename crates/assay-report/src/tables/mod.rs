//! Tables for other programs: CSV with units in the names of the columns, one header line, no thousands separators.
//!
//! Rows are tidy: one observation a row, run and operation in columns of their own, so that a data frame or a database
//! can group them at once. Numbers that do not exist are empty.

mod curve;
mod histograms;
mod intervals;
mod queries;
mod watch;

pub use curve::curve_csv;
pub use histograms::histograms_csv;
pub use intervals::{INTERVALS_HEADER, intervals_csv};
pub use queries::queries_csv;
pub use watch::{WATCH_HEADER, watch_csv};

/// Adds a row; what holds a separator, a quote or a line break is quoted (RFC 4180).
fn push_row(into: &mut String, cells: &[String]) {
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            into.push(',');
        }
        if cell.contains([',', '"', '\n', '\r']) {
            into.push('"');
            into.push_str(&cell.replace('"', "\"\""));
            into.push('"');
        } else {
            into.push_str(cell);
        }
    }
    into.push('\n');
}

/// A number with as many digits as needed to read it back the same.
fn number(value: f64) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_quotes_are_quoted() {
        let mut row = String::new();
        let cells = ["a", "b,c", "d\"e", "f\ng", ""].map(str::to_owned);
        push_row(&mut row, &cells);
        assert_eq!(row, "a,\"b,c\",\"d\"\"e\",\"f\ng\",\n");
    }
}
