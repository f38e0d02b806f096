//! Measured results per operation, stream and target, in total and per interval, with tool health.

use crate::histogram::{Histogram, Precision};
use crate::number::{rate, seconds};
use serde::{Deserialize, Serialize};

mod conduct;
mod early_end;
mod issuer;
mod packed;

pub use conduct::{Conduct, Remark, SessionFigures, Submission};
pub use early_end::{EarlyDecision, EarlyEnd, EarlyNumber};
pub use issuer::{BackendKind, ClockKind};
pub use packed::PackedOperations;

/// Type of an I/O operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Transfer from the device to memory.
    Read,
    /// Transfer from memory to the device.
    Write,
    /// `fdatasync`.
    Sync,
}

impl Operation {
    /// All operations, in the order they are printed.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Sync];

    /// Name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
        }
    }
}

/// Completed I/Os of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OperationResult {
    /// I/Os completed without error.
    pub ios: u64,
    /// Bytes transferred by completed I/Os.
    pub bytes: u64,
    /// Failed I/Os, which no histogram includes.
    #[serde(default)]
    pub errors: u64,
    /// Service time: submission to completion, ns.
    pub service: Histogram,
    /// Response time: intended start to completion, ns. Absent if arrivals are not open, because it
    /// then equals the service time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
}

/// Results of reads, writes and syncs, kept separate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PerOperation {
    /// Reads; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<OperationResult>,
    /// Writes; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<OperationResult>,
    /// Syncs; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<OperationResult>,
}

/// Result of one stream or target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedResult {
    /// Name of the stream, or path of the target.
    pub name: String,
    /// Results by operation.
    pub operations: PerOperation,
}

/// Failed I/Os of one operation, target and error code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// Failed operation.
    pub operation: Operation,
    /// Path of the target.
    pub target: String,
    /// System error number (`errno`), or 0 for an incomplete transfer.
    pub errno: i32,
    /// Name and text of the error, or the status that the drive returned.
    pub meaning: String,
    /// Failed I/Os with this error.
    pub ios: u64,
    /// Offset of the first failed I/O in the target, bytes.
    pub first_offset_bytes: u64,
}

/// One interval of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Index of the interval, starting at 0.
    pub index: u64,
    /// Start, ns since the start of the measurement.
    pub start_ns: u64,
    /// End, ns since the start of the measurement.
    pub end_ns: u64,
    /// Totals of all streams.
    pub operations: PerOperation,
    /// Time-weighted mean queue depth.
    #[serde(alias = "outstanding_mean")]
    pub queue_depth_mean: f64,
}

/// Results of streams and targets merged over several intervals at full precision. Consecutive
/// windows have no gaps, so that their sum is the total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Index of the first interval in the window.
    pub first_interval: u64,
    /// Number of intervals in the window.
    pub intervals: u64,
    /// One result per stream, in the workload's order.
    pub streams: Vec<NamedResult>,
    /// One result per target; empty for a single target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NamedResult>,
}

/// Completion status of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "outcome", deny_unknown_fields)]
pub enum Finish {
    /// Measured for the full duration, or ended early because the outcome was certain.
    Complete,
    /// Interrupted by a user or signal; the data up to then are valid.
    Interrupted,
    /// Ended by an error; the data up to then are valid.
    Failed {
        /// Reason for the failure.
        reason: String,
    },
    /// The program was terminated, as detected when the run was opened.
    Unfinished,
}

/// Results of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Version of the document format: 1.
    pub format: u32,
    /// Name of the workload.
    pub workload: String,
    /// Start of the measurement, ns since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Duration of the measurement, ns.
    pub elapsed_ns: u64,
    /// Completion status.
    pub finish: Finish,
    /// One result per stream, in the workload's order.
    pub streams: Vec<NamedResult>,
    /// One result per target.
    pub targets: Vec<NamedResult>,
    /// Failed I/Os by operation, target and error code.
    pub errors: Vec<ErrorCount>,
    /// Tool health.
    pub conduct: Conduct,
}

impl OperationResult {
    /// Creates an empty result with histograms of this precision; `open` adds response times.
    pub fn empty(precision: Precision, open: bool) -> Self {
        let response = open.then(|| Histogram::new(precision));
        Self { service: Histogram::new(precision), response, ..Self::default() }
    }

    /// Adds another result of the same operation.
    pub fn merge(&mut self, other: &Self) {
        // Where one side is closed its service times are its response times.
        if other.response.is_some() && self.response.is_none() {
            self.response = Some(self.service.clone());
        }
        if let Some(response) = &mut self.response {
            response.merge(other.response.as_ref().unwrap_or(&other.service));
        }
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.service.merge(&other.service);
    }

    /// Returns a copy with coarse histograms.
    pub fn coarsened(&self) -> Self {
        Self {
            service: self.service.coarsened(),
            response: self.response.as_ref().map(Histogram::coarsened),
            ..*self
        }
    }

    /// Returns the result with every count multiplied by `times`, to scale up a sample.
    pub fn times(&self, times: u64) -> Self {
        Self {
            ios: self.ios.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            errors: self.errors.saturating_mul(times),
            service: self.service.times(times),
            response: self.response.as_ref().map(|response| response.times(times)),
        }
    }

    /// Response times: intended start to completion for open arrivals, otherwise service times.
    pub fn response(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

impl PerOperation {
    /// Result of one operation; `None` if there was none.
    pub const fn get(&self, operation: Operation) -> Option<&OperationResult> {
        match operation {
            Operation::Read => self.read.as_ref(),
            Operation::Write => self.write.as_ref(),
            Operation::Sync => self.sync.as_ref(),
        }
    }

    /// Mutable slot of one operation.
    pub const fn slot(&mut self, operation: Operation) -> &mut Option<OperationResult> {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Sync => &mut self.sync,
        }
    }

    /// Operations with results.
    pub fn iter(&self) -> impl Iterator<Item = (Operation, &OperationResult)> {
        Operation::ALL.into_iter().filter_map(|operation| Some((operation, self.get(operation)?)))
    }

    /// Adds another set of results.
    pub fn merge(&mut self, other: &Self) {
        for (operation, result) in other.iter() {
            match self.slot(operation) {
                Some(mine) => mine.merge(result),
                empty => *empty = Some(result.clone()),
            }
        }
    }

    /// Returns a copy with coarse histograms.
    pub fn coarsened(&self) -> Self {
        let mut coarse = Self::default();
        for (operation, result) in self.iter() {
            *coarse.slot(operation) = Some(result.coarsened());
        }
        coarse
    }

    /// Returns the results with every count multiplied by `times`, to scale up a sample.
    pub fn times(&self, times: u64) -> Self {
        let more = |one: &Option<OperationResult>| one.as_ref().map(|one| one.times(times));
        Self { read: more(&self.read), write: more(&self.write), sync: more(&self.sync) }
    }

    /// Completed reads and writes; syncs transfer no data and are excluded.
    pub fn ios(&self) -> u64 {
        self.transfers().map(|result| result.ios).sum()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.transfers().map(|result| result.bytes).sum()
    }

    /// Failed I/Os, including syncs.
    pub fn errors(&self) -> u64 {
        self.iter().map(|(_, result)| result.errors).sum()
    }

    fn transfers(&self) -> impl Iterator<Item = &OperationResult> {
        [&self.read, &self.write].into_iter().flatten()
    }
}

impl Interval {
    /// Duration, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.end_ns.saturating_sub(self.start_ns))
    }

    /// Completed reads and writes per second.
    pub fn iops(&self) -> f64 {
        rate(self.operations.ios(), self.elapsed_s())
    }
}

/// Merges results by name and appends names that are new.
pub fn merge_named(mine: &mut Vec<NamedResult>, theirs: &[NamedResult]) {
    for other in theirs {
        match mine.iter_mut().find(|result| result.name == other.name) {
            Some(result) => result.operations.merge(&other.operations),
            None => mine.push(other.clone()),
        }
    }
}

/// Merges errors of the same kind and target, and keeps the first offset.
pub fn merge_errors(mine: &mut Vec<ErrorCount>, theirs: Vec<ErrorCount>) {
    for other in theirs {
        let same = mine.iter_mut().find(|count| {
            (count.operation, &count.target, count.errno, &count.meaning)
                == (other.operation, &other.target, other.errno, &other.meaning)
        });
        match same {
            Some(count) => count.ios += other.ios,
            None => mine.push(other),
        }
    }
}

impl Window {
    /// Merges the next window.
    pub fn merge(&mut self, next: &Self) {
        if self.intervals == 0 {
            self.first_interval = next.first_interval;
        }
        self.intervals += next.intervals;
        merge_named(&mut self.streams, &next.streams);
        merge_named(&mut self.targets, &next.targets);
    }
}

impl Measurement {
    /// Totals of all streams.
    pub fn operations(&self) -> PerOperation {
        let mut all = PerOperation::default();
        for stream in &self.streams {
            all.merge(&stream.operations);
        }
        all
    }

    /// Duration of the measurement, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.elapsed_ns)
    }

    /// Time of a stream, seconds: the measured time, unless another program reported its own.
    pub fn stream_elapsed_s(&self, stream: &str) -> f64 {
        let own_ns = self.conduct.stream_elapsed_ns.get(stream);
        seconds(own_ns.copied().unwrap_or(self.elapsed_ns))
    }

    /// Completed reads and writes per second, all streams.
    pub fn iops(&self) -> f64 {
        rate(self.streams.iter().map(|stream| stream.operations.ios()).sum(), self.elapsed_s())
    }

    /// Bytes read and written per second, all streams.
    pub fn throughput_bytes_per_s(&self) -> f64 {
        rate(self.streams.iter().map(|stream| stream.operations.bytes()).sum(), self.elapsed_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(times_ns: &[u64], open: bool) -> OperationResult {
        let mut result = OperationResult::empty(Precision::Fine, open);
        for time_ns in times_ns {
            result.ios += 1;
            result.bytes += 8192;
            result.service.record(*time_ns);
            if let Some(response) = &mut result.response {
                response.record(time_ns * 2);
            }
        }
        result
    }

    #[test]
    fn a_closed_and_an_open_result_join_with_all_response_times() {
        for (mut left, right) in [
            (result(&[100], false), result(&[50, 60], true)),
            (result(&[50, 60], true), result(&[100], false)),
        ] {
            left.merge(&right);
            assert_eq!((left.ios, left.bytes, left.service.ios()), (3, 3 * 8192, 3));
            assert_eq!((left.response().ios(), left.response().max_ns()), (3, 120));
        }
    }

    #[test]
    fn syncs_are_no_transfers() {
        let mut operations =
            PerOperation { read: Some(result(&[1, 2], false)), ..PerOperation::default() };
        operations
            .merge(&PerOperation { sync: Some(result(&[9], false)), ..PerOperation::default() });
        assert_eq!((operations.ios(), operations.iter().count()), (2, 2));
    }
}
