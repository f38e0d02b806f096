//! The ladder of a brokerage load in words, columns and figures.

use super::columns::{
    ColumnFill, LadderColumns, busy, counted, device, elapsed, sessions, uncertainty, unknown,
    waits, workload,
};
use super::load_view::LoadView;
use super::transaction_charts::{Picture, charts, line};
use super::transactions::{
    best, common_words, flaw, per_s, per_thousand, rate_words, ratio, reads_and_writes, refusals,
    response_time, response_time_ns as at, result,
};
use crate::chart::scene::{Ink, Stroke};
use assay_model::load::{Load, Rung, TRADE_RESULT};
use assay_model::units::show_count;

/// Said wherever a figure is.
const FAIR_USE: &str = "This load is derived from published descriptions of TPC-E, but it is not \
                        a TPC benchmark: results are not TPC results and cannot be compared with \
                        published ones.";

pub(super) static VIEW: LoadView =
    LoadView { tables, sentences, flaw, charts: |load, format| charts(&PICTURE, load, format) };

/// A column of each transaction: a column is a plain function, so that the names must stand in
/// them.
macro_rules! across {
    ($cell:expr) => {
        [
            |rung| $cell(rung, TRADE_RESULT.stream),
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

/// All tables of such a ladder; transactions stand side by side, because there are eleven of them.
fn tables(_: &Load) -> Vec<LadderColumns> {
    vec![
        throughput(),
        side_by_side("Transactions per second", across!(rate_of)),
        side_by_side("Response time, p50", across!(|rung, name| response_time(rung, name, 0.5))),
        side_by_side("p90", across!(|rung, name| response_time(rung, name, 0.9))),
        side_by_side("Response time, p99", across!(|rung, name| response_time(rung, name, 0.99))),
        side_by_side("The longest took", across!(|rung, name| response_time(rung, name, 1.0))),
        refusals(),
        reads_and_writes(),
        workload(),
        waits(),
        device(),
    ]
}

fn throughput() -> LadderColumns {
    LadderColumns {
        title: "The ladder",
        columns: vec![
            ("users", sessions),
            ("elapsed", elapsed),
            (TRADE_RESULT.unit.0, |rung| show_count(results_per_s(rung))),
            ("transactions/s", |rung| show_count(rung.statements_per_s())),
            ("±", uncertainty),
            ("CPU busy", busy),
            ("server/1,000", |rung| per_thousand(rung, TRADE_RESULT.stream, rung.server_cpu_s)),
            ("client/1,000", |rung| {
                per_thousand(rung, TRADE_RESULT.stream, Some(rung.client_cpu_s))
            }),
        ],
    }
}

fn side_by_side(title: &'static str, fills: [ColumnFill; 11]) -> LadderColumns {
    let names = [
        "result", "order", "feed", "update", "care", "volume", "position", "watch", "detail",
        "lookup", "status",
    ];
    LadderColumns::side_by_side(title, "users", names, fills)
}

fn rate_of(rung: &Rung, name: &str) -> String {
    result(rung, name).map_or_else(unknown, |_| show_count(per_s(rung, name)))
}

/// Trade results that were committed, a second.
fn results_per_s(rung: &Rung) -> f64 {
    per_s(rung, TRADE_RESULT.stream)
}

/// What the load came to, in sentences.
fn sentences(load: &Load) -> Vec<String> {
    let mut said = rate_words(load, &TRADE_RESULT);
    said.extend(best(load, TRADE_RESULT.stream).and_then(ratio_words));
    said.extend(common_words(load, TRADE_RESULT.plural, "trade orders and trade results"));
    said.push(FAIR_USE.to_owned());
    said
}

/// Its figures.
static PICTURE: Picture = Picture {
    rate_words: "Trade results per second by number of users: settled trades.",
    rate: |rung| Some(results_per_s(rung)),
    times: &[
        line("trade result p50", Ink::Write, Stroke::Solid, |rung| {
            at(rung, TRADE_RESULT.stream, 0.5)
        }),
        line("trade result p99", Ink::Write, Stroke::Dashed, |rung| {
            at(rung, TRADE_RESULT.stream, 0.99)
        }),
        line("trade order p99", Ink::Mix, Stroke::Dashed, |rung| at(rung, "trade order", 0.99)),
        line("trade lookup p99", Ink::Read, Stroke::Dashed, |rung| at(rung, "trade lookup", 0.99)),
        line("market watch p99", Ink::Read, Stroke::Dotted, |rung| at(rung, "market watch", 0.99)),
    ],
    times_words: "Response times by number of users: p50 and p99 of trade results, p99 of three \
                  other transactions.",
};

/// Reads for each write, which depend on caches at least as much as on transactions.
///
/// 9.7:1 is reported for TPC-E by Chen et al., "TPC-E vs. TPC-C", SIGMOD Record 39(3), 2010.
fn ratio_words(rung: &Rung) -> Option<String> {
    let database = &rung.database;
    if database.reads == 0 && database.writes == 0 {
        return None;
    }
    let of_device = rung.device.as_ref().map_or_else(String::new, |device| {
        let counters = &device.counters;
        format!(
            "; the device did {}, including the log",
            ratio(counters.read_ios, counters.write_ios)
        )
    });
    Some(format!(
        "The database issued {} reads and {} writes of its data files per second, {}{of_device}. \
         Published measurements of TPC-E have 9.7:1, with other cache sizes.",
        counted(rung, database.reads),
        counted(rung, database.writes),
        ratio(database.reads, database.writes)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung, transactions};
    use crate::input::GivenReport;
    use crate::{ReportOptions, html, text};
    use assay_model::load::{Check, Checks, LoadKind};

    fn brokerage(made: GivenReport) -> GivenReport {
        let mut made = transactions(made, LoadKind::Brokerage);
        for rung in &mut made.load.as_mut().unwrap().rungs {
            (rung.database.reads, rung.database.writes) = (970, 100);
        }
        made
    }

    #[test]
    fn trade_results_are_counted_and_no_name_of_another_is_used() {
        let made = brokerage(report(vec![rung(4, 0)]));
        let text = text(&made, ReportOptions::default(), false);
        let page = html(&made, ReportOptions::default());
        // 500 in two seconds.
        for words in [
            "250 trade results/s",
            "not a TPC benchmark",
            "4 users",
            "9.7:1",
            "Trade results by users",
        ] {
            assert!(page.contains(words), "{words}: {text}");
        }
        assert!(
            text.contains("250 trade results/s") && text.contains("not a TPC benchmark"),
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
        let text = text(&made, ReportOptions::default(), false);
        assert!(text.contains("condition 2 (commissions) is broken 1 times at the end"), "{text}");
    }
}
