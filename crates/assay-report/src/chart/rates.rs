//! IOPS over time: the mean of each column, in the band between its slowest and its fastest
//! interval.

use super::axis::{Axis, legend, name_below, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize};
use super::tail::{entries, stroke_of};
use super::time_axis::{events, time_axis};
use crate::format::Formatter;
use crate::input::RunIncident;
use crate::timeline::{ColumnOperation, RunTimeline, TimelineColumn};
use assay_model::measurement::Operation;
use assay_model::number::{rate, seconds};
use assay_model::verdict::Unit;

/// Draws the rates of all operations.
pub(crate) fn rates(
    timeline: &RunTimeline,
    happened: &[RunIncident],
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let timeline = timeline.coarser(size.columns_max());
    let mut scene = Scene::new(size, 240.0, "IOPS over time");
    let plot = scene.plot;
    let x = time_axis(&mut scene, seconds(timeline.end_ns()));
    name_below(&mut scene, "time since the measurement began");
    let divisor = format.divisor(Unit::IosPerS);
    let highest = highest(&timeline) / divisor;
    let y = AxisScale::from_zero(highest, 4).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, "IOPS", Unit::IosPerS, y, 4));
    for operation in timeline.operations() {
        draw(&mut scene, timeline.columns(), operation, x, y, divisor);
    }
    legend(&mut scene, &entries(timeline.operations().into_iter()));
    events(&mut scene, x, happened);
    scene.description = describe(&timeline, format);
    scene
}

/// The highest rate of any interval of any operation.
fn highest(timeline: &RunTimeline) -> f64 {
    let all = timeline.operations();
    let columns = timeline.columns().iter();
    let rates = columns.flat_map(|column| all.iter().map(|one| column.operation(*one).iops_max));
    rates.fold(0.0, f64::max)
}

/// The band and the mean of one operation.
fn draw(
    scene: &mut Scene,
    columns: &[TimelineColumn],
    operation: Operation,
    x: AxisScale,
    y: AxisScale,
    divisor: f64,
) {
    let ink = Ink::from(operation);
    let edge = |pick: fn(&ColumnOperation) -> f64| {
        steps(columns, x, |column| Some(y.place(pick(column.operation(operation)) / divisor)))
    };
    let points = band(edge(|column| column.iops_min), edge(|column| column.iops_max));
    scene.stretching.push(SceneMark::Area { points, ink });
    let mean = |column: &TimelineColumn| rate(column.operation(operation).ios, column.elapsed_s());
    let points = steps(columns, x, |column| Some(y.place(mean(column) / divisor)));
    let stroke = stroke_of(operation);
    scene.stretching.push(SceneMark::Line { points, ink, stroke });
}

/// The outline between two lines.
pub(crate) fn band(one: Vec<ScenePoint>, other: Vec<ScenePoint>) -> Vec<ScenePoint> {
    other.into_iter().chain(one.into_iter().rev()).collect()
}

/// One point in the middle of every column that has a value; the first and last reach to the ends.
pub(crate) fn steps(
    columns: &[TimelineColumn],
    x: AxisScale,
    value: impl Fn(&TimelineColumn) -> Option<f64>,
) -> Vec<ScenePoint> {
    let middle = |column: &TimelineColumn| {
        let time_s = f64::midpoint(seconds(column.start_ns), seconds(column.end_ns));
        Some((x.place(time_s), value(column)?))
    };
    let mut points: Vec<ScenePoint> = columns.iter().filter_map(middle).collect();
    if let (Some(first), Some(point)) = (columns.first(), points.first().copied()) {
        points.insert(0, (x.place(seconds(first.start_ns)), point.1));
    }
    if let (Some(last), Some(point)) = (columns.last(), points.last().copied()) {
        points.push((x.place(seconds(last.end_ns)), point.1));
    }
    points
}

/// The extremes of every operation in words.
fn describe(timeline: &RunTimeline, format: &Formatter) -> String {
    let one = |operation: Operation| {
        let columns = timeline.columns().iter().map(|column| column.operation(operation));
        let low = columns.clone().map(|column| column.iops_min).fold(f64::INFINITY, f64::min);
        let high = columns.map(|column| column.iops_max).fold(0.0, f64::max);
        let (low, high) = (format.value(Unit::IosPerS, low), format.value(Unit::IosPerS, high));
        format!("Between {low} and {high} {}s.", operation.name())
    };
    timeline.operations().into_iter().map(one).collect::<Vec<_>>().join(" ")
}
