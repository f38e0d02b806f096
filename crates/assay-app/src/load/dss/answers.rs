//! Answers as files, one a query: `q01.csv` to `q22.csv`.

use crate::new_file::write_new;
use assay_model::Result;
use assay_model::row::Row;
use std::path::Path;

/// Writes the answer of a query by its name, `Q1` to `Q22`, without a header.
///
/// # Errors
/// When there is such a file already, or it cannot be written.
pub fn write(directory: &Path, name: &str, rows: &[Row]) -> Result<()> {
    let Some(number) = name.strip_prefix('Q') else {
        return Ok(());
    };
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.0.iter().map(|cell| quoted(cell.as_deref())).collect();
        let line = cells.join(",");
        // A line without anything would be no row.
        text.push_str(if line.is_empty() { "\"\"" } else { &line });
        text.push('\n');
    }
    write_new(&directory.join(format!("q{number:0>2}.csv")), text.as_bytes())
}

/// A text of fixed length without the blanks behind it, as RFC 4180 has it.
fn quoted(cell: Option<&str>) -> String {
    let text = cell.unwrap_or("").trim_end();
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_commas_and_lose_their_padding() {
        assert_eq!(quoted(Some("a,b")), "\"a,b\"");
        assert_eq!(quoted(Some("x   ")), "x");
        assert_eq!(quoted(None), "");
    }
}
