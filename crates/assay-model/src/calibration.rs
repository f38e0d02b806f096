//! Performance limits of a target, as measured by `calibrate`, with their load curves.

use crate::estimate::Estimate;
use crate::measurement::{EarlyEnd, PerOperation, Remark};
use crate::number::real;
use crate::spelling::LimitStatistic;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A limit on one quantile of the service time, or on its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyLimit {
    /// Quantile, 0..=1, for example 0.99; null for the mean.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub quantile: LimitStatistic,
    /// Maximum service time, ns.
    pub service_time_ns: f64,
}

impl LatencyLimit {
    /// Default limit, which no storage exceeds, used if none is required.
    pub const UNASKED: Nanos = Nanos(10_000_000_000);

    /// Whether a limit is required.
    pub fn is_asked(&self) -> bool {
        self.service_time_ns < real(Self::UNASKED.0)
    }
}

/// Calibration of one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of the document format: 1.
    pub format: u32,
    /// Path or name of the target.
    pub target: String,
    /// Required latency limit.
    pub limit: LatencyLimit,
    /// One result per mix: reads, writes and a mix of both.
    pub mixes: Vec<MixCalibration>,
    /// Whether I/O bypassed the page cache; absent if the target has none or if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Calibration of log writes; absent if not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogCalibration>,
    /// Total measured time, s.
    pub elapsed_s: f64,
    /// Reason for an early end; absent if the calibration was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_end: Option<EarlyEnd>,
    /// Remarks on the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Sequential log appends, each durable before the next starts (`O_DSYNC`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogCalibration {
    /// Size of one append, bytes.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Results without data I/O, then at increasing data I/O loads.
    pub points: Vec<LogPoint>,
}

/// Log writes at one queue depth of data I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogPoint {
    /// Queue depth of concurrent data I/O; 0 for log writes alone.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Mean time of an append, ns.
    pub service_time_ns: Estimate,
    /// Completed appends.
    pub appends: u64,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Concurrent data reads; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<LogReads>,
}

/// Data reads concurrent with log writes, whose flushes may delay them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogReads {
    /// Mean time of a read, ns.
    pub service_time_ns: Estimate,
    /// Reads per second.
    pub iops: f64,
}

/// Performance limits for one mix of reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MixCalibration {
    /// `read`, `write`, or for example `mix 70/30`.
    pub name: String,
    /// Share of reads, 0..=1.
    pub read_share: f64,
    /// Block size of small I/Os, bytes.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Block size of large I/Os, bytes.
    #[serde(alias = "large_transfer_bytes")]
    pub large_block_size_bytes: u64,
    /// Mean service time at queue depth 1, ns.
    pub base_service_time_ns: Estimate,
    /// Maximum IOPS with the limited quantile within its limit; absent if queue depth 1 exceeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_within_limit: Option<Capacity>,
    /// Maximum IOPS at any queue depth.
    pub iops_max: Capacity,
    /// Maximum throughput of concurrent large I/Os, bytes per second; absent if the calibration
    /// ended before this measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_max_bytes_per_s: Option<Capacity>,
    /// Throughput of one sequential stream of large I/Os at queue depth 1, bytes per second; absent
    /// if the calibration ended before this measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_stream_bytes_per_s: Option<Estimate>,
    /// Small random I/Os by queue depth, at the sustained level if burst and sustained levels
    /// differ.
    pub curve: Vec<CurvePoint>,
    /// Small random I/Os before the level fell; empty if it did not fall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub burst_curve: Vec<CurvePoint>,
    /// Large I/Os by queue depth.
    pub large_curve: Vec<CurvePoint>,
    /// Load from which service time grows faster than IOPS; absent if the curve has no knee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// Results for a series of limits; empty if not requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LimitStep>,
    /// Periodic stalls; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<StallRecurrence>,
    /// Contradictory results; a capacity affected by one is never reported as saturated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

impl MixCalibration {
    /// Whether the whole interval at queue depth 1 exceeds the limit. If the limit lies inside the
    /// interval, some load may still meet it.
    pub fn certainly_exceeds(&self, limit: &LatencyLimit) -> bool {
        let one = self.curve.iter().find(|point| point.queue_depth == 1);
        one.is_none_or(|one| one.limited_quantile_ns.low > limit.service_time_ns)
    }

    /// The same, where each load was that of one of several hosts that all had the same.
    #[must_use]
    pub fn of_hosts(mut self, hosts: u32) -> Self {
        let times = |queue_depth: &mut u32| *queue_depth = queue_depth.saturating_mul(hosts);
        let steps = self.steps.iter_mut().filter_map(|step| step.iops.as_mut());
        let capacities = [&mut self.iops_max].into_iter().chain(&mut self.iops_within_limit);
        capacities
            .chain(&mut self.throughput_max_bytes_per_s)
            .chain(steps)
            .for_each(|capacity| times(&mut capacity.queue_depth));
        let curves = [&mut self.curve, &mut self.burst_curve, &mut self.large_curve];
        curves.into_iter().flatten().for_each(|point| times(&mut point.queue_depth));
        self.knee.iter_mut().for_each(|knee| times(&mut knee.queue_depth));
        self
    }
}

/// Periodic stalls of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StallRecurrence {
    /// Duration of one stall, ns.
    pub length_ns: f64,
    /// Time from the start of one stall to the start of the next, ns.
    pub period_ns: f64,
}

/// Contradiction between two results of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Contradiction {
    /// Small I/Os had higher throughput than large I/Os.
    SmallAboveLarge,
    /// Service time at queue depth 1 changed between start and end.
    BaseChanged,
}

/// Maximum rate and its limiting factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Rate; sustained rate if burst and sustained levels differ.
    pub rate: Estimate,
    /// Rate before the level fell; absent if it did not fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_rate: Option<Estimate>,
    /// Duration of the burst under full load, s; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_s: Option<f64>,
    /// Queue depth at this rate.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Limiting factor.
    pub bound: CapacityBound,
}

/// Limiting factor of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityBound {
    /// A higher queue depth did not increase the rate.
    Saturated,
    /// A higher queue depth exceeds the latency limit.
    LatencyLimit,
    /// The CPU of the host was saturated; the storage may deliver more.
    Host,
    /// The rate still increased at the highest step; the storage may deliver more.
    StillRising,
    /// The time budget ended before the limit was determined.
    TimeBudget,
    /// The rate was too variable to show whether a higher queue depth increases it.
    Unsteady,
    /// Other results of the calibration contradict this one.
    Contradicted,
}

/// Result at one load step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Queue depth.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Block size, bytes.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Reads and writes per second.
    pub iops: Estimate,
    /// Throughput, bytes per second.
    pub throughput_bytes_per_s: Estimate,
    /// Mean service time, ns.
    pub service_time_ns: Estimate,
    /// Limited quantile, or mean, of the service time, ns.
    pub limited_quantile_ns: Estimate,
    /// Results by operation.
    pub operations: PerOperation,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Utilization of the busiest worker, 0..=1.
    pub worker_busy_share: f64,
    /// CPU utilization of the host, 0..=1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
}

/// Load from which service time grows faster than throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// Queue depth at the knee.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// IOPS at the knee.
    pub iops: f64,
    /// Mean service time at the knee, ns.
    pub service_time_ns: f64,
    /// Rule that determined the knee.
    pub rule: String,
}

/// Result for one limit of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitStep {
    /// Latency limit.
    pub limit: LatencyLimit,
    /// Maximum IOPS within the limit; absent if queue depth 1 exceeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Capacity>,
}
