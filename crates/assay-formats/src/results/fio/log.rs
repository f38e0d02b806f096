//! fio's logs of single latencies: every line is an I/O with its time, so histograms and intervals are exact.

use super::super::imported::{ImportedContent, ImportedResult, ImportedRun, Lack, broken};
use super::line::{LogKind, parse_line};
use super::rates;
use assay_model::Result;
use assay_model::histogram::Precision;
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, OperationResult,
    PerOperation,
};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};

const SECOND_NS: u64 = 1_000_000_000;
/// Longest time of a log: a week.
const SECONDS_MAX: u64 = 7 * 86_400;

/// Reads a log of latencies; the file's name says which of fio's logs it is.
pub fn read(text: &str, name: &str) -> Result<ImportedResult> {
    let kind = LogKind::of(name).ok_or_else(|| {
        broken(
            "fio",
            "the name of a log says what it holds: _bw, _iops, _lat, _clat or _slat before a dot",
        )
    })?;
    let first = text.lines().find_map(parse_line);
    // fio writes no block size where a line is the mean of many.
    if kind != LogKind::Latency || first.is_some_and(|line| line.bytes == 0) {
        return rates::read(text, name, kind);
    }
    let mut seconds: Vec<PerOperation> = Vec::new();
    let mut last_ms = 0;
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line =
            parse_line(line).ok_or_else(|| broken("fio", &format!("line {number} of the log")))?;
        if line.bytes == 0 {
            return Err(broken("fio", &format!("line {number} is a mean among single I/Os")));
        }
        if line.at_ms / 1000 > SECONDS_MAX {
            return Err(broken(
                "fio",
                &format!("line {number} lies more than a week behind the first"),
            ));
        }
        last_ms = last_ms.max(line.at_ms);
        let second = usize::try_from(line.at_ms / 1000).unwrap_or(usize::MAX);
        if seconds.len() <= second {
            seconds.resize(second + 1, PerOperation::default());
        }
        let slot = seconds[second].slot(line.operation);
        let result = slot.get_or_insert_with(|| OperationResult::empty(Precision::Fine, false));
        result.ios += 1;
        result.bytes = result.bytes.saturating_add(line.bytes);
        result.service.record(line.value);
    }
    if seconds.is_empty() {
        return Err(broken("fio", "the log is empty"));
    }
    let run = run(&seconds, last_ms.max(1) * 1_000_000, name);
    let lacks = vec![Lack::Load, Lack::Environment, Lack::Date];
    let content = ImportedContent::Runs(vec![run]);
    Ok(ImportedResult { program: "fio".to_owned(), name: name.to_owned(), content, lacks })
}

fn run(seconds: &[PerOperation], elapsed_ns: u64, name: &str) -> ImportedRun {
    let mut whole = PerOperation::default();
    let mut intervals = Vec::new();
    for (index, operations) in (0..).zip(seconds) {
        whole.merge(operations);
        let interval = Interval {
            index,
            start_ns: index * SECOND_NS,
            end_ns: ((index + 1) * SECOND_NS).min(elapsed_ns.max(index * SECOND_NS + 1)),
            operations: operations.coarsened(),
            outstanding_mean: 0.0,
        };
        let stream = NamedResult { name: "log".to_owned(), operations: operations.clone() };
        intervals.push((interval, vec![stream]));
    }
    let (ios, bytes) = (whole.ios(), whole.bytes());
    let reads = whole.read.as_ref().map_or(0, |read| read.ios);
    let share = Share(assay_model::number::share(reads, ios));
    let stream = Stream::closed("log", share, Bytes((bytes / ios.max(1)).clamp(512, 64 << 20)), 1);
    let measurement = Measurement {
        format: 1,
        workload: name.to_owned(),
        started_unix_ns: 0,
        elapsed_ns,
        finish: Finish::Complete,
        streams: vec![NamedResult { name: "log".to_owned(), operations: whole }],
        targets: Vec::new(),
        errors: Vec::new(),
        conduct: Conduct { backend: BackendKind::Fio, clock: ClockKind::Fio, ..Conduct::default() },
    };
    ImportedRun { workload: Workload::of(name, Nanos(elapsed_ns), stream), measurement, intervals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_io_of_its_second() {
        let text = "100, 5000, 0, 4096, 0\n900, 7000, 1, 4096, 8192\n1500, 6000, 0, 4096, 0, 0x0\n";
        let found = read(&text.replace(", 0x0", ""), "x_clat.1.log").unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!() };
        let whole = runs[0].measurement.operations();
        assert_eq!(
            (whole.ios(), runs[0].intervals.len(), whole.read.unwrap().service.max_ns()),
            (3, 2, 6000)
        );
        for (text, name, why) in [
            ("100, 5000, 0, 4096, 0\n200, 5, 0, 0\n", "x_clat.1.log", "mean among"),
            ("100, 5000, 0, 4096, 0\n", "x.log", "says what it holds"),
            ("100, 5000, 0, 4096, 0\n100, 50", "x_lat.1.log", "line 2"),
            ("99999999999999, 5000, 0, 4096, 0\n", "x_lat.1.log", "week"),
        ] {
            assert!(read(text, name).unwrap_err().message().contains(why), "{text}");
        }
    }
}
