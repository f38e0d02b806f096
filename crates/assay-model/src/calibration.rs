//! What a target can give: the answers of `calibrate`, with the curve they were read from.

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
    /// The quantile, 0..=1, for example 0.99; none for the mean.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub quantile: LimitStatistic,
    /// What it may be at most, ns.
    pub service_time_ns: f64,
}

impl LatencyLimit {
    /// A limit that no storage exceeds, where none is asked for.
    pub const UNASKED: Nanos = Nanos(10_000_000_000);

    /// Whether somebody asked for a limit.
    pub fn is_asked(&self) -> bool {
        self.service_time_ns < real(Self::UNASKED.0)
    }
}

/// Everything calibrated on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Path or name of the target.
    pub target: String,
    /// The limit that was asked for.
    pub limit: LatencyLimit,
    /// One result a mix: reads, writes, a mix of both.
    pub mixes: Vec<MixCalibration>,
    /// Whether the page cache was bypassed; absent where there is none, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// The log of a database, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogCalibration>,
    /// Measured time in all, s.
    pub elapsed_s: f64,
    /// Why it ended before its time, where the answer was certain before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_end: Option<EarlyEnd>,
    /// What a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Appends as a log writer makes them: one at a time, each durable before the next (`O_DSYNC`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogCalibration {
    /// Bytes of one append.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Alone, then during ever more reads and writes of data.
    pub points: Vec<LogPoint>,
}

/// The log during a number of outstanding I/Os of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogPoint {
    /// Outstanding I/Os of data meanwhile; 0 where the log was alone.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Mean time of an append, ns.
    pub service_time_ns: Estimate,
    /// Appends.
    pub appends: u64,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Reads of data meanwhile, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<LogReads>,
}

/// Reads of data while a log was written: flushes may hold them up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogReads {
    /// Mean time of a read, ns.
    pub service_time_ns: Estimate,
    /// Reads per second.
    pub iops: f64,
}

/// What the target gives for one mix of reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MixCalibration {
    /// `read`, `write`, or for example `mix 70/30`.
    pub name: String,
    /// Share of reads, 0..=1.
    pub read_share: f64,
    /// Bytes of one small I/O.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Bytes of one large I/O.
    #[serde(alias = "large_transfer_bytes")]
    pub large_block_size_bytes: u64,
    /// Mean service time at queue depth 1, ns.
    pub base_service_time_ns: Estimate,
    /// Most IOPS with the limited quantile within its limit; `None` when not even one outstanding
    /// I/O keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_within_limit: Option<Capacity>,
    /// Maximum IOPS at any depth.
    pub iops_max: Capacity,
    /// Most bytes per second with large I/Os, many at once; `None` when stopped before it was
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_max_bytes_per_s: Option<Capacity>,
    /// Bytes a second of one sequential stream with one large I/O outstanding; `None` when stopped
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_stream_bytes_per_s: Option<Estimate>,
    /// Steps of small random I/Os, by outstanding I/Os, all of one regime: the sustained one where
    /// burst and sustained differ.
    pub curve: Vec<CurvePoint>,
    /// Steps of small random I/Os measured before the level fell, where it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub burst_curve: Vec<CurvePoint>,
    /// Steps of large I/Os, by outstanding I/Os.
    pub large_curve: Vec<CurvePoint>,
    /// Where service time begins to grow faster than IOPS, if anywhere on the curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// Answers for a series of limits, where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LimitStep>,
    /// Stalls that recur with a period, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<StallRecurrence>,
    /// Parts of it that cannot both be right; a capacity that one of them concerns is never called
    /// saturated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

impl MixCalibration {
    /// Whether one outstanding I/O already exceeds the limit with its whole interval. Where the
    /// limit lies inside the interval, some load may still keep it.
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

/// Storage that stands still at fixed times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StallRecurrence {
    /// How long one lasts, ns.
    pub length_ns: f64,
    /// From the beginning of one to that of the next, ns.
    pub period_ns: f64,
}

/// Two parts of a calibration that cannot both be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Contradiction {
    /// Small I/Os moved more bytes per second than large ones.
    SmallAboveLarge,
    /// One outstanding I/O took another time at the end than at the beginning.
    BaseChanged,
}

/// A rate that can be had, and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// The rate: of the sustained level where burst and sustained differ.
    pub rate: Estimate,
    /// The rate before the level fell, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_rate: Option<Estimate>,
    /// How long the burst lasted under full load, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_s: Option<f64>,
    /// Outstanding I/Os at which it was reached.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// What kept it from being more.
    pub bound: CapacityBound,
}

/// What keeps a rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityBound {
    /// More outstanding I/Os were shown to give no more.
    Saturated,
    /// More outstanding I/Os break the latency limit.
    LatencyLimit,
    /// The host's CPU was used up; the storage may deliver more.
    Host,
    /// The highest step was still rising; the storage may deliver more.
    StillRising,
    /// Time ran out before it could be determined.
    TimeBudget,
    /// The rate varied or drifted too much to show whether more outstanding I/Os give more.
    Unsteady,
    /// Other parts of the calibration contradict it.
    Contradicted,
}

/// One step: a load and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Outstanding I/Os.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Bytes of one I/O.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Reads and writes per second.
    pub iops: Estimate,
    /// Bytes per second.
    pub throughput_bytes_per_s: Estimate,
    /// Mean service time, ns.
    pub service_time_ns: Estimate,
    /// The limited quantile, or mean, of the service time, ns.
    pub limited_quantile_ns: Estimate,
    /// Everything measured at this step, read and write apart.
    pub operations: PerOperation,
    /// Measured time, s.
    pub elapsed_s: f64,
    /// Busy share of the busiest worker, 0..=1.
    pub worker_busy_share: f64,
    /// Busy share of the whole host, 0..=1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
}

/// The load from which service time grows faster than throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// Outstanding I/Os at the knee.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// IOPS there.
    pub iops: f64,
    /// Mean service time there, ns.
    pub service_time_ns: f64,
    /// The rule that found it.
    pub rule: String,
}

/// The answer for one limit of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitStep {
    /// The limit.
    pub limit: LatencyLimit,
    /// Most IOPS within it; `None` when not even queue depth 1 keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Capacity>,
}
