//! Throughput of a load second by second, step after step.

use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::format::Formatter;
use crate::ladder::{done, who};
use crate::view::Chart;
use assay_model::Estimate;
use assay_model::load::{Load, Rung};
use assay_model::number::real_len;
use assay_model::verdict::Unit;

/// Points that can be told apart in a chart as wide as the page.
const POINTS_MAX: usize = 900;

/// The chart; nothing where no step has two intervals.
pub(super) fn throughput(load: &Load, format: Formatter) -> Option<Chart<'static>> {
    if !load.rungs.iter().any(|rung| rung.interval_rates_per_s.len() > 1) {
        return None;
    }
    let (what, who) = (format!("{}/s", done(load)), who(load));
    let (mut curves, mut marks, mut begin_s) = (Vec::new(), Vec::new(), 0.0);
    let width = load.rungs.iter().map(|rung| rung.interval_rates_per_s.len()).sum::<usize>();
    let width = width.div_ceil(POINTS_MAX).max(1);
    for rung in &load.rungs {
        let name = if curves.is_empty() { what.as_str() } else { "" };
        curves.push(line(name, rung, begin_s, width));
        marks.push((begin_s, rung.sessions.to_string()));
        begin_s += rung.elapsed_s();
    }
    let lines = ChartLines {
        title: "Throughput over time".to_owned(),
        across: Across::Time,
        across_name: "measured time".to_owned(),
        name: what,
        unit: Unit::Count,
        log: false,
        curves,
        marks,
    };
    let caption =
        format!("Throughput second by second and step after step; the numbers are {who}s.");
    Some(lines.captioned(SceneSize::Full, caption, format))
}

/// The rates of a step from its beginning on, that many intervals to a point.
fn line(name: &str, rung: &Rung, begin_s: f64, width: usize) -> ChartLine {
    let rates = &rung.interval_rates_per_s;
    let step_s = rung.elapsed_s() / real_len(rates.len().max(1));
    let points = rates.chunks(width).enumerate().map(|(place, chunk)| {
        let mean = chunk.iter().sum::<f64>() / real_len(chunk.len());
        let middle = real_len(place * width) + real_len(chunk.len()) / 2.0;
        (begin_s + step_s * middle, Estimate::exact(mean, 1))
    });
    ChartLine {
        name: name.to_owned(),
        ink: Ink::Read,
        stroke: Stroke::Solid,
        dots: rates.len() <= 60,
        band: false,
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::made_up::{report, rung};

    #[test]
    fn rungs_follow_one_another_and_hours_are_thinned() {
        let mut made = report(vec![rung(1, 0), rung(2, 0)]);
        let load = made.load.as_mut().unwrap();
        assert!(throughput(load, Formatter::default()).is_some());
        let second = line("", &load.rungs[1], 2.0, 1);
        let places: Vec<f64> = second.points.iter().map(|point| point.0).collect();
        assert!((places[0] - 2.5).abs() < 1e-9 && (places[1] - 3.5).abs() < 1e-9, "{places:?}");
        let first = line("", &load.rungs[0], 0.0, 2).points[0].1.value;
        assert!((first - 500.0).abs() < 1e-9, "{first}");
        load.rungs.iter_mut().for_each(|rung| rung.interval_rates_per_s.clear());
        assert!(throughput(load, Formatter::default()).is_none());
    }
}
