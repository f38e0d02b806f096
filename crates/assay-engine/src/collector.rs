//! Joins the workers' intervals into those of the run, keeps the totals, and notifies an observer
//! of each.

use crate::errno::meaning;
use crate::nvme::system_errno;
use crate::recorder::TargetFailure;
use crate::worker::{WorkerInterval, WorkerSummary};
use assay_model::measurement::{
    Conduct, ErrorCount, Finish, Interval, Measurement, NamedResult, PerOperation, Remark, Window,
};
use assay_model::number::{narrow, real, seconds};
use assay_model::workload::Workload;
use assay_model::{Histogram, Precision};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};

/// Receives every interval when it is complete, in order.
pub trait Observer {
    /// An interval, and the same with streams and targets apart in full precision. Breaking off
    /// ends the run.
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()>;
}

/// An observer that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl Observer for Ignore {
    fn interval(&mut self, _interval: &Interval, _joint: &Window) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Interval, &Window) -> ControlFlow<()>> Observer for F {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        self(interval, joint)
    }
}

/// An interval that some workers have not finished.
struct PendingInterval {
    workers: usize,
    end_ns: u64,
    start_ns: u64,
    outstanding_ns: f64,
    joint: Window,
}

/// Collects one run.
pub struct IntervalCollector<'a> {
    workload: &'a Workload,
    target_names: Vec<String>,
    workers: usize,
    origin_ns: u64,
    pending: BTreeMap<u64, PendingInterval>,
    total: Window,
    elapsed_ns: u64,
    outstanding_ns: f64,
    errors: Vec<ErrorCount>,
    start_error: Histogram,
    ended: Vec<WorkerSummary>,
    broken_off: bool,
}

impl<'a> IntervalCollector<'a> {
    /// A collector for the workers of a workload; measuring begins at `origin_ns` on the backend's
    /// clock.
    pub fn new(
        workload: &'a Workload,
        target_names: Vec<String>,
        workers: usize,
        origin_ns: u64,
    ) -> Self {
        Self {
            workload,
            target_names,
            workers,
            origin_ns,
            pending: BTreeMap::new(),
            total: Window::default(),
            elapsed_ns: 0,
            outstanding_ns: 0.0,
            errors: Vec::new(),
            start_error: Histogram::new(Precision::Fine),
            ended: Vec::new(),
            broken_off: false,
        }
    }

    /// Takes a worker's interval, and passes on the run's when it was the last.
    pub fn add(&mut self, part: &WorkerInterval, observer: &mut dyn Observer) {
        for failure in &part.recorder.failures {
            self.count_failure(failure);
        }
        self.start_error.merge(&part.recorder.start_error);
        let joint = self.joint(part);
        let pending = self.pending.entry(part.index).or_insert_with(|| PendingInterval {
            workers: 0,
            start_ns: part.start_ns,
            end_ns: part.end_ns,
            outstanding_ns: 0.0,
            joint: Window::default(),
        });
        pending.workers += 1;
        pending.end_ns = pending.end_ns.max(part.end_ns);
        pending.outstanding_ns += part.recorder.outstanding_ns;
        pending.joint.merge(&joint);
        while let Some(first) =
            self.pending.first_entry().filter(|first| first.get().workers == self.workers)
        {
            let (index, pending) = first.remove_entry();
            self.emit(index, pending, observer);
        }
    }

    /// Passes on what is left although workers are missing: they were too late for the end.
    pub fn flush(&mut self, observer: &mut dyn Observer) {
        while let Some((index, pending)) = self.pending.pop_first() {
            self.emit(index, pending, observer);
        }
    }

    /// Takes a worker's end.
    pub fn end(&mut self, ended: WorkerSummary) {
        self.ended.push(ended);
    }

    /// When the first and the last of the workers that have ended began, ns on the backend's clock.
    pub fn began_ns(&self) -> Option<RangeInclusive<u64>> {
        let began = || self.ended.iter().filter_map(|ended| ended.began_ns);
        Some(began().min()?..=began().max()?)
    }

    /// Whether every worker has ended.
    pub fn all_ended(&self) -> bool {
        self.ended.len() == self.workers
    }

    /// Ends it as the observer would.
    pub const fn break_off(&mut self) {
        self.broken_off = true;
    }

    /// Whether the observer wanted no more.
    pub const fn broken_off(&self) -> bool {
        self.broken_off
    }

    fn joint(&self, part: &WorkerInterval) -> Window {
        let mut joint = Window { first_interval: part.index, intervals: 1, ..Window::default() };
        // Streams are named even when they did nothing, so that all intervals have the same form.
        for (index, stream) in self.workload.streams.iter().enumerate() {
            let operations = if index == part.stream {
                part.recorder.operations()
            } else {
                PerOperation::default()
            };
            joint.streams.push(NamedResult { name: stream.name.clone(), operations });
        }
        for (name, operations) in self.target_names.iter().zip(part.recorder.targets()) {
            joint.targets.push(NamedResult { name: name.clone(), operations });
        }
        joint
    }

    fn emit(&mut self, index: u64, pending: PendingInterval, observer: &mut dyn Observer) {
        let PendingInterval { start_ns, end_ns, outstanding_ns, mut joint, .. } = pending;
        (joint.first_interval, joint.intervals) = (index, 1);
        let mut operations = PerOperation::default();
        joint.streams.iter().for_each(|stream| operations.merge(&stream.operations.coarsened()));
        let span_ns = end_ns.saturating_sub(start_ns);
        let queue_depth_mean = if span_ns == 0 { 0.0 } else { outstanding_ns / real(span_ns) };
        let (start_ns, end_ns) = (start_ns - self.origin_ns, end_ns - self.origin_ns);
        let interval = Interval { index, start_ns, end_ns, operations, queue_depth_mean };
        self.total.merge(&joint);
        self.elapsed_ns += span_ns;
        self.outstanding_ns += outstanding_ns;
        if span_ns > 0 && observer.interval(&interval, &joint).is_break() {
            self.broken_off = true;
        }
    }

    fn count_failure(&mut self, failure: &TargetFailure) {
        let target = self.target_names.get(failure.target as usize).cloned().unwrap_or_default();
        let meaning = meaning(failure.errno);
        // Several answers of a drive have one number of the system.
        let same = |known: &&mut ErrorCount| {
            known.operation == failure.operation
                && known.target == target
                && known.meaning == meaning
        };
        match self.errors.iter_mut().find(same) {
            Some(known) => known.ios += failure.ios,
            None => self.errors.push(ErrorCount {
                operation: failure.operation,
                target,
                errno: system_errno(failure.errno),
                meaning,
                ios: failure.ios,
                first_offset_bytes: failure.first_offset,
            }),
        }
    }

    /// The measurement, with the conduct that the workers know of.
    pub fn finish(self, finish: Finish, started_unix_ns: u64) -> Measurement {
        let streams = self.total.streams.clone();
        let conduct = self.conduct(&streams);
        let targets = match self.target_names.as_slice() {
            // One target saw everything that the streams did.
            [only] => vec![NamedResult { name: only.clone(), operations: all(&streams) }],
            _ => self.total.targets,
        };
        Measurement {
            format: 1,
            workload: self.workload.name.clone(),
            started_unix_ns,
            elapsed_ns: self.elapsed_ns,
            finish,
            streams,
            targets,
            errors: self.errors,
            conduct,
        }
    }

    fn conduct(&self, streams: &[NamedResult]) -> Conduct {
        let busiest = self.ended.iter().map(|ended| ended.busy_share).fold(0.0, f64::max);
        // Every worker saw the whole process; the one that measured longest saw most.
        let cpu = |part: fn(&WorkerSummary) -> f64| self.ended.iter().map(part).fold(0.0, f64::max);
        let queue_depth_mean =
            if self.elapsed_ns == 0 { 0.0 } else { self.outstanding_ns / real(self.elapsed_ns) };
        let mut conduct = Conduct {
            features: self.ended.first().map(|ended| ended.features.clone()).unwrap_or_default(),
            enters: self.ended.iter().map(|ended| ended.enters).sum(),
            cpu_user_s: cpu(|ended| ended.process.user_s),
            cpu_system_s: cpu(|ended| ended.process.system_s),
            worker_busy_share_max: busiest,
            worker_delayed_share_max: self
                .ended
                .iter()
                .filter_map(|ended| ended.delayed_share)
                .reduce(f64::max),
            queue_depth_mean,
            littles_law_ratio: littles_law(streams, self.outstanding_ns),
            start_error: (!self.start_error.is_empty()).then(|| self.start_error.clone()),
            missed_arrivals: self.ended.iter().map(|ended| ended.missed_arrivals).sum(),
            abandoned_ios: self.ended.iter().map(|ended| ended.in_flight).sum(),
            ..Conduct::default()
        };
        conduct.remarks.extend(self.stuck_remark(streams));
        conduct.remarks.extend(self.missing_remark());
        conduct
    }

    /// A worker that the kernel keeps cannot report what it saw last, nor what it has in flight.
    fn missing_remark(&self) -> Option<Remark> {
        let (workers, missing) = (self.workers, self.workers - self.ended.len());
        (missing > 0).then(|| Remark {
            what: format!(
                "{missing} of {workers} workers were still in the kernel when the measurement \
                 ended"
            ),
            why: "their current intervals and pending I/Os are not in the histograms and rates"
                .to_owned(),
            remedy: "check the kernel log for a stalled or lost device, then measure again"
                .to_owned(),
        })
    }

    /// An I/O in flight at the end that is older than any that completed is a stall in the making.
    fn stuck_remark(&self, streams: &[NamedResult]) -> Option<Remark> {
        let oldest_ns = self.ended.iter().map(|ended| ended.oldest_ns).max()?;
        let slowest_ns =
            all(streams).iter().map(|(_, result)| result.service.max_ns()).max().unwrap_or(0);
        (oldest_ns > slowest_ns.max(100_000_000)).then(|| Remark {
            what: format!(
                "an I/O had not completed after {:.1} s when the measurement ended",
                seconds(oldest_ns)
            ),
            why: "it is slower than every I/O in the histograms, and is not in them".to_owned(),
            remedy: "measure longer, and check the kernel log and the device's error log"
                .to_owned(),
        })
    }
}

/// Streams joined.
fn all(streams: &[NamedResult]) -> PerOperation {
    let mut operations = PerOperation::default();
    for stream in streams {
        operations.merge(&stream.operations);
    }
    operations
}

/// Sum of service times over the integral of outstanding I/Os (Little 1961): 1 when everything was
/// seen.
fn littles_law(streams: &[NamedResult], outstanding_ns: f64) -> f64 {
    let operations = all(streams);
    let service_ns: f64 = operations
        .iter()
        .map(|(_, result)| result.service.mean_ns() * real(result.service.ios()))
        .sum();
    if outstanding_ns > 0.0 { service_ns / outstanding_ns } else { 0.0 }
}

/// Virtual or real nanoseconds of a duration added to a start, without wrapping.
pub fn later(start_ns: u64, duration_ns: u64) -> u64 {
    narrow(u128::from(start_ns) + u128::from(duration_ns))
}
