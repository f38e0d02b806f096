//! Numbers of a ladder by sessions, several lines in one picture; repeats are points around the
//! line.

use super::axis::{Axis, legend, vertical};
use super::depth::depths;
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneSize, Stroke};
use crate::format::Formatter;
use crate::ladder::several;
use assay_model::load::Rung;
use assay_model::verdict::Unit;

/// One line.
pub(crate) struct LadderCurve {
    /// Its name in the legend.
    pub(crate) name: &'static str,
    /// Its ink.
    pub(crate) ink: Ink,
    /// How it is drawn.
    pub(crate) stroke: Stroke,
    /// The number of a step in base units; none where it is not known.
    pub(crate) value: fn(&Rung) -> Option<f64>,
}

/// A chart of lines over sessions.
pub(crate) struct LadderChart<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// What sessions are called: `users`.
    pub(crate) who: &'a str,
    /// Name of the vertical axis.
    pub(crate) name: &'a str,
    /// Its unit: times are drawn on a logarithmic scale, rates from zero.
    pub(crate) unit: Unit,
    /// The lines.
    pub(crate) curves: &'a [LadderCurve],
}

/// Draws lines over the sessions of steps.
pub(crate) fn ladder(
    chart: &LadderChart<'_>,
    rungs: &[&Rung],
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let LadderChart { who, unit, curves, .. } = *chart;
    let mut scene = Scene::new(size, 280.0, chart.title.to_owned());
    let plot = scene.plot;
    let sessions = || rungs.iter().map(|rung| f64::from(rung.sessions));
    let (least, most) = (sessions().fold(f64::INFINITY, f64::min), sessions().fold(1.0, f64::max));
    let x = AxisScale::log(least.min(most), most).onto(plot.left, plot.right());
    let y = vertical_scale(unit, rungs, curves).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, chart.name, unit, y, 5));
    depths(&mut scene, x, rungs.iter().map(|rung| rung.sessions).collect(), who);
    let words = |curve: &LadderCurve, rung: &Rung, value| {
        let sessions = several(rung.sessions, one_of(who));
        format!("{}, {sessions}: {}", curve.name, format.value(unit, value))
    };
    for curve in curves {
        draw(&mut scene, rungs, curve, x, y, words);
    }
    let entries: Vec<_> =
        curves.iter().map(|curve| (curve.name.to_owned(), curve.ink, curve.stroke)).collect();
    legend(&mut scene, &entries);
    scene.description = describe(rungs, curves, who, unit, format);
    scene
}

fn vertical_scale(unit: Unit, rungs: &[&Rung], curves: &[LadderCurve]) -> AxisScale {
    let all =
        || curves.iter().flat_map(|curve| rungs.iter().filter_map(|rung| (curve.value)(rung)));
    let highest = all().fold(0.0, f64::max);
    match unit {
        Unit::Ns => AxisScale::log(all().fold(f64::INFINITY, f64::min).min(highest), highest),
        _ => AxisScale::from_zero(highest, 5),
    }
}

fn draw(
    scene: &mut Scene,
    rungs: &[&Rung],
    curve: &LadderCurve,
    x: AxisScale,
    y: AxisScale,
    words: impl Fn(&LadderCurve, &Rung, f64) -> String,
) {
    let place =
        |rung: &&Rung| Some((x.place(f64::from(rung.sessions)), y.place((curve.value)(rung)?)));
    let mut sessions: Vec<u32> = rungs.iter().map(|rung| rung.sessions).collect();
    sessions.sort_unstable();
    sessions.dedup();
    // The line joins the middle repeats, the lower of two.
    let middle = |sessions: u32| {
        let repeats = rungs.iter().filter(|rung| rung.sessions == sessions);
        let mut values: Vec<f64> = repeats.filter_map(|rung| (curve.value)(rung)).collect();
        values.sort_by(f64::total_cmp);
        let value = values.get(values.len().saturating_sub(1) / 2)?;
        Some((x.place(f64::from(sessions)), y.place(*value)))
    };
    scene.line(sessions.into_iter().filter_map(middle).collect(), curve.ink, curve.stroke);
    for rung in rungs {
        if let (Some(place), Some(value)) = (place(rung), (curve.value)(rung)) {
            scene.dot(place, curve.ink, words(curve, rung, value));
        }
    }
}

/// The last step in words.
fn describe(
    rungs: &[&Rung],
    curves: &[LadderCurve],
    who: &str,
    unit: Unit,
    format: &Formatter,
) -> String {
    let Some(last) = rungs.last() else {
        return "Nothing was measured.".to_owned();
    };
    let one = |curve: &LadderCurve| {
        Some(format!("{} {}", curve.name, format.value(unit, (curve.value)(last)?)))
    };
    let said: Vec<String> = curves.iter().filter_map(one).collect();
    format!("With {}: {}.", several(last.sessions, one_of(who)), said.join(", "))
}

/// The singular of whom an axis counts.
fn one_of(who: &str) -> &str {
    who.strip_suffix('s').unwrap_or(who)
}
