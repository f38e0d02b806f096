//! One interval in the few numbers that are drawn while a measurement lasts.

use assay_model::histogram::Histogram;
use assay_model::measurement::{Interval, Operation, OperationResult};
use assay_model::number::rate;
use assay_model::watch::Moment;
use serde::Serialize;

/// The quantiles of the service time that are shown.
pub(crate) const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// An interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonitorPoint {
    /// Its end, s of measured time since the run began; the cells of a run follow one another.
    pub at_s: f64,
    /// Time-weighted mean of the outstanding I/Os.
    pub queue_depth_mean: f64,
    /// Share of the CPU time of the host in which something ran, 0..=1, where that was sampled.
    pub cpu_busy_share: Option<f64>,
    /// One for each operation that happened.
    pub operations: Vec<OperationPoint>,
}

/// An operation in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OperationPoint {
    /// What the I/Os did.
    pub operation: Operation,
    /// Completed I/Os per second.
    pub iops: f64,
    /// Bytes moved a second.
    pub bytes_per_s: f64,
    /// I/Os that failed.
    pub errors: u64,
    /// The medians and two high quantiles (0.5, 0.99, 0.999) of the service time, ns.
    pub service_time_ns: [u64; 3],
    /// The same of the response time, where arrivals are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<[u64; 3]>,
}

/// The host at its last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostPoint {
    /// Share of the CPU time in which something ran, 0..=1.
    pub cpu_busy_share: f64,
    /// Tasks that ran or were ready to run.
    pub runnable: u64,
}

impl MonitorPoint {
    /// An interval that ends at this time, s.
    pub(crate) fn of(interval: &Interval, at_s: f64, host: Option<HostPoint>) -> Self {
        let elapsed_s = interval.elapsed_s();
        let operations = interval.operations.iter();
        Self {
            at_s,
            queue_depth_mean: interval.queue_depth_mean,
            cpu_busy_share: host.map(|host| host.cpu_busy_share),
            operations: operations
                .map(|(kind, of)| OperationPoint::of(kind, of, elapsed_s))
                .collect(),
        }
    }

    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        let transfers = self.operations.iter().filter(|of| of.operation != Operation::Sync);
        transfers.map(|of| of.iops).sum()
    }
}

impl OperationPoint {
    fn of(operation: Operation, result: &OperationResult, elapsed_s: f64) -> Self {
        Self {
            operation,
            iops: rate(result.ios, elapsed_s),
            bytes_per_s: rate(result.bytes, elapsed_s),
            errors: result.errors,
            service_time_ns: quantiles_ns(&result.service),
            response_time_ns: result.response.as_ref().map(quantiles_ns),
        }
    }
}

impl HostPoint {
    pub(crate) fn of(moment: &Moment) -> Self {
        let cpu = moment.counters.cpu.unwrap_or_default();
        let queue = moment.run_queue.unwrap_or_default();
        Self { cpu_busy_share: cpu.busy_share(), runnable: queue.running }
    }
}

fn quantiles_ns(histogram: &Histogram) -> [u64; 3] {
    QUANTILES.map(|quantile| histogram.quantile_ns(quantile))
}
