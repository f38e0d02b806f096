//! What a made-up array can give.

use super::{Dice, about};
use assay_model::calibration::{
    Calibration, Capacity, CapacityBound, CurvePoint, Knee, LatencyLimit, LimitStep,
    LogCalibration, LogPoint, LogReads, MixCalibration,
};
use assay_model::measurement::{PerOperation, Remark};
use assay_model::spelling::LimitStatistic;

/// The array's law: IOPS level off at `most`, and by Little's law the mean time is outstanding over
/// IOPS.
struct Law {
    name: &'static str,
    read_share: f64,
    base_ns: f64,
    most: f64,
    bytes_per_s: f64,
    bound: CapacityBound,
}

const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

impl Law {
    fn iops(&self, queue_depth: u32) -> f64 {
        let offered = f64::from(queue_depth) / (self.base_ns / 1e9);
        self.most * (1.0 - (-offered / self.most).exp())
    }

    fn point(&self, queue_depth: u32, dice: &mut Dice) -> CurvePoint {
        let iops = self.iops(queue_depth) * (1.0 + 0.006 * dice.normal());
        let time_ns = f64::from(queue_depth) / iops * 1e9;
        CurvePoint {
            queue_depth,
            block_size_bytes: 8192,
            iops: about(iops, 0.012),
            throughput_bytes_per_s: about(iops * 8192.0, 0.012),
            service_time_ns: about(time_ns, 0.015),
            limited_quantile_ns: about(time_ns * 1.9, 0.05),
            operations: PerOperation::default(),
            elapsed_s: 2.0,
            worker_busy_share: iops / 180_000.0,
            host_busy_share: Some(0.05 + iops / 400_000.0),
        }
    }

    fn large_point(&self, queue_depth: u32, dice: &mut Dice) -> CurvePoint {
        let share = 1.0 - (-0.55 * f64::from(queue_depth)).exp();
        let bytes = self.bytes_per_s * share * (1.0 + 0.004 * dice.normal());
        let iops = bytes / 1_048_576.0;
        CurvePoint {
            block_size_bytes: 1 << 20,
            iops: about(iops, 0.01),
            throughput_bytes_per_s: about(bytes, 0.01),
            service_time_ns: about(f64::from(queue_depth) / iops * 1e9, 0.01),
            limited_quantile_ns: about(f64::from(queue_depth) / iops * 1.6e9, 0.03),
            ..self.point(queue_depth, dice)
        }
    }

    fn capacity(rate: f64, queue_depth: u32, bound: CapacityBound) -> Capacity {
        Capacity { rate: about(rate, 0.011), burst_rate: None, burst_s: None, queue_depth, bound }
    }

    /// Most IOPS with 99% within a limit, by the same law as the points.
    fn within(&self, limit_ns: f64) -> Option<Capacity> {
        let depth = DEPTHS
            .into_iter()
            .rfind(|depth| f64::from(*depth) / self.iops(*depth) * 1.9e9 <= limit_ns)?;
        Some(Self::capacity(self.iops(depth) * 1.02, depth, CapacityBound::LatencyLimit))
    }

    /// Writes begin faster than they go on.
    fn burst(&self, dice: &mut Dice) -> Vec<CurvePoint> {
        let faster = Law { most: self.most * 1.36, ..*self };
        let writes = self.read_share < 0.5;
        let depths = DEPTHS.into_iter().filter(|_| writes).take(7);
        depths.map(|depth| faster.point(depth, dice)).collect()
    }

    fn mix(&self, limit: LatencyLimit) -> MixCalibration {
        let mut dice = Dice::new(11);
        let knee = 32;
        let steps = (1..=8).map(|step| {
            let limit = LatencyLimit { service_time_ns: 250_000.0 * f64::from(step), ..limit };
            LimitStep { limit, iops: self.within(limit.service_time_ns) }
        });
        let mut iops_max = Self::capacity(self.most, 256, self.bound);
        if self.read_share < 0.5 {
            (iops_max.burst_rate, iops_max.burst_s) =
                (Some(about(self.most * 1.36, 0.02)), Some(11.0));
        }
        MixCalibration {
            name: self.name.to_owned(),
            read_share: self.read_share,
            block_size_bytes: 8192,
            large_block_size_bytes: 1 << 20,
            base_service_time_ns: about(self.base_ns, 0.008),
            iops_within_limit: self.within(limit.service_time_ns),
            iops_max,
            throughput_max_bytes_per_s: Some(Self::capacity(
                self.bytes_per_s,
                8,
                CapacityBound::Saturated,
            )),
            single_stream_bytes_per_s: Some(about(self.bytes_per_s * 0.42, 0.007)),
            curve: DEPTHS.map(|depth| self.point(depth, &mut dice)).to_vec(),
            burst_curve: self.burst(&mut dice),
            large_curve: [1, 2, 4, 8, 16].map(|depth| self.large_point(depth, &mut dice)).to_vec(),
            knee: Some(Knee {
                queue_depth: knee,
                iops: self.iops(knee),
                service_time_ns: f64::from(knee) / self.iops(knee) * 1e9,
                rule: "the point farthest above the chord of the curve".to_owned(),
            }),
            steps: steps.collect(),
            stalls: None,
            contradictions: Vec::new(),
        }
    }
}

/// A log whose flushes hold reads up.
fn log() -> LogCalibration {
    let point = |queue_depth: u32, append_ns: f64, read_ns: f64| LogPoint {
        queue_depth,
        service_time_ns: about(append_ns, 0.03),
        appends: 12_400,
        elapsed_s: 5.0,
        reads: (queue_depth > 0).then(|| LogReads {
            service_time_ns: about(read_ns, 0.02),
            iops: f64::from(queue_depth) * 1e9 / read_ns,
        }),
    };
    let points = vec![
        point(0, 380_000.0, 0.0),
        point(8, 410_000.0, 290_000.0),
        point(64, 560_000.0, 720_000.0),
    ];
    LogCalibration { block_size_bytes: 4096, points }
}

/// Reads, writes and a mix; the reads are still rising at the end.
pub(crate) fn calibration() -> Calibration {
    let limit = LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 };
    let law = |name, read_share, base_ns, most, bytes_per_s, bound| Law {
        name,
        read_share,
        base_ns,
        most,
        bytes_per_s,
        bound,
    };
    let laws = [
        law("read", 1.0, 182_000.0, 121_000.0, 2.41e9, CapacityBound::StillRising),
        law("write", 0.0, 241_000.0, 48_500.0, 1.12e9, CapacityBound::Saturated),
        law("mix 70/30", 0.7, 201_000.0, 83_000.0, 1.74e9, CapacityBound::Host),
    ];
    Calibration {
        format: 1,
        target: "/oradata".to_owned(),
        limit,
        mixes: laws.iter().map(|law| law.mix(limit)).collect(),
        direct_io: None,
        log: Some(log()),
        early_end: None,
        elapsed_s: 84.0,
        remarks: vec![Remark {
            what: "Reads were still rising at 256 outstanding I/Os".to_owned(),
            why: "the most IOPS of reads is a lower bound".to_owned(),
            remedy: "calibrate with --queue-depth-max 1024".to_owned(),
        }],
    }
}
