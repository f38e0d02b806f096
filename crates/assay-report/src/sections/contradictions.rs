//! Where two stages of one report say of the same mix what cannot both be so.

use crate::format::Formatter;
use crate::input::{Report, RunReport};
use crate::phrases::size;
use assay_model::Estimate;
use assay_model::calibration::{CurvePoint, MixCalibration};
use assay_model::number::share;
use assay_model::verdict::Unit;

/// Rates that differ by less are as good as the same, whatever their intervals.
const FACTOR: f64 = 1.25;
/// Shares of reads that differ by less are the same mix.
const SHARE_SLACK: f64 = 0.02;
/// A queue depth is that of a rung when they differ by at most this factor.
const DEPTH_FACTOR: f64 = 1.5;

/// A finding for each workload that the calibration contradicts.
pub(super) fn contradictions(report: &Report, format: &Formatter) -> Vec<String> {
    let mixes = report.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let mixes: Vec<&MixCalibration> = mixes.collect();
    report
        .runs
        .iter()
        .filter_map(|run| mixes.iter().find_map(|mix| contradiction(run, mix, format)))
        .collect()
}

/// What the calibration and the run of the same mix say, where it is not the same.
fn contradiction(run: &RunReport, mix: &MixCalibration, format: &Formatter) -> Option<String> {
    let operations = run.measurement.operations();
    let reads = operations.read.as_ref().map_or(0, |read| read.ios);
    let is_same = operations.ios() > 0
        && (share(reads, operations.ios()) - mix.read_share).abs() <= SHARE_SLACK
        && operations.bytes() == operations.ios() * mix.transfer_bytes;
    if !is_same {
        return None;
    }
    let exact = Estimate::exact(run.measurement.iops(), 1);
    let iops = run.estimate("iops", None).copied().unwrap_or(exact);
    let depth = run.measurement.conduct.outstanding_mean;
    let (calibrated, how) = match rung(mix, depth) {
        Some(point) => (point.iops, format!("at queue depth {}", point.outstanding)),
        // More than the most that was found at any depth.
        None if iops.low > mix.iops_max.rate.high => (mix.iops_max.rate, "at most".to_owned()),
        None => return None,
    };
    let ratio = iops.value / calibrated.value.max(1e-9);
    let is_apart = iops.low > calibrated.high || calibrated.low > iops.high;
    (is_apart && !(1.0 / FACTOR..=FACTOR).contains(&ratio)).then(|| {
        let rate = |estimate: &Estimate| {
            let interval = format.interval(Unit::IosPerS, estimate);
            let value = format.value(Unit::IosPerS, estimate.value);
            if interval.is_empty() { value } else { format!("{value} ({interval})") }
        };
        format!(
            "The same mix of {} I/Os gave {} {how} in the calibration and {} in workload “{}”. Both cannot be what this storage gives: \
             something else used it, a burst ended, or its state changed in between. Measure again before relying on either.",
            size(mix.transfer_bytes),
            rate(&calibrated),
            rate(&iops),
            run.measurement.workload
        )
    })
}

/// The rung of about this depth.
fn rung(mix: &MixCalibration, depth: f64) -> Option<&CurvePoint> {
    let distance = |point: &CurvePoint| (f64::from(point.outstanding) / depth.max(1e-9)).ln().abs();
    let near = mix.curve.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    (distance(near) <= DEPTH_FACTOR.ln()).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::calibration::{Bound, Calibration, Capacity, LatencyLimit};
    use assay_model::measurement::{Measurement, NamedResult, OperationResult, PerOperation};

    fn about(value: f64) -> Estimate {
        Estimate { value, low: 0.95 * value, high: 1.05 * value, confidence: 0.95, n: 30 }
    }

    /// A calibration whose 70 % reads gave that many a second at 32 outstanding, and a run of the same mix.
    #[expect(clippy::too_many_lines, reason = "a document, field by field")]
    fn report(calibrated: f64, measured: u64, depth: f64) -> Report {
        let rate = about(calibrated);
        let point = CurvePoint {
            outstanding: 32,
            transfer_bytes: 8192,
            iops: rate,
            throughput_bytes_per_s: rate,
            service_time_ns: rate,
            limited_quantile_ns: rate,
            operations: PerOperation::default(),
            elapsed_s: 5.0,
            worker_busy_share: 0.1,
            host_busy_share: None,
        };
        let capacity = Capacity {
            rate,
            burst_rate: None,
            burst_s: None,
            outstanding: 32,
            bound: Bound::Saturated,
        };
        let mix = MixCalibration {
            name: "mix 70/30".to_owned(),
            read_share: 0.7,
            transfer_bytes: 8192,
            large_transfer_bytes: 1 << 20,
            base_service_time_ns: about(1e5),
            iops_within_limit: None,
            iops_max: capacity,
            throughput_max_bytes_per_s: None,
            single_stream_bytes_per_s: None,
            curve: vec![point],
            burst_curve: Vec::new(),
            large_curve: Vec::new(),
            knee: None,
            steps: Vec::new(),
            contradictions: Vec::new(),
        };
        let result = |ios: u64| {
            Some(OperationResult { ios, bytes: ios * 8192, ..OperationResult::default() })
        };
        let operations = PerOperation {
            read: result(measured * 7 / 10),
            write: result(measured * 3 / 10),
            ..PerOperation::default()
        };
        let mut measurement = Measurement {
            format: 1,
            workload: "oltp".to_owned(),
            started_unix_ns: 0,
            elapsed_ns: 1_000_000_000,
            finish: assay_model::measurement::Finish::Complete,
            streams: vec![NamedResult { name: "blocks".to_owned(), operations }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: assay_model::measurement::Conduct::default(),
        };
        measurement.conduct.outstanding_mean = depth;
        Report {
            calibration: Some(Calibration {
                format: 1,
                target: "d".to_owned(),
                limit: LatencyLimit { quantile: 0.99, service_time_ns: 1e6 },
                mixes: vec![mix],
                direct_io: None,
                log: None,
                elapsed_s: 5.0,
                remarks: Vec::new(),
            }),
            runs: vec![RunReport::of(measurement)],
            ..Report::default()
        }
    }

    #[test]
    fn the_same_mix_with_another_rate_is_a_finding() {
        let absolute = Formatter::default();
        let found = contradictions(&report(8620.0, 38_700, 32.0), &absolute);
        assert!(found[0].contains("8,620/s (8,189 – 9,051/s) at queue depth 32"), "{found:?}");
        assert!(found[0].contains("38,700/s in workload “oltp”"), "{found:?}");
        assert_eq!(
            contradictions(&report(38_000.0, 38_700, 32.0), &absolute),
            Vec::<String>::new()
        );
    }

    #[test]
    fn another_depth_contradicts_only_beyond_the_most() {
        let absolute = Formatter::default();
        assert_eq!(contradictions(&report(38_000.0, 8000, 1.0), &absolute).len(), 0);
        assert!(contradictions(&report(8620.0, 38_700, 256.0), &absolute)[0].contains("at most"));
    }
}
