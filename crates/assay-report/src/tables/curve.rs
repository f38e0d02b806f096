//! The load curves as a table: a row a point.

use super::{number, table, three};
use crate::input::GivenReport;
use assay_model::calibration::{CurvePoint, MixCalibration};
use assay_model::spelling::LimitStatistic;

/// The header line.
const HEADER: &str = "mix,read_share,kind,block_size_bytes,queue_depth,iops,iops_low,iops_high,\
                      throughput_bytes_per_s,throughput_low_bytes_per_s,\
                      throughput_high_bytes_per_s,service_time_mean_ns,service_time_mean_low_ns,\
                      service_time_mean_high_ns,limited_quantile,service_time_limited_ns,\
                      service_time_limited_low_ns,service_time_limited_high_ns,confidence,n,\
                      elapsed_s,worker_busy_share,host_busy_share";

/// All points of all mixes; `kind` is `random` for small I/Os, `burst` for those before the level
/// fell, and `large` for large ones. Nothing without a calibration.
pub fn curve_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let calibrations = report.calibration.iter();
    let rows = calibrations.flat_map(|calibration| {
        let limited = calibration.limit.quantile;
        calibration.mixes.iter().flat_map(move |mix| rows(mix, limited))
    });
    table(HEADER, run_id, rows)
}

/// All points of a mix.
fn rows(mix: &MixCalibration, limited: LimitStatistic) -> impl Iterator<Item = Vec<String>> {
    let curves = [("random", &mix.curve), ("burst", &mix.burst_curve), ("large", &mix.large_curve)];
    curves.into_iter().flat_map(move |(kind, points)| {
        points.iter().map(move |point| cells(mix, kind, point, limited))
    })
}

/// A point in the order of the columns.
fn cells(
    mix: &MixCalibration,
    kind: &str,
    point: &CurvePoint,
    limited: LimitStatistic,
) -> Vec<String> {
    let mut cells = vec![
        mix.name.clone(),
        number(mix.read_share),
        kind.to_owned(),
        point.block_size_bytes.to_string(),
        point.queue_depth.to_string(),
    ];
    cells.extend(three(Some(&point.iops)));
    cells.extend(three(Some(&point.throughput_bytes_per_s)));
    cells.extend(three(Some(&point.service_time_ns)));
    cells.push(Option::from(limited).map_or_else(|| limited.to_string(), number));
    cells.extend(three(Some(&point.limited_quantile_ns)));
    cells.extend([number(point.iops.confidence), point.iops.n.to_string()]);
    cells.extend([number(point.elapsed_s), number(point.worker_busy_share)]);
    cells.push(point.host_busy_share.map_or_else(String::new, number));
    cells
}
