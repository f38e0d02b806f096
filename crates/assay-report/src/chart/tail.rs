//! How many I/Os take longer than a time: the tail that a histogram's bars are too low to format.

use super::axis::{Axis, horizontal, legend, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, ScenePoint, SceneSize, Stroke};
use crate::format::Formatter;
use assay_model::Histogram;
use assay_model::measurement::Operation;
use assay_model::number::{real, share};
use assay_model::verdict::Unit;

/// Steps closer than this are not drawn, pixels.
const STEP_MIN: f64 = 1.0;

/// Draws the tails of all operations; `None` where nothing was timed.
pub(crate) fn tail(
    all: &[(Operation, &Histogram)],
    kind: &str,
    format: &Formatter,
    size: SceneSize,
) -> Option<Scene> {
    let mut scene = Scene::new(size, 280.0, format!("Share of I/Os with a longer {kind}"));
    let plot = scene.plot;
    let x = range(all, format)?.onto(plot.left, plot.right());
    let y = shares(all).onto(plot.bottom(), plot.top);
    let longer = Axis::new(format, "share of slower I/Os", Unit::Share, y, 5);
    vertical(&mut scene, format, &longer);
    horizontal(&mut scene, format, &Axis::new(format, kind, Unit::Ns, x, 6));
    for (operation, times) in all {
        let line = steps(times, x, y, format.divisor(Unit::Ns));
        scene.line(line, (*operation).into(), stroke_of(*operation));
    }
    legend(&mut scene, &entries(all.iter().map(|(operation, _)| *operation)));
    scene.description = describe(all, format);
    Some(scene)
}

/// The stroke that goes with an operation.
pub(crate) const fn stroke_of(operation: Operation) -> Stroke {
    match operation {
        Operation::Read => Stroke::Solid,
        Operation::Write => Stroke::Dashed,
        Operation::Sync => Stroke::Dotted,
    }
}

/// The legend of operations.
pub(crate) fn entries(operations: impl Iterator<Item = Operation>) -> Vec<(String, Ink, Stroke)> {
    operations
        .map(|operation| (format!("{}s", operation.name()), operation.into(), stroke_of(operation)))
        .collect()
}

/// From the shortest to the longest time of all operations.
fn range(all: &[(Operation, &Histogram)], format: &Formatter) -> Option<AxisScale> {
    let divisor = format.divisor(Unit::Ns);
    let low = all.iter().map(|(_, times)| times.min_ns().max(1)).min()?;
    let high = all.iter().map(|(_, times)| times.max_ns().max(1)).max()?;
    Some(AxisScale::log(real(low) / divisor, real(high) / divisor))
}

/// Down to the power of ten below the share of a single I/O.
fn shares(all: &[(Operation, &Histogram)]) -> AxisScale {
    let most = all.iter().map(|(_, times)| times.ios()).max().unwrap_or(0).max(10);
    let least = 10f64.powf((1.0 / real(most)).log10().floor());
    AxisScale::log_exact(least.max(1e-8), 1.0)
}

/// The share of I/Os beyond each time, as a falling line.
fn steps(times: &Histogram, x: AxisScale, y: AxisScale, divisor: f64) -> Vec<ScenePoint> {
    let mut last = (x.place(real(times.min_ns().max(1)) / divisor), y.place(1.0));
    let mut points = vec![last];
    let mut seen = 0;
    for (lowest, width, ios) in times.buckets() {
        seen += ios;
        let above = times.ios() - seen;
        let point = (x.place(real(lowest + width) / divisor), y.place(share(above, times.ios())));
        let visible = point.0 - last.0 >= STEP_MIN || point.1 - last.1 >= STEP_MIN;
        if above > 0 && visible {
            points.push(point);
            last = point;
        }
    }
    let end = x.place(real(times.max_ns().max(1)) / divisor);
    points.extend([(end, last.1), (end, y.place(y.low))]);
    points
}

/// A rare time of every operation in words.
fn describe(all: &[(Operation, &Histogram)], format: &Formatter) -> String {
    let one = |(operation, times): &(Operation, &Histogram)| {
        let rare = format.value(Unit::Ns, real(times.quantile_ns(0.999)));
        format!("0.1% of {}s take longer than {rare}.", operation.name())
    };
    all.iter().map(one).collect::<Vec<_>>().join(" ")
}
