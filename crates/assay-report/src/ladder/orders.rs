//! The ladder of an order-entry load in words and columns.

use super::columns::{
    Columns, Fill, busy, device, elapsed, sessions, uncertainty, unknown, waits, workload,
};
use super::transactions::{
    common_words, per_s, per_thousand, rate_words, reads_and_writes, refusals, response_time,
    result,
};
use super::words::rate_of_repeats;
use assay_model::load::{Load, Rung};
use assay_model::units::show_count;

/// The stream that is counted.
pub(crate) const NEW_ORDER: &str = "new order";
/// Said wherever a figure is.
const FAIR_USE: &str = "This load is derived from the TPC-C standard, but it is not a TPC benchmark: results are not TPC \
    results and cannot be compared with published ones.";

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
pub(super) fn tables(load: &Load) -> Vec<Columns> {
    let mut tables = vec![throughput()];
    let kinds: [(&'static str, &'static str, [Fill; 6]); 5] = [
        ("Times of new orders", NEW_ORDER, cells!(NEW_ORDER)),
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

fn throughput() -> Columns {
    Columns {
        title: "The ladder",
        columns: vec![
            ("users", sessions),
            ("elapsed", elapsed),
            ("new orders/min", |rung| show_count(new_orders_per_min(rung))),
            ("±", uncertainty),
            ("transactions/s", |rung| show_count(rung.statements_per_s())),
            ("CPU busy", busy),
            ("server/1,000", |rung| per_thousand(rung, NEW_ORDER, rung.server_cpu_s)),
            ("client/1,000", |rung| per_thousand(rung, NEW_ORDER, Some(rung.client_cpu_s))),
        ],
    }
}

fn times(title: &'static str, fills: [Fill; 6]) -> Columns {
    let names = ["each min", "p50", "p90", "p95", "p99", "longest"];
    Columns::side_by_side(title, "users", names, fills)
}

fn a_minute(rung: &Rung, name: &str) -> String {
    result(rung, name).map_or_else(unknown, |_| show_count(60.0 * per_s(rung, name)))
}

/// New orders that were committed, a minute.
pub(crate) fn new_orders_per_min(rung: &Rung) -> f64 {
    60.0 * per_s(rung, NEW_ORDER)
}

/// The rung with the most new orders.
pub(crate) fn best(load: &Load) -> Option<&Rung> {
    super::transactions::best(load, NEW_ORDER)
}

/// What the load came to, in sentences.
pub(super) fn sentences(load: &Load) -> Vec<String> {
    let mut said: Vec<String> = best(load).map(|rung| best_words(load, rung)).into_iter().collect();
    said.extend(common_words(load, "new orders", "new orders and payments"));
    said.push(FAIR_USE.to_owned());
    said
}

fn best_words(load: &Load, rung: &Rung) -> String {
    let rate = rate_of_repeats(load, rung, new_orders_per_min, "new orders/min");
    rate_words(rung, &rate, NEW_ORDER)
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung, transactions};
    use super::*;
    use crate::{Options, html, text};
    use assay_model::load::LoadKind;

    #[test]
    fn new_orders_are_counted_and_no_name_of_another_is_used() {
        let made = transactions(report(vec![rung(4, 0)]), LoadKind::Oltp, NEW_ORDER);
        let text = text(&made, Options::default(), false);
        let page = html(&made, Options::default());
        // 500 in two seconds.
        for words in ["15,000 new orders/min", "not a TPC benchmark", "4 users"] {
            assert!(text.contains(words) && page.contains(words), "{words}: {text}");
        }
        assert!(text.contains("deadlocks") && !text.contains("tpmC") && !page.contains("tpmC"));
    }
}
