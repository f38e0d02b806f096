//! Latency over time: median, p99 and longest time of each column, one chart an operation.

use super::axis::{Axis, legend, vertical};
use super::rates::{band, steps};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize, Stroke};
use super::time_axis::{events, time_axis};
use crate::format::Formatter;
use crate::input::RunIncident;
use crate::phrases::capital;
use crate::timeline::{ColumnOperation, RunTimeline};
use assay_model::measurement::Operation;
use assay_model::number::{real, seconds};
use assay_model::verdict::Unit;

/// A number of a column's times, ns.
type Pick = fn(&ColumnOperation) -> Option<u64>;

/// Half of the I/Os keep it.
const MEDIAN: Pick = |column| column.times.quantile_ns(0.5);
/// All but one in a hundred keep it.
const RARE: Pick = |column| column.times.quantile_ns(0.99);
/// All keep it.
const LONGEST: Pick = |column| (column.times.ios() > 0).then(|| column.times.max_ns());

/// What is drawn, from the bottom up.
const LINES: [(&str, Pick, Stroke); 3] = [
    ("median", MEDIAN, Stroke::Solid),
    ("p99", RARE, Stroke::Dashed),
    ("longest", LONGEST, Stroke::Dotted),
];

/// Draws the times of one operation.
pub(crate) fn latency(
    timeline: &RunTimeline,
    operation: Operation,
    happened: &[RunIncident],
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let timeline = timeline.coarser(size.columns_max());
    let name = format!("{}s, {}", operation.name(), timeline.kind());
    let mut scene = Scene::unnamed(size, 200.0, format!("{} over time", capital(&name)));
    let plot = scene.plot;
    let x = time_axis(&mut scene, seconds(timeline.end_ns()));
    let y = range(&timeline, operation, format).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, &name, Unit::Ns, y, 5));
    draw(&mut scene, &timeline, operation, x, y, format.divisor(Unit::Ns));
    let entries = LINES.map(|(name, _, stroke)| (name.to_owned(), operation.into(), stroke));
    legend(&mut scene, &entries);
    events(&mut scene, x, happened);
    scene.description = describe(&timeline, operation, format);
    scene
}

/// One number of every column that has it, ns.
fn values(timeline: &RunTimeline, operation: Operation, pick: Pick) -> impl Iterator<Item = u64> {
    let columns = timeline.columns().iter();
    columns.filter_map(move |column| pick(column.operation(operation)))
}

/// From the lowest median to the longest time.
fn range(timeline: &RunTimeline, operation: Operation, format: &Formatter) -> AxisScale {
    let divisor = format.divisor(Unit::Ns);
    let low = values(timeline, operation, MEDIAN).min().unwrap_or(1).max(1);
    let high = values(timeline, operation, LONGEST).max().unwrap_or(1).max(1);
    AxisScale::log(real(low) / divisor, real(high) / divisor)
}

/// The band reaches from the median to p99: half of the I/Os, less the rare ones.
fn draw(
    scene: &mut Scene,
    timeline: &RunTimeline,
    operation: Operation,
    x: AxisScale,
    y: AxisScale,
    divisor: f64,
) {
    let ink = Ink::from(operation);
    let line = |pick: Pick| -> Vec<ScenePoint> {
        steps(timeline.columns(), x, |column| {
            let time = pick(column.operation(operation))?;
            Some(y.place(real(time.max(1)) / divisor))
        })
    };
    let points = band(line(MEDIAN), line(RARE));
    scene.stretching.push(SceneMark::Area { points, ink });
    for (_, pick, stroke) in LINES {
        scene.stretching.push(SceneMark::Line { points: line(pick), ink, stroke });
    }
}

/// The range in words.
fn describe(timeline: &RunTimeline, operation: Operation, format: &Formatter) -> String {
    let low = values(timeline, operation, MEDIAN).min().unwrap_or(0);
    let high = values(timeline, operation, LONGEST).max().unwrap_or(0);
    let (low, high) = (format.value(Unit::Ns, real(low)), format.value(Unit::Ns, real(high)));
    format!("From a lowest median of {low} to a longest time of {high}.")
}
