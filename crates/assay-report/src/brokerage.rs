//! The ladder of a brokerage load in words and columns, for the page and for the terminal.

use crate::clock::show_length;
use crate::ladder::{
    Columns, Fill, counted, device, moved, of_device, percent, sessions, unknown, waits, workload,
};
use crate::orders::{common_words, per_thousand_of, rate_words, refusals, result};
use assay_model::load::{Load, Rung};
use assay_model::number::{rate, real};
use assay_model::units::{show_count, show_time_ns};

/// The stream that is counted.
pub(crate) const TRADE_RESULT: &str = "trade result";
/// Said wherever a figure is.
const FAIR_USE: &str = "This load is derived from published descriptions of TPC-E, but it is no TPC benchmark: results \
    are no TPC results and cannot be compared with published ones.";

/// Whether a load is one of a brokerage.
pub(crate) fn is_brokerage(load: &Load) -> bool {
    load.method == "brokerage"
}

/// All tables of such a ladder; transactions stand side by side, because there are eleven of them.
pub(crate) fn tables() -> Vec<Columns> {
    vec![
        throughput(),
        side_by_side("Transactions a second", across_rates()),
        side_by_side("Half of them take at most (p50)", across_half()),
        side_by_side("Nine of ten take at most (p90)", across_nine_tenths()),
        side_by_side("99 of 100 take at most (p99)", across_99()),
        side_by_side("The longest took", across_longest()),
        refusals(),
        reads_and_writes(),
        workload(),
        waits(),
        device(),
    ]
}

fn throughput() -> Columns {
    Columns {
        title: "The ladder",
        columns: vec![
            ("users", sessions),
            ("elapsed", |rung| show_length(rung.elapsed_s())),
            ("trade results/s", |rung| show_count(results_per_s(rung))),
            ("transactions/s", |rung| show_count(rung.statements_per_s())),
            ("±", |rung| {
                rung.statements.map_or_else(unknown, |estimate| {
                    format!("{:.1} %", 100.0 * estimate.relative_half_width())
                })
            }),
            ("CPU busy", |rung| rung.host_busy_share.map_or_else(unknown, percent)),
            ("server/1,000", |rung| per_thousand_of(rung, TRADE_RESULT, rung.server_cpu_s)),
            ("client/1,000", |rung| per_thousand_of(rung, TRADE_RESULT, Some(rung.client_cpu_s))),
        ],
    }
}

/// Reads for each write: what the database asked of its data files, and what the device did, the log among it.
pub(crate) fn reads_and_writes() -> Columns {
    Columns {
        title: "Physical reads and writes",
        columns: vec![
            ("users", sessions),
            ("DB reads/s", |rung| counted(rung, rung.database.reads)),
            ("DB writes/s", |rung| counted(rung, rung.database.writes)),
            ("DB reads:writes", |rung| ratio(rung.database.reads, rung.database.writes)),
            ("log", |rung| moved(rung, rung.database.log_bytes)),
            ("device r/s", |rung| of_device(rung, |device| device.read_ios)),
            ("device w/s", |rung| of_device(rung, |device| device.write_ios)),
            ("device reads:writes", |rung| {
                let device = rung.device.as_ref();
                device.map_or_else(unknown, |device| {
                    ratio(device.counters.read_ios, device.counters.write_ios)
                })
            }),
        ],
    }
}

/// So many reads for each write.
fn ratio(reads: u64, writes: u64) -> String {
    match (reads, writes) {
        (0, 0) => unknown(),
        (_, 0) => "no writes".to_owned(),
        _ => format!("{:.1}:1", real(reads) / real(writes)),
    }
}

fn side_by_side(title: &'static str, fills: [Fill; 11]) -> Columns {
    let names = [
        "result", "order", "feed", "update", "care", "volume", "position", "watch", "detail",
        "lookup", "status",
    ];
    let mut columns: Vec<(&'static str, Fill)> = vec![("users", sessions)];
    columns.extend(names.into_iter().zip(fills));
    Columns { title, columns }
}

/// A column of each transaction: a column is a plain function, so that the names must stand in them.
macro_rules! across {
    ($cell:expr) => {
        [
            |rung| $cell(rung, TRADE_RESULT),
            |rung| $cell(rung, "trade order"),
            |rung| $cell(rung, "market feed"),
            |rung| $cell(rung, "trade update"),
            |rung| $cell(rung, "data maintenance"),
            |rung| $cell(rung, "broker volume"),
            |rung| $cell(rung, "customer position"),
            |rung| $cell(rung, "market watch"),
            |rung| $cell(rung, "security detail"),
            |rung| $cell(rung, "trade lookup"),
            |rung| $cell(rung, "trade status"),
        ]
    };
}

fn across_rates() -> [Fill; 11] {
    across!(rate_of)
}

fn across_half() -> [Fill; 11] {
    across!(|rung, name| time(rung, name, 0.5))
}

fn across_nine_tenths() -> [Fill; 11] {
    across!(|rung, name| time(rung, name, 0.9))
}

fn across_99() -> [Fill; 11] {
    across!(|rung, name| time(rung, name, 0.99))
}

fn across_longest() -> [Fill; 11] {
    across!(|rung, name| time(rung, name, 1.0))
}

fn rate_of(rung: &Rung, name: &str) -> String {
    let found = result(rung, name);
    found.map_or_else(unknown, |result| show_count(rate(result.ios, rung.elapsed_s())))
}

fn time(rung: &Rung, name: &str, quantile: f64) -> String {
    let found = result(rung, name);
    found.map_or_else(unknown, |result| show_time_ns(real(result.response().quantile_ns(quantile))))
}

/// Trade results that were committed, a second.
pub(crate) fn results_per_s(rung: &Rung) -> f64 {
    rate(result(rung, TRADE_RESULT).map_or(0, |result| result.ios), rung.elapsed_s())
}

/// The rung with the most trade results.
pub(crate) fn best(load: &Load) -> Option<&Rung> {
    load.rungs.iter().max_by(|one, other| results_per_s(one).total_cmp(&results_per_s(other)))
}

/// What the load came to, in sentences.
pub(crate) fn sentences(load: &Load) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(rung) = best(load) {
        let rate = format!("{} trade results/s", show_count(results_per_s(rung)));
        said.push(rate_words(rung, &rate, TRADE_RESULT));
        said.extend(ratio_words(rung));
    }
    said.extend(common_words(load, "trade results", "trade orders and trade results"));
    said.push(FAIR_USE.to_owned());
    said
}

/// Reads for each write, which depend on caches at least as much as on transactions.
///
/// 9.7:1 is told of TPC-E by Chen et al., "TPC-E vs. TPC-C", SIGMOD Record 39(3), 2010.
fn ratio_words(rung: &Rung) -> Option<String> {
    let database = &rung.database;
    if database.reads == 0 && database.writes == 0 {
        return None;
    }
    let of_device = rung.device.as_ref().map_or_else(String::new, |device| {
        let counters = &device.counters;
        format!(
            "; the device did {}, the log among it",
            ratio(counters.read_ios, counters.write_ios)
        )
    });
    Some(format!(
        "The database asked for {} reads and {} writes of its data files a second, {}{of_device}. The literature has \
         9.7:1 of TPC-E, under caches of its own.",
        counted(rung, database.reads),
        counted(rung, database.writes),
        ratio(database.reads, database.writes)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Report;
    use crate::ladder::tests::{report, rung};
    use crate::orders::tests::made_up;
    use crate::{Options, html, text};
    use assay_model::load::{Check, Checks};

    fn brokerage(made: Report) -> Report {
        let mut made = made_up(made, "brokerage", TRADE_RESULT);
        for rung in &mut made.load.as_mut().unwrap().rungs {
            (rung.database.reads, rung.database.writes) = (970, 100);
        }
        made
    }

    #[test]
    fn trade_results_are_counted_and_no_name_of_another_is_used() {
        let made = brokerage(report(vec![rung(4, 0)]));
        let text = text(&made, Options::default(), false);
        let page = html(&made, Options::default());
        // 500 in two seconds.
        for words in [
            "250 trade results/s",
            "no TPC benchmark",
            "4 users",
            "9.7:1",
            "Trade results by users",
        ] {
            assert!(page.contains(words), "{words}: {text}");
        }
        assert!(
            text.contains("250 trade results/s") && text.contains("no TPC benchmark"),
            "{text}"
        );
        assert!(!text.contains("tpsE") && !page.contains("tpsE"));
    }

    #[test]
    fn damaged_books_spoil_the_answer() {
        let mut made = brokerage(report(vec![rung(1, 0)]));
        let load = made.load.as_mut().unwrap();
        let check = Check { number: 2, condition: "commissions".to_owned(), violations: 1 };
        load.checks =
            vec![Checks { when: "at the end".to_owned(), checks: vec![check], elapsed_s: 1.0 }];
        let text = text(&made, Options::default(), false);
        assert!(text.contains("condition 2 (commissions) is broken 1 times at the end"), "{text}");
    }

    #[test]
    fn a_ratio_says_what_is_not_known() {
        assert_eq!((ratio(97, 10).as_str(), ratio(3, 0).as_str()), ("9.7:1", "no writes"));
        assert_eq!(ratio(0, 0), unknown());
    }
}
