//! How well the tool itself behaved: without it no one can tell the storage's limits from the
//! tool's.

use super::early_end::EarlyEnd;
use super::issuer::{BackendKind, ClockKind};
use crate::counters::Counters;
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the kernel took the I/Os, as seen by the probe before the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Submission {
    /// Not probed, or nothing to probe.
    #[default]
    Unknown,
    /// Handed to the device; completions follow on their own.
    Asynchronous,
    /// Completed inside the submission, as from a cache.
    Inline,
    /// Handed to kernel worker threads, which limits the rate and costs CPU outside the worker.
    Punted,
    /// Submission itself waits for the device, so that queue depth is not reached.
    Blocking,
}

/// Something a reader of the result must know, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// What was seen.
    pub what: String,
    /// What it means for the result.
    pub why: String,
    /// What to do next.
    pub remedy: String,
}

/// What sessions of a simulated database did besides their I/O at the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionFigures {
    /// Statements per second.
    pub executions_per_s: f64,
    /// CPUs that were busy, on the mean.
    pub busy_cpus_mean: f64,
    /// Redo, bytes per second.
    pub redo_bytes_per_s: f64,
    /// Mean wait of a session for its commit (`log file sync`), ns; none where commits do not wait.
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
    /// The backend in use.
    pub backend: BackendKind,
    /// Why that one, when another was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_reason: Option<String>,
    /// Whether the page cache was passed by; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Targets whose I/Os went to the driver past the block layer: its limits, its scheduler and,
    /// as a rule, its counters saw none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passthrough: Vec<String>,
    /// The clock of all stamps.
    pub clock: ClockKind,
    /// How the kernel took the I/Os.
    #[serde(default)]
    pub submission: Submission,
    /// Settings of the ring that were in force, for example `registered files`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Calls into the kernel that submitted or waited.
    pub enters: u64,
    /// User CPU time of the measured phase, s, all threads of the tool.
    pub cpu_user_s: f64,
    /// System CPU time of the measured phase, s, all threads of the tool.
    pub cpu_system_s: f64,
    /// Largest share of a worker's measured time that it was running, 0..=1.
    pub worker_busy_share_max: f64,
    /// Largest share of a worker's measured time that it was ready and waited for a processor,
    /// 0..=1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_delayed_share_max: Option<f64>,
    /// Share of the whole machine's CPU time that was busy, 0..=1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// IOPS of the same workload on a device of no work: what the tool itself could have done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_iops: Option<f64>,
    /// The kernel's own counters over the run, warm-up included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Counters>,
    /// Time-weighted mean of the outstanding I/Os.
    #[serde(alias = "outstanding_mean")]
    pub queue_depth_mean: f64,
    /// Rate times mean service time over mean outstanding I/Os: 1 when Little's law closes.
    pub littles_law_ratio: f64,
    /// Intended to real start of open arrivals, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_error: Option<Histogram>,
    /// Open arrivals that were due but not started when the measured time ended.
    #[serde(default)]
    pub missed_arrivals: u64,
    /// I/Os that had not completed when the measurement ended.
    #[serde(default)]
    pub abandoned_ios: u64,
    /// Why the load ended before its time, where the answer was certain before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_end: Option<EarlyEnd>,
    /// Sessions of a simulated database, if they were the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFigures>,
    /// Times of streams of another program that did not run for the whole measured time, ns, by
    /// their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stream_elapsed_ns: BTreeMap<String, u64>,
    /// What a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

impl Remark {
    /// When a load ended, what it does not exclude, and how to measure on.
    pub fn of_early_end(end: &EarlyEnd) -> Self {
        let remedy = "specify --time to measure the whole time".to_owned();
        Self { what: end.headline(), why: end.not_excluded(), remedy }
    }
}

impl Conduct {
    /// Notes that the load ended because the answer was certain.
    pub fn end_early(&mut self, end: EarlyEnd) {
        self.remarks.push(Remark::of_early_end(&end));
        self.early_end = Some(end);
    }

    /// CPU seconds, user and system, a million I/Os; 0 of none.
    pub fn cpu_s_per_million_ios(&self, ios: u64) -> f64 {
        crate::number::rate(1_000_000, crate::number::real(ios))
            * (self.cpu_user_s + self.cpu_system_s)
    }
}
