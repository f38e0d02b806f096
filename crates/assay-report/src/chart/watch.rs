//! The machine over time: who had the processors, and how long each device took.

use super::axis::{Axis, legend, name_below, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize, Stroke};
use super::time_axis::time_axis;
use crate::format::Formatter;
use assay_model::counters::CpuCounters;
use assay_model::verdict::Unit;
use assay_model::watch::{DeviceRates, Moment};

/// A line of a chart: its name, ink and stroke, and its value in each column.
struct WatchLine<'a> {
    name: &'static str,
    ink: Ink,
    stroke: Stroke,
    value: &'a dyn Fn(&Moment) -> Option<f64>,
}

/// Shares of the processors' time, and the tasks that were ready to run for each of them.
pub(crate) fn processors(columns: &[Moment], format: &Formatter, size: SceneSize) -> Scene {
    let share =
        |of: fn(&CpuCounters) -> f64| move |moment: &Moment| moment.counters.cpu.as_ref().map(of);
    let (user, system) = (share(CpuCounters::user_share), share(CpuCounters::system_share));
    let (wait, stolen) = (share(CpuCounters::io_wait_share), share(CpuCounters::steal_share));
    let lines = [
        line("programs", Ink::Read, Stroke::Solid, &user),
        line("kernel", Ink::Write, Stroke::Solid, &system),
        line("idle, outstanding I/O", Ink::Sync, Stroke::Dashed, &wait),
        line("stolen", Ink::Mix, Stroke::Dotted, &stolen),
    ];
    draw(columns, &lines, "CPU time", Unit::Share, format, size)
}

/// Mean time of the reads and writes of a device.
pub(crate) fn device(columns: &[Moment], name: &str, format: &Formatter, size: SceneSize) -> Scene {
    let time = |of: fn(DeviceRates) -> Option<f64>| {
        move |moment: &Moment| {
            let device = moment.counters.device(name)?;
            of(device.rates(moment.counters.time_ns))
        }
    };
    let read = time(|rates| rates.read_time_mean_ns);
    let write = time(|rates| rates.write_time_mean_ns);
    let joint = time(|rates| rates.joint_time_mean_ns);
    let apart = [
        line("reads", Ink::Read, Stroke::Solid, &read),
        line("writes", Ink::Write, Stroke::Dashed, &write),
    ];
    let together = [line("reads and writes", Ink::Mix, Stroke::Solid, &joint)];
    let is_joint = columns.iter().any(|column| joint(column).is_some());
    let lines = if is_joint { &together[..] } else { &apart[..] };
    let mut scene = draw(columns, lines, "Mean time", Unit::Ns, format, size);
    scene.title = format!("Mean time of an I/O of {name}");
    scene
}

fn line<'a>(
    name: &'static str,
    ink: Ink,
    stroke: Stroke,
    value: &'a dyn Fn(&Moment) -> Option<f64>,
) -> WatchLine<'a> {
    WatchLine { name, ink, stroke, value }
}

/// Lines over one time axis, from zero.
fn draw(
    columns: &[Moment],
    lines: &[WatchLine<'_>],
    title: &str,
    unit: Unit,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let columns = thinned(columns, size.columns_max());
    let mut scene = Scene::new(size, 200.0, title);
    let plot = scene.plot;
    let length_s: f64 = columns.iter().map(Moment::elapsed_s).sum();
    let x = time_axis(&mut scene, length_s);
    name_below(&mut scene, "time since watching began");
    let values =
        lines.iter().flat_map(|line| columns.iter().filter_map(|column| (line.value)(column)));
    let highest = values.fold(0.0, f64::max);
    let y = AxisScale::from_zero(highest, 4).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, title, unit, y, 4));
    for line in lines {
        let points = points(&columns, line.value, x, y);
        scene.marks.push(SceneMark::Line { points, ink: line.ink, stroke: line.stroke });
    }
    let entries = lines.iter().map(|line| (line.name.to_owned(), line.ink, line.stroke));
    legend(&mut scene, &entries.collect::<Vec<_>>());
    scene.description = format!("Maximum: {}.", format.value(unit, highest));
    scene
}

/// A point in the middle of every column that has a value.
fn points(
    columns: &[Moment],
    value: &dyn Fn(&Moment) -> Option<f64>,
    x: AxisScale,
    y: AxisScale,
) -> Vec<ScenePoint> {
    let mut begin_s = 0.0;
    let mut points = Vec::new();
    for column in columns {
        let middle_s = begin_s + column.elapsed_s() / 2.0;
        points.extend(value(column).map(|value| (x.place(middle_s), y.place(value))));
        begin_s += column.elapsed_s();
    }
    points
}

/// The same time in at most this many columns.
fn thinned(columns: &[Moment], columns_max: usize) -> Vec<Moment> {
    let width = columns.len().div_ceil(columns_max.max(1)).max(1);
    let join = |chunk: &[Moment]| {
        let sum = chunk.iter().cloned().reduce(|one, next| one.plus(&next));
        sum.unwrap_or_default()
    };
    columns.chunks(width).map(join).collect()
}
