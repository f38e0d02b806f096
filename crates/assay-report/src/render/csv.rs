//! Records for other programs: RFC 4180, a record a line.

use csv::{Terminator, WriterBuilder};

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Whether a spreadsheet would run a cell, apart from the apostrophes in front of it that keep it
/// from doing so.
fn is_formula(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA) && cell.parse::<f64>().is_err()
}

/// A cell that no spreadsheet runs: text that looks like a formula is behind an apostrophe; numbers
/// stay numbers.
fn guarded(cell: String) -> String {
    if is_formula(&cell) { format!("'{cell}") } else { cell }
}

/// The text of a cell that was written behind an apostrophe.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Records as lines; what holds a separator, a quote or a line break is quoted, and so is a record
/// of nothing. What a spreadsheet would run is behind an apostrophe.
pub fn csv<R>(records: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    plain_csv(records.into_iter().map(|record| record.into_iter().map(guarded)))
}

/// The same of cells that are compared with others byte by byte, as they are.
pub fn plain_csv<R>(records: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut written = Vec::new();
    let mut form = WriterBuilder::new();
    form.flexible(true).terminator(Terminator::Any(b'\n'));
    let mut writer = form.from_writer(&mut written);
    for record in records {
        // Memory takes everything, and records may differ in length.
        let _ = writer.write_record(record.into_iter().map(String::into_bytes));
    }
    drop(writer);
    String::from_utf8_lossy(&written).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_quotes_are_quoted() {
        let cells = ["a", "b,c", "d\"e", "f\ng", ""].map(str::to_owned);
        assert_eq!(csv([cells]), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\n");
        assert_eq!(csv([[String::new()]]), "\"\"\n");
    }

    #[test]
    fn answers_stay_as_they_are() {
        let cells = || [["-a".to_owned(), "'=x".to_owned()]];
        assert_eq!((plain_csv(cells()), csv(cells())), ("-a,'=x\n".into(), "'-a,''=x\n".into()));
    }

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for text in ["=cmd()|READ", "+1+1", "-a", "@x", "\tx", "'=x", "-", "=", "-1-1"] {
            let cell = guarded(text.to_owned());
            assert_eq!((cell.as_str(), unguarded(&cell)), (format!("'{text}").as_str(), text));
        }
        for text in ["-5", "+1.5e3", "-0", "a=b", "'x", "", "– 5", "-inf"] {
            assert_eq!((guarded(text.to_owned()).as_str(), unguarded(text)), (text, text));
        }
    }
}
