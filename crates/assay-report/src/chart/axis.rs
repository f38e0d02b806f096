//! Axes with their numbers, names and grid lines, and the legend.

use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneReading, Stroke, TextAnchor};
use crate::format::{Formatter, tick};
use assay_model::number::real_len;
use assay_model::verdict::Unit;

/// What is on an axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// From numbers to pixels.
    pub(crate) scale: AxisScale,
    /// Unit of the numbers.
    pub(crate) unit: Unit,
    /// What the numbers are.
    pub(crate) name: String,
    /// Numbers that there is room for.
    pub(crate) wanted: usize,
}

impl Axis {
    /// An axis whose name says what its numbers are relative to, where they are.
    pub(crate) fn new(
        format: &Formatter,
        name: &str,
        unit: Unit,
        scale: AxisScale,
        wanted: usize,
    ) -> Self {
        Self { scale, unit, name: format.axis_name(name, unit), wanted }
    }
}

/// Letters of a number for which there is room at the left.
const WIDEST: usize = 8;

/// Draws the vertical axis: grid lines, numbers on the left, the name above.
pub(crate) fn vertical(scene: &mut Scene, format: &Formatter, axis: &Axis) {
    let plot = scene.plot;
    for found in axis.scale.ticks(axis.wanted) {
        let y = axis.scale.place(found.value);
        if found.labelled {
            let mut text = tick(format, axis.unit, found.value);
            if text.chars().count() > WIDEST {
                text.retain(|letter| letter != ' ');
            }
            scene.hair((plot.left, y), (plot.right(), y), Ink::Grid);
            scene.text((plot.left - 6.0, y + 4.0), TextAnchor::End, Ink::Axis, text);
        } else {
            scene.hair((plot.left - 3.0, y), (plot.left, y), Ink::Axis);
        }
    }
    scene.text((4.0, 13.0), TextAnchor::Start, Ink::Label, &axis.name);
    scene.upwards = Some(reading(format, axis));
}

/// How its places are read back into numbers.
fn reading(format: &Formatter, axis: &Axis) -> SceneReading {
    let unit = match axis.unit {
        Unit::Share => "share",
        Unit::Bytes => "B",
        Unit::Count => "",
        _ if format.is_relative() => "×",
        Unit::Ns => "ns",
        Unit::IosPerS => "/s",
        Unit::PerMinute => "/min",
        Unit::PerHour => "/h",
        Unit::BytesPerS => "B/s",
    };
    SceneReading { scale: axis.scale, unit, name: axis.name.clone() }
}

/// Width of a letter of a number, pixels, as far as it is known here.
const DIGIT: f64 = 6.2;
/// Room between two numbers, pixels.
const NUMBERS_APART: f64 = 3.0;

/// Draws the horizontal axis: grid lines, numbers below, the name below them.
pub(crate) fn horizontal(scene: &mut Scene, format: &Formatter, axis: &Axis) {
    let plot = scene.plot;
    let (bottom, mut free_from) = (plot.bottom(), f64::NEG_INFINITY);
    for found in axis.scale.ticks(axis.wanted) {
        let x = axis.scale.place(found.value);
        if found.labelled {
            let text = tick(format, axis.unit, found.value);
            scene.hair((x, plot.top), (x, bottom), Ink::Grid);
            // On a narrow chart a number may leave no room for the next one.
            let half = 0.5 * DIGIT * real_len(text.chars().count());
            if x - half >= free_from {
                scene.number_below(x, Ink::Axis, text);
                free_from = x + half + NUMBERS_APART;
            }
        }
        let reach = if found.labelled { 5.0 } else { 3.0 };
        scene.hair((x, bottom), (x, bottom + reach), Ink::Axis);
    }
    base_line(scene);
    name_below(scene, &axis.name);
    scene.across = Some(reading(format, axis));
}

/// The line on which the data stand.
pub(crate) fn base_line(scene: &mut Scene) {
    let plot = scene.plot;
    let bottom = plot.bottom();
    scene.hair((plot.left, bottom), (plot.right(), bottom), Ink::Axis);
}

/// The name of the horizontal axis.
pub(crate) fn name_below(scene: &mut Scene, name: &str) {
    let place = (scene.plot.right(), scene.plot.bottom() + 35.0);
    scene.text(place, TextAnchor::End, Ink::Label, name);
}

/// Widths are estimated, because nothing here knows the reader's font.
const LETTER: f64 = 7.3;
/// Length of the line that shows a stroke, pixels.
const SAMPLE: f64 = 22.0;
/// Room between a stroke and its name, pixels.
const GAP: f64 = 10.0;
/// Room between entries, pixels.
const APART: f64 = 12.0;
/// Height of a row of text, pixels.
pub(super) const ROW: f64 = 18.0;

/// One entry of the legend.
type LegendEntry = (String, Ink, Stroke);

/// Names what the inks and strokes mean, above the plot from the right; drawn last. What finds no
/// room next to the name of the axis stands in rows of its own above it.
pub(crate) fn legend(scene: &mut Scene, entries: &[LegendEntry]) {
    let right = scene.plot.right();
    let rows = rows(entries, right);
    let is_beside = rows.len() < 2 && row_width(entries) <= right - name_width(scene);
    if !is_beside {
        scene.lower(ROW * real_len(rows.len()));
    }
    for (number, row) in rows.iter().enumerate() {
        legend_row(scene, row, ROW * real_len(number));
    }
}

/// Entries that stand next to each other.
fn rows(entries: &[LegendEntry], width: f64) -> Vec<&[LegendEntry]> {
    let (mut rows, mut from) = (Vec::new(), 0);
    for to in 1..=entries.len() {
        if row_width(&entries[from..to]) > width && to - from > 1 {
            rows.push(&entries[from..to - 1]);
            from = to - 1;
        }
    }
    rows.push(&entries[from..]);
    rows
}

fn row_width(entries: &[LegendEntry]) -> f64 {
    entries.iter().map(|(name, ..)| text_width(name) + GAP + SAMPLE + APART).sum()
}

pub(super) fn text_width(text: &str) -> f64 {
    LETTER * real_len(text.chars().count())
}

/// Room that the name of the vertical axis takes.
fn name_width(scene: &Scene) -> f64 {
    let names = scene.marks.iter().filter_map(|mark| match mark {
        SceneMark::Text { at, text, .. } if at.1 < scene.plot.top - 6.0 => {
            Some(at.0 + text_width(text))
        }
        _ => None,
    });
    names.fold(0.0, f64::max)
}

fn legend_row(scene: &mut Scene, entries: &[LegendEntry], top: f64) {
    let mut right = scene.plot.right();
    for (name, ink, stroke) in entries.iter().rev() {
        scene.text((right, top + 13.0), TextAnchor::End, Ink::Label, name);
        let end = right - text_width(name) - GAP;
        scene.line(vec![(end - SAMPLE, top + 9.0), (end, top + 9.0)], *ink, *stroke);
        right = end - SAMPLE - APART;
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::SceneSize;
    use super::*;

    fn entries(names: &[&str]) -> Vec<LegendEntry> {
        names.iter().map(|name| ((*name).to_owned(), Ink::Read, Stroke::Hair)).collect()
    }

    /// Left ends of all texts of a chart with this legend, by row.
    fn drawn(names: &[&str], axis: &str) -> (Scene, f64) {
        let mut scene = Scene::new(SceneSize::Narrow, 200.0, "chart");
        scene.text((4.0, 13.0), TextAnchor::Start, Ink::Label, axis);
        legend(&mut scene, &entries(names));
        let lefts = scene.marks.iter().filter_map(|mark| match mark {
            SceneMark::Line { points, .. } => Some(points[0].0),
            _ => None,
        });
        let left = lefts.fold(f64::INFINITY, f64::min);
        (scene, left)
    }

    #[test]
    fn a_short_legend_stands_beside_the_name_of_the_axis() {
        let (scene, left) = drawn(&["reads", "writes"], "IOPS");
        assert!((scene.height - 200.0).abs() < 1e-9 && left > 4.0 + text_width("IOPS"));
    }

    #[test]
    fn a_long_legend_gets_rows_and_the_chart_moves_down() {
        let names =
            ["single-block reads", "multi-block reads", "redo log writes", "data file writes"];
        let (scene, left) = drawn(&names, "share of the I/Os");
        assert!(left >= 0.0, "{left}");
        assert!(scene.height > 200.0 + 1.5 * ROW && scene.plot.top > 26.0 + 1.5 * ROW);
        assert!(matches!(&scene.marks[0], SceneMark::Text { at, .. } if at.1 > 13.0 + 1.5 * ROW));
    }
}
