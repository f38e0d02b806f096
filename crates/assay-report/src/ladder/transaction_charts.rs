//! The figures of a load of transactions: those that are counted by users, times of transactions by
//! users, time of sessions, and the distribution of the best step.

use super::session_time::time_of_sessions;
use super::split::SessionSplit;
use super::transactions::{best, result};
use super::words::several;
use crate::chart::histogram::histogram;
use crate::chart::ladder::{LadderChart, LadderCurve, ladder};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::format::Formatter;
use crate::phrases::capital;
use crate::view::Chart;
use assay_model::load::{CountedTransaction, Load, Rung};
use assay_model::measurement::Operation;
use assay_model::verdict::Unit;

/// What is special about the figures of a load.
pub(super) struct Picture {
    /// Words under the figure of the counted transactions.
    pub(super) rate_words: &'static str,
    /// Their rate in its unit.
    pub(super) rate: fn(&Rung) -> Option<f64>,
    /// Lines of the times of transactions, and the words under them.
    pub(super) times: &'static [LadderCurve],
    pub(super) times_words: &'static str,
}

/// What the columns of the chart of time are.
const STATES: &str =
    "Session time: each column is a step, each part the mean number of sessions in a state.";
/// The same of a server that does not time waits for locks.
const STATES_WITHOUT_LOCKS: &str = "Session time: each column is a step, each part the mean \
                                    number of sessions in a state. Lock waits are not shown, so \
                                    columns may be lower than the number of users.";

/// All of them.
pub(super) fn charts<'a>(
    picture: &'static Picture,
    load: &'a Load,
    format: Formatter,
) -> Vec<Chart<'a>> {
    let Some(counted) = load.kind.counted() else { return Vec::new() };
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let title = format!("{} by users", capital(counted.plural));
        let curve = line(counted.plural, Ink::Write, Stroke::Solid, picture.rate);
        let chart = LadderChart {
            title: &title,
            who: "users",
            name: counted.unit.0,
            unit: Unit::Count,
            curves: &[curve],
        };
        ladder(&chart, &rungs, &format, size)
    };
    let mut charts = vec![Chart::new("rate-by-users", SceneSize::Half, picture.rate_words, draw)];
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let chart = LadderChart {
            title: "Times by users",
            who: "users",
            name: "response time",
            unit: Unit::Ns,
            curves: picture.times,
        };
        ladder(&chart, &rungs, &format, size)
    };
    charts.push(Chart::new("times-by-users", SceneSize::Half, picture.times_words, draw));
    let has_locks = load.rungs.iter().any(|rung| SessionSplit::of(rung).locks.is_some());
    let words = if has_locks { STATES } else { STATES_WITHOUT_LOCKS };
    charts.push(time_of_sessions(load, format, "users", words));
    charts.extend(distribution(counted, load, format));
    charts
}

/// How the times of the counted transaction of the best step spread.
fn distribution<'a>(
    counted: &'static CountedTransaction,
    load: &'a Load,
    format: Formatter,
) -> Option<Chart<'a>> {
    let rung = best(load, counted.stream)?;
    let found = result(rung, counted.stream)?;
    let plural = counted.plural;
    let caption =
        format!("Response times of all {plural} with {}.", several(rung.sessions, "user"));
    let draw = move |size| {
        let times = found.response();
        histogram(Operation::Write, times, "response time", plural, &format, size)
    };
    Some(Chart::new("histogram-transactions", SceneSize::Half, caption, draw))
}

/// A line of times.
pub(super) const fn line(
    name: &'static str,
    ink: Ink,
    stroke: Stroke,
    value: fn(&Rung) -> Option<f64>,
) -> LadderCurve {
    LadderCurve { name, ink, stroke, value }
}
