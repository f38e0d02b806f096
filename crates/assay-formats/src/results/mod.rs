//! Results of other programs as Assay keeps them: runs with histograms where there are times,
//! tables where there are not.

mod amount;
mod calibrate_io;
mod check;
mod columns;
mod dates;
mod elbencho;
mod fio;
mod hammerdb;
mod hammerdb_report;
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
mod unread;
mod vdbench_columns;
mod vdbench_flatfile;
mod vdbench_summary;

pub use check::drop_rounded_times;
pub use imported::{ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, NamedText};
pub use report::{report_row, slob_settings};
pub use trace::program as trace_program;
pub use unread::{RefusedFile, unread_file};

use assay_model::{Error, Result};

/// Whether two files are of one run: logs of its threads or jobs, or the files of one test of
/// ORION.
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

/// The name of the file that says in which unit the times of another one are, which may lie next to
/// it.
pub fn companion(name: &str) -> Option<String> {
    name.ends_with("_lat.csv").then(|| format!("{}_summary.txt", orion::test_of(name)))
}

/// Reads a result of any program that is known, by its content; `name` is that of the file.
///
/// # Errors
/// A usage error when it is none, is cut off, holds no measurement, or holds numbers that are
/// impossible.
pub fn import(text: &str, name: &str) -> Result<ImportedResult> {
    import_files(&[NamedText { name, text }])
}

/// The same of files that are of one run.
///
/// # Errors
/// Those of [`import`].
pub fn import_files(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let Some(first) = files.first() else {
        return Err(Error::usage("there is no file to import", "specify a result"));
    };
    check::checked(read(*first, files)?)
}

/// The first line that is not blank.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// A program whose results are read.
struct ResultReader {
    program: &'static str,
    is: fn(&str) -> bool,
    read: fn(&[NamedText<'_>]) -> Result<ImportedResult>,
}

/// What programs print or write at their ends.
const OUTPUTS: [ResultReader; 10] = [
    ResultReader { program: "fio", is: fio::is_output, read: |files| fio::import(text(files)) },
    ResultReader {
        program: "IOMeter",
        is: iometer::is_result,
        read: |files| iometer::read(text(files)),
    },
    ResultReader {
        program: "sysbench",
        is: sysbench::is_output,
        read: |files| sysbench::read(text(files)),
    },
    ResultReader {
        program: "Vdbench",
        is: vdbench_flatfile::is_flatfile,
        read: |files| vdbench_flatfile::read_flatfile(text(files)),
    },
    ResultReader {
        program: "CALIBRATE_IO",
        is: calibrate_io::is_output,
        read: |files| calibrate_io::read(text(files)),
    },
    ResultReader {
        program: "ORION",
        is: |text| orion::is_summary(text) || orion::is_matrix(text),
        read: orion::read,
    },
    ResultReader {
        program: "Vdbench",
        is: vdbench_summary::is_summary,
        read: |files| vdbench_summary::read_summary(text(files)),
    },
    ResultReader {
        program: "elbencho",
        is: elbencho::is_csv,
        read: |files| elbencho::read(text(files)),
    },
    ResultReader {
        program: "HammerDB",
        is: hammerdb::is_result,
        read: |files| hammerdb::read(text(files)),
    },
    ResultReader {
        program: "pgbench",
        is: pgbench::is_summary,
        read: |files| pgbench::read_summary(text(files)),
    },
];

/// What programs write line by line while they run: numbers alone, so that only their first line is
/// looked at.
const LOGS: [ResultReader; 3] = [
    ResultReader { program: "fio", is: |text| fio::is_log(first_line(text)), read: fio::read_logs },
    ResultReader {
        program: "pgbench",
        is: |text| pgbench_log::is_log(first_line(text)),
        read: pgbench_log::read_log,
    },
    ResultReader {
        program: "pgbench",
        is: |text| pgbench_log::is_aggregated(first_line(text)),
        read: pgbench_log::read_aggregated,
    },
];

/// The text of the first of the files of one run.
fn text<'a>(files: &[NamedText<'a>]) -> &'a str {
    files.first().map_or("", |file| file.text)
}

/// The program whose result a text is.
pub fn program(text: &str) -> Option<&'static str> {
    let reader = OUTPUTS.iter().chain(&LOGS).find(|reader| (reader.is)(text));
    reader.map(|reader| reader.program)
}

fn read(file: NamedText<'_>, files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let NamedText { name, text } = file;
    let mut outputs = OUTPUTS.iter().filter(|reader| (reader.is)(text));
    if let Some(first) = outputs.next() {
        return match outputs.find(|other| other.program != first.program) {
            None => (first.read)(files),
            Some(other) => Err(Error::usage(
                format!("{name} contains results of {} and of {}", first.program, other.program),
                "split it into one file per program",
            )),
        };
    }
    if let Some(log) = LOGS.iter().find(|reader| (reader.is)(text)) {
        return (log.read)(files);
    }
    if elbencho::is_screen(text) {
        return Err(elbencho::refuse_screen());
    }
    Err(Error::usage(
        format!("{name} is not a known result"),
        "supported are fio JSON and logs, Vdbench flatfile and summary, IOMeter results, ORION \
         summary and csv, the output of CALIBRATE_IO, listings of v$filestat, v$file_histogram \
         and DBA_RSRC_IO_CALIBRATE, the table of rac_stats, elbencho csv, pgbench output and \
         logs, HammerDB logs and jobs, sysbench output",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIO: &str = "{\"fio version\": \"fio-3.33\", \"jobs\": []}\n";
    const ELBENCHO: &str = "operation,hosts,IOPS [last]\nWRITE,1,100\n";

    #[test]
    fn results_of_two_programs_in_one_file_are_refused_in_either_order() {
        for text in [format!("{FIO}{ELBENCHO}"), format!("{ELBENCHO}{FIO}")] {
            let error = import(&text, "both").unwrap_err();
            assert_eq!(error.message(), "both contains results of fio and of elbencho");
        }
        assert_eq!([FIO, ELBENCHO, "hello\n"].map(program), [Some("fio"), Some("elbencho"), None]);
    }
}
