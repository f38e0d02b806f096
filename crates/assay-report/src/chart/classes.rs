//! Where a storage stands among known ones: a row each, on one axis on which equal ratios are
//! equally long.

use super::axis::{Axis, horizontal};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneSize, Stroke, TextAnchor};
use crate::format::Formatter;
use assay_model::number::real_len;
use assay_model::verdict::Unit;

/// Height of a row, pixels.
const ROW: f64 = 23.0;
/// Height of a bar, pixels.
const BAR: f64 = 13.0;
/// Room for the names at the left, pixels.
const NAMES: f64 = 138.0;
/// The least width of a bar, pixels: a single number must be seen, too.
const LEAST: f64 = 5.0;

/// A bar ends here at the latest, as a multiple of its value and as a part of it; an arrow says
/// that it goes on.
const FARTHEST: f64 = 10.0;
/// Length of that arrow, pixels.
const ARROW: f64 = 7.0;

/// One row: what it is, and between which numbers it lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassRow {
    /// What it is.
    pub(crate) name: String,
    /// What was measured here, in the unit of the chart: drawn in colour, with a dot; absent of a
    /// class.
    pub(crate) value: Option<f64>,
    /// The smallest number.
    pub(crate) low: f64,
    /// The largest number; infinite where there is none.
    pub(crate) high: f64,
}

impl ClassRow {
    /// Where its bar begins and ends.
    fn ends(&self) -> (f64, f64) {
        let Some(value) = self.value else {
            return (self.low, self.high);
        };
        (self.low.max(value / FARTHEST), self.high.min(value * FARTHEST))
    }
}

/// Draws the rows in their order from above.
pub(crate) fn classes(
    title: &str,
    name: &str,
    unit: Unit,
    places: &[ClassRow],
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let mut scene = Scene::new(size, 52.0 + ROW * real_len(places.len()), title);
    scene.plot.top = 6.0;
    scene.plot.height = ROW * real_len(places.len());
    scene.plot.width -= NAMES - scene.plot.left;
    scene.plot.left = NAMES;
    let plot = scene.plot;
    let low = places.iter().map(|place| place.ends().0).fold(f64::INFINITY, f64::min);
    let high = places.iter().map(|place| place.ends().1).fold(0.0, f64::max);
    let x = AxisScale::log(low, high).onto(plot.left, plot.right());
    let wanted = if size == SceneSize::Narrow { 4 } else { 6 };
    horizontal(&mut scene, format, &Axis::new(format, name, unit, x, wanted));
    let mut top = plot.top + (ROW - BAR) / 2.0;
    for place in places {
        draw(&mut scene, place, x, top, unit, format);
        top += ROW;
    }
    let said = places.iter().map(|place| in_words(place, unit, format));
    scene.description = said.collect::<Vec<_>>().join("; ");
    scene
}

fn draw(
    scene: &mut Scene,
    place: &ClassRow,
    x: AxisScale,
    top: f64,
    unit: Unit,
    format: &Formatter,
) {
    let ink = if place.value.is_some() { Ink::Read } else { Ink::Class(7) };
    let (low, high) = place.ends();
    let (left, right) = (x.place(low), x.place(high));
    let width = (right - left).max(LEAST);
    let left = f64::midpoint(left, right) - width / 2.0;
    scene.marks.push(SceneMark::Rects { rects: vec![[left, top, width, BAR]], ink });
    let (right, middle) = (left + width, top + BAR / 2.0);
    if high < place.high {
        arrow(scene, right, middle, ARROW, ink);
    }
    if low > place.low {
        arrow(scene, left, middle, -ARROW, ink);
    }
    let at = (scene.plot.left - 8.0, top + BAR - 2.5);
    let name_ink = if place.value.is_some() { Ink::Label } else { Ink::Axis };
    scene.text(at, TextAnchor::End, name_ink, &place.name);
    if let Some(value) = place.value {
        scene.dot((x.place(value), middle), ink, in_words(place, unit, format));
    }
}

/// A head of an arrow at the end of a bar that is drawn shorter than it is.
fn arrow(scene: &mut Scene, at: f64, middle: f64, length: f64, ink: Ink) {
    let half = BAR / 2.0;
    let points = vec![(at, middle - half), (at + length, middle), (at, middle + half)];
    scene.marks.push(SceneMark::Line { points, ink, stroke: Stroke::Solid });
}

fn in_words(place: &ClassRow, unit: Unit, format: &Formatter) -> String {
    let name = &place.name;
    let low = format.value(unit, place.low);
    let range = if place.high.is_infinite() {
        format!("at least {low}")
    } else if place.high > place.low {
        format!("{low} – {}", format.value(unit, place.high))
    } else {
        return format!("{name}: {low}");
    };
    match place.value {
        Some(value) => format!("{name}: {} ({range})", format.value(unit, value)),
        None => format!("{name}: {range}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_below_one_another_and_within_the_plot() {
        let place = |name: &str, value: Option<f64>, low: f64, high: f64| ClassRow {
            name: name.to_owned(),
            value,
            low,
            high,
        };
        let places = [place("here", Some(2e5), 2e5, 2e5), place("disk", None, 1e7, 2e7)];
        let format = Formatter::default();
        let scene =
            classes("Read latency", "latency", Unit::Ns, &places, &format, SceneSize::Narrow);
        let rects: Vec<[f64; 4]> = scene
            .marks
            .iter()
            .filter_map(|mark| match mark {
                SceneMark::Rects { rects, .. } => Some(rects[0]),
                _ => None,
            })
            .collect();
        assert!(rects[0][1] + rects[0][3] < rects[1][1] && rects[0][0] < rects[1][0]);
        assert!(rects.iter().all(|[x, _, width, _]| *x >= NAMES && x + width <= scene.width));
        assert_eq!(scene.description, "here: 200 µs; disk: 10.0 ms – 20.0 ms");
    }
}
