//! A target as the model needs it: from its calibration, for the mix and the transfers of one
//! database.

use crate::curve::ReadCurve;
use crate::demand::PredictedDemand;
use crate::flush::FlushTimes;
use assay_model::Estimate;
use assay_model::calibration::{Calibration, CapacityBound, CurvePoint, LogPoint, MixCalibration};
use assay_model::number::real;
use assay_model::projection::TargetOrigin;
use assay_stats::concave;

/// A calibration and where it comes from.
#[derive(Clone, Debug)]
pub struct StorageSource<'a> {
    /// The target as it was named.
    pub name: String,
    /// What was measured of it.
    pub calibration: &'a Calibration,
    /// Where that comes from.
    pub origin: TargetOrigin,
    /// The calibration of the log's device, where the log lies on a device of its own.
    pub log: Option<&'a Calibration>,
}

/// What storage gives to one database.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedStorage {
    /// Its name.
    pub name: String,
    /// Where its figures come from.
    pub origin: TargetOrigin,
    /// Small reads, together with the database's writes.
    pub curve: ReadCurve,
    /// Mean time of one write alone, seconds, where it is known.
    pub write_s: Option<f64>,
    /// Bytes of a small I/O of the calibration.
    pub block_size_bytes: f64,
    /// Time of one large read of this many bytes alone, seconds.
    pub large_read: Option<(f64, f64)>,
    /// Writes a second that it sustains during the database's reads.
    pub writes_most_per_s: Option<f64>,
    /// Bytes a second with large I/Os.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Bytes a second of one sequential stream of writes, as a log makes them.
    pub log_bytes_per_s: Option<f64>,
    /// What ended the curve.
    pub end: CapacityBound,
    /// Share of reads of the mix that the curve is of.
    pub read_share: f64,
    /// The log.
    pub flush: Option<FlushTimes>,
    /// Whether the log lies on a device of its own: it delays no I/O of the data, and none of
    /// these delays it.
    pub has_separate_log: bool,
    /// Share of the processors that were busy during the calibration, where it is known.
    pub host_busy_share: Option<f64>,
    /// Standard deviation of the logarithm of the curve's rates.
    pub curve_deviation: f64,
    /// Rate of the burst over the sustained one, where they differ.
    pub burst_ratio: Option<f64>,
    /// Whether reads of the calibration may have come from memory of the host.
    pub is_cached: bool,
}

/// No calibration is more certain than this of the next one.
const CURVE_DEVIATION_MIN: f64 = 0.01;

impl PredictedStorage {
    /// Storage that takes the same time for every read, whatever it is asked.
    pub fn constant(name: &str, read_s: f64) -> Self {
        Self {
            name: name.to_owned(),
            origin: TargetOrigin::Measured,
            curve: ReadCurve::constant(read_s),
            write_s: None,
            block_size_bytes: 8192.0,
            large_read: None,
            writes_most_per_s: None,
            bandwidth_bytes_per_s: None,
            log_bytes_per_s: None,
            end: CapacityBound::Saturated,
            read_share: 1.0,
            flush: None,
            has_separate_log: false,
            host_busy_share: None,
            curve_deviation: 0.0,
            burst_ratio: None,
            is_cached: false,
        }
    }

    /// What a calibration says for this database; `None` where it has no curve of reads.
    pub fn of(source: &StorageSource<'_>, demand: &PredictedDemand) -> Option<Self> {
        let mixes = &source.calibration.mixes;
        let wanted = demand.read_share();
        let reading = mixes.iter().filter(|mix| mix.read_share > 0.0 && !mix.curve.is_empty());
        let nearest = reading.min_by(|left, right| {
            let far = |mix: &MixCalibration| (mix.read_share - wanted).abs();
            far(left).total_cmp(&far(right))
        })?;
        let writing = mixes.iter().find(|mix| mix.read_share <= 0.0);
        let calibrated = ReadCurve::new(&smoothed(nearest))?;
        let writes = writes_of_data_device(demand, source.log.is_some());
        let curve = calibrated.wider(width(nearest, writing, mixes, demand, writes));
        let write_s = writing.map(|mix| mix.base_service_time_ns.value / 1e9);
        let bandwidth = mixes.iter().filter(|mix| mix.read_share > 0.0);
        Some(Self {
            name: source.name.clone(),
            origin: source.origin,
            write_s,
            block_size_bytes: real(nearest.block_size_bytes),
            large_read: large_read(mixes),
            writes_most_per_s: writes_most(&curve, nearest, writing, demand, writes),
            bandwidth_bytes_per_s: bandwidth
                .filter_map(|mix| mix.throughput_max_bytes_per_s)
                .map(|most| most.rate.value)
                .reduce(f64::max),
            log_bytes_per_s: log_stream(source.log.unwrap_or(source.calibration)),
            end: end(nearest),
            read_share: nearest.read_share,
            flush: match source.log {
                Some(log) => separate_log(log),
                None => flush(source.calibration, &calibrated, write_s, nearest, writing),
            },
            has_separate_log: source.log.is_some(),
            host_busy_share: busy_host(nearest),
            curve_deviation: deviation(nearest),
            burst_ratio: burst(nearest),
            is_cached: source.calibration.direct_io == Some(false),
            curve,
        })
    }

    /// Time of one large read of `bytes` alone, seconds: between a small one and the calibrated
    /// large one by its bytes.
    pub fn large_read_s(&self, bytes: f64) -> f64 {
        let small_s = self.curve.latency_s(1.0);
        let Some((large_bytes, large_s)) = self.large_read else {
            return small_s * (bytes / self.block_size_bytes).max(1.0).sqrt();
        };
        let share = (bytes - self.block_size_bytes) / (large_bytes - self.block_size_bytes);
        (small_s + (large_s - small_s) * share).max(small_s)
    }

    /// Writes of one unit of work that this storage has to do.
    pub(crate) fn writes_of(&self, demand: &PredictedDemand) -> f64 {
        writes_of_data_device(demand, self.has_separate_log)
    }

    /// Whether more outstanding I/Os than were calibrated may give more than its curve's end.
    pub const fn may_give_more(&self) -> bool {
        !matches!(self.end, CapacityBound::Saturated)
    }
}

/// Writes of one unit of work on the device of the data, which has those of the log unless that
/// lies elsewhere.
fn writes_of_data_device(demand: &PredictedDemand, has_separate_log: bool) -> f64 {
    if has_separate_log { demand.all_writes() } else { demand.storage_writes() }
}

/// Bytes a second of one sequential stream of writes.
fn log_stream(calibration: &Calibration) -> Option<f64> {
    let writing = calibration.mixes.iter().find(|mix| mix.read_share <= 0.0)?;
    writing.single_stream_bytes_per_s.map(|stream| stream.value)
}

/// The log alone on its device: without I/O of data.
fn separate_log(log: &Calibration) -> Option<FlushTimes> {
    let alone = log.log.as_ref()?.points.iter().min_by_key(|point| point.queue_depth)?;
    let time_s = alone.service_time_ns.value / 1e9;
    FlushTimes::measured(vec![(0.0, time_s)], flush_spread([alone].into_iter()))
}

/// Standard deviation of the logarithm of the times of flushes.
fn flush_spread<'a>(points: impl Iterator<Item = &'a LogPoint>) -> f64 {
    let spread = points.map(|point| deviation_of(&point.service_time_ns));
    spread.fold(0.02, f64::max).min(0.5)
}

/// The median over the steps of a curve.
fn busy_host(mix: &MixCalibration) -> Option<f64> {
    let mut busy: Vec<f64> = mix.curve.iter().filter_map(|point| point.host_busy_share).collect();
    busy.sort_by(f64::total_cmp);
    busy.get(busy.len() / 2).copied()
}

/// Steps are alike where the higher one gives less than this more.
const FLAT: f64 = 1.03;
/// A step is a higher one with this many times the outstanding I/Os.
const HIGHER: f64 = 1.4;

/// What ended the curve: the storage, where its last step gives no more than one well below it,
/// whatever the method had no time for.
fn end(mix: &MixCalibration) -> CapacityBound {
    let rungs = points(mix);
    let last = rungs.iter().copied().max_by(|left, right| left.0.total_cmp(&right.0));
    let is_flat = last.is_some_and(|(most, most_iops)| {
        rungs.iter().any(|(at, iops)| at * HIGHER <= most && iops * FLAT >= most_iops)
    });
    if is_flat { CapacityBound::Saturated } else { mix.iops_max.bound }
}

/// Reads outstanding and reads per second of every step: by Little's law for the reads alone.
fn points(mix: &MixCalibration) -> Vec<(f64, f64)> {
    mix.curve.iter().filter_map(point).collect()
}

/// Further from a step than this many of its standard deviations noise does not move it.
const NOISE: f64 = 3.0;

/// The steps without their noise, where a curve of saturation can lie so near to all of them.
fn smoothed(mix: &MixCalibration) -> Vec<(f64, f64)> {
    let shaken: Vec<(f64, f64, f64)> = mix
        .curve
        .iter()
        .filter_map(|rung| {
            let (queue_depth, iops) = point(rung)?;
            Some((queue_depth, iops, iops * deviation_of(&rung.iops).max(CURVE_DEVIATION_MIN)))
        })
        .collect();
    let fitted = concave::fit(&shaken);
    let is_noise = shaken
        .iter()
        .zip(&fitted)
        .all(|((_, iops, deviation), fitted)| (fitted - iops).abs() <= NOISE * deviation);
    if !is_noise {
        return points(mix);
    }
    shaken.iter().zip(fitted).map(|((queue_depth, ..), iops)| (*queue_depth, iops)).collect()
}

fn point(rung: &CurvePoint) -> Option<(f64, f64)> {
    let reads = rung.operations.read.as_ref().filter(|reads| reads.ios > 0)?;
    let writes = rung.operations.write.as_ref().map_or(0, |writes| writes.ios);
    let share = real(reads.ios) / real(reads.ios + writes);
    let iops = rung.iops.value * share;
    Some((iops * reads.service.mean_ns() / 1e9, iops))
}

/// How much more or less the storage can do for the database's reads than for those of the
/// calibrated mix, because it has fewer or more writes next to them. A write costs as much more as
/// pure writes are fewer than pure reads.
fn width(
    nearest: &MixCalibration,
    writing: Option<&MixCalibration>,
    mixes: &[MixCalibration],
    demand: &PredictedDemand,
    writes: f64,
) -> f64 {
    let reads = demand.reads_mean + demand.large_reads_mean;
    if reads <= 0.0 {
        return 1.0;
    }
    let only_reads = mixes.iter().find(|mix| mix.read_share >= 1.0);
    let cost = only_reads.zip(writing).map_or(1.0, |(reads, writes)| {
        (reads.iops_max.rate.value / writes.iops_max.rate.value).clamp(0.1, 20.0)
    });
    let writes_per_read = |read_share: f64| (1.0 - read_share) / read_share;
    let calibrated = 1.0 + cost * writes_per_read(nearest.read_share);
    let behind = demand.background_reads_mean / reads;
    calibrated / (1.0 + behind + cost * writes / reads)
}

/// Writes a second during the database's reads: what its mix has at the end of the curve, where
/// that is the storage's end, or where as many writes are outstanding as the database has writers;
/// and never more than writes alone have.
fn writes_most(
    curve: &ReadCurve,
    nearest: &MixCalibration,
    writing: Option<&MixCalibration>,
    demand: &PredictedDemand,
    writes: f64,
) -> Option<f64> {
    let alone = writing.map(|mix| mix.iops_max.rate.value)?;
    let reads = demand.reads_mean + demand.large_reads_mean;
    if reads <= 0.0 {
        return Some(alone);
    }
    let most = alone.min(curve.most_iops() * writes / reads);
    let rates = writes_of(nearest);
    let by_writers =
        demand.write_queue_depth.zip(rates).filter(|(writers, rates)| *writers < rates.reach());
    match by_writers {
        Some((writers, rates)) => Some(most * rates.iops(writers) / rates.most_iops()),
        None if end(nearest) == CapacityBound::Saturated => Some(most),
        None => Some(alone),
    }
}

/// Writes a second of a mix by how many writes are outstanding, the reads going along.
fn writes_of(mix: &MixCalibration) -> Option<ReadCurve> {
    let rungs = mix.curve.iter().filter_map(|rung| {
        let writes = rung.operations.write.as_ref().filter(|writes| writes.ios > 0)?;
        let share = real(writes.ios) / real(rung.operations.ios());
        let iops = rung.iops.value * share;
        Some((iops * writes.service.mean_ns() / 1e9, iops))
    });
    ReadCurve::new(&rungs.collect::<Vec<_>>())
}

/// Bytes and time of one large read.
fn large_read(mixes: &[MixCalibration]) -> Option<(f64, f64)> {
    let reads = mixes.iter().find(|mix| mix.read_share >= 1.0)?;
    let one = reads.large_curve.iter().find(|point| point.queue_depth == 1)?;
    Some((real(one.block_size_bytes), one.service_time_ns.value / 1e9))
}

/// The log as it was calibrated, else between one write alone and writes under load.
fn flush(
    calibration: &Calibration,
    curve: &ReadCurve,
    write_s: Option<f64>,
    nearest: &MixCalibration,
    writing: Option<&MixCalibration>,
) -> Option<FlushTimes> {
    if let Some(log) = &calibration.log {
        let points = log.points.iter();
        let times: Vec<(f64, f64)> = points
            .map(|point| (f64::from(point.queue_depth), point.service_time_ns.value / 1e9))
            .collect();
        let spread = flush_spread(log.points.iter());
        let delays = log.points.iter().filter_map(|point| read_delay(point, curve));
        return FlushTimes::measured(times, spread).map(|log| log.delaying(delays.collect()));
    }
    let alone_s = write_s?;
    let of = |mix: &MixCalibration| {
        let last = mix.knee.as_ref().map_or(u32::MAX, |knee| knee.queue_depth);
        let mut rungs = mix.curve.iter().filter(|point| point.queue_depth <= last);
        let last = rungs.next_back()?;
        let writes = last.operations.write.as_ref()?;
        Some(writes.service.mean_ns() / 1e9)
    };
    let loaded_s = of(nearest).or_else(|| writing.and_then(of)).unwrap_or(2.0 * alone_s);
    Some(FlushTimes::between(alone_s, loaded_s))
}

/// How much longer a read took while the log was always busy, by the Queue depth of data: beyond
/// what it takes at its rate without a log, and at most as long as a flush.
fn read_delay(point: &LogPoint, curve: &ReadCurve) -> Option<(f64, f64)> {
    let reads = point.reads.as_ref()?;
    let (latency_s, flush_s) =
        (reads.service_time_ns.value / 1e9, point.service_time_ns.value / 1e9);
    let undisturbed = curve.queue_depth(reads.iops).unwrap_or_else(|| curve.reach());
    let busy_share = (real(point.appends) * flush_s / point.elapsed_s).clamp(0.1, 1.0);
    let delay_s = (latency_s - undisturbed / reads.iops).clamp(0.0, flush_s);
    Some((f64::from(point.queue_depth), delay_s / busy_share))
}

/// Standard deviation of the logarithm of an estimate, from its interval, or from its lower end
/// where it has no other.
pub(crate) fn deviation_of(estimate: &Estimate) -> f64 {
    if estimate.low > 0.0 && estimate.is_at_least() {
        return (estimate.value / estimate.low).ln() / 1.96;
    }
    let is_usable = estimate.low > 0.0 && estimate.high > estimate.low;
    if is_usable { (estimate.high / estimate.low).ln() / (2.0 * 1.96) } else { 0.0 }
}

fn deviation(mix: &MixCalibration) -> f64 {
    let mut rungs: Vec<f64> = mix.curve.iter().map(|point| deviation_of(&point.iops)).collect();
    rungs.sort_by(f64::total_cmp);
    rungs
        .get(rungs.len() / 2)
        .map_or(CURVE_DEVIATION_MIN, |middle| middle.clamp(CURVE_DEVIATION_MIN, 0.3))
}

fn burst(mix: &MixCalibration) -> Option<f64> {
    let burst = mix.iops_max.burst_rate?;
    Some(burst.value / mix.iops_max.rate.value)
}
