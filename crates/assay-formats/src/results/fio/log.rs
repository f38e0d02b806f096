//! fio's logs of single latencies: every line is an I/O with its time, so histograms and intervals are exact.

use super::histograms;
use super::line::{LogKind, LogLines, read_lines};
use super::rates;
use crate::results::imported::{ImportedContent, ImportedResult, ImportedRun, Lack, broken};
use assay_model::Result;
use assay_model::histogram::Precision;
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, OperationResult,
    PerOperation,
};
use assay_model::number::{real, share};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};

const SECOND_NS: u64 = 1_000_000_000;

/// The operations of a log by intervals of one length.
pub struct LogIntervals {
    /// Length of an interval, ns.
    pub length_ns: u64,
    /// What happened in each.
    pub operations: Vec<PerOperation>,
    /// When the last line was written, ns.
    pub elapsed_ns: u64,
    /// When it began; 0 where the log does not say it.
    pub started_unix_ns: u64,
}

/// Reads a log; the file's name says which of fio's logs it is.
///
/// # Errors
/// A usage error where the name says nothing, or a line is none of a log.
pub fn read(text: &str, name: &str) -> Result<ImportedResult> {
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
    Ok(by_second(&log)?.imported(kind, name, lacks))
}

fn by_second(log: &LogLines) -> Result<LogIntervals> {
    let mut operations: Vec<PerOperation> = Vec::new();
    for line in &log.lines {
        if line.bytes == 0 {
            return Err(broken("fio", "the log holds means among single I/Os"));
        }
        let second = usize::try_from(line.at_ms / 1000).unwrap_or(usize::MAX);
        if operations.len() <= second {
            operations.resize(second + 1, PerOperation::default());
        }
        let slot = operations[second].slot(line.operation);
        let result = slot.get_or_insert_with(|| OperationResult::empty(Precision::Fine, false));
        result.ios += 1;
        result.bytes = result.bytes.saturating_add(line.bytes);
        result.service.record(line.value);
    }
    Ok(LogIntervals {
        length_ns: SECOND_NS,
        operations,
        elapsed_ns: log.last_ms().max(1) * 1_000_000,
        started_unix_ns: log.started_unix_ns,
    })
}

impl LogIntervals {
    /// The result of a log of this name.
    fn imported(&self, kind: LogKind, name: &str, lacks: Vec<Lack>) -> ImportedResult {
        let mut lacks = [kind.lacks(), lacks].concat();
        if self.started_unix_ns == 0 {
            lacks.push(Lack::Date);
        }
        let content = ImportedContent::Runs(vec![self.run(name)]);
        ImportedResult { program: "fio".to_owned(), name: name.to_owned(), content, lacks }
    }

    fn run(&self, name: &str) -> ImportedRun {
        let mut whole = PerOperation::default();
        self.operations.iter().for_each(|operations| whole.merge(operations));
        let (ios, bytes) = (whole.ios(), whole.bytes());
        let reads = whole.read.as_ref().map_or(0, |read| read.ios);
        let transfer = Bytes((bytes / ios.max(1)).clamp(512, 64 << 20));
        let stream = Stream::closed("log", Share(share(reads, ios)), transfer, 1);
        let busy_ns: f64 = whole.iter().map(|(_, one)| one.service.mean_ns() * real(one.ios)).sum();
        let outstanding_mean = busy_ns / real(self.elapsed_ns);
        let measurement = Measurement {
            format: 1,
            workload: name.to_owned(),
            started_unix_ns: self.started_unix_ns,
            elapsed_ns: self.elapsed_ns,
            finish: Finish::Complete,
            streams: vec![NamedResult { name: "log".to_owned(), operations: whole }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct {
                backend: BackendKind::Fio,
                clock: ClockKind::Fio,
                outstanding_mean,
                littles_law_ratio: 1.0,
                ..Conduct::default()
            },
        };
        let intervals = (0..).zip(&self.operations).map(|(index, one)| self.interval(index, one));
        ImportedRun {
            workload: Workload::of(name, Nanos(self.elapsed_ns), stream),
            measurement,
            intervals: intervals.collect(),
        }
    }

    fn interval(&self, index: u64, operations: &PerOperation) -> (Interval, Vec<NamedResult>) {
        let start_ns = index * self.length_ns;
        let interval = Interval {
            index,
            start_ns,
            end_ns: (start_ns + self.length_ns).min(self.elapsed_ns.max(start_ns + 1)),
            operations: operations.coarsened(),
            outstanding_mean: 0.0,
        };
        let stream = NamedResult { name: "log".to_owned(), operations: operations.clone() };
        (interval, vec![stream])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("100, 5000, 0, 4096, 0\n200, 5, 0, 0\n", "x_clat.1.log", "means among"),
            ("100, 5000, 0, 4096, 0\n", "x.log", "says what it holds"),
            ("100, 5000, 0, 4096, 0\n100, 50", "x_lat.1.log", "line 2"),
        ] {
            assert!(read(text, name).unwrap_err().message().contains(why), "{text}");
        }
    }
}
