//! fio's logs of single latencies, from which histograms and intervals are exact.

use super::histograms;
use super::intervals::LogIntervals;
use super::line::{LogKind, LogLines, read_lines};
use super::rates;
use crate::results::imported::{ImportedResult, Lack, NamedText, broken, refused};
use assay_model::Result;
use assay_model::histogram::Precision;
use assay_model::measurement::{OperationResult, PerOperation};
use assay_model::number::index_of;

const SECOND_NS: u64 = 1_000_000_000;
/// Intervals of a log at most: each takes 2 kB, and a line may be of any time.
const INTERVALS_MAX: u64 = 20_000;

/// The log of all jobs to which the log of one belongs: `x_bw.log` for `x_bw.1.log`.
pub fn log_of_all_jobs(name: &str) -> Option<String> {
    let (log, job) = name.strip_suffix(".log")?.rsplit_once('.')?;
    let is_number = !job.is_empty() && job.bytes().all(|letter| letter.is_ascii_digit());
    is_number.then(|| format!("{log}.log"))
}

/// Reads the logs of the jobs of one run, as if fio had written one for all (`per_job_logs=0`).
///
/// # Errors
/// A usage error where a log is specified twice, and those of a single log.
pub fn read_all(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let [first, others @ ..] = files else { return Err(broken("fio", "there is no log")) };
    let Some(name) = log_of_all_jobs(first.name).filter(|_| !others.is_empty()) else {
        return read(first.text, first.name);
    };
    let mut names: Vec<&str> = files.iter().map(|file| file.name).collect();
    names.sort_unstable();
    if let Some([twice, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let what = format!("{twice} is specified twice");
        return Err(refused("fio", &what, "specify the log of each job once"));
    }
    let texts: Vec<&str> = files.iter().map(|file| file.text.trim_end()).collect();
    read(&texts.join("\n"), &name)
}

/// Reads a log; the file's name says which of fio's logs it is.
///
/// # Errors
/// A usage error where the name says nothing, or a line is none of a log.
fn read(text: &str, name: &str) -> Result<ImportedResult> {
    let kind = LogKind::from_name(name)?;
    if kind == LogKind::Histogram {
        return Ok(histograms::read(text)?.imported(kind, name, vec![Lack::QuantileRanks]));
    }
    let log = read_lines(text)?;
    // fio writes no block size where a line is the mean of many.
    if !kind.is_latency() || log.lines.iter().all(|line| line.bytes == 0) {
        return Ok(rates::imported(&log, name, kind));
    }
    let lacks = log.lacks.clone();
    Ok(by_interval(&log)?.imported(kind, name, lacks))
}

/// Intervals of a second, of a log of many hours longer ones.
fn by_interval(log: &LogLines) -> Result<LogIntervals> {
    let length_s = (log.last_ms() / 1000 + 1).div_ceil(INTERVALS_MAX);
    let mut operations: Vec<PerOperation> = Vec::new();
    for line in &log.lines {
        if line.bytes == 0 {
            return Err(broken("fio", "the log mixes means with single I/Os"));
        }
        let place = index_of(line.at_ms / 1000 / length_s);
        if operations.len() <= place {
            operations.resize(place + 1, PerOperation::default());
        }
        let slot = operations[place].slot(line.operation);
        let result = slot.get_or_insert_with(|| OperationResult::empty(Precision::Fine, false));
        result.ios += 1;
        result.bytes = result.bytes.saturating_add(line.bytes);
        result.service.record(line.value);
    }
    Ok(LogIntervals {
        length_ns: length_s * SECOND_NS,
        operations,
        elapsed_ns: log.last_ms().max(1) * 1_000_000,
        started_unix_ns: log.started_unix_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::imported::ImportedContent;

    #[test]
    fn logs_of_several_jobs_are_one_run() {
        let log = |name, text| NamedText { name, text };
        let one = log("x_bw.1.log", "500, 1000, 0, 0, 0\n1000, 3000, 0, 0, 0\n");
        let two = log("x_bw.2.log", "500, 500, 0, 0, 0\n1001, 700, 0, 0, 0\n");
        let found = read_all(&[one, two]).unwrap();
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        assert!((rows[0].measures[0].estimate.value - 2600.0 * 1024.0).abs() < 1e-6);
        assert_eq!(found.name, "x_bw.log");
        let one = log("x_clat.1.log", "100, 5000, 0, 4096, 0\n");
        let two = log("x_clat.2.log", "1100, 7000, 0, 4096, 0\n");
        let ImportedContent::Runs(runs) = read_all(&[one, two]).unwrap().content else { panic!() };
        assert_eq!(runs[0].measurement.operations().ios(), 2);
        assert!(read_all(&[one, two, two]).unwrap_err().message().contains("specified twice"));
        assert_eq!(log_of_all_jobs("x_bw.log"), None);
    }

    /// A line of another week took a gigabyte.
    #[test]
    fn a_log_of_days_has_longer_intervals() {
        let text = "100, 5000, 0, 4096, 0\n604700000, 7000, 0, 4096, 0\n";
        let ImportedContent::Runs(runs) = read(text, "x_clat.1.log").unwrap().content else {
            panic!()
        };
        let intervals = &runs[0].intervals;
        assert!(intervals.len() < 20_000, "{}", intervals.len());
        assert_eq!(intervals[0].0.end_ns, 31 * SECOND_NS);
        assert_eq!(runs[0].measurement.operations().ios(), 2);
    }

    /// One I/O at the end of the second second was an interval of a nanosecond.
    #[test]
    fn a_short_last_interval_belongs_to_the_one_before() {
        let text = "100, 5000, 0, 4096, 0\n1500, 7000, 0, 4096, 0\n2000, 7000, 0, 4096, 0\n";
        let of = |text: &str| {
            let found = read(text, "x_clat.1.log").unwrap().content;
            let ImportedContent::Runs(runs) = found else { panic!() };
            let ends = runs[0].intervals.iter().map(|one| (one.0.end_ns, one.0.operations.ios()));
            ends.collect::<Vec<_>>()
        };
        assert_eq!(of(text), [(SECOND_NS, 1), (2 * SECOND_NS, 2)]);
        let long = of(&text.replace("2000,", "2700,"));
        assert_eq!(long, [(SECOND_NS, 1), (2 * SECOND_NS, 1), (2_700_000_000, 1)]);
    }

    #[test]
    fn every_line_is_an_io_of_its_second() {
        let text = "100, 5000, 0, 4096, 0\n900, 7000, 1, 4096, 8192\n1500, 6000, 0, 4096, 0\n";
        let found = read(text, "x_clat.1.log").unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!() };
        let whole = runs[0].measurement.operations();
        assert_eq!(
            (whole.ios(), runs[0].intervals.len(), whole.read.unwrap().service.max_ns()),
            (3, 2, 6000)
        );
        for (text, name, why) in [
            ("100, 5000, 0, 4096, 0\n200, 5, 0, 0\n", "x_clat.1.log", "mixes means"),
            ("100, 5000, 0, 4096, 0\n", "x.log", "must say what it contains"),
            ("100, 5000, 0, 4096, 0\n100, 50", "x_lat.1.log", "line 2"),
        ] {
            assert!(read(text, name).unwrap_err().message().contains(why), "{text}");
        }
    }
}
