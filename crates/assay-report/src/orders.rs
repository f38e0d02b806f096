//! The ladder of an order-entry load in words and columns, for the page and for the terminal.

use crate::clock::show_length;
use crate::ladder::{Columns, Fill, device, percent, sessions, unknown, waits, workload};
use assay_model::load::{Commits, Goal, Load, Rung};
use assay_model::measurement::{NamedResult, OperationResult};
use assay_model::number::{rate, real};
use assay_model::units::{show_count, show_time_ns};

/// The stream that is counted.
pub(crate) const NEW_ORDER: &str = "new order";
/// Said wherever a figure is.
const FAIR_USE: &str = "This load is derived from the TPC-C standard, but it is no TPC benchmark: results are no TPC \
    results and cannot be compared with published ones.";

/// Whether a load is one of transactions: its answer is how many of them a database takes, not how many reads.
pub(crate) fn is_transactions(load: &Load) -> bool {
    load.method == "oltp" || crate::brokerage::is_brokerage(load)
}

/// All tables of such a ladder.
pub(crate) fn tables(load: &Load) -> Vec<Columns> {
    let mut tables = vec![throughput()];
    let times: [(&'static str, &'static str, [Fill; 6]); 5] = [
        ("Times of new orders", NEW_ORDER, of_new_orders()),
        ("Times of payments", "payment", of_payments()),
        ("Times of order status", "order status", of_status()),
        ("Times of deliveries", "delivery", of_deliveries()),
        ("Times of stock level", "stock level", of_stock()),
    ];
    for (title, name, fills) in times {
        if load.rungs.iter().any(|rung| result(rung, name).is_some()) {
            tables.push(quantiles(title, fills));
        }
    }
    tables.push(refusals());
    tables.push(crate::brokerage::reads_and_writes());
    tables.extend([workload(), waits(), device()]);
    tables
}

fn throughput() -> Columns {
    Columns {
        title: "The ladder",
        columns: vec![
            ("users", sessions),
            ("elapsed", |rung| show_length(rung.elapsed_s())),
            ("new orders/min", |rung| show_count(new_orders_per_min(rung))),
            ("±", |rung| {
                rung.statements.map_or_else(unknown, |estimate| {
                    format!("{:.1} %", 100.0 * estimate.relative_half_width())
                })
            }),
            ("transactions/s", |rung| show_count(rung.statements_per_s())),
            ("CPU busy", |rung| rung.host_busy_share.map_or_else(unknown, percent)),
            ("server/1,000", |rung| per_thousand(rung, rung.server_cpu_s)),
            ("client/1,000", |rung| per_thousand(rung, Some(rung.client_cpu_s))),
        ],
    }
}

/// What the server refused for the sake of others, and what was late.
pub(crate) fn refusals() -> Columns {
    Columns {
        title: "Tried again, failed, rolled back as asked, and not begun in time",
        columns: vec![
            ("users", sessions),
            // The codes of PostgreSQL, and the numbers of MariaDB and MySQL.
            ("deadlocks", |rung| refused(rung, &["(40P01)", "(1213 "])),
            ("serialisation", |rung| refused(rung, &["(40001)", "(1020 "])),
            ("lock timeouts", |rung| refused(rung, &["(55P03)", "(1205 "])),
            ("failed", |rung| {
                let failed = rung.measurement.errors.iter().map(|error| error.ios).sum::<u64>();
                show_count(real(failed))
            }),
            ("rolled back", |rung| {
                let found = result(rung, "rolled back order").map_or(0, |result| result.ios);
                show_count(real(found))
            }),
            ("backlog", |rung| rung.backlog.map_or_else(unknown, |late| show_count(real(late)))),
        ],
    }
}

fn quantiles(title: &'static str, fills: [Fill; 6]) -> Columns {
    let names = ["each min", "p50", "p90", "p95", "p99", "longest"];
    let mut columns: Vec<(&'static str, Fill)> = vec![("users", sessions)];
    columns.extend(names.into_iter().zip(fills));
    Columns { title, columns }
}

/// A cell of one stream; a quantile below 0 is the rate.
fn cell(rung: &Rung, name: &str, quantile: f64) -> String {
    let Some(result) = result(rung, name) else {
        return unknown();
    };
    if quantile < 0.0 {
        return show_count(60.0 * rate(result.ios, rung.elapsed_s()));
    }
    show_time_ns(real(result.response().quantile_ns(quantile)))
}

/// Cells of a stream: a column is a plain function, so that the stream's name must stand in it.
macro_rules! cells {
    ($name:expr) => {
        [
            |rung| cell(rung, $name, -1.0),
            |rung| cell(rung, $name, 0.5),
            |rung| cell(rung, $name, 0.9),
            |rung| cell(rung, $name, 0.95),
            |rung| cell(rung, $name, 0.99),
            |rung| cell(rung, $name, 1.0),
        ]
    };
}

fn of_new_orders() -> [Fill; 6] {
    cells!(NEW_ORDER)
}

fn of_payments() -> [Fill; 6] {
    cells!("payment")
}

fn of_status() -> [Fill; 6] {
    cells!("order status")
}

fn of_deliveries() -> [Fill; 6] {
    cells!("delivery")
}

fn of_stock() -> [Fill; 6] {
    cells!("stock level")
}

/// The only operation of a stream.
pub(crate) fn result<'a>(rung: &'a Rung, name: &str) -> Option<&'a OperationResult> {
    let found = |stream: &&NamedResult| stream.name == name;
    let stream = rung.measurement.streams.iter().find(found)?;
    stream.operations.iter().map(|(_, result)| result).find(|result| result.ios > 0)
}

/// New orders that were committed, a minute.
pub(crate) fn new_orders_per_min(rung: &Rung) -> f64 {
    let ios = result(rung, NEW_ORDER).map_or(0, |result| result.ios);
    60.0 * rate(ios, rung.elapsed_s())
}

fn per_thousand(rung: &Rung, cpu_s: Option<f64>) -> String {
    per_thousand_of(rung, NEW_ORDER, cpu_s)
}

/// CPU time of a thousand of the counted transactions with all that belongs to them.
pub(crate) fn per_thousand_of(rung: &Rung, stream: &str, cpu_s: Option<f64>) -> String {
    let orders = result(rung, stream).map_or(0, |result| result.ios);
    let each = cpu_s.filter(|_| orders > 0).map(|cpu_s| cpu_s * 1000.0 / real(orders));
    each.map_or_else(unknown, |cpu_s| show_time_ns(cpu_s * 1e9))
}

fn refused(rung: &Rung, codes: &[&str]) -> String {
    let is_of = |meaning: &str| codes.iter().any(|code| meaning.contains(code));
    let of_code = rung.retries.iter().filter(|one| is_of(&one.meaning));
    show_count(real(of_code.map(|one| one.times).sum::<u64>()))
}

/// What the load came to, in sentences.
pub(crate) fn sentences(load: &Load) -> Vec<String> {
    let best = load
        .rungs
        .iter()
        .max_by(|one, other| new_orders_per_min(one).total_cmp(&new_orders_per_min(other)));
    let mut said: Vec<String> = best.map(best_words).into_iter().collect();
    said.extend(common_words(load, "new orders", "new orders and payments"));
    said.push(FAIR_USE.to_owned());
    said
}

/// Goal, conditions, what became of transactions, and why the ladder ended.
pub(crate) fn common_words(load: &Load, limited: &str, found: &str) -> Vec<String> {
    let mut said: Vec<String> =
        load.goal.map(|goal| goal_words(&goal, limited)).into_iter().collect();
    said.extend(load.checks.iter().map(|checks| {
        let all = checks.checks.len();
        let held = checks.checks.iter().filter(|check| check.violations == 0).count();
        format!("{held} of {all} conditions of the data hold {}.", checks.when)
    }));
    said.extend(commit_words(&load.commits, found));
    if !load.end.is_empty() {
        said.push(format!("The ladder ended because {}.", load.end));
    }
    said
}

fn goal_words(goal: &Goal, limited: &str) -> String {
    let (limit, quantile) = (show_time_ns(goal.limit_ns), crate::words::nines(goal.quantile));
    match goal.sessions {
        None => format!("Not even one user keeps p{quantile} of {limited} within {limit}."),
        Some(users) if goal.is_bounded => {
            format!("{users} users are the most that keep p{quantile} of {limited} within {limit}.")
        }
        Some(users) => {
            format!(
                "{users} users keep p{quantile} of {limited} within {limit}; more were not measured."
            )
        }
    }
}

/// The rung with the most new orders.
pub(crate) fn best(load: &Load) -> Option<&Rung> {
    let rate = new_orders_per_min;
    load.rungs.iter().max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

fn best_words(rung: &Rung) -> String {
    let rate = format!("{} new orders/min", show_count(new_orders_per_min(rung)));
    rate_words(rung, &rate, NEW_ORDER)
}

/// How many of the counted transactions a rung had, and how long they took.
pub(crate) fn rate_words(rung: &Rung, counted: &str, stream: &str) -> String {
    let users =
        if rung.sessions == 1 { "1 user".to_owned() } else { format!("{} users", rung.sessions) };
    let times = result(rung, stream).map_or_else(String::new, |result| {
        let quantile = |q| show_time_ns(real(result.response().quantile_ns(q)));
        format!("; half of them take {} at most, 99 of 100 {}", quantile(0.5), quantile(0.99))
    });
    format!(
        "The database takes {counted} with {users}, {} transactions/s in all{times}.",
        show_count(rung.statements_per_s())
    )
}

/// Whether acknowledged transactions are there.
fn commit_words(commits: &[Commits], found: &str) -> Option<String> {
    let sum = |of: fn(&Commits) -> u64| commits.iter().map(of).sum::<u64>();
    let acknowledged = sum(|one| one.acknowledged);
    if commits.is_empty() {
        return None;
    }
    let lost = commits.iter().filter(|one| one.is_lost()).count();
    let unknown = match sum(|one| one.unknown) {
        0 => String::new(),
        some => format!(", {some} more had no answer"),
    };
    let verdict = if lost == 0 { "none is lost" } else { "NOT ALL are in the tables" };
    Some(format!(
        "{} {found} were acknowledged{unknown}, {} are found: {verdict}.",
        show_count(real(acknowledged)),
        show_count(real(sum(|one| one.found)))
    ))
}

/// What breaks the result; nothing where the data is right.
pub(crate) fn flaw(load: &Load) -> Option<String> {
    let broken: Vec<String> = load
        .checks
        .iter()
        .flat_map(|checks| checks.checks.iter().map(|check| (check, checks.when.as_str())))
        .filter(|(check, _)| check.violations > 0)
        .map(|(check, when)| {
            format!(
                "condition {} ({}) is broken {} times {when}",
                check.number, check.condition, check.violations
            )
        })
        .collect();
    if !broken.is_empty() {
        return Some(format!("The data is damaged: {}.", broken.join("; ")));
    }
    let lost = load.commits.iter().find(|one| one.is_lost())?;
    Some(format!(
        "Transactions are lost: of {} acknowledged ({}) with {} users {} are in the tables.",
        lost.acknowledged, lost.stream, lost.sessions, lost.found
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::input::Report;
    use crate::ladder::tests::{report, rung};
    use crate::{Options, html, text};
    use assay_model::load::{Check, Checks, Retries};
    use assay_model::measurement::PerOperation;
    use assay_model::{Histogram, Precision};

    /// A report of a load of transactions, of which one is counted: 500 a rung.
    pub(crate) fn made_up(mut made: Report, method: &str, counted: &str) -> Report {
        let load = made.load.as_mut().unwrap();
        load.method = method.to_owned();
        for rung in &mut load.rungs {
            let mut service = Histogram::new(Precision::Fine);
            service.record_many(3_000_000, 500);
            let write = OperationResult { ios: 500, service, ..OperationResult::default() };
            let operations = PerOperation { write: Some(write), ..PerOperation::default() };
            rung.measurement.streams = vec![NamedResult { name: counted.to_owned(), operations }];
            rung.retries = vec![Retries {
                stream: counted.to_owned(),
                meaning: "deadlock detected (40P01)".to_owned(),
                times: 7,
            }];
        }
        made
    }

    fn orders(made: Report) -> Report {
        made_up(made, "oltp", NEW_ORDER)
    }

    #[test]
    fn new_orders_are_counted_and_no_name_of_another_is_used() {
        let made = orders(report(vec![rung(4, 0)]));
        let text = text(&made, Options::default(), false);
        let page = html(&made, Options::default());
        // 500 in two seconds.
        for words in ["15,000 new orders/min", "no TPC benchmark", "4 users"] {
            assert!(text.contains(words) && page.contains(words), "{words}: {text}");
        }
        assert!(text.contains("deadlocks") && !text.contains("tpmC") && !page.contains("tpmC"));
    }

    #[test]
    fn damaged_data_and_lost_transactions_spoil_the_answer() {
        let mut made = orders(report(vec![rung(1, 0)]));
        let load = made.load.as_mut().unwrap();
        load.commits = vec![Commits { acknowledged: 10, found: 9, ..Commits::default() }];
        assert!(flaw(load).unwrap().contains("lost"));
        let check = Check { number: 3, condition: "no gap".to_owned(), violations: 2 };
        load.checks =
            vec![Checks { when: "at the end".to_owned(), checks: vec![check], elapsed_s: 1.0 }];
        let text = text(&made, Options::default(), false);
        assert!(text.contains("condition 3 (no gap) is broken 2 times at the end"), "{text}");
        assert!(text.contains("NOT ALL"), "{text}");
    }
}
