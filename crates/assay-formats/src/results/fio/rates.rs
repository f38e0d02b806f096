//! fio's logs of rates and mean latencies, one row per operation.

use super::line::{LogKind, LogLine, LogLines};
use crate::results::imported::{ImportedContent, ImportedResult, ImportedRow, Lack};
use crate::results::table;
use assay_model::measurement::Operation;
use assay_model::number::{index_of, real, real_len, seconds};
use assay_model::study::{FactorValue, StudySetting};

/// The result of a log whose lines are means over a time, or rates.
pub fn imported(log: &LogLines, name: &str, kind: LogKind) -> ImportedResult {
    let elapsed_ms = log.last_ms();
    let mut rows = Vec::new();
    for operation in [Operation::Read, Operation::Write] {
        let lines: Vec<&LogLine> =
            log.lines.iter().filter(|line| line.operation == operation).collect();
        let is_all = lines.len() == log.lines.len();
        let of = LogOperation { lines: &lines, operation, is_all, kind, elapsed_ms };
        rows.extend(of.row(name));
    }
    let is_rate = matches!(kind, LogKind::Throughput | LogKind::Iops);
    let no_times = if is_rate { Lack::Times } else { Lack::Quantiles };
    let mut lacks = [kind.lacks(), log.lacks.clone(), vec![no_times]].concat();
    if !is_rate && log.lines.iter().any(|line| line.bytes == 0) {
        lacks.push(Lack::Weights);
    }
    if log.started_unix_ns == 0 {
        lacks.push(Lack::Date);
    }
    let content = ImportedContent::Rows(rows);
    ImportedResult { program: "fio".to_owned(), name: name.to_owned(), content, lacks }
}

/// The lines of one operation.
struct LogOperation<'a> {
    lines: &'a [&'a LogLine],
    operation: Operation,
    /// Whether there is no other operation.
    is_all: bool,
    kind: LogKind,
    elapsed_ms: u64,
}

impl LogOperation<'_> {
    /// The row of the operation; none where it did not happen.
    fn row(&self, name: &str) -> Option<ImportedRow> {
        let quantity = match self.kind {
            // The only operation is all of them.
            LogKind::Throughput | LogKind::Iops if self.is_all => self.kind.quantity().to_owned(),
            _ => format!("{}.{}", self.operation.name(), self.kind.quantity()),
        };
        let setting = |factor: &str, text: &str| StudySetting {
            factor: factor.to_owned(),
            value: FactorValue::Text(text.to_owned()),
        };
        let values = self.values();
        let interval_s = seconds(self.elapsed_ms * 1_000_000) / real_len(values.len().max(1));
        let measure = table::mean(&quantity, &values, interval_s)?;
        Some(ImportedRow {
            settings: vec![setting("run", name), setting("operation", self.operation.name())],
            elapsed_s: Some(seconds(self.elapsed_ms * 1_000_000)),
            measures: vec![measure],
            ..ImportedRow::default()
        })
    }

    /// The values in base units: those of the lines where they are means, else what each second
    /// holds of single I/Os, because a mean of the rates of single I/Os is not a rate.
    fn values(&self) -> Vec<f64> {
        let is_rate = matches!(self.kind, LogKind::Throughput | LogKind::Iops);
        let is_single = self.lines.iter().all(|line| line.bytes > 0);
        match (is_rate, is_single) {
            (true, true) => self.by_second(),
            (true, false) => of_all_jobs(self.lines, self.kind.unit()),
            (false, _) => self.lines.iter().map(|line| real(line.value)).collect(),
        }
    }

    fn by_second(&self) -> Vec<f64> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        // The last second is not over.
        let whole = (self.elapsed_ms / 1000).max(1);
        let mut sums = vec![0.0; index_of(whole)];
        for line in self.lines {
            if let Some(sum) = sums.get_mut(index_of(line.at_ms / 1000)) {
                *sum += if self.kind == LogKind::Iops { 1.0 } else { real(line.bytes) };
            }
        }
        sums
    }
}

/// The rates of windows, of several jobs in one log added up: their windows follow one another job
/// by job, or stand side by side.
fn of_all_jobs(lines: &[&LogLine], unit: f64) -> Vec<f64> {
    let jobs = lines.chunk_by(|one, next| one.at_ms <= next.at_ms).collect::<Vec<_>>();
    let sum = |lines: &[&LogLine]| lines.iter().map(|line| real(line.value) * unit).sum::<f64>();
    if jobs.len() == 1 || !are_jobs(&jobs) {
        let mut sorted = lines.to_vec();
        sorted.sort_by_key(|line| line.at_ms);
        let apart_ms = window_ms(&sorted) / 2;
        let windows = sorted.chunk_by(|one, next| next.at_ms - one.at_ms <= apart_ms);
        return windows.map(&sum).collect();
    }
    let windows = jobs.iter().map(|job| job.len()).min().unwrap_or(0);
    let is_even = jobs.iter().all(|job| job.len() - windows <= 1 + windows / 10);
    if !is_even {
        // Jobs that ran for different times have no windows in common: the sum of their means, over
        // one window.
        return vec![jobs.iter().map(|job| sum(job) / real_len(job.len())).sum()];
    }
    (0..windows).map(|window| jobs.iter().map(|job| real(job[window].value) * unit).sum()).collect()
}

/// Whether stretches of rising times are jobs one after the other: each begins where the first one
/// does.
fn are_jobs(stretches: &[&[&LogLine]]) -> bool {
    let first_ms = stretches[0][0].at_ms;
    let last_ms = stretches.iter().flat_map(|one| one.iter()).map(|line| line.at_ms).max();
    let early_ms = first_ms + (last_ms.unwrap_or(first_ms) - first_ms) / 2;
    stretches.iter().all(|stretch| stretch[0].at_ms <= early_ms && stretch.len() > 1)
}

/// The length of a window, from the gaps between sorted lines: those far below the longest are
/// between jobs.
fn window_ms(sorted: &[&LogLine]) -> u64 {
    let mut gaps: Vec<u64> = sorted.windows(2).map(|two| two[1].at_ms - two[0].at_ms).collect();
    gaps.sort_unstable();
    let long = gaps.get(gaps.len() * 9 / 10).or(gaps.last()).copied().unwrap_or(0);
    let small = gaps.iter().filter(|gap| **gap * 10 <= long).count();
    // One window that is cut short is none of another job.
    if small * 3 >= gaps.len() { long } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::line::read_lines;
    use super::*;

    fn rows(text: &str, name: &str) -> Vec<ImportedRow> {
        let kind = LogKind::from_name(name).unwrap();
        let found = imported(&read_lines(text).unwrap(), name, kind);
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        assert!(found.lacks.contains(&Lack::Quantiles) || found.lacks.contains(&Lack::Times));
        rows
    }

    fn value(text: &str, name: &str) -> f64 {
        rows(text, name)[0].measures[0].estimate.value
    }

    #[test]
    fn means_over_a_time_stay_means() {
        let found =
            rows("500, 1000, 0, 0, 0\n1000, 3000, 0, 0, 0\n1000, 10, 1, 0, 0\n", "x_bw.1.log");
        assert_eq!(found[0].measures[0].quantity, "read.throughput");
        assert!((found[0].measures[0].estimate.value - 2000.0 * 1024.0).abs() < 1e-6);
        assert!((found[1].measures[0].estimate.value - 10_240.0).abs() < 1e-6);
        let times = rows("500, 2000, 0, 0, 0\n1000, 4000, 0, 0, 0\n", "x_clat.1.log");
        assert_eq!(times[0].measures[0].quantity, "read.service_time.mean");
        assert!((times[0].measures[0].estimate.value - 3000.0).abs() < 1e-9);
    }

    #[test]
    fn single_ios_are_counted_by_second() {
        let text = "100, 9999, 0, 4096\n900, 1, 0, 4096\n1500, 7, 0, 8192\n2000, 5, 0, 4096\n";
        assert!((value(text, "x_bw.1.log") - 8192.0).abs() < 1e-9);
        let iops = rows(text, "job_iops.2.log");
        assert!((iops[0].measures[0].estimate.value - 1.5).abs() < 1e-9);
        assert_eq!(iops[0].elapsed_s, Some(2.0));
    }

    #[test]
    fn rates_of_several_jobs_in_one_log_add_up() {
        let line = |at_ms: u64, value: u64| format!("{at_ms}, {value}, 0, 0, 0\n");
        let job = |value: u64, shift: u64| -> Vec<String> {
            (1..=30).map(|window| line(1000 * window + shift, value + window % 2)).collect()
        };
        let (one, two) = (job(1000, 0), job(900, 3));
        let after = one.concat() + &two.concat();
        let joined = |one: &[String], two: &[String]| -> String {
            one.iter().zip(two).flat_map(|(one, two)| [one.as_str(), two.as_str()]).collect()
        };
        let alternating = joined(&one, &two);
        let turned = joined(&two, &one);
        let same: String = one.iter().map(|one| one.repeat(2)).collect();
        for (text, right) in [
            (one.concat(), 1000.5),
            (after, 1901.0),
            (alternating, 1901.0),
            (turned, 1901.0),
            (same, 2001.0),
        ] {
            let found = value(&text, "x_iops.log");
            assert!((found - right).abs() < 1e-6, "{found} instead of {right}");
        }
        let shorter = one.concat() + &two[..10].concat();
        assert!((value(&shorter, "x_iops.log") - 1901.0).abs() < 1.0);
    }
}
