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
    let records = rows.iter().map(|row| row.0.iter().map(|cell| field(cell.as_deref())));
    let text = assay_report::plain_csv(records);
    write_new(&directory.join(format!("q{number:0>2}.csv")), text.as_bytes())
}

/// A text of fixed length without the blanks behind it.
fn field(cell: Option<&str>) -> String {
    cell.unwrap_or("").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lose_their_padding() {
        assert_eq!(field(Some("a,b  ")), "a,b");
        assert_eq!(field(None), "");
    }
}
