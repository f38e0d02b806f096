//! The distribution of the times of one operation, with its quantiles.

use super::axis::{Axis, horizontal, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Plot, Scene, SceneMark, ScenePoint, SceneSize, Stroke, TextAnchor};
use crate::format::Formatter;
use crate::phrases::{capital, nines};
use assay_model::Histogram;
use assay_model::measurement::Operation;
use assay_model::number::{index, real, real_len, share};
use assay_model::verdict::Unit;

/// Quantiles that are marked.
const MARKED: [f64; 3] = [0.5, 0.99, 0.999];
/// I/Os needed beyond a quantile before it is marked.
const BEYOND_MIN: f64 = 10.0;
/// Width of a bar, pixels.
const BAR: f64 = 5.0;
/// Width of a letter, estimated, pixels.
const LETTER: f64 = 6.9;
/// Height of a line of text, pixels.
const LINE: f64 = 13.0;

/// Draws the times of one operation, of a kind of time and of what; the range ends where less than
/// one in a million lies beyond.
pub(crate) fn histogram(
    operation: Operation,
    times: &Histogram,
    kind: &str,
    what: &str,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let mut scene = Scene::new(size, 250.0, format!("{} of {what}", capital(kind)));
    let plot = scene.plot;
    let x = range(times, format).onto(plot.left, plot.right());
    let bars = bars(times, x, format.divisor(Unit::Ns), plot.width);
    let highest = bars.iter().copied().fold(0.0, f64::max);
    let y = AxisScale::from_zero(highest, 4).onto(plot.bottom(), plot.top);
    let share = Axis::new(format, &format!("share of {what}"), Unit::Share, y, 4);
    vertical(&mut scene, format, &share);
    horizontal(&mut scene, format, &Axis::new(format, kind, Unit::Ns, x, 5));
    let rects = (0u32..).zip(&bars).filter(|(_, share)| **share > 0.0);
    let rects = rects.map(|(bar, share)| {
        // Even a single I/O leaves a trace.
        let top = y.place(*share).min(plot.bottom() - 0.8);
        [plot.left + f64::from(bar) * BAR, top, BAR - 0.8, plot.bottom() - top]
    });
    scene.marks.push(SceneMark::Rects { rects: rects.collect(), ink: operation.into() });
    mark_quantiles(&mut scene, times, x, format);
    scene.description = describe(what, times, format);
    scene
}

/// From the shortest time to the one that a million I/Os keep but one.
fn range(times: &Histogram, format: &Formatter) -> AxisScale {
    let divisor = format.divisor(Unit::Ns);
    let (low, high) = (times.min_ns().max(1), times.quantile_ns(0.999_999).max(1));
    AxisScale::log(real(low) / divisor, real(high) / divisor)
}

/// Share of the I/Os in each bar. A bucket that spans several bars at the low end, where
/// nanoseconds are whole, falls into the bar of its middle.
fn bars(times: &Histogram, x: AxisScale, divisor: f64, width: f64) -> Vec<f64> {
    let mut bars = vec![0.0; index(width / BAR) + 1];
    let last = bars.len() - 1;
    for (lowest, bucket, ios) in times.buckets() {
        let middle = (real(lowest) + real(bucket - 1) / 2.0).max(1.0) / divisor;
        if middle <= x.high {
            let place = x.place(middle) - x.place(x.low);
            bars[index(place / BAR).min(last)] += share(ios, times.ios());
        }
    }
    bars
}

/// A quantile with its label: place of its line, text, height of its base line and where that is
/// held, pixels.
struct Labelled {
    place: f64,
    text: String,
    at: ScenePoint,
    anchor: TextAnchor,
}

impl Labelled {
    /// Whether a line at this place would run through the text.
    fn covers(&self, place: f64) -> bool {
        let width = LETTER * real_len(self.text.chars().count());
        let left = if self.anchor == TextAnchor::End { self.at.0 - width } else { self.at.0 };
        place > left - 2.0 && place < left + width + 2.0
    }
}

/// Names quantiles in the upper part of the plot, a row each; a line begins below the last label
/// that it would run through.
fn mark_quantiles(scene: &mut Scene, times: &Histogram, x: AxisScale, format: &Formatter) {
    let plot = scene.plot;
    let enough = |quantile: &f64| (1.0 - quantile) * real(times.ios()) >= BEYOND_MIN;
    let marked = MARKED.into_iter().filter(enough).map(|quantile| {
        let time = real(times.quantile_ns(quantile)) / format.divisor(Unit::Ns);
        (x.place(time), format!("p{} {}", nines(quantile), format.drawn(Unit::Ns, time)))
    });
    let marked =
        marked.enumerate().map(|(order, (place, text))| Marked::new(place, text, order, plot));
    let rows = in_rows(marked.collect());
    let labels: Vec<Labelled> =
        (0..).zip(rows).map(|(row, one)| labelled(plot, row, one)).collect();
    for (row, label) in labels.iter().enumerate() {
        let through = labels.iter().skip(row + 1).rposition(|other| other.covers(label.place));
        let first = through.map_or(row, |below| row + 2 + below);
        let top = plot.top + LINE * real_len(first) - 4.0;
        let ends = vec![(label.place, top), (label.place, plot.bottom())];
        scene.line(ends, Ink::Found, Stroke::Dotted);
        scene.text(label.at, label.anchor, Ink::Found, label.text.clone());
    }
}

/// A quantile with the side of its line on which its label stands.
struct Marked {
    place: f64,
    text: String,
    is_left: bool,
}

impl Marked {
    /// The lowest quantile has its label at the left, the others at the right, as far as there is
    /// room: two labels between two lines would be read the wrong way round.
    fn new(place: f64, text: String, order: usize, plot: Plot) -> Self {
        let length = 4.0 + LETTER * real_len(text.chars().count());
        let (fits_left, fits_right) = (place - length >= plot.left, place + length <= plot.right());
        let is_left = if order == 0 { fits_left || !fits_right } else { !fits_right };
        Self { place, text, is_left }
    }
}

fn labelled(plot: Plot, row: u32, Marked { place, text, is_left }: Marked) -> Labelled {
    let y = plot.top + LINE * f64::from(row) + 6.0;
    let (at, anchor) = if is_left {
        ((place - 4.0, y), TextAnchor::End)
    } else {
        ((place + 4.0, y), TextAnchor::Start)
    };
    Labelled { place, text, at, anchor }
}

/// Labels from above to below, each above the lines that it reaches over: first those that stand
/// left of their lines, from the right; then the others from the left.
fn in_rows(marked: Vec<Marked>) -> Vec<Marked> {
    let (mut to_left, to_right): (Vec<_>, Vec<_>) = marked.into_iter().partition(|one| one.is_left);
    to_left.reverse();
    to_left.into_iter().chain(to_right).collect()
}

/// The distribution in a sentence.
fn describe(what: &str, times: &Histogram, format: &Formatter) -> String {
    let at = |quantile: f64| format.value(Unit::Ns, real(times.quantile_ns(quantile)));
    let longest = format.value(Unit::Ns, real(times.max_ns()));
    let (half, most) = (at(0.5), at(0.99));
    format!("Half of the {what} took up to {half}, 99% up to {most}, the longest {longest}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and labels of quantiles at these places across.
    fn marks(quantiles_ns: [u64; 3]) -> (Vec<Labelled>, Vec<(f64, f64)>) {
        let mut times = Histogram::default();
        for (ns, ios) in quantiles_ns.into_iter().zip([60_000, 39_500, 490]) {
            (0..ios).for_each(|_| times.record(ns));
        }
        let scene = histogram(
            Operation::Read,
            &times,
            "service time",
            "reads",
            &Formatter::default(),
            SceneSize::Half,
        );
        let labels = scene.marks.iter().filter_map(|mark| match mark {
            SceneMark::Text { at, anchor, ink: Ink::Found, text } => {
                Some(Labelled { place: 0.0, text: text.clone(), at: *at, anchor: *anchor })
            }
            _ => None,
        });
        let lines = scene.marks.iter().filter_map(|mark| match mark {
            SceneMark::Line { points, ink: Ink::Found, .. } => Some(points[0]),
            _ => None,
        });
        (labels.collect(), lines.collect())
    }

    #[test]
    fn no_line_runs_through_a_label_however_close_the_quantiles_are() {
        for times in
            [[80_000, 85_000, 90_000], [80_000, 90_000, 4_000_000], [80_000, 3_000_000, 4_000_000]]
        {
            let (labels, lines) = marks(times);
            assert_eq!((labels.len(), lines.len()), (3, 3));
            for (place, top) in &lines {
                for label in labels.iter().filter(|label| label.covers(*place)) {
                    assert!(
                        label.at.1 <= *top,
                        "{times:?}: {} at {:?}, line from {top}",
                        label.text,
                        label.at
                    );
                }
            }
        }
    }
}
