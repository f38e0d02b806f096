//! Results of other programs as Assay keeps them: runs with histograms where there are times, tables where there are not.

mod amount;
mod calibrate_io;
mod check;
mod columns;
mod elbencho;
mod fio;
mod hammerdb;
mod imported;
mod orion;
mod pgbench;
mod report;
mod table;
mod vdbench;

pub use imported::{ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack};
pub use report::report_row;

use assay_model::{Error, Result};

/// Reads a result of any program that is known, by its content; `name` is that of the file.
///
/// # Errors
/// A usage error when it is none, is cut off, holds no measurement, or holds numbers that are impossible.
pub fn import(text: &str, name: &str) -> Result<ImportedResult> {
    check::checked(read(text, name)?)
}

fn read(text: &str, name: &str) -> Result<ImportedResult> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if text.contains("\"fio version\"") {
        return fio::read_json(text);
    }
    if vdbench::is_flatfile(text) {
        return vdbench::read_flatfile(text);
    }
    if calibrate_io::is_output(text) {
        return calibrate_io::read(text);
    }
    if text.contains("ORION VERSION")
        || text.contains("ORION: ORacle IO Numbers")
        || text.contains("Maximum Large MBPS")
        || text.contains("Maximum Small IOPS")
    {
        return orion::read_summary(text);
    }
    if first.trim_start().starts_with("Large/Small") {
        return orion::read_matrix(text, name);
    }
    if vdbench::is_summary(text) {
        return vdbench::read_summary(text);
    }
    if elbencho::is_csv(first) {
        return elbencho::read(text);
    }
    if text.contains("NOPM") {
        return hammerdb::read(text);
    }
    if text.contains("transaction type:") && text.contains("tps = ") {
        return pgbench::read_summary(text);
    }
    if fio::is_log(first) {
        return fio::read_log(text, name);
    }
    if pgbench::is_log(first) {
        return pgbench::read_log(text);
    }
    Err(Error::usage(
        format!("{name} is not a known result"),
        "known are: fio JSON and logs, Vdbench flatfile and summary, ORION summary and csv, the output of CALIBRATE_IO, elbencho csv, pgbench output and logs, HammerDB logs",
    ))
}
