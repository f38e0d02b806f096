//! What really happened: per operation, stream and target, in total and per interval, and how the
//! tool itself behaved.

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

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Data to memory.
    Read,
    /// Data to the device.
    Write,
    /// `fdatasync`.
    Sync,
}

impl Operation {
    /// All operations, in the order they are printed.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Sync];

    /// The word for it in documents and tables.
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
    /// Bytes moved by them.
    pub bytes: u64,
    /// I/Os that failed; they are in no histogram.
    #[serde(default)]
    pub errors: u64,
    /// Submission to completion, ns.
    pub service: Histogram,
    /// Intended start to completion, ns; only where arrivals are open, else it equals the service
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
}

/// Reads, writes and syncs, never mixed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PerOperation {
    /// Reads, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<OperationResult>,
    /// Writes, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<OperationResult>,
    /// Syncs, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<OperationResult>,
}

/// The result of one stream or of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedResult {
    /// Name of the stream, or path of the target.
    pub name: String,
    /// Its I/Os.
    pub operations: PerOperation,
}

/// One kind of failure on one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// What failed.
    pub operation: Operation,
    /// Path of the target.
    pub target: String,
    /// The system's error number, or 0 for a transfer that ended short.
    pub errno: i32,
    /// Its name and text; where a drive answered itself, the status.
    pub meaning: String,
    /// How many I/Os failed so.
    pub ios: u64,
    /// Offset in the target of the first of them, bytes.
    pub first_offset_bytes: u64,
}

/// One interval of the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Number of the interval, from 0.
    pub index: u64,
    /// Begin, ns after the measured time began.
    pub start_ns: u64,
    /// End, ns after the measured time began.
    pub end_ns: u64,
    /// All streams together.
    pub operations: PerOperation,
    /// Time-weighted mean of the outstanding I/Os.
    #[serde(alias = "outstanding_mean")]
    pub queue_depth_mean: f64,
}

/// The streams and targets joined over several intervals, with full precision; joints follow one
/// another without gap, so that their sum is the total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The first interval that it covers.
    pub first_interval: u64,
    /// Intervals that it covers.
    pub intervals: u64,
    /// One result a stream, in the workload's order.
    pub streams: Vec<NamedResult>,
    /// One result a target, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NamedResult>,
}

/// How a measurement ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "outcome", deny_unknown_fields)]
pub enum Finish {
    /// The whole duration was measured, or the answer was certain before.
    Complete,
    /// A person or a signal stopped it; what was measured stands.
    Interrupted,
    /// It could not go on; what was measured stands.
    Failed {
        /// What happened.
        reason: String,
    },
    /// The program itself was ended; found when the run was opened.
    Unfinished,
}

/// Everything about one workload on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Name of the workload.
    pub workload: String,
    /// Begin of the measured time, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// Measured time, ns.
    pub elapsed_ns: u64,
    /// How it ended.
    pub finish: Finish,
    /// One result a stream, in the workload's order.
    pub streams: Vec<NamedResult>,
    /// One result a target.
    pub targets: Vec<NamedResult>,
    /// What failed.
    pub errors: Vec<ErrorCount>,
    /// How the tool itself behaved.
    pub conduct: Conduct,
}

impl OperationResult {
    /// Nothing yet, with histograms of this precision; `open` keeps response times apart.
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

    /// The same with coarse histograms.
    pub fn coarsened(&self) -> Self {
        Self {
            service: self.service.coarsened(),
            response: self.response.as_ref().map(Histogram::coarsened),
            ..*self
        }
    }

    /// The same, counted `times` times: what a sample stands for.
    pub fn times(&self, times: u64) -> Self {
        Self {
            ios: self.ios.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            errors: self.errors.saturating_mul(times),
            service: self.service.times(times),
            response: self.response.as_ref().map(|response| response.times(times)),
        }
    }

    /// Response times: intended start to completion where arrivals were open, else the service
    /// times.
    pub fn response(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

impl PerOperation {
    /// The result of one operation, if there was any.
    pub const fn get(&self, operation: Operation) -> Option<&OperationResult> {
        match operation {
            Operation::Read => self.read.as_ref(),
            Operation::Write => self.write.as_ref(),
            Operation::Sync => self.sync.as_ref(),
        }
    }

    /// The place of one operation.
    pub const fn slot(&mut self, operation: Operation) -> &mut Option<OperationResult> {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Sync => &mut self.sync,
        }
    }

    /// The operations that happened, with their results.
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

    /// The same with coarse histograms.
    pub fn coarsened(&self) -> Self {
        let mut coarse = Self::default();
        for (operation, result) in self.iter() {
            *coarse.slot(operation) = Some(result.coarsened());
        }
        coarse
    }

    /// The same, counted `times` times: what a sample stands for.
    pub fn times(&self, times: u64) -> Self {
        let more = |one: &Option<OperationResult>| one.as_ref().map(|one| one.times(times));
        Self { read: more(&self.read), write: more(&self.write), sync: more(&self.sync) }
    }

    /// Reads and writes completed; syncs move no data and are not counted.
    pub fn ios(&self) -> u64 {
        self.transfers().map(|result| result.ios).sum()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.transfers().map(|result| result.bytes).sum()
    }

    /// I/Os that failed, syncs included.
    pub fn errors(&self) -> u64 {
        self.iter().map(|(_, result)| result.errors).sum()
    }

    fn transfers(&self) -> impl Iterator<Item = &OperationResult> {
        [&self.read, &self.write].into_iter().flatten()
    }
}

impl Interval {
    /// Length, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.end_ns.saturating_sub(self.start_ns))
    }

    /// Reads and writes completed a second.
    pub fn iops(&self) -> f64 {
        rate(self.operations.ios(), self.elapsed_s())
    }
}

/// Adds results by name; names not seen before are appended.
pub fn merge_named(mine: &mut Vec<NamedResult>, theirs: &[NamedResult]) {
    for other in theirs {
        match mine.iter_mut().find(|result| result.name == other.name) {
            Some(result) => result.operations.merge(&other.operations),
            None => mine.push(other.clone()),
        }
    }
}

/// Adds errors of the same kind on the same target; the first offset stays.
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
    /// Adds the joint that follows.
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
    /// All streams together.
    pub fn operations(&self) -> PerOperation {
        let mut all = PerOperation::default();
        for stream in &self.streams {
            all.merge(&stream.operations);
        }
        all
    }

    /// Measured time, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.elapsed_ns)
    }

    /// Time of a stream, s: the measured time, unless another program reported its own.
    pub fn stream_elapsed_s(&self, stream: &str) -> f64 {
        let own_ns = self.conduct.stream_elapsed_ns.get(stream);
        seconds(own_ns.copied().unwrap_or(self.elapsed_ns))
    }

    /// Reads and writes completed a second, all streams together.
    pub fn iops(&self) -> f64 {
        rate(self.streams.iter().map(|stream| stream.operations.ios()).sum(), self.elapsed_s())
    }

    /// Bytes read and written a second, all streams together.
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
