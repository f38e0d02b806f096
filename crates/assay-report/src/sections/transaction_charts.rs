//! The figures of a load of transactions: those that are counted by users, times of transactions by users, time of
//! sessions, and the distribution of the best rung.

use super::session_time::time_of_sessions;
use crate::chart::histogram::histogram;
use crate::chart::ladder::{Curve, ladder};
use crate::chart::scene::{Ink, Size, Stroke};
use crate::format::Formatter;
use crate::ladder::brokerage::{TRADE_RESULT, best as best_of_brokerage, results_per_s};
use crate::ladder::orders::{NEW_ORDER, best, new_orders_per_min};
use crate::ladder::split::Split;
use crate::ladder::{response_time_ns as at, result, several};
use crate::view::Chart;
use assay_model::load::{Load, Rung};
use assay_model::measurement::Operation;
use assay_model::verdict::Unit;

/// What is special about the figures of a kind of load.
pub(super) struct Picture {
    /// Title, name of the axis and words under the first figure.
    rate: [&'static str; 3],
    /// Its line.
    rate_of: Curve,
    /// Lines of the second figure, and its words.
    times: &'static [Curve],
    times_words: &'static str,
    /// The transaction whose distribution is drawn, and its plural.
    counted: [&'static str; 2],
    /// The rung whose distribution is drawn.
    best: fn(&Load) -> Option<&Rung>,
}

/// What the columns of the chart of time are.
const STATES: &str = "Where the time of the sessions went: each column is a rung, each part the sessions that were in a state on average.";
/// The same of a server that does not time waits for locks.
const STATES_WITHOUT_LOCKS: &str = "Where the time of the sessions went: each column is a rung, each part the sessions that were in a state on average. Waits for locks are in no part, so columns may be lower than the users.";

/// All of them.
pub(super) fn charts<'a>(
    picture: &'static Picture,
    load: &'a Load,
    format: Formatter,
) -> Vec<Chart<'a>> {
    let ([title, axis, words], line) = (picture.rate, std::slice::from_ref(&picture.rate_of));
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| ladder((title, "users"), axis, Unit::Count, &rungs, line, &format, size);
    let mut charts = vec![Chart::new("rate-by-users", Size::Half, words, draw)];
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let title = ("Times by users", "users");
        ladder(title, "response time", Unit::Ns, &rungs, picture.times, &format, size)
    };
    charts.push(Chart::new("times-by-users", Size::Half, picture.times_words, draw));
    let has_locks = load.rungs.iter().any(|rung| Split::of(rung).locks.is_some());
    let words = if has_locks { STATES } else { STATES_WITHOUT_LOCKS };
    charts.push(time_of_sessions(load, format, "users", words));
    charts.extend(distribution(picture, load, format));
    charts
}

/// How the times of the counted transaction of the best rung spread.
fn distribution<'a>(
    picture: &'static Picture,
    load: &'a Load,
    format: Formatter,
) -> Option<Chart<'a>> {
    let [counted, plural] = picture.counted;
    let rung = (picture.best)(load)?;
    let found = result(rung, counted)?;
    let caption =
        format!("Response times of all {plural} with {}.", several(rung.sessions, "user"));
    let draw = move |size| {
        let words = ("response time", plural);
        histogram(Operation::Write, found.response(), words, &format, size)
    };
    Some(Chart::new("histogram-transactions", Size::Half, caption, draw))
}

/// A line of times.
const fn line(
    name: &'static str,
    ink: Ink,
    stroke: Stroke,
    value: fn(&Rung) -> Option<f64>,
) -> Curve {
    Curve { name, ink, stroke, value }
}

/// The figures of an order entry.
pub(super) static ORDERS: Picture = Picture {
    rate: [
        "New orders by users",
        "new orders/min",
        "New orders a minute by users; those that are rolled back as asked are not among them.",
    ],
    rate_of: line("new orders", Ink::Write, Stroke::Solid, |rung| Some(new_orders_per_min(rung))),
    times: &[
        line("new order p50", Ink::Write, Stroke::Solid, |rung| at(rung, NEW_ORDER, 0.5)),
        line("new order p99", Ink::Write, Stroke::Dashed, |rung| at(rung, NEW_ORDER, 0.99)),
        line("payment p99", Ink::Mix, Stroke::Dashed, |rung| at(rung, "payment", 0.99)),
        line("delivery p99", Ink::Mix, Stroke::Dotted, |rung| at(rung, "delivery", 0.99)),
        line("stock level p99", Ink::Read, Stroke::Dotted, |rung| at(rung, "stock level", 0.99)),
    ],
    times_words: "Response times by users: new orders in the middle and the slowest of a hundred, and the slowest of a hundred of three other transactions.",
    counted: [NEW_ORDER, "new orders"],
    best,
};

/// The figures of a brokerage.
pub(super) static BROKERAGE: Picture = Picture {
    rate: [
        "Trade results by users",
        "trade results/s",
        "Trade results per second by users: trades that the market made of orders, with their settlement.",
    ],
    rate_of: line("trade results", Ink::Write, Stroke::Solid, |rung| Some(results_per_s(rung))),
    times: &[
        line("trade result p50", Ink::Write, Stroke::Solid, |rung| at(rung, TRADE_RESULT, 0.5)),
        line("trade result p99", Ink::Write, Stroke::Dashed, |rung| at(rung, TRADE_RESULT, 0.99)),
        line("trade order p99", Ink::Mix, Stroke::Dashed, |rung| at(rung, "trade order", 0.99)),
        line("trade lookup p99", Ink::Read, Stroke::Dashed, |rung| at(rung, "trade lookup", 0.99)),
        line("market watch p99", Ink::Read, Stroke::Dotted, |rung| at(rung, "market watch", 0.99)),
    ],
    times_words: "Response times by users: trade results in the middle and the slowest of a hundred, and the slowest of a hundred of three other transactions.",
    counted: [TRADE_RESULT, "trade results"],
    best: best_of_brokerage,
};
