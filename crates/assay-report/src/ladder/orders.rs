//! The ladder of an order-entry load in words, columns and figures.

use super::columns::{
    ColumnFill, LadderColumns, busy, device, elapsed, sessions, uncertainty, unknown, waits,
    workload,
};
use super::load_view::LoadView;
use super::transaction_charts::{Picture, charts, line};
use super::transactions::{
    common_words, flaw, per_s, per_thousand, rate_words, reads_and_writes, refusals, response_time,
    response_time_ns as at, result,
};
use crate::chart::scene::{Ink, Stroke};
use assay_model::load::{Load, NEW_ORDER, Rung};
use assay_model::units::show_count;

/// Said wherever a figure is.
const FAIR_USE: &str = "This load is derived from the TPC-C standard, but it is not a TPC \
                        benchmark: results are not TPC results and cannot be compared with \
                        published ones.";

pub(super) static VIEW: LoadView =
    LoadView { tables, sentences, flaw, charts: |load, format| charts(&PICTURE, load, format) };

/// Cells of a stream: a column is a plain function, so that the stream's name must stand in it.
macro_rules! cells {
    ($name:expr) => {
        [
            |rung| a_minute(rung, $name),
            |rung| response_time(rung, $name, 0.5),
            |rung| response_time(rung, $name, 0.9),
            |rung| response_time(rung, $name, 0.95),
            |rung| response_time(rung, $name, 0.99),
            |rung| response_time(rung, $name, 1.0),
        ]
    };
}

/// All tables of such a ladder.
fn tables(load: &Load) -> Vec<LadderColumns> {
    let mut tables = vec![throughput()];
    let kinds: [(&'static str, &'static str, [ColumnFill; 6]); 5] = [
        ("Times of new orders", NEW_ORDER.stream, cells!(NEW_ORDER.stream)),
        ("Times of payments", "payment", cells!("payment")),
        ("Times of order status", "order status", cells!("order status")),
        ("Times of deliveries", "delivery", cells!("delivery")),
        ("Times of stock level", "stock level", cells!("stock level")),
    ];
    for (title, name, fills) in kinds {
        if load.rungs.iter().any(|rung| result(rung, name).is_some()) {
            tables.push(times(title, fills));
        }
    }
    tables.extend([refusals(), reads_and_writes(), workload(), waits(), device()]);
    tables
}

fn throughput() -> LadderColumns {
    LadderColumns {
        title: "The ladder",
        columns: vec![
            ("users", sessions),
            ("elapsed", elapsed),
            (NEW_ORDER.unit.0, |rung| show_count(new_orders_per_min(rung))),
            ("±", uncertainty),
            ("transactions/s", |rung| show_count(rung.statements_per_s())),
            ("CPU busy", busy),
            ("server/1,000", |rung| per_thousand(rung, NEW_ORDER.stream, rung.server_cpu_s)),
            ("client/1,000", |rung| per_thousand(rung, NEW_ORDER.stream, Some(rung.client_cpu_s))),
        ],
    }
}

fn times(title: &'static str, fills: [ColumnFill; 6]) -> LadderColumns {
    let names = ["each min", "p50", "p90", "p95", "p99", "longest"];
    LadderColumns::side_by_side(title, "users", names, fills)
}

fn a_minute(rung: &Rung, name: &str) -> String {
    result(rung, name).map_or_else(unknown, |_| show_count(60.0 * per_s(rung, name)))
}

/// New orders that were committed, a minute.
fn new_orders_per_min(rung: &Rung) -> f64 {
    NEW_ORDER.rate(per_s(rung, NEW_ORDER.stream))
}

/// What the load came to, in sentences.
fn sentences(load: &Load) -> Vec<String> {
    let mut said = rate_words(load, &NEW_ORDER);
    said.extend(common_words(load, NEW_ORDER.plural, "new orders and payments"));
    said.push(FAIR_USE.to_owned());
    said
}

/// Its figures.
static PICTURE: Picture = Picture {
    rate_words: "New orders per minute by number of users, without intended rollbacks.",
    rate: |rung| Some(new_orders_per_min(rung)),
    times: &[
        line("new order p50", Ink::Write, Stroke::Solid, |rung| at(rung, NEW_ORDER.stream, 0.5)),
        line("new order p99", Ink::Write, Stroke::Dashed, |rung| at(rung, NEW_ORDER.stream, 0.99)),
        line("payment p99", Ink::Mix, Stroke::Dashed, |rung| at(rung, "payment", 0.99)),
        line("delivery p99", Ink::Mix, Stroke::Dotted, |rung| at(rung, "delivery", 0.99)),
        line("stock level p99", Ink::Read, Stroke::Dotted, |rung| at(rung, "stock level", 0.99)),
    ],
    times_words: "Response times by number of users: p50 and p99 of new orders, p99 of three \
                  other transactions.",
};

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung, transactions};
    use crate::{ReportOptions, html, text};
    use assay_model::load::LoadKind;

    #[test]
    fn new_orders_are_counted_and_no_name_of_another_is_used() {
        let made = transactions(report(vec![rung(4, 0)]), LoadKind::Oltp);
        let text = text(&made, ReportOptions::default(), false);
        let page = html(&made, ReportOptions::default());
        // 500 in two seconds.
        for words in ["15,000 new orders/min", "not a TPC benchmark", "4 users"] {
            assert!(text.contains(words) && page.contains(words), "{words}: {text}");
        }
        assert!(text.contains("deadlocks") && !text.contains("tpmC") && !page.contains("tpmC"));
    }
}
