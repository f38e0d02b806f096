//! Writes the rows of the load of decision support as text, a file a table, so that other engines
//! can load them.
//!
//! `dss_rows SCALE DIRECTORY`: columns separated by `|`, no header.
#![allow(clippy::print_stderr, reason = "an example says what is wrong")]

use assay_loads::dss::{DssScale, TABLES, put_rows};
use assay_loads::sink::{RowSink, TablePart};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Rows as lines of text.
struct Lines {
    file: BufWriter<File>,
    line: String,
    is_broken: bool,
}

impl Lines {
    fn put(&mut self, cell: &str) {
        if !self.line.is_empty() {
            self.line.push('|');
        }
        self.line.push_str(cell);
    }
}

impl RowSink for Lines {
    fn row(&mut self, _columns: u16) {
        self.finish();
    }

    fn long(&mut self, value: i64) {
        self.put(&value.to_string());
    }

    fn integer(&mut self, value: u32) {
        self.put(&value.cast_signed().to_string());
    }

    fn decimal(&mut self, value: i64, digits: u16) {
        let (sign, width) = (if value < 0 { "-" } else { "" }, usize::from(digits));
        let unit = 10_u64.pow(u32::from(digits));
        let (whole, part) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        self.put(&format!("{sign}{whole}.{part:0width$}"));
    }

    fn text(&mut self, value: &[u8]) {
        self.put(&String::from_utf8_lossy(value));
    }

    fn flag(&mut self, value: bool) {
        self.put(if value { "1" } else { "0" });
    }

    fn time(&mut self, unix_us: i64) {
        self.put(&unix_us.to_string());
    }

    fn date(&mut self, unix_days: i32) {
        let days = u64::try_from(unix_days).unwrap_or(0);
        let utc = assay_model::run::Utc::of(days * 86_400_000_000_000);
        self.put(&format!("{:04}-{:02}-{:02}", utc.year, utc.month, utc.day));
    }

    fn null(&mut self) {
        self.put("");
    }

    fn is_full(&self) -> bool {
        self.is_broken
    }

    fn finish(&mut self) {
        if !self.line.is_empty() {
            self.is_broken |= writeln!(self.file, "{}", self.line).is_err();
            self.line.clear();
        }
    }
}

fn write_all(scale: DssScale, directory: &Path) -> std::io::Result<()> {
    for table in TABLES {
        let file = File::create(directory.join(format!("{}.csv", table.name())))?;
        let mut lines = Lines { file: BufWriter::new(file), line: String::new(), is_broken: false };
        put_rows(table, scale, TablePart::WHOLE, |key| key, &mut lines);
        lines.finish();
        lines.file.flush()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let [_, scale, directory] = words.as_slice() else {
        eprintln!("usage: dss_rows SCALE DIRECTORY");
        return ExitCode::from(2);
    };
    let scale = scale.parse().ok().and_then(|factor| DssScale::new(factor).ok());
    match scale.map(|scale| write_all(scale, Path::new(directory))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        failure => {
            eprintln!("writing the rows: {failure:?}");
            ExitCode::FAILURE
        }
    }
}
