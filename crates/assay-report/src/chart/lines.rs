//! Lines over a number, a size or time, with intervals about their points and marks where something
//! happened.

use super::annotation::annotate;
use super::axis::{Axis, base_line, horizontal, legend, name_below, vertical};
use super::rates::band;
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize, Stroke, TextAnchor};
use super::time_axis::time_axis;
use crate::format::Formatter;
use crate::phrases::file_name;
use crate::view::Chart;
use assay_model::Estimate;
use assay_model::verdict::Unit;

/// How places on the horizontal axis are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Across {
    /// From zero.
    #[default]
    Linear,
    /// Equal ratios are equally long.
    Log,
    /// Times in ns, equal ratios equally long.
    LogTime,
    /// Seconds since the beginning.
    Time,
}

/// Lines over one axis.
#[derive(Clone, Debug)]
pub(crate) struct ChartLines {
    /// What it shows.
    pub(crate) title: String,
    /// What is across.
    pub(crate) across: Across,
    /// Its name.
    pub(crate) across_name: String,
    /// What is upwards.
    pub(crate) name: String,
    /// Unit of what is upwards.
    pub(crate) unit: Unit,
    /// Whether the vertical axis is logarithmic; else it begins at zero.
    pub(crate) log: bool,
    /// What is drawn.
    pub(crate) curves: Vec<ChartLine>,
    /// Places across at which something happened.
    pub(crate) marks: Vec<(f64, String)>,
}

/// An interval wider than this share of its value says nothing that a picture could show; the table
/// has it.
const WIDEST: f64 = 0.5;
/// Places across that all lie above this share of the largest begin at the smallest, not at zero.
const NEAR: f64 = 0.3;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct ChartLine {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) ink: Ink,
    /// Its stroke.
    pub(crate) stroke: Stroke,
    /// Whether its points are drawn with their intervals.
    pub(crate) dots: bool,
    /// Whether the intervals are joined to a band.
    pub(crate) band: bool,
    /// The points, ascending.
    pub(crate) points: Vec<(f64, Estimate)>,
}

impl ChartLines {
    /// The same as a chart.
    pub(crate) fn chart<'a>(self, size: SceneSize, format: Formatter) -> Chart<'a> {
        let caption = self.title.clone();
        self.captioned(size, caption, format)
    }

    /// The same with a caption that says more than the title.
    pub(crate) fn captioned<'a>(
        self,
        size: SceneSize,
        caption: impl Into<String>,
        format: Formatter,
    ) -> Chart<'a> {
        let file = file_name(&self.title.to_lowercase());
        Chart::new(file, size, caption, move |size| lines(&self, &format, size))
    }
}

/// Draws the lines.
fn lines(of: &ChartLines, format: &Formatter, size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 300.0, of.title.clone());
    let wanted = if size == SceneSize::Narrow { 4 } else { 6 };
    let x = across(&mut scene, of, format, wanted);
    let y = upwards(&scene, of, format);
    vertical(&mut scene, format, &Axis::new(format, &of.name, of.unit, y, 5));
    let of_time = of.across == Across::LogTime;
    let along = |at: f64| x.place(if of_time { at / format.divisor(Unit::Ns) } else { at });
    for line in &of.curves {
        draw(&mut scene, line, &along, y, of.unit, format);
    }
    for (at, _) in &of.marks {
        let ends = vec![(x.place(*at), scene.plot.top), (x.place(*at), scene.plot.bottom())];
        scene.line(ends, Ink::Found, Stroke::Dotted);
    }
    for (at, what) in &of.marks {
        mark(&mut scene, x.place(*at), what);
    }
    let entries: Vec<(String, Ink, Stroke)> = of
        .curves
        .iter()
        .filter(|line| !line.name.is_empty())
        .map(|line| (line.name.clone(), line.ink, line.stroke))
        .collect();
    let fitting = if size == SceneSize::Narrow { 3 } else { 6 };
    legend(&mut scene, &entries[..entries.len().min(fitting)]);
    scene.description = describe(of, format);
    scene
}

/// The horizontal axis.
fn across(scene: &mut Scene, of: &ChartLines, format: &Formatter, wanted: usize) -> AxisScale {
    let plot = scene.plot;
    let places = || of.curves.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (low, high) = (places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max));
    let scale = match of.across {
        Across::Time => {
            let scale = time_axis(scene, high);
            base_line(scene);
            name_below(scene, &of.across_name);
            return scale;
        }
        Across::Linear if low > NEAR * high => AxisScale::linear(low, high),
        Across::Linear => AxisScale::from_zero(high, wanted),
        Across::Log => AxisScale::log(low, high),
        Across::LogTime => {
            let divisor = format.divisor(Unit::Ns);
            let scale = AxisScale::log(low / divisor, high / divisor).onto(plot.left, plot.right());
            horizontal(scene, format, &Axis::new(format, &of.across_name, Unit::Ns, scale, wanted));
            return scale;
        }
    };
    let scale = scale.onto(plot.left, plot.right());
    // Numbers up to one are shares: read share, locality, fill.
    let unit = if of.across == Across::Linear && high <= 1.0 { Unit::Share } else { Unit::Count };
    let axis = Axis { scale, unit, name: of.across_name.clone(), wanted };
    // Factors and sizes are chosen, and no figure of the storage: they are never hidden.
    horizontal(scene, &Formatter::default(), &axis);
    scale
}

/// The vertical scale: from zero, or equal ratios.
fn upwards(scene: &Scene, of: &ChartLines, format: &Formatter) -> AxisScale {
    let divisor = format.divisor(of.unit);
    let estimates = || of.curves.iter().flat_map(|line| line.points.iter().map(|point| &point.1));
    let values = || estimates().map(|estimate| estimate.value / divisor);
    let high = estimates()
        .map(|estimate| estimate.value.max(estimate.high.min(2.0 * estimate.value)) / divisor)
        .fold(0.0, f64::max);
    let scale = if of.log {
        AxisScale::log(values().filter(|value| *value > 0.0).fold(high, f64::min), high)
    } else {
        AxisScale::from_zero(high, 5)
    };
    scale.onto(scene.plot.bottom(), scene.plot.top)
}

fn draw(
    scene: &mut Scene,
    line: &ChartLine,
    along: &dyn Fn(f64) -> f64,
    y: AxisScale,
    unit: Unit,
    format: &Formatter,
) {
    let height = |value: f64| y.place(value / format.divisor(unit));
    let points: Vec<ScenePoint> =
        line.points.iter().map(|(at, estimate)| (along(*at), height(estimate.value))).collect();
    if line.band {
        let edge = |of: fn(&Estimate) -> f64| -> Vec<ScenePoint> {
            line.points
                .iter()
                .map(|(at, value)| {
                    // A band that fills the plot would only hide the lines.
                    let is_known = value.relative_half_width() <= 2.0 * WIDEST;
                    let edge = if is_known { of(value) } else { value.value };
                    (along(*at), within(scene, height(edge)))
                })
                .collect()
        };
        let points = band(edge(|value| value.low), edge(|value| value.high));
        scene.marks.push(SceneMark::Area { points, ink: line.ink });
    }
    scene.line(points, line.ink, line.stroke);
    for (at, estimate) in line.points.iter().filter(|_| line.dots) {
        let place = along(*at);
        if !line.band && estimate.relative_half_width() <= WIDEST {
            scene.whisker(place, (height(estimate.low), height(estimate.high)), line.ink);
        }
        let says = format!("{}: {}", line.name, format.value(unit, estimate.value));
        scene.dot((place, height(estimate.value)), line.ink, says);
    }
}

/// A height that does not leave the plot, where an interval reaches further than its axis.
fn within(scene: &Scene, height: f64) -> f64 {
    height.clamp(scene.plot.top, scene.plot.bottom())
}

/// What happened at a line from top to bottom.
fn mark(scene: &mut Scene, x: f64, what: &str) {
    let plot = scene.plot;
    let heights = [plot.top + 11.0, plot.bottom() - 6.0, plot.top + 26.0, plot.bottom() - 21.0];
    let places =
        heights.map(|y| [((x + 4.0, y), TextAnchor::Start), ((x - 4.0, y), TextAnchor::End)]);
    annotate(scene, Ink::Found, what, places.as_flattened());
}

/// The ends of every line in words.
fn describe(of: &ChartLines, format: &Formatter) -> String {
    let one = |line: &ChartLine| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        let shown = |point: &(f64, Estimate)| format.value(of.unit, point.1.value);
        Some(format!("{}: from {} to {}.", line.name, shown(first), shown(last)))
    };
    of.curves.iter().filter_map(one).collect::<Vec<_>>().join(" ")
}
