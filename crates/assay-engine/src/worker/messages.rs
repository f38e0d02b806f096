//! The messages that a worker sends to the collector.

use crate::recorder::IntervalRecorder;
use crate::sys::{ThreadUsage, monotonic_ns};
use assay_model::Result;
use assay_model::measurement::Operation;
use assay_model::number::seconds;

/// A worker's word to the collector.
#[derive(Debug)]
pub enum Message {
    /// The worker's backend stands, or why it does not.
    Ready(Result<()>),
    /// The worker began to measure.
    Measuring,
    /// An interval is over.
    Interval(Box<WorkerInterval>),
    /// The run cannot go on.
    Fatal {
        /// What failed.
        operation: Operation,
        /// Index of the target.
        target: u32,
        /// The system's error number.
        errno: i32,
    },
    /// The kernel refused to go on.
    Broken(assay_model::Error),
    /// The measured time is over for this worker.
    Ended(Box<WorkerSummary>),
    /// Nothing of the worker is in flight any more.
    Drained,
}

/// One interval of one worker.
#[derive(Debug)]
pub struct WorkerInterval {
    /// Number of its stream.
    pub stream: usize,
    /// Number of the interval.
    pub index: u64,
    /// Begin on the backend's clock, ns.
    pub start_ns: u64,
    /// End on the backend's clock, ns.
    pub end_ns: u64,
    /// What was seen.
    pub recorder: IntervalRecorder,
}

/// What a worker knows at the end of the measured time.
#[derive(Clone, Debug, Default)]
pub struct WorkerSummary {
    /// Entries into the kernel while measuring.
    pub enters: u64,
    /// Share of the measured time that the worker ran, 0..=1.
    pub busy_share: f64,
    /// Share of it that the worker was ready and waited for a processor, 0..=1, where the kernel
    /// counts that.
    pub delayed_share: Option<f64>,
    /// CPU time of the whole process while this worker measured.
    pub process: ThreadUsage,
    /// Open arrivals that were due but never started.
    pub missed_arrivals: u64,
    /// I/Os still in flight.
    pub in_flight: u64,
    /// Age of the oldest of them, ns.
    pub oldest_ns: u64,
    /// When the worker first looked for what to do, ns on the backend's clock.
    pub began_ns: Option<u64>,
    /// Settings of the backend in force.
    pub features: Vec<String>,
}

/// Readings at the start of measuring, to be compared at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkerMeter {
    enters: u64,
    thread: ThreadUsage,
    process: ThreadUsage,
    delayed_ns: Option<u64>,
    started_ns: u64,
}

impl WorkerMeter {
    pub(super) fn start(enters: u64) -> Self {
        let (thread, process) = (ThreadUsage::of_thread(), ThreadUsage::of_process());
        Self { enters, thread, process, delayed_ns: delayed_ns(), started_ns: monotonic_ns() }
    }

    pub(super) fn end(&self, enters: u64) -> WorkerSummary {
        let (thread, process) = (
            ThreadUsage::of_thread().since(&self.thread),
            ThreadUsage::of_process().since(&self.process),
        );
        let elapsed_s = seconds(monotonic_ns() - self.started_ns);
        let busy_share = if elapsed_s > 0.0 {
            ((thread.user_s + thread.system_s) / elapsed_s).min(1.0)
        } else {
            0.0
        };
        let delayed = delayed_ns().zip(self.delayed_ns);
        WorkerSummary {
            enters: enters - self.enters,
            busy_share,
            delayed_share: delayed
                .filter(|_| elapsed_s > 0.0)
                .map(|(now, before)| (seconds(now.saturating_sub(before)) / elapsed_s).min(1.0)),
            process,
            ..WorkerSummary::default()
        }
    }
}

/// How long this thread has been ready without a processor: the second number of its `schedstat`,
/// ns.
fn delayed_ns() -> Option<u64> {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counted.split_ascii_whitespace().nth(1)?.parse().ok()
}
