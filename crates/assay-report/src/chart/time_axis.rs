//! The time axis that all charts of a run share, and its events.

use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneReading, Stroke, TextAnchor};
use crate::input::RunIncident;
use assay_model::number::{index, real_len, seconds};

/// Distances between ticks that people count in, s.
const STEPS_S: [f64; 20] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
    3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
];
/// Events that are drawn; the list below the chart holds the rest.
pub(crate) const EVENTS_MAX: usize = 24;

/// Draws the time axis from 0 to `end_s` and gives its scale.
pub(crate) fn time_axis(scene: &mut Scene, end_s: f64) -> AxisScale {
    let plot = scene.plot;
    let scale = AxisScale::linear(0.0, end_s).onto(plot.left, plot.right());
    let bottom = plot.bottom();
    for time_s in ticks(scale.high, plot.width) {
        let x = scale.place(time_s);
        scene.line(vec![(x, plot.top), (x, bottom)], Ink::Time, Stroke::Hair);
        scene.number_below(x, Ink::Time, label(time_s, scale.high));
    }
    super::axis::base_line(scene);
    scene.across = Some(SceneReading { scale, unit: "s", name: "at".to_owned() });
    scale
}

/// Multiples of the smallest step for which there is room, s.
fn ticks(end_s: f64, width: f64) -> Vec<f64> {
    let room = (width / 76.0).max(1.0);
    let days = 86_400.0 * (end_s / 86_400.0 / room).ceil();
    let step = STEPS_S.into_iter().find(|step| end_s / step <= room).unwrap_or(days);
    (0..=index(end_s / step + 1e-9)).map(|place| real_len(place) * step).collect()
}

/// A point in time in the unit of the whole range: `30 s`, `1:30 min`, `6:00 h`.
fn label(time_s: f64, end_s: f64) -> String {
    let whole = assay_model::number::count(time_s);
    match end_s {
        short if short <= 120.0 => {
            let shown = format!("{time_s:.1}");
            format!("{} s", shown.strip_suffix(".0").unwrap_or(&shown))
        }
        middle if middle <= 7200.0 && whole.is_multiple_of(60) => format!("{} min", whole / 60),
        middle if middle <= 7200.0 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02} h", whole / 3600, whole / 60 % 60),
    }
}

/// Marks events by lines, with their numbers above the plot, where no line of data is.
pub(crate) fn events(scene: &mut Scene, scale: AxisScale, events: &[RunIncident]) {
    let plot = scene.plot;
    let mut last = f64::NEG_INFINITY;
    for (number, event) in (1..).zip(events).take(EVENTS_MAX) {
        let x = scale.place(seconds(event.at_ns));
        let points = vec![(x, plot.top), (x, plot.bottom())];
        scene.stretching.push(SceneMark::Line { points, ink: Ink::Found, stroke: Stroke::Dotted });
        if x - last > 12.0 {
            scene.text((x, plot.top - 1.0), TextAnchor::Middle, Ink::Event, format!("{number}"));
            last = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_times_that_people_count_in() {
        assert_eq!(ticks(60.0, 300.0), [0.0, 30.0, 60.0]);
        assert_eq!(ticks(86_400.0, 1000.0).len(), 13);
        assert_eq!(ticks(86_400.0 * 10.0, 300.0).last(), Some(&(86_400.0 * 9.0)));
        assert_eq!(label(90.0, 600.0), "1:30 min");
        assert_eq!(label(300.0, 600.0), "5 min");
        assert_eq!(label(1.5, 10.0), "1.5 s");
        assert_eq!(label(21_600.0, 86_400.0), "6:00 h");
    }
}
