//! The latency heat map: time across, time taken upwards, and how many I/Os fell together as depth
//! of colour.

use super::axis::{Axis, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Plot, Scene, SceneMark, SceneSize, TextAnchor};
use super::time_axis::time_axis;
use crate::format::Formatter;
use crate::timeline::{RunTimeline, TimelineColumn};
use assay_model::measurement::Operation;
use assay_model::number::{index, real, real_len, seconds};
use assay_model::verdict::Unit;

/// Depths of colour.
const LEVELS: u8 = 8;
/// Height of a row, pixels.
const ROW: f64 = 5.0;

/// Cells a map, across.
pub(crate) const CELLS_MAX: usize = 180;
/// Height of the legend where it stands above the name of the axis, pixels.
const LEGEND: f64 = 18.0;
/// How far columns reach over one another, so that no line of the paper shines through, pixels.
const OVERLAP: f64 = 0.5;

/// A column with the share of its I/Os in each row, from the top.
struct Cells<'a> {
    /// The stretch of time.
    column: &'a TimelineColumn,
    /// Shares of its I/Os, 0..=1.
    rows: Vec<f64>,
}

/// Draws the heat map of one operation.
pub(crate) fn heat(
    timeline: &RunTimeline,
    operation: Operation,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let timeline = timeline.coarser(cells_max(size));
    let name = format!("{}s, {}", operation.name(), timeline.kind());
    let mut scene = Scene::unnamed(size, 200.0, format!("Heat map of {name}"));
    let plot = scene.plot;
    let x = time_axis(&mut scene, seconds(timeline.end_ns()));
    let y = range(&timeline, operation, format).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, &name, Unit::Ns, y, 5));
    let cells =
        |column| Cells { column, rows: rows(column, operation, y, plot, format.divisor(Unit::Ns)) };
    let cells: Vec<Cells<'_>> = timeline.columns().iter().map(cells).collect();
    let width = timeline.columns().first().map_or(0.0, |first| width(first, x) + OVERLAP);
    for level in 1..=LEVELS {
        let runs = cells.iter().flat_map(|cells| cells.runs(level, x, plot));
        let bars: Vec<_> = runs.collect();
        let ink = Ink::Heat(level);
        scene.stretching.extend((!bars.is_empty()).then_some(SceneMark::Bars { bars, width, ink }));
    }
    if size == SceneSize::Narrow {
        // There is no room for it next to the name of the axis.
        scene.lower(LEGEND);
    }
    depth_legend(&mut scene, "more I/Os");
    scene.description = format!(
        "Each column is a period; the deeper a cell's colour, the more {}s had that latency.",
        operation.name()
    );
    scene
}

/// As many as can be told apart without filling the file.
fn cells_max(size: SceneSize) -> usize {
    if size == SceneSize::Narrow { 80 } else { CELLS_MAX }
}

/// From the shortest to the longest time of all columns.
fn range(timeline: &RunTimeline, operation: Operation, format: &Formatter) -> AxisScale {
    let columns = timeline.columns().iter().map(|column| &column.operation(operation).times);
    let low = columns.clone().filter_map(|times| times.iter().next()).map(|(time, _)| time).min();
    let high = columns.map(crate::compact_histogram::CompactHistogram::max_ns).max();
    let divisor = format.divisor(Unit::Ns);
    AxisScale::log(
        real(low.unwrap_or(1).max(1)) / divisor,
        real(high.unwrap_or(1).max(1)) / divisor,
    )
}

/// The share of a column's I/Os in each row, from the top.
fn rows(
    column: &TimelineColumn,
    operation: Operation,
    y: AxisScale,
    plot: Plot,
    divisor: f64,
) -> Vec<f64> {
    let times = &column.operation(operation).times;
    let mut rows = vec![0.0; index(plot.height / ROW) + 1];
    let (last, all) = (rows.len() - 1, real(times.ios()));
    for (time, ios) in times.iter() {
        let place = y.place(real(time.max(1)) / divisor) - plot.top;
        rows[index(place / ROW).min(last)] += real(ios) / all;
    }
    rows
}

/// The depth of colour of a share: a level for every factor of three below 1, so that single
/// outliers stay visible.
fn level_of(share: f64) -> u8 {
    if share <= 0.0 {
        return 0;
    }
    let below = index(-share.ln() / 3f64.ln());
    u8::try_from(below).map_or(1, |below| LEVELS.saturating_sub(below).max(1))
}

impl Cells<'_> {
    /// Cells of one level that lie under one another, joined.
    fn runs(&self, level: u8, x: AxisScale, plot: Plot) -> Vec<[f64; 3]> {
        let middle = x.place(seconds(self.column.start_ns)) + width(self.column, x) / 2.0;
        let mut runs: Vec<[f64; 3]> = Vec::new();
        let mut end = usize::MAX;
        let rows = self.rows.iter().enumerate();
        for (row, _) in rows.filter(|(_, share)| level_of(**share) == level) {
            match runs.last_mut() {
                Some(run) if end == row => run[2] += ROW,
                _ => runs.push([middle, plot.top + real_len(row) * ROW, ROW]),
            }
            end = row + 1;
        }
        runs
    }
}

/// Width of a column, pixels.
fn width(column: &TimelineColumn, x: AxisScale) -> f64 {
    x.place(seconds(column.end_ns)) - x.place(seconds(column.start_ns))
}

/// What the depths of colour mean, the deepest in words.
pub(crate) fn depth_legend(scene: &mut Scene, most: &str) {
    /// Width of a letter, estimated, pixels.
    const LETTER: f64 = 6.7;
    /// Width of one depth of colour in the legend, pixels.
    const SWATCH: f64 = 13.0;
    let right = scene.plot.right() - LETTER * real_len(most.chars().count()) - 8.0;
    scene.text((scene.plot.right(), 13.0), TextAnchor::End, Ink::Label, most);
    for level in 1..=LEVELS {
        let left = right - SWATCH * f64::from(LEVELS + 1 - level);
        let rects = vec![[left, 4.0, SWATCH, 10.0]];
        scene.marks.push(SceneMark::Rects { rects, ink: Ink::Heat(level) });
    }
    let left = right - SWATCH * f64::from(LEVELS) - 6.0;
    scene.text((left, 13.0), TextAnchor::End, Ink::Label, "fewer");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_for_every_factor_of_three() {
        let levels = [0.0, 1.0, 0.34, 0.3, 1e-12].map(level_of);
        assert_eq!(levels, [0, 8, 8, 7, 1]);
    }
}
