//! Bars side by side: a group for each name, in it a bar for each kind, with a whisker where there
//! were several.

use super::axis::{Axis, ROW, base_line, legend, name_below, text_width, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneSize, Stroke, TextAnchor};
use crate::format::Formatter;
use crate::view::Chart;
use assay_model::number::{index, real_len};
use assay_model::verdict::Unit;

/// Width of two letters of a label with the space behind them, pixels.
const LABEL: f64 = 19.0;
/// Share of a group's room that its bars fill.
const FILLED: f64 = 0.76;

/// Bars side by side, in groups of one name.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// What they format.
    pub(crate) title: String,
    /// What is upwards.
    pub(crate) name: String,
    /// What is across.
    pub(crate) across_name: String,
    /// Unit of what is upwards.
    pub(crate) unit: Unit,
    /// Names of the groups.
    pub(crate) names: Vec<String>,
    /// What is in every group.
    pub(crate) kinds: Vec<BarKind>,
}

/// The bars of one kind, one a group; none where it is not known.
#[derive(Clone, Debug)]
pub(crate) struct BarKind {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) ink: Ink,
    /// One a group.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar with the least and the greatest of what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The middle one.
    pub(crate) value: f64,
    /// The least.
    pub(crate) low: f64,
    /// The greatest.
    pub(crate) high: f64,
    /// Whether one of them was cut off, so that the value is a lower bound.
    pub(crate) is_cut: bool,
    /// How many they are.
    pub(crate) n: usize,
}

impl Bars {
    /// The same as a chart.
    pub(crate) fn chart<'a>(self, file: &str, size: SceneSize, format: Formatter) -> Chart<'a> {
        let caption = self.title.clone();
        Chart::new(file, size, caption, move |size| bars(&self, &format, size))
    }
}

/// Draws the bars, from zero: the length of a bar is its value.
fn bars(chart: &Bars, format: &Formatter, size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 280.0, chart.title.clone());
    let plot = scene.plot;
    let divisor = format.divisor(chart.unit);
    let values = || chart.kinds.iter().flat_map(|kind| kind.bars.iter().flatten());
    let highest = values().map(|bar| bar.high / divisor).fold(0.0, f64::max);
    let y = AxisScale::from_zero(highest, 5).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, &chart.name, chart.unit, y, 5));
    let step = plot.width / real_len(chart.names.len().max(1));
    for (place, kind) in chart.kinds.iter().enumerate() {
        let width = FILLED * step / real_len(chart.kinds.len().max(1));
        let left = plot.left + (1.0 - FILLED) / 2.0 * step + width * real_len(place);
        draw(&mut scene, kind, left, step, width, |value| y.place(value / divisor));
    }
    labels(&mut scene, chart, step);
    base_line(&mut scene);
    name_below(&mut scene, &chart.across_name);
    let entries: Vec<_> =
        chart.kinds.iter().map(|kind| (kind.name.clone(), kind.ink, Stroke::Solid)).collect();
    legend(&mut scene, &entries);
    scene.description = describe(chart, format);
    scene
}

/// The bars of a kind; what was cut off at a limit has no whisker, because where it would have
/// ended is not known.
fn draw(
    scene: &mut Scene,
    kind: &BarKind,
    left: f64,
    step: f64,
    width: f64,
    y: impl Fn(f64) -> f64,
) {
    let mut rects = Vec::new();
    let bottom = scene.plot.bottom();
    for (group, bar) in kind.bars.iter().enumerate() {
        let Some(bar) = bar else { continue };
        let (at, top) = (left + step * real_len(group), y(bar.value));
        // Even the shortest leaves a trace.
        let height = (bottom - top).max(0.8);
        rects.push([at, bottom - height, (width - 0.6).max(0.6), height]);
        if !bar.is_cut {
            let middle = at + width / 2.0;
            scene.whisker(middle, (y(bar.low), y(bar.high)), Ink::Axis);
        }
    }
    scene.marks.push(SceneMark::Rects { rects, ink: kind.ink });
}

/// Names below, as many as there is room for; long ones in two rows in turn, and shortened where
/// that is not enough.
fn labels(scene: &mut Scene, chart: &Bars, step: f64) {
    let every = if step >= LABEL { 1 } else { 2 };
    let (left, bottom) = (scene.plot.left, scene.plot.bottom());
    let widest = chart.names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    let rows = if widest > real_len(every) * step && step >= LABEL { 2 } else { 1 };
    for (place, name) in chart.names.iter().enumerate().step_by(every) {
        let row = real_len(place % rows);
        let at = (left + step * (real_len(place) + 0.5), bottom + 17.0 + ROW * row);
        let name = if rows > 1 { shortened(name, 2.0 * step) } else { name.clone() };
        scene.text(at, TextAnchor::Middle, Ink::Axis, name);
    }
}

/// The end of a name where all of it is wider: what is different stands there.
fn shortened(name: &str, width: f64) -> String {
    let all = name.chars().count();
    let room = index(width / text_width("m")).max(4);
    if all <= room {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(all - room + 1).collect();
    format!("…{kept}")
}

/// The longest bar of each kind in words.
fn describe(chart: &Bars, format: &Formatter) -> String {
    let longest = |kind: &BarKind| {
        let pairs = chart.names.iter().zip(&kind.bars);
        let known = pairs.filter_map(|(name, bar)| Some((name, (*bar)?)));
        let (name, bar): (_, Bar) =
            known.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
        Some(format!("{}: longest {name} with {}", kind.name, format.value(chart.unit, bar.value)))
    };
    let said: Vec<String> = chart.kinds.iter().filter_map(longest).collect();
    format!("{}.", said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names below the bars with their places, on the narrowest page.
    fn placed(names: &[&str]) -> Vec<(f64, f64, String)> {
        let bar = Bar { value: 1.0, low: 1.0, high: 1.0, is_cut: false, n: 1 };
        let bars = vec![Some(bar); names.len()];
        let chart = Bars {
            title: "chart".to_owned(),
            name: "time".to_owned(),
            across_name: String::new(),
            unit: Unit::Ns,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            kinds: vec![BarKind { name: "reads".to_owned(), ink: Ink::Read, bars }],
        };
        let mut scene = Scene::new(SceneSize::Narrow, 280.0, "chart");
        let step = scene.plot.width / real_len(names.len());
        labels(&mut scene, &chart, step);
        let texts = scene.marks.into_iter().filter_map(|mark| match mark {
            SceneMark::Text { at, text, .. } => Some((at.0, at.1, text)),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn names_never_run_into_each_other() {
        let arrays =
            ["measured", "array:xtremio-1", "array:competitor-afa", "catalog:gp3?iops=20000"];
        let placed = placed(&arrays);
        assert_eq!(placed.len(), arrays.len());
        for (one, (at, row, text)) in placed.iter().enumerate() {
            for (other_at, other_row, other) in &placed[one + 1..] {
                let is_apart = other_at - at >= 0.5 * (text_width(text) + text_width(other)) - 1.0;
                assert!(is_apart || (row - other_row).abs() > 10.0, "{text} {other}");
            }
        }
        assert!(placed[3].2.ends_with("iops=20000"), "{:?}", placed[3]);
    }
}
