//! What the calibration found: a card for each mix, the load curves, the throughput, and the tables
//! behind them.

use super::{latency_limits, log_times, mix_card};
use crate::chart::curve::curve;
use crate::chart::depth::depth;
use crate::chart::scene::SceneSize;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::phrases::{file_name, size};
use crate::view::{Chart, HeadingLevel, ViewBlock, ViewCell, ViewTable};
use assay_model::calibration::{Calibration, CurvePoint, LatencyLimit, MixCalibration};
use assay_model::verdict::Unit;

/// The whole section; nothing without a calibration.
pub(super) fn blocks(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'_>> {
    let Some(calibration) = &report.calibration else {
        return Vec::new();
    };
    let cards = calibration.mixes.iter().map(|mix| mix_card::card(mix, calibration, &format));
    let mut blocks =
        vec![ViewBlock::Cards(cards.collect()), ViewBlock::SideBySide(charts(calibration, format))];
    blocks.extend(latency_limits::block(calibration, &format));
    blocks.extend(log_times::block(calibration, &format));
    let points = |mix| points(mix, &calibration.limit, &format);
    blocks.push(ViewBlock::OnPage(calibration.mixes.iter().map(points).collect()));
    blocks
}

/// A load curve a mix, and the throughput of all.
fn charts<'a>(calibration: &'a Calibration, format: Formatter) -> Vec<ViewBlock<'a>> {
    let mixes = &calibration.mixes;
    let measured = mixes.iter().filter(|mix| !mix.curve.is_empty());
    let curve = |mix: &'a MixCalibration| {
        let file = format!("load-curve-{}", file_name(&mix.name));
        let draw = move |size| curve(mix, &calibration.limit, &format, size);
        ViewBlock::Chart(Chart::new(file, SceneSize::Half, curve_caption(mix), draw))
    };
    let throughput = depth(mixes, &format, SceneSize::Half).map(|_| {
        let caption = "Throughput of large I/Os by queue depth.";
        let draw = move |size| depth(mixes, &format, size).unwrap_or_default();
        ViewBlock::Chart(Chart::new("throughput", SceneSize::Half, caption, draw))
    });
    measured.map(curve).chain(throughput).collect()
}

/// How to read a load curve.
fn curve_caption(mix: &MixCalibration) -> String {
    format!(
        "Load curve, {}: random {} with rising load. Each point is a queue depth; right is more \
         work done, up is slower; whiskers are intervals.",
        mix.name,
        size(mix.block_size_bytes)
    )
}

/// Every point of a mix, folded away.
fn points<'a>(mix: &MixCalibration, limit: &LatencyLimit, format: &Formatter) -> ViewBlock<'a> {
    let one = |points: &[CurvePoint], kind: &str, bytes: u64| {
        let table = ViewBlock::Table(points_table(points, limit, format));
        ViewBlock::Titled(HeadingLevel::Detail, format!("{kind} {}", size(bytes)), vec![table])
    };
    let small = one(&mix.curve, "Random", mix.block_size_bytes);
    let large = one(&mix.large_curve, "Large", mix.large_block_size_bytes);
    ViewBlock::folded(format!("All points measured: {}", mix.name), vec![small, large])
}

/// All points of a curve.
fn points_table(points: &[CurvePoint], limit: &LatencyLimit, format: &Formatter) -> ViewTable {
    let table = ViewTable::new("Points of the load curve").numbers("Outstanding").numbers("IOPS");
    let table = table.numbers("Throughput").numbers("Mean");
    let table = table.numbers(limit.quantile.to_string());
    let mut table = table.numbers("Busiest worker").numbers("Host CPU").numbers("Measured");
    for point in points {
        table.row(point_row(point, format));
    }
    table
}

/// One point with its intervals and who was busy.
fn point_row(point: &CurvePoint, format: &Formatter) -> Vec<ViewCell> {
    let estimate = |unit, estimate| ViewCell::Estimate(format.estimated(unit, estimate));
    let share = |share: f64| ViewCell::Number(format.value(Unit::Share, share));
    vec![
        ViewCell::Number(point.queue_depth.to_string()),
        estimate(Unit::IosPerS, &point.iops),
        estimate(Unit::BytesPerS, &point.throughput_bytes_per_s),
        estimate(Unit::Ns, &point.service_time_ns),
        estimate(Unit::Ns, &point.limited_quantile_ns),
        share(point.worker_busy_share),
        point.host_busy_share.map_or(ViewCell::Unknown, share),
        ViewCell::Number(show_length(point.elapsed_s)),
    ]
}
