//! ORION's summary and csv files, from the curves of a calibration.

use assay_model::calibration::{Calibration, CurvePoint, MixCalibration};
use assay_model::study::{DepthMatrix, MatrixQuantity, StudyResult};
use std::fmt::Write;

/// The texts of ORION's files of one mix.
pub struct OrionFiles {
    /// What their names begin with, as ORION's do with the name of the test.
    pub name: String,
    /// `_summary.txt`.
    pub summary: String,
    /// `_iops.csv`: small I/Os per second.
    pub iops: String,
    /// `_mbps.csv`: megabytes per second of large I/Os.
    pub mbps: String,
    /// `_lat.csv`: mean time of small I/Os, microseconds.
    pub latency: String,
}

/// Each mix of a calibration in ORION's form, in their order.
pub fn orion(calibration: &Calibration, command: &str) -> Vec<OrionFiles> {
    let mixes = calibration.mixes.iter().enumerate();
    mixes.map(|(place, mix)| files(calibration, mix, place, command)).collect()
}

fn files(
    calibration: &Calibration,
    mix: &MixCalibration,
    place: usize,
    command: &str,
) -> OrionFiles {
    let name = match place {
        0 => "assay".to_owned(),
        _ => format!("assay-write{}", write_percent(mix)),
    };
    let point =
        |value: fn(&CurvePoint) -> f64| move |point: &CurvePoint| (point.queue_depth, value(point));
    let small = |value| mix.curve.iter().map(point(value)).collect::<Vec<_>>();
    let large: Vec<_> =
        mix.large_curve.iter().map(point(|one| one.throughput_bytes_per_s.value / 1e6)).collect();
    OrionFiles {
        name,
        summary: summary(calibration, mix, command),
        iops: row(&small(|one| one.iops.value), 0),
        mbps: column(&large),
        latency: row(&small(|one| one.service_time_ns.value / 1e3), 2),
    }
}

/// The matrix of a study in ORION's form, named as its test; none of other studies.
pub fn orion_matrix(study: &StudyResult, command: &str) -> Option<OrionFiles> {
    let matrix = DepthMatrix::of(study)?;
    let small = |quantity, row, column| matrix.value(quantity, false, row, column);
    let iops = |row, column| small(MatrixQuantity::Iops, row, column);
    let latency_us =
        |row, column| small(MatrixQuantity::MeanTime, row, column).map(|time_ns| time_ns / 1e3);
    let mbps = |row, column| {
        matrix.value(MatrixQuantity::Throughput, true, row, column).map(|bytes| bytes / 1e6)
    };
    let active = |depths: &[u64]| -> Vec<u64> {
        depths.iter().copied().filter(|depth| *depth > 0).collect()
    };
    let (rows, columns) = (active(&matrix.rows), active(&matrix.columns));
    Some(OrionFiles {
        name: study.study.clone(),
        summary: matrix_summary(study, &matrix, command),
        iops: table(&matrix.rows, &columns, 0, iops),
        mbps: table(&rows, &matrix.columns, 2, mbps),
        latency: table(&matrix.rows, &columns, 2, latency_us),
    })
}

/// Large I/Os down, small I/Os across.
fn table(
    rows: &[u64],
    columns: &[u64],
    digits: usize,
    value: impl Fn(u64, u64) -> Option<f64>,
) -> String {
    let mut text = "Large/Small".to_owned();
    for column in columns {
        _ = write!(text, ", {column:>6}");
    }
    for row in rows {
        _ = write!(text, "\n{row:>7}");
        for column in columns {
            let shown = value(*row, *column).map(|value| format!("{value:.digits$}"));
            _ = write!(text, ", {:>6}", shown.unwrap_or_default());
        }
    }
    text + "\n"
}

/// A data point of a matrix with one of its numbers.
struct MatrixPoint {
    large: u64,
    small: u64,
    value: f64,
}

/// The points of a matrix that have a number.
fn points(
    matrix: &DepthMatrix<'_>,
    quantity: MatrixQuantity,
    of_rows: bool,
) -> impl Iterator<Item = MatrixPoint> {
    let at = move |large: u64| {
        matrix.columns.iter().filter_map(move |small| {
            let value = matrix.value(quantity, of_rows, large, *small)?;
            Some(MatrixPoint { large, small: *small, value })
        })
    };
    matrix.rows.iter().flat_map(move |large| at(*large))
}

fn matrix_summary(study: &StudyResult, matrix: &DepthMatrix<'_>, command: &str) -> String {
    let depths = |depths: &[u64]| {
        depths.iter().map(|depth| format!("{depth:>6}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "ORION VERSION 0 (written by Assay)\n\nCommandline:\n{command}\n\nThis maps to this \
         test:\nTest: {}\nSmall Columns:, {}\nLarge Columns:, {}\nTotal Data Points: {}\n\n",
        study.study,
        depths(&matrix.columns),
        depths(&matrix.rows),
        study.cells.len(),
    );
    let by = |one: &MatrixPoint, other: &MatrixPoint| one.value.total_cmp(&other.value);
    if let Some(most) = points(matrix, MatrixQuantity::Throughput, true).max_by(by) {
        let (mbps, place) = (most.value / 1e6, place(&most));
        _ = writeln!(text, "Maximum Large MBPS={mbps:.2} @ {place}");
    }
    if let Some(most) = points(matrix, MatrixQuantity::Iops, false).max_by(by) {
        _ = writeln!(text, "\nMaximum Small IOPS={:.0} @ {}", most.value, place(&most));
    }
    if let Some(least) = points(matrix, MatrixQuantity::MeanTime, false).min_by(by) {
        let (time_us, place) = (least.value / 1e3, place(&least));
        _ = writeln!(text, "\nMinimum Small Latency={time_us:.3} usecs @ {place}");
    }
    text
}

fn place(point: &MatrixPoint) -> String {
    format!("Small={} and Large={}", point.small, point.large)
}

fn write_percent(mix: &MixCalibration) -> f64 {
    ((1.0 - mix.read_share) * 100.0).round()
}

/// The mean time of a data point, s; ORION's are of one length.
fn point_s(mix: &MixCalibration) -> f64 {
    let times = || mix.curve.iter().chain(&mix.large_curve).map(|point| point.elapsed_s);
    times().sum::<f64>() / assay_model::number::real_len(times().count().max(1))
}

/// Small I/Os alone: one row.
fn row(points: &[(u32, f64)], digits: usize) -> String {
    let (mut depths, mut values) = (String::new(), String::new());
    for (queue_depth, value) in points {
        _ = write!(depths, ", {queue_depth:>6}");
        _ = write!(values, ", {value:>6.digits$}");
    }
    format!("Large/Small{depths}\n      0{values}\n")
}

/// Large I/Os alone: one column.
fn column(points: &[(u32, f64)]) -> String {
    let mut lines = "Large/Small,      0\n".to_owned();
    for (queue_depth, value) in points {
        _ = writeln!(lines, "{queue_depth:>7}, {value:>6.2}");
    }
    lines
}

fn best(points: &[CurvePoint], value: fn(&CurvePoint) -> f64) -> Option<&CurvePoint> {
    points.iter().max_by(|left, right| value(left).total_cmp(&value(right)))
}

fn summary(calibration: &Calibration, mix: &MixCalibration, command: &str) -> String {
    let depths = |points: &[CurvePoint]| {
        let numbers: Vec<String> =
            points.iter().map(|point| format!("{:>6}", point.queue_depth)).collect();
        numbers.join(", ")
    };
    let mut text = format!(
        "ORION VERSION 0 (written by Assay)\n\nCommandline:\n{command}\n\nThis maps to this \
         test:\nTest: assay\nSmall IO size: {} KB\nLarge IO size: {} KB\nIO Types: Small Random \
         IOs, Large Random IOs\nSimulated Array Type: CONCAT\nWrite: {}%\nCache Size: Not \
         Entered\nDuration for each Data Point: {:.3} seconds\nSmall Columns:, {}\nLarge \
         Columns:, {}\nTotal Data Points: {}\n\nName: {}\n1 FILEs found.\n\n",
        mix.block_size_bytes / 1024,
        mix.large_block_size_bytes / 1024,
        write_percent(mix),
        point_s(mix),
        depths(&mix.curve),
        depths(&mix.large_curve),
        mix.curve.len() + mix.large_curve.len(),
        calibration.target,
    );
    if let Some(point) = best(&mix.large_curve, |one| one.throughput_bytes_per_s.value) {
        let megabytes = point.throughput_bytes_per_s.value / 1e6;
        let _ = writeln!(
            text,
            "Maximum Large MBPS={megabytes:.2} @ Small=0 and Large={}",
            point.queue_depth
        );
    }
    if let Some(point) = best(&mix.curve, |one| one.iops.value) {
        let _ = writeln!(
            text,
            "\nMaximum Small IOPS={:.0} @ Small={} and Large=0",
            point.iops.value, point.queue_depth
        );
        text.push_str(&latency_line(point));
    }
    if let Some(point) = best(&mix.curve, |one| -one.service_time_ns.value) {
        let time_us = point.service_time_ns.value / 1e3;
        let _ = writeln!(
            text,
            "\nMinimum Small Latency={time_us:.3} usecs @ Small={} and Large=0",
            point.queue_depth
        );
        text.push_str(&latency_line(point));
    }
    text
}

fn latency_line(point: &CurvePoint) -> String {
    let mut text = String::new();
    let sides = [("Read", &point.operations.read), ("Write", &point.operations.write)];
    for (name, result) in
        sides.into_iter().filter_map(|(name, result)| Some((name, result.as_ref()?)))
    {
        let time_us = |time_ns: f64| time_ns / 1e3;
        let real = assay_model::number::real;
        let _ = writeln!(
            text,
            "Small {name} Latency: avg={:.3} us, min={:.3} us, max={:.3} us @ Small={} and Large=0",
            time_us(result.service.mean_ns()),
            time_us(real(result.service.min_ns())),
            time_us(real(result.service.max_ns())),
            point.queue_depth,
        );
    }
    text
}
