//! Results of fio: its JSON, its other outputs, and its logs.

mod histograms;
mod intervals;
mod json;
mod line;
mod load;
mod log;
mod printed;
mod quantiles;
mod rates;
mod runs;
mod terse;
mod text;

pub use line::is_log;
pub use log::{log_of_all_jobs, read_all as read_logs};

use super::imported::{ImportedResult, Lack};
use assay_model::Result;
use printed::{PrintedJob, PrintedOutput};

/// A terse output with what only the printed output of the same jobs says.
fn with_details(mut terse: PrintedOutput, printed: Option<PrintedOutput>) -> PrintedOutput {
    let name = |job: &PrintedJob| job.name.clone();
    let is_same =
        |printed: &PrintedOutput| printed.jobs.iter().map(name).eq(terse.jobs.iter().map(name));
    let Some(printed) = printed.filter(is_same) else { return terse };
    terse.ended_unix_ns = terse.ended_unix_ns.or(printed.ended_unix_ns);
    terse.lacks.extend(printed.lacks);
    for (job, printed) in terse.jobs.iter_mut().zip(printed.jobs) {
        (job.options, job.queue_depth_max) = (printed.options, printed.queue_depth_max);
    }
    terse
}

/// Whether a text is an output of fio itself.
pub fn is_output(text: &str) -> bool {
    text.contains("\"fio version\"") || terse::is_output(text) || text::is_output(text)
}

/// Reads an output of fio, in whatever form; of several in one the most exact counts.
///
/// # Errors
/// A usage error where it is cut off, holds several results, or nothing that was read or written.
pub fn import(text: &str) -> Result<ImportedResult> {
    let mut printed = if text.contains("\"fio version\"") {
        json::read(text)?
    } else if terse::is_output(text) {
        with_details(terse::read(text)?, text::read(text).ok())
    } else {
        text::read(text)?
    };
    printed.lacks.extend(interruption(text));
    runs::imported(printed)
}

/// `fio: terminating on signal 2`, which fio prints before its result.
fn interruption(text: &str) -> Option<Lack> {
    let (_, rest) = text.split_once("fio: terminating on signal ")?;
    let signal = rest.split_whitespace().next()?.trim_end_matches('.');
    signal.parse::<u8>().ok()?;
    Some(Lack::OnlyPart(format!("signal {signal} ended fio early")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_named() {
        let words = |text: &str| interruption(text).map(|lack| lack.to_string());
        let expected = Some("signal 2 ended fio early".to_owned());
        assert_eq!(words("\nfio: terminating on signal 2\n{}"), expected);
        assert_eq!(words("fio: terminating on signal"), None);
        assert_eq!(words("fio-3.33\n"), None);
    }

    #[test]
    fn a_terse_line_has_the_date_and_the_load_of_the_text_next_to_it() {
        let of = |name: &str, ended_unix_ns| {
            let options = [("rw".to_owned(), "read".to_owned())].into();
            let job = PrintedJob { name: name.to_owned(), options, ..PrintedJob::default() };
            PrintedOutput { jobs: vec![job], ended_unix_ns, ..PrintedOutput::default() }
        };
        let terse = || PrintedOutput {
            jobs: vec![PrintedJob { name: "a".to_owned(), ..PrintedJob::default() }],
            ..PrintedOutput::default()
        };
        assert_eq!(with_details(terse(), Some(of("a", Some(7)))), of("a", Some(7)));
        assert_eq!(with_details(terse(), Some(of("b", Some(7)))), terse());
        assert_eq!(with_details(terse(), None), terse());
    }
}
