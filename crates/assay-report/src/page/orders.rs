//! The figures of an order-entry load: new orders by users, times of transactions by users, time of sessions, and the
//! distribution of the best rung.

use super::figure::Figures;
use crate::chart::histogram::histogram;
use crate::chart::ladder::{Curve, ladder};
use crate::chart::scene::{Ink, Size, Stroke};
use crate::chart::stack::stack;
use crate::markup::Markup;
use crate::orders::{NEW_ORDER, best, new_orders_per_min, result};
use crate::show::Show;
use assay_model::load::{Load, Rung};
use assay_model::measurement::Operation;
use assay_model::number::real;
use assay_model::verdict::Unit;

/// Draws all of them.
pub(super) fn charts(load: &Load, show: &Show, figures: &mut Figures) -> Markup {
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let mut charts = Markup::new();
    let draw = |size| {
        ladder("New orders by users", "new orders/min", Unit::Count, &rungs, &RATE, show, size)
    };
    charts.push(figures.figure(
        Size::Half,
        "New orders a minute by users; those that are rolled back as asked are not among them.",
        draw,
    ));
    let draw =
        |size| ladder("Times by users", "response time", Unit::Ns, &rungs, &TIMES, show, size);
    charts.push(figures.figure(Size::Half, "Response times by users: new orders in the middle and the slowest of a hundred, and the slowest of a hundred of three other transactions.", draw));
    let draw = |size| stack(&rungs, load.processors, show, size);
    charts.push(figures.figure(Size::Half, "Where the time of the sessions went: each column is a rung, each part the sessions that were in a state on average. Waits for locks are in no part, so columns may be lower than the users.", draw));
    if let Some((rung, found)) = best(load).and_then(|rung| Some((rung, result(rung, NEW_ORDER)?)))
    {
        let caption = format!("Response times of all new orders with {} users.", rung.sessions);
        let draw = |size| {
            histogram(Operation::Write, found.response(), "response time of new orders", show, size)
        };
        charts.push(figures.figure(Size::Half, &caption, draw));
    }
    charts
}

/// The line of the first figure.
const RATE: [Curve; 1] = [Curve {
    name: "new orders",
    ink: Ink::Write,
    stroke: Stroke::Solid,
    value: |rung| Some(new_orders_per_min(rung)),
}];

/// Lines of the second figure.
const TIMES: [Curve; 5] = [
    Curve {
        name: "new order p50",
        ink: Ink::Write,
        stroke: Stroke::Solid,
        value: |rung| at(rung, NEW_ORDER, 0.5),
    },
    Curve {
        name: "new order p99",
        ink: Ink::Write,
        stroke: Stroke::Dashed,
        value: |rung| at(rung, NEW_ORDER, 0.99),
    },
    Curve {
        name: "payment p99",
        ink: Ink::Mix,
        stroke: Stroke::Dashed,
        value: |rung| at(rung, "payment", 0.99),
    },
    Curve {
        name: "delivery p99",
        ink: Ink::Mix,
        stroke: Stroke::Dotted,
        value: |rung| at(rung, "delivery", 0.99),
    },
    Curve {
        name: "stock level p99",
        ink: Ink::Read,
        stroke: Stroke::Dotted,
        value: |rung| at(rung, "stock level", 0.99),
    },
];

fn at(rung: &Rung, name: &str, quantile: f64) -> Option<f64> {
    result(rung, name).map(|result| real(result.response().quantile_ns(quantile)))
}
