//! What the calibration found: a card for each mix, the load curves, the throughput, and the tables behind them.

use super::card::card;
use super::figure::Figures;
use super::steps;
use super::table::{Cell, Table};
use crate::chart::curve::curve;
use crate::chart::depth::depth;
use crate::chart::scene::Size;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::Report;
use crate::markup::{Markup, tag};
use crate::phrases::{nines, size};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, CurvePoint, LatencyLimit, MixCalibration};
use assay_model::verdict::Unit;

/// The whole section; empty without a calibration.
pub(crate) fn body(report: &Report, format: &Formatter, figures: &mut Figures) -> Markup {
    let Some(calibration) = &report.calibration else {
        return Markup::new();
    };
    let cards = calibration.mixes.iter().map(|mix| card(mix, calibration, format));
    let tables = calibration.mixes.iter().map(|mix| tables(mix, &calibration.limit, format));
    let parts = [
        tag("div").class("cards").all(cards),
        tag("div").class("charts").body(charts(calibration, format, figures)),
        steps::body(calibration, format),
        tables.collect(),
    ];
    parts.into_iter().collect()
}

/// A load curve a mix, and the throughput of all.
fn charts(calibration: &Calibration, format: &Formatter, figures: &mut Figures) -> Markup {
    let mixes = &calibration.mixes;
    let mut charts = Markup::new();
    for mix in mixes.iter().filter(|mix| !mix.curve.is_empty()) {
        let caption = curve_caption(mix);
        let draw = |size| curve(mix, &calibration.limit, format, size);
        charts.push(figures.figure(Size::Half, &caption, draw));
    }
    if depth(mixes, format, Size::Half).is_some() {
        let caption = "Throughput of large I/Os by how many are outstanding.";
        let draw = |size| depth(mixes, format, size).unwrap_or_default();
        charts.push(figures.figure(Size::Half, caption, draw));
    }
    charts
}

/// How to read a load curve.
fn curve_caption(mix: &MixCalibration) -> String {
    format!(
        "Load curve, {}: random {} with rising load. Each point is a number of outstanding I/Os; \
         right is more work done, up is slower; whiskers are intervals.",
        mix.name,
        size(mix.transfer_bytes)
    )
}

/// Every point of a mix, folded away.
fn tables(mix: &MixCalibration, limit: &LatencyLimit, format: &Formatter) -> Markup {
    let one = |points: &[CurvePoint], kind: &str, bytes: u64| {
        if points.is_empty() {
            return Markup::new();
        }
        let title = tag("h4").text(&format!("{kind} {}", size(bytes)));
        title.and(points_table(points, limit, format))
    };
    let small = one(&mix.curve, "Random", mix.transfer_bytes);
    let tables = small.and(one(&mix.large_curve, "Large", mix.large_transfer_bytes));
    if tables.is_empty() {
        return tables;
    }
    let title = tag("summary").text(&format!("All points measured: {}", mix.name));
    tag("details").body(title.and(tables))
}

/// All points of a curve.
fn points_table(points: &[CurvePoint], limit: &LatencyLimit, format: &Formatter) -> Markup {
    let table = Table::new("Points of the load curve").numbers("Outstanding").numbers("IOPS");
    let table = table.numbers("Throughput").numbers("Mean");
    let table = table.numbers(format!("p{}", nines(limit.quantile)));
    let mut table = table.numbers("Busiest worker").numbers("Host CPU").numbers("Measured");
    for point in points {
        table.row(point_row(point, format));
    }
    table.markup()
}

/// One point with its intervals and who was busy.
fn point_row(point: &CurvePoint, format: &Formatter) -> Vec<Cell> {
    let sure = |unit: Unit, estimate: &Estimate| {
        Cell::Sure(format.value(unit, estimate.value), format.interval(unit, estimate))
    };
    let share = |share: f64| Cell::Number(format.value(Unit::Share, share));
    vec![
        Cell::Number(point.outstanding.to_string()),
        sure(Unit::IosPerS, &point.iops),
        sure(Unit::BytesPerS, &point.throughput_bytes_per_s),
        sure(Unit::Ns, &point.service_time_ns),
        sure(Unit::Ns, &point.limited_quantile_ns),
        share(point.worker_busy_share),
        point.host_busy_share.map_or(Cell::Number("–".to_owned()), share),
        Cell::Number(show_length(point.elapsed_s)),
    ]
}
