//! How a run went over time: rates, times and heat maps on one time axis, and what happened when.

use super::figure::Figures;
use super::table::{Cell, Table};
use super::zoom;
use crate::chart::heat::{CELLS_MAX, heat};
use crate::chart::latency::latency;
use crate::chart::rates::rates;
use crate::chart::scene::Size;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::{Event, RunReport};
use crate::levels;
use crate::markup::{Markup, tag};
use crate::phrases::capital;
use crate::timeline::{COLUMNS_MAX, Timeline};
use assay_model::number::seconds;

/// Events listed; a page is no log.
const EVENTS_MAX: usize = 60;
/// Columns that every run may have.
const COLUMNS_MIN: usize = 24;

/// A run over time.
pub(crate) struct OverTime {
    /// Number of the run on the page, from 0.
    number: u32,
    /// The columns of the lines.
    timeline: Timeline,
    /// The columns of the heat maps, fewer.
    cells: Timeline,
    /// What happened when.
    events: Vec<Event>,
}

impl OverTime {
    /// A page keeps its size whatever the number of runs: `runs` of them share the columns.
    pub(crate) fn new(number: u32, run: &RunReport, runs: usize, format: &Formatter) -> Self {
        let mut events = run.events.clone();
        events.extend(run.level_change.as_ref().map(|change| levels::event(change, format)));
        events.sort_by_key(|event| event.at_ns);
        let share = |columns: usize| (columns / runs.max(1)).max(COLUMNS_MIN);
        Self {
            number,
            timeline: run.timeline.coarser(share(COLUMNS_MAX)),
            cells: run.timeline.coarser(share(CELLS_MAX)),
            events,
        }
    }

    /// The charts; empty where there was hardly any time.
    pub(crate) fn charts(&self, format: &Formatter, figures: &mut Figures) -> Markup {
        let (timeline, events) = (&self.timeline, &self.events[..]);
        if timeline.columns().len() < 2 {
            return Markup::new();
        }
        let draw = |size| rates(timeline, events, format, size);
        let mut charts = vec![figures.figure(Size::Full, &self.caption(), draw)];
        for operation in timeline.operations() {
            let lines = |size| latency(timeline, operation, events, format, size);
            charts.push(figures.figure(Size::Full, "", lines));
            let cells = |size| heat(&self.cells, operation, format, size);
            let caption = format!(
                "{}s over time: median, p99 and longest time of each stretch, and below how its I/Os spread.",
                capital(operation.name())
            );
            charts.push(figures.figure(Size::Full, &caption, cells));
        }
        let group = tag("div").class("timelines");
        let group = group.attribute("data-timeline", &zoom::id(self.number)).all(charts);
        let data = zoom::data(self.number, timeline, format);
        tag("h4").text("Over time").and(group).and(data)
    }

    /// How to read the chart of rates.
    fn caption(&self) -> String {
        let first = self.timeline.columns().first();
        let width_s = first.map_or(0.0, |column| seconds(column.end_ns - column.start_ns));
        let width = show_length(width_s);
        format!(
            "IOPS over time: the line is the mean of each stretch of {width}, the band lies between its slowest and \
             its fastest interval."
        )
    }

    /// What happened when; the numbers are those in the charts.
    pub(crate) fn events(&self, format: &Formatter) -> Markup {
        if self.events.is_empty() {
            return Markup::new();
        }
        let table = Table::new("What happened when").slim().words("No.");
        let mut table = table.numbers("At").words("Event");
        for (number, event) in (1..).zip(&self.events).take(EVENTS_MAX) {
            table.row(vec![
                Cell::Text(format!("{number}")),
                Cell::Number(show_length(seconds(event.at_ns))),
                Cell::Text(format.sentence(&event.what)),
            ]);
        }
        let more = self.events.len().saturating_sub(EVENTS_MAX);
        let more = (more > 0).then(|| format!("and {more} more in the run's own files"));
        let more = more.map(|words| tag("p").class("note").text(&words));
        tag("h4").text("Events").and(table.markup()).and(more.unwrap_or_default())
    }
}
