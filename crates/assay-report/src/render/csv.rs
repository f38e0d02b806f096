//! Records for other programs: RFC 4180, a record a line.

use csv::{Terminator, WriterBuilder};

/// Records as lines; what holds a separator, a quote or a line break is quoted, and so is a record of nothing.
pub fn csv<R>(records: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut written = Vec::new();
    let mut form = WriterBuilder::new();
    form.flexible(true).terminator(Terminator::Any(b'\n'));
    let mut writer = form.from_writer(&mut written);
    for record in records {
        // Memory takes everything, and records may differ in length.
        let _ = writer.write_record(record.into_iter().map(|cell| plain(cell).into_bytes()));
    }
    drop(writer);
    String::from_utf8_lossy(&written).into_owned()
}

/// A cell that a spreadsheet shows and does not carry out: names come from strangers.
fn plain(cell: String) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && cell.parse::<f64>().is_err() { format!("'{cell}") } else { cell }
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
    fn formulas_are_text_and_numbers_stay_numbers() {
        let cells = ["=cmd()|READ", "@x", "-1.5", "+2e3", "-", "a=b"].map(str::to_owned);
        assert_eq!(csv([cells]), "'=cmd()|READ,'@x,-1.5,+2e3,'-,a=b\n");
    }
}
