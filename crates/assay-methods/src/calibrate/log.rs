//! The log of a database on a target: appends one at a time, each durable before the next, alone
//! and during I/O of data.

use crate::bench::Bench;
use assay_engine::Observer;
use assay_model::calibration::{LogCalibration, LogPoint, LogReads};
use assay_model::measurement::{Interval, Measurement, Operation, Window};
use assay_model::number::{count_of, rate};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Span, Stream, SyncPolicy, Workload};
use assay_model::{Estimate, Result};
use assay_stats::mean_interval;
use std::ops::ControlFlow;

/// Share of the space that the log goes round in; the data has the rest.
const LOG_SPACE: f64 = 0.1;

/// What of a log is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPlan {
    /// Bytes of one append.
    pub append: Bytes,
    /// Bytes of an I/O of data.
    pub block_size: Bytes,
    /// Share of reads of the data I/O.
    pub read_share: f64,
    /// Outstanding I/Os of data during the appends; 0 is alone.
    pub queue_depth: Vec<u32>,
    /// Measured time of each of them.
    pub time: Nanos,
    /// Seed of all addresses.
    pub seed: u64,
}

/// Measures appends during every number of outstanding I/Os; a person who stops keeps what was
/// measured.
///
/// # Errors
/// Those of the bench.
pub fn calibrate_log(bench: &mut dyn Bench, plan: &LogPlan) -> Result<Option<LogCalibration>> {
    let mut points = Vec::new();
    for queue_depth in &plan.queue_depth {
        if bench.stopped() {
            break;
        }
        let mut seen = IntervalMeans::default();
        let measurement = bench.measure(&workload(plan, *queue_depth), &mut seen)?;
        points.extend(point(*queue_depth, &measurement, &seen));
    }
    let block_size_bytes = plan.append.0;
    Ok((!points.is_empty()).then_some(LogCalibration { block_size_bytes, points }))
}

/// Places of the two streams in a workload and in its results.
const LOG: usize = 0;
const DATA: usize = 1;

/// The stream of the log, and that of the data after it.
fn workload(plan: &LogPlan, queue_depth: u32) -> Workload {
    let log = Stream {
        access: Access::Sequential { streams: 1 },
        sync: SyncPolicy::ODsync,
        span: Span { from: Share(1.0 - LOG_SPACE), to: Share(1.0) },
        ..Stream::closed("log", Share(0.0), plan.append, 1)
    };
    let mut whole = Workload {
        seed: plan.seed,
        interval: Nanos(plan.time.0 / 20),
        warm_up: Nanos(plan.time.0 / 10),
        ..Workload::of("log", plan.time, log)
    };
    if queue_depth > 0 {
        let data = Stream::closed("data", Share(plan.read_share), plan.block_size, queue_depth);
        let span = Span { from: Share(0.0), to: Share(1.0 - LOG_SPACE) };
        whole.streams.push(Stream { span, ..data });
    }
    whole
}

/// Mean times of each interval: of the appends, and of the reads of data meanwhile.
#[derive(Default)]
struct IntervalMeans {
    appends_ns: Vec<f64>,
    reads_ns: Vec<f64>,
}

impl Observer for IntervalMeans {
    fn interval(&mut self, _: &Interval, joint: &Window) -> ControlFlow<()> {
        let mean_ns = |stream: usize, operation| {
            let of = joint.streams.get(stream)?.operations.get(operation)?;
            (of.ios > 0).then(|| of.service.mean_ns())
        };
        self.appends_ns.extend(mean_ns(LOG, Operation::Write));
        self.reads_ns.extend(mean_ns(DATA, Operation::Read));
        ControlFlow::Continue(())
    }
}

fn point(queue_depth: u32, measurement: &Measurement, seen: &IntervalMeans) -> Option<LogPoint> {
    let log = measurement.streams.get(LOG)?.operations.get(Operation::Write)?;
    (log.ios > 0).then(|| LogPoint {
        queue_depth,
        service_time_ns: estimate(log.service.mean_ns(), &seen.appends_ns),
        appends: log.ios,
        elapsed_s: measurement.elapsed_s(),
        reads: reads(measurement, seen),
    })
}

fn reads(measurement: &Measurement, seen: &IntervalMeans) -> Option<LogReads> {
    let reads = measurement.streams.get(DATA)?.operations.get(Operation::Read)?;
    (reads.ios > 0).then(|| LogReads {
        service_time_ns: estimate(reads.service.mean_ns(), &seen.reads_ns),
        iops: rate(reads.ios, measurement.elapsed_s()),
    })
}

/// A mean with the interval that the means of intervals give it; a twentieth to either side where
/// they are too few.
fn estimate(mean_ns: f64, means_ns: &[f64]) -> Estimate {
    let half_ns = mean_interval(means_ns, 0.95).map_or(0.05 * mean_ns, |found| found.half_width());
    Estimate {
        value: mean_ns,
        low: (mean_ns - half_ns).max(0.1 * mean_ns),
        high: mean_ns + half_ns,
        confidence: 0.95,
        n: count_of(means_ns.len()).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::SimulatedBench;
    use assay_engine::device::DeviceSpec;

    #[test]
    fn appends_take_what_the_device_takes_and_wait_behind_data() {
        let spec = DeviceSpec::parse("servers?count=2&service=1ms").unwrap();
        let plan = LogPlan {
            append: Bytes(4096),
            block_size: Bytes(8192),
            read_share: 1.0,
            queue_depth: vec![0, 8],
            time: Nanos(2_000_000_000),
            seed: 1,
        };
        let found = calibrate_log(&mut SimulatedBench::new(&spec), &plan).unwrap().unwrap();
        let [alone, with_data] = found.points.as_slice() else { panic!("{found:?}") };
        assert!((alone.service_time_ns.value / 1e6 - 1.0).abs() < 0.1, "{alone:?}");
        // Nine outstanding on two servers: each waits 4.5 services by Little's law.
        assert!((with_data.service_time_ns.value / 1e6 - 4.5).abs() < 0.6, "{with_data:?}");
        assert!(alone.service_time_ns.covers(alone.service_time_ns.value));
        // Reads wait as long, and eight of them are outstanding.
        let reads = with_data.reads.as_ref().unwrap();
        assert!((reads.service_time_ns.value / 1e6 - 4.5).abs() < 0.6, "{reads:?}");
        assert!((reads.iops * reads.service_time_ns.value / 1e9 - 8.0).abs() < 0.3, "{reads:?}");
        assert!(alone.reads.is_none());
    }
}
