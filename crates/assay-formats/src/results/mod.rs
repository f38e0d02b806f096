//! Results of other programs as Assay keeps them: runs with histograms where there are times, tables where there are not.

mod amount;
mod calibrate_io;
mod check;
mod columns;
mod dates;
mod elbencho;
mod fio;
mod hammerdb;
mod imported;
mod iometer;
mod numbers;
mod orion;
mod pgbench;
mod pgbench_log;
mod report;
mod rows;
mod sysbench;
mod table;
mod trace;
mod vdbench_flatfile;
mod vdbench_summary;

pub use imported::{ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, NamedText};
pub use report::report_row;

use assay_model::{Error, Result};

/// Whether two files are of one run: logs of its threads or jobs, or the files of one test of ORION.
pub fn are_of_one_run(one: &NamedText<'_>, other: &NamedText<'_>) -> bool {
    let both = |is: fn(&str) -> bool| is(one.text) && is(other.text);
    let threads = both(|text| pgbench_log::is_log(first_line(text)))
        || both(|text| pgbench_log::is_aggregated(first_line(text)));
    let orion = both(|text| orion::is_summary(text) || orion::is_matrix(text));
    let jobs = both(|text| fio::is_log(first_line(text)));
    let job_log = fio::log_of_all_jobs(one.name);
    jobs && job_log.is_some() && job_log == fio::log_of_all_jobs(other.name)
        || threads && pgbench_log::run_of(one.name) == pgbench_log::run_of(other.name)
        || orion && one.name != other.name && orion::test_of(one.name) == orion::test_of(other.name)
}

/// The name of the file that says in which unit the times of another one are, which may lie next to it.
pub fn companion(name: &str) -> Option<String> {
    name.ends_with("_lat.csv").then(|| format!("{}_summary.txt", orion::test_of(name)))
}

/// Reads a result of any program that is known, by its content; `name` is that of the file.
///
/// # Errors
/// A usage error when it is none, is cut off, holds no measurement, or holds numbers that are impossible.
pub fn import(text: &str, name: &str) -> Result<ImportedResult> {
    import_files(&[NamedText { name, text }])
}

/// The same of files that are of one run.
///
/// # Errors
/// Those of [`import`].
pub fn import_files(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let Some(first) = files.first() else {
        return Err(Error::usage("there is no file to import", "name a result"));
    };
    check::checked(read(*first, files)?)
}

/// The first line that is not blank.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

fn read(file: NamedText<'_>, files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let NamedText { name, text } = file;
    let first = first_line(text);
    if fio::is_output(text) {
        return fio::import(text);
    }
    if iometer::is_result(text) {
        return iometer::read(text);
    }
    if sysbench::is_output(text) {
        return sysbench::read(text);
    }
    if vdbench_flatfile::is_flatfile(text) {
        return vdbench_flatfile::read_flatfile(text);
    }
    if calibrate_io::is_output(text) {
        return calibrate_io::read(text);
    }
    if orion::is_summary(text) || orion::is_matrix(text) {
        return orion::read(files);
    }
    if vdbench_summary::is_summary(text) {
        return vdbench_summary::read_summary(text);
    }
    if elbencho::is_csv(first) {
        return elbencho::read(text);
    }
    if hammerdb::is_result(text) {
        return hammerdb::read(text);
    }
    if pgbench::is_summary(text) {
        return pgbench::read_summary(text);
    }
    if fio::is_log(first) {
        return fio::read_logs(files);
    }
    if pgbench_log::is_log(first) {
        return pgbench_log::read_log(files);
    }
    if pgbench_log::is_aggregated(first) {
        return pgbench_log::read_aggregated(files);
    }
    if let Some(program) = trace::program(text) {
        return Err(Error::usage(
            format!("{name} is a trace of {program}, which Assay does not read as a single file"),
            "collect it with OSWatcher, and name its archive: `assay watch --from DIRECTORY`",
        ));
    }
    Err(Error::usage(
        format!("{name} is not a known result"),
        "supported are fio JSON and logs, Vdbench flatfile and summary, IOMeter results, ORION summary and csv, the output of CALIBRATE_IO, listings of v$filestat, v$file_histogram and DBA_RSRC_IO_CALIBRATE, the table of rac_stats, elbencho csv, pgbench output and logs, HammerDB logs and jobs, sysbench output",
    ))
}
