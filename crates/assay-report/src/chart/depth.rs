//! Throughput of large I/Os by how many of them are outstanding, all mixes in one picture.

use super::axis::{Axis, base_line, legend, name_below, vertical};
use super::curve::ink_of;
use super::scale::{AxisScale, range_of};
use super::scene::{Ink, Scene, SceneReading, SceneSize, Stroke, TextAnchor};
use crate::format::Formatter;
use assay_model::calibration::{CurvePoint, MixCalibration};
use assay_model::verdict::Unit;
use std::collections::BTreeSet;

/// Draws the large curves; `None` where there are none.
pub(crate) fn depth(
    mixes: &[MixCalibration],
    format: &Formatter,
    size: SceneSize,
) -> Option<Scene> {
    let points = || mixes.iter().flat_map(|mix| &mix.large_curve);
    let least = points().map(depth_of).reduce(f64::min)?;
    let most = points().map(depth_of).reduce(f64::max)?;
    let (_, highest) = range_of(points().map(|point| &point.throughput_bytes_per_s))?;
    let highest = highest / format.divisor(Unit::BytesPerS);
    let mut scene = Scene::new(size, 280.0, "Throughput of large I/Os by queue depth");
    let plot = scene.plot;
    let x = AxisScale::log(least, most).onto(plot.left, plot.right());
    let y = AxisScale::from_zero(highest, 5).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, "throughput", Unit::BytesPerS, y, 5));
    depths(&mut scene, x, points().map(|point| point.queue_depth).collect(), "queue depth");
    let measured = mixes.iter().filter(|mix| !mix.large_curve.is_empty());
    let entries = measured.map(|mix| {
        draw(&mut scene, mix, format, x, y);
        (mix.name.clone(), ink_of(mix.read_share), stroke_of(mix))
    });
    let entries: Vec<_> = entries.collect();
    legend(&mut scene, &entries);
    scene.description = describe(mixes, format);
    Some(scene)
}

/// Outstanding I/Os as a number to be placed.
fn depth_of(point: &CurvePoint) -> f64 {
    f64::from(point.queue_depth)
}

/// The stroke that goes with a mix.
fn stroke_of(mix: &MixCalibration) -> Stroke {
    match ink_of(mix.read_share) {
        Ink::Read => Stroke::Solid,
        Ink::Write => Stroke::Dashed,
        _ => Stroke::Dotted,
    }
}

/// The depths that were measured are the ticks.
pub(crate) fn depths(scene: &mut Scene, x: AxisScale, depths: BTreeSet<u32>, name: &str) {
    let bottom = scene.plot.bottom();
    let mut last = f64::NEG_INFINITY;
    for depth in depths {
        let place = x.place(f64::from(depth));
        scene.hair((place, bottom), (place, bottom + 4.0), Ink::Axis);
        if place - last > 24.0 {
            scene.text((place, bottom + 17.0), TextAnchor::Middle, Ink::Axis, depth.to_string());
            last = place;
        }
    }
    base_line(scene);
    name_below(scene, name);
    scene.across = Some(SceneReading { scale: x, unit: "", name: name.to_owned() });
}

/// The line of one mix with its points and their intervals.
fn draw(scene: &mut Scene, mix: &MixCalibration, format: &Formatter, x: AxisScale, y: AxisScale) {
    let ink = ink_of(mix.read_share);
    let height = |bytes_per_s: f64| y.place(bytes_per_s / format.divisor(Unit::BytesPerS));
    let mut points: Vec<&CurvePoint> = mix.large_curve.iter().collect();
    points.sort_by_key(|point| point.queue_depth);
    let place = |point: &&CurvePoint| {
        (x.place(depth_of(point)), height(point.throughput_bytes_per_s.value))
    };
    scene.line(points.iter().map(place).collect(), ink, stroke_of(mix));
    for point in &points {
        let throughput = &point.throughput_bytes_per_s;
        if !throughput.is_at_least() {
            let ends = (height(throughput.low), height(throughput.high));
            scene.whisker(x.place(depth_of(point)), ends, ink);
        }
        let shown = format.value(Unit::BytesPerS, throughput.value);
        let says = format!("{}, queue depth {}: {shown}", mix.name, point.queue_depth);
        scene.dot(place(point), ink, says);
    }
}

/// The best of every mix in words.
fn describe(mixes: &[MixCalibration], format: &Formatter) -> String {
    let one = |mix: &MixCalibration| {
        let Some(most) = &mix.throughput_max_bytes_per_s else {
            return format!("{} was not measured.", mix.name);
        };
        let rate = format.value(Unit::BytesPerS, most.rate.value);
        format!("{} reaches {rate} at queue depth {}.", mix.name, most.queue_depth)
    };
    mixes.iter().map(one).collect::<Vec<_>>().join(" ")
}
