//! Axes with their numbers, names and grid lines, and the legend.

use super::scale::Scale;
use super::scene::{Anchor, Ink, Mark, Scene, Stroke};
use crate::show::{Show, tick};
use assay_model::number::real_len;
use assay_model::verdict::Unit;

/// What is on an axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// From numbers to pixels.
    pub(crate) scale: Scale,
    /// Unit of the numbers.
    pub(crate) unit: Unit,
    /// What the numbers are.
    pub(crate) name: String,
    /// Numbers that there is room for.
    pub(crate) wanted: usize,
}

impl Axis {
    /// An axis whose name says what its numbers are relative to, where they are.
    pub(crate) fn new(show: &Show, name: &str, unit: Unit, scale: Scale, wanted: usize) -> Self {
        Self { scale, unit, name: show.axis_name(name, unit), wanted }
    }
}

/// Draws the vertical axis: grid lines, numbers on the left, the name above.
pub(crate) fn vertical(scene: &mut Scene, show: &Show, axis: &Axis) {
    let plot = scene.plot;
    for found in axis.scale.ticks(axis.wanted) {
        let y = axis.scale.place(found.value);
        if found.labelled {
            let text = tick(show, axis.unit, found.value);
            scene.hair((plot.left, y), (plot.right(), y), Ink::Grid);
            scene.text((plot.left - 6.0, y + 4.0), Anchor::End, Ink::Axis, text);
        } else {
            scene.hair((plot.left - 3.0, y), (plot.left, y), Ink::Axis);
        }
    }
    scene.text((4.0, 13.0), Anchor::Start, Ink::Label, &axis.name);
}

/// Draws the horizontal axis: grid lines, numbers below, the name below them.
pub(crate) fn horizontal(scene: &mut Scene, show: &Show, axis: &Axis) {
    let plot = scene.plot;
    let bottom = plot.bottom();
    for found in axis.scale.ticks(axis.wanted) {
        let x = axis.scale.place(found.value);
        if found.labelled {
            let text = tick(show, axis.unit, found.value);
            scene.hair((x, plot.top), (x, bottom), Ink::Grid);
            scene.text((x, bottom + 17.0), Anchor::Middle, Ink::Axis, text);
        }
        let reach = if found.labelled { 5.0 } else { 3.0 };
        scene.hair((x, bottom), (x, bottom + reach), Ink::Axis);
    }
    base_line(scene);
    name_below(scene, &axis.name);
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
    scene.text(place, Anchor::End, Ink::Label, name);
}

/// Names what the inks and strokes mean, above the plot from the right.
pub(crate) fn legend(scene: &mut Scene, entries: &[(String, Ink, Stroke)]) {
    /// Widths are estimated, because nothing here knows the reader's font.
    const LETTER: f64 = 7.3;
    /// Length of the line that shows a stroke, pixels.
    const SAMPLE: f64 = 22.0;
    let mut right = scene.plot.right();
    for (name, ink, stroke) in entries.iter().rev() {
        scene.text((right, 13.0), Anchor::End, Ink::Label, name);
        let end = right - LETTER * real_len(name.chars().count()) - 10.0;
        scene.marks.push(Mark::Line {
            points: vec![(end - SAMPLE, 9.0), (end, 9.0)],
            ink: *ink,
            stroke: *stroke,
        });
        right = end - SAMPLE - 12.0;
    }
}
