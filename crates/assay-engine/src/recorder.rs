//! What one worker saw in one interval, handed over whole when the interval is over.

use assay_model::measurement::{Operation, OperationResult, PerOperation};
use assay_model::{Histogram, Precision};

/// The result of one completed I/O.
#[derive(Clone, Copy, Debug)]
pub struct TimedOperation {
    /// What it did.
    pub operation: Operation,
    /// Index of the target.
    pub target: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// Submission to completion, ns.
    pub service_ns: u64,
    /// Intended start to completion, ns.
    pub response_ns: u64,
}

/// Failures of one kind on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetFailure {
    /// What failed.
    pub operation: Operation,
    /// Index of the target.
    pub target: u32,
    /// The error number, a drive's answers among them; 0 for a short transfer.
    pub errno: i32,
    /// How many I/Os failed so.
    pub ios: u64,
    /// Where the first of them was, bytes.
    pub first_offset: u64,
}

/// Counters and histograms of one interval of one worker.
#[derive(Debug)]
pub struct IntervalRecorder {
    open: bool,
    operations: [Option<OperationResult>; 3],
    targets: Vec<[Option<OperationResult>; 3]>,
    /// Failures, one entry a kind.
    pub failures: Vec<TargetFailure>,
    /// Time integral of the outstanding I/Os, I/Os times ns.
    pub outstanding_ns: f64,
    /// Intended to real start of open arrivals, ns.
    pub start_error: Histogram,
}

impl IntervalRecorder {
    /// An empty recorder; `targets` are told apart when there are several.
    pub fn new(open: bool, targets: usize) -> Self {
        let apart = if targets > 1 { targets } else { 0 };
        Self {
            open,
            operations: [None, None, None],
            targets: vec![[None, None, None]; apart],
            failures: Vec::new(),
            outstanding_ns: 0.0,
            start_error: Histogram::new(Precision::Fine),
        }
    }

    /// Hands over what was recorded and starts over.
    pub fn take(&mut self) -> Self {
        let fresh = Self::new(self.open, self.targets.len());
        std::mem::replace(self, fresh)
    }

    /// Counts a completed I/O.
    #[inline]
    pub fn record(&mut self, done: &TimedOperation) {
        let index = done.operation as usize;
        add(&mut self.operations[index], self.open, done);
        if let Some(target) = self.targets.get_mut(done.target as usize) {
            add(&mut target[index], self.open, done);
        }
    }

    /// Counts a completed I/O whose response comes with another one.
    pub fn record_part(&mut self, done: &TimedOperation) {
        let (index, open) = (done.operation as usize, self.open);
        let count = |place: &mut Option<OperationResult>| {
            let result = place.get_or_insert_with(|| OperationResult::empty(Precision::Fine, open));
            result.ios += 1;
            result.bytes += done.bytes;
            result.service.record(done.service_ns);
        };
        count(&mut self.operations[index]);
        if let Some(target) = self.targets.get_mut(done.target as usize) {
            count(&mut target[index]);
        }
    }

    /// Counts a response that belongs to an I/O recorded before: a commit that shared its write or
    /// its sync.
    pub fn respond(&mut self, operation: Operation, target: u32, response_ns: u64) {
        let index = operation as usize;
        let respond = |place: &mut Option<OperationResult>| {
            if let Some(response) = place.as_mut().and_then(|result| result.response.as_mut()) {
                response.record(response_ns);
            }
        };
        respond(&mut self.operations[index]);
        if let Some(target) = self.targets.get_mut(target as usize) {
            respond(&mut target[index]);
        }
    }

    /// Counts a failed I/O.
    pub fn fail(&mut self, failure: TargetFailure) {
        let index = failure.operation as usize;
        let open = self.open;
        let count = |place: &mut Option<OperationResult>| {
            place.get_or_insert_with(|| OperationResult::empty(Precision::Fine, open)).errors +=
                failure.ios;
        };
        count(&mut self.operations[index]);
        if let Some(target) = self.targets.get_mut(failure.target as usize) {
            count(&mut target[index]);
        }
        let key = |other: &TargetFailure| (other.operation, other.target, other.errno);
        match self.failures.iter_mut().find(|other| key(other) == key(&failure)) {
            Some(known) => known.ios += failure.ios,
            None => self.failures.push(failure),
        }
    }

    /// The operations of the interval.
    pub fn operations(&self) -> PerOperation {
        gather(&self.operations)
    }

    /// The operations of the interval on each target, empty when there is one target.
    pub fn targets(&self) -> impl Iterator<Item = PerOperation> + '_ {
        self.targets.iter().map(gather)
    }
}

#[inline]
fn add(place: &mut Option<OperationResult>, open: bool, done: &TimedOperation) {
    let result = place.get_or_insert_with(|| OperationResult::empty(Precision::Fine, open));
    result.ios += 1;
    result.bytes += done.bytes;
    result.service.record(done.service_ns);
    if let Some(response) = &mut result.response {
        response.record(done.response_ns);
    }
}

fn gather(results: &[Option<OperationResult>; 3]) -> PerOperation {
    let [read, write, sync] = results.clone();
    PerOperation { read, write, sync }
}
