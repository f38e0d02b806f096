//! How a run went over time: rates, times and heat maps on one time axis, and what happened when.

use super::{levels, zoom};
use crate::chart::heat::{CELLS_MAX, heat};
use crate::chart::latency::latency;
use crate::chart::rates::rates;
use crate::chart::scene::SceneSize;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::{RunIncident, RunReport};
use crate::phrases::capital;
use crate::timeline::{COLUMNS_MAX, RunTimeline};
use crate::view::{self, CellLook, Chart, ViewBlock, ViewCell, ViewTable};
use assay_model::measurement::Operation;
use assay_model::number::seconds;
use std::rc::Rc;

/// Events listed; a page is not a log.
const EVENTS_MAX: usize = 60;
/// Columns that every run may have.
const COLUMNS_MIN: usize = 24;

/// A run over time.
pub(super) struct OverTime {
    /// Number of the run on the page, from 0.
    number: u32,
    /// What the names of its pictures begin with.
    prefix: String,
    /// The columns of the lines.
    timeline: Rc<RunTimeline>,
    /// The columns of the heat maps, fewer.
    cells: Rc<RunTimeline>,
    /// Events.
    events: Rc<[RunIncident]>,
}

impl OverTime {
    /// A page keeps its size whatever the number of runs: `runs` of them share the columns.
    pub(super) fn new(
        number: u32,
        prefix: &str,
        run: &RunReport,
        runs: usize,
        format: &Formatter,
    ) -> Self {
        let mut events = run.events.clone();
        events.extend(run.level_change.as_ref().map(|change| levels::event(change, format)));
        events.sort_by_key(|event| event.at_ns);
        let share = |columns: usize| (columns / runs.max(1)).max(COLUMNS_MIN);
        Self {
            number,
            prefix: prefix.to_owned(),
            timeline: Rc::new(run.timeline.coarser(share(COLUMNS_MAX))),
            cells: Rc::new(run.timeline.coarser(share(CELLS_MAX))),
            events: events.into(),
        }
    }

    /// The charts; nothing where there was almost no time.
    pub(super) fn charts<'a>(&self, format: Formatter) -> ViewBlock<'a> {
        if self.timeline.columns().len() < 2 {
            return ViewBlock::Group(Vec::new());
        }
        let mut charts = vec![self.rates(format)];
        for operation in self.timeline.operations() {
            charts.extend([self.latency(operation, format), self.heat(operation, format)]);
        }
        let data = zoom::data(&self.timeline, &format);
        let timeline = view::ViewTimeline { id: zoom::id(self.number), charts, data };
        ViewBlock::detail("Over time", vec![ViewBlock::Timeline(timeline)])
    }

    fn rates<'a>(&self, format: Formatter) -> Chart<'a> {
        let (timeline, events) = (Rc::clone(&self.timeline), Rc::clone(&self.events));
        let draw = move |size| rates(&timeline, &events, &format, size);
        Chart::new(format!("{}iops-over-time", self.prefix), SceneSize::Full, self.caption(), draw)
    }

    fn latency<'a>(&self, operation: Operation, format: Formatter) -> Chart<'a> {
        let (timeline, events) = (Rc::clone(&self.timeline), Rc::clone(&self.events));
        let draw = move |size| latency(&timeline, operation, &events, &format, size);
        let file = format!("{}latency-over-time-{}", self.prefix, operation.name());
        Chart::new(file, SceneSize::Full, "", draw)
    }

    fn heat<'a>(&self, operation: Operation, format: Formatter) -> Chart<'a> {
        let cells = Rc::clone(&self.cells);
        let draw = move |size| heat(&cells, operation, &format, size);
        let caption = format!(
            "{}s over time: median, p99 and longest time of each period, with the distribution \
             below.",
            capital(operation.name())
        );
        Chart::new(
            format!("{}heat-map-{}", self.prefix, operation.name()),
            SceneSize::Full,
            caption,
            draw,
        )
    }

    /// How to read the chart of rates.
    fn caption(&self) -> String {
        let first = self.timeline.columns().first();
        let width_s = first.map_or(0.0, |column| seconds(column.end_ns - column.start_ns));
        let width = show_length(width_s);
        format!(
            "IOPS over time: the line is the mean of each {width}, the band spans its slowest to \
             fastest interval."
        )
    }

    /// Events; the numbers are those in the charts.
    pub(super) fn events<'a>(&self, format: &Formatter) -> ViewBlock<'a> {
        let table = ViewTable::new("Events").look(CellLook::Slim).words("No.");
        let mut table = table.numbers("At").words("Event");
        for (number, event) in (1..).zip(self.events.iter()).take(EVENTS_MAX) {
            table.row(vec![
                ViewCell::Words(format!("{number}")),
                ViewCell::Number(show_length(seconds(event.at_ns))),
                ViewCell::Words(format.prose(&event.what)),
            ]);
        }
        let more = self.events.len().saturating_sub(EVENTS_MAX);
        let more = (more > 0).then(|| format!("and {more} more in the run's own files"));
        let content =
            [ViewBlock::Table(table)].into_iter().chain(more.map(ViewBlock::Note)).collect();
        ViewBlock::OnPage(vec![ViewBlock::detail("Events", content)])
    }
}
