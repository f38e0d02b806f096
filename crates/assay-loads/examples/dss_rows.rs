//! Writes the rows of the load of decision support as text, a file a table, so that other engines can load them.
//!
//! `dss_rows SCALE DIRECTORY`: columns separated by `|`, no header.
#![allow(clippy::print_stderr, reason = "an example tells a person what is wrong")]

use assay_loads::dss::{Part, Scale, TABLES, Taker, put_rows};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Rows as lines of text.
struct Lines {
    file: BufWriter<File>,
    line: String,
}

impl Lines {
    fn put(&mut self, cell: &str) {
        if !self.line.is_empty() {
            self.line.push('|');
        }
        self.line.push_str(cell);
    }
}

impl Taker for Lines {
    fn begin(&mut self) {
        self.line.clear();
    }

    fn key(&mut self, value: i64) {
        self.put(&value.to_string());
    }

    fn integer(&mut self, value: i32) {
        self.put(&value.to_string());
    }

    fn money(&mut self, hundredths: i64) {
        let sign = if hundredths < 0 { "-" } else { "" };
        let (whole, part) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
        self.put(&format!("{sign}{whole}.{part:02}"));
    }

    fn text(&mut self, text: &str) {
        self.put(text);
    }

    fn date(&mut self, days: i32) {
        let days = u64::try_from(days).unwrap_or(0);
        let utc = assay_model::run::Utc::of(days * 86_400_000_000_000);
        self.put(&format!("{:04}-{:02}-{:02}", utc.year, utc.month, utc.day));
    }

    fn end(&mut self) -> bool {
        writeln!(self.file, "{}", self.line).is_ok()
    }
}

fn write_all(scale: Scale, directory: &Path) -> std::io::Result<()> {
    for table in TABLES {
        let file = File::create(directory.join(format!("{}.csv", table.name())))?;
        let mut lines = Lines { file: BufWriter::new(file), line: String::new() };
        put_rows(table, scale, Part::WHOLE, |key| key, &mut lines);
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
    let scale = scale.parse().ok().and_then(|factor| Scale::new(factor).ok());
    match scale.map(|scale| write_all(scale, Path::new(directory))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        failure => {
            eprintln!("writing the rows: {failure:?}");
            ExitCode::FAILURE
        }
    }
}
