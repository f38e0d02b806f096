//! Where a storage stands among known ones: a row each, on one axis on which equal ratios are equally long.

use super::axis::{Axis, horizontal};
use super::scale::Scale;
use super::scene::{Anchor, Ink, Mark, Scene, Size};
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

/// One row: what it is, between which numbers it lies, and whether it was measured here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// What it is.
    pub(crate) name: String,
    /// The smallest number, in the unit of the chart.
    pub(crate) low: f64,
    /// The largest number.
    pub(crate) high: f64,
    /// Whether it was measured here: drawn in colour.
    pub(crate) is_own: bool,
}

/// Draws the rows in their order from above.
pub(crate) fn classes(
    (title, name): (&str, &str),
    unit: Unit,
    places: &[Place],
    format: &Formatter,
    size: Size,
) -> Scene {
    let mut scene = Scene::new(size, 52.0 + ROW * real_len(places.len()), title);
    scene.plot.top = 6.0;
    scene.plot.height = ROW * real_len(places.len());
    scene.plot.width -= NAMES - scene.plot.left;
    scene.plot.left = NAMES;
    let plot = scene.plot;
    let low = places.iter().map(|place| place.low).fold(f64::INFINITY, f64::min);
    let high = places.iter().map(|place| place.high).fold(0.0, f64::max);
    let x = Scale::log(low, high).onto(plot.left, plot.right());
    let wanted = if size == Size::Narrow { 4 } else { 6 };
    horizontal(&mut scene, format, &Axis::new(format, name, unit, x, wanted));
    let mut top = plot.top + (ROW - BAR) / 2.0;
    for place in places {
        draw(&mut scene, place, (x, top), unit, format);
        top += ROW;
    }
    let said = places.iter().map(|place| in_words(place, unit, format));
    scene.description = said.collect::<Vec<_>>().join("; ");
    scene
}

fn draw(scene: &mut Scene, place: &Place, (x, top): (Scale, f64), unit: Unit, format: &Formatter) {
    let ink = if place.is_own { Ink::Read } else { Ink::Class(7) };
    let (left, right) = (x.place(place.low), x.place(place.high));
    let width = (right - left).max(LEAST);
    let left = f64::midpoint(left, right) - width / 2.0;
    scene.marks.push(Mark::Rects { rects: vec![[left, top, width, BAR]], ink });
    let at = (scene.plot.left - 8.0, top + BAR - 2.5);
    scene.text(at, Anchor::End, if place.is_own { Ink::Label } else { Ink::Axis }, &place.name);
    if place.is_own {
        let middle = (f64::midpoint(left, left + width), top + BAR / 2.0);
        scene.dot(middle, ink, in_words(place, unit, format));
    }
}

fn in_words(place: &Place, unit: Unit, format: &Formatter) -> String {
    let (low, high) = (format.value(unit, place.low), format.value(unit, place.high));
    if low == high {
        format!("{}: {low}", place.name)
    } else {
        format!("{}: {low} – {high}", place.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_below_one_another_and_within_the_plot() {
        let place = |name: &str, low: f64, high: f64, is_own| Place {
            name: name.to_owned(),
            low,
            high,
            is_own,
        };
        let places = [place("here", 2e5, 2e5, true), place("disk", 1e7, 2e7, false)];
        let words = ("Read latency", "latency");
        let scene = classes(words, Unit::Ns, &places, &Formatter::default(), Size::Narrow);
        let rects: Vec<[f64; 4]> = scene
            .marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Rects { rects, .. } => Some(rects[0]),
                _ => None,
            })
            .collect();
        assert!(rects[0][1] + rects[0][3] < rects[1][1] && rects[0][0] < rects[1][0]);
        assert!(rects.iter().all(|[x, _, width, _]| *x >= NAMES && x + width <= scene.width));
        assert_eq!(scene.description, "here: 200 µs; disk: 10.0 ms – 20.0 ms");
    }
}
