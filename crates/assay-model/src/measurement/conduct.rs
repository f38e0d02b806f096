//! Tool health, which separates the limits of the storage from those of the tool.

use super::early_end::EarlyEnd;
use super::issuer::{BackendKind, ClockKind};
use crate::counters::Counters;
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Submission behaviour of the kernel, from the probe before the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Submission {
    /// Not probed or not applicable.
    #[default]
    Unknown,
    /// Submitted to the device; completes asynchronously.
    Asynchronous,
    /// Completed during submission, for example from a cache.
    Inline,
    /// Passed to kernel worker threads, which limits the rate and uses CPU outside the worker.
    Punted,
    /// Submission blocks on the device, so that the queue depth is not reached.
    Blocking,
}

/// Remark on a result, with its consequence and remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Observation.
    pub what: String,
    /// Consequence for the result.
    pub why: String,
    /// Recommended action.
    pub remedy: String,
}

/// Activity of simulated database sessions other than their storage I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionFigures {
    /// Statements executed per second.
    pub executions_per_s: f64,
    /// Mean number of busy CPUs.
    pub busy_cpus_mean: f64,
    /// Redo generated, bytes per second.
    pub redo_bytes_per_s: f64,
    /// Mean commit wait of a session (`log file sync`), ns; absent if commits do not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sync_ns: Option<f64>,
    /// Share of reads within 1 ms, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_within_1ms_share: Option<f64>,
    /// Share of reads within 2 ms, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_within_2ms_share: Option<f64>,
}

/// Tool health during one measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Conduct {
    /// I/O backend.
    pub backend: BackendKind,
    /// Reason for this backend; absent if it is the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_reason: Option<String>,
    /// Whether I/O bypassed the page cache; absent if the target has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Targets whose I/Os bypassed the block layer, and so its limits, its scheduler and usually
    /// its counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passthrough: Vec<String>,
    /// Clock of all time stamps.
    pub clock: ClockKind,
    /// Submission behaviour of the kernel.
    #[serde(default)]
    pub submission: Submission,
    /// Active features of the ring, for example `registered files`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// System calls that submitted I/Os or waited for completions.
    pub enters: u64,
    /// User CPU time during the measurement, s, all threads of the tool.
    pub cpu_user_s: f64,
    /// System CPU time during the measurement, s, all threads of the tool.
    pub cpu_system_s: f64,
    /// Maximum share of the measured time that a worker was running, 0..=1.
    pub worker_busy_share_max: f64,
    /// Maximum share of the measured time that a worker was runnable but waited for a CPU, 0..=1;
    /// absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_delayed_share_max: Option<f64>,
    /// CPU utilization of the host, 0..=1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// IOPS of this workload on a null device: the limit of the tool itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_iops: Option<f64>,
    /// Kernel counters over the run, including warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Counters>,
    /// Time-weighted mean queue depth.
    #[serde(alias = "outstanding_mean")]
    pub queue_depth_mean: f64,
    /// Rate × mean service time / mean queue depth; 1 if Little's law holds.
    pub littles_law_ratio: f64,
    /// Delay from intended to actual start of open arrivals, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_error: Option<Histogram>,
    /// Open arrivals that were due but not started at the end of the measurement.
    #[serde(default)]
    pub missed_arrivals: u64,
    /// I/Os not completed at the end of the measurement.
    #[serde(default)]
    pub abandoned_ios: u64,
    /// Reason for an early end; absent if the load ran for its full duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_end: Option<EarlyEnd>,
    /// Activity of simulated database sessions; absent for other loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFigures>,
    /// Times of streams of another program that did not run for the whole measured time, ns, by
    /// name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stream_elapsed_ns: BTreeMap<String, u64>,
    /// Remarks on the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

impl Remark {
    /// Creates the remark on an early end: its time, the values not excluded, and the remedy.
    pub fn of_early_end(end: &EarlyEnd) -> Self {
        let remedy = "specify --time to measure the whole time".to_owned();
        Self { what: end.headline(), why: end.not_excluded(), remedy }
    }
}

impl Conduct {
    /// Records that the load ended early because the outcome was certain.
    pub fn end_early(&mut self, end: EarlyEnd) {
        self.remarks.push(Remark::of_early_end(&end));
        self.early_end = Some(end);
    }

    /// User and system CPU seconds per million I/Os; 0 if there were no I/Os.
    pub fn cpu_s_per_million_ios(&self, ios: u64) -> f64 {
        crate::number::rate(1_000_000, crate::number::real(ios))
            * (self.cpu_user_s + self.cpu_system_s)
    }
}
