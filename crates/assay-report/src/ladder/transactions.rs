//! What ladders of transactions have in common: the counted transaction, refusals, reads for each
//! write, and whether the data is right.

use super::columns::{LadderColumns, counted, moved, of_device, sessions, unknown};
use super::words::{end_words, goal_words, rate_of_repeats, several};
use assay_model::failure::Refusal;
use assay_model::load::{CommitParity, Commits, CountedTransaction, Load, Rung};
use assay_model::measurement::{NamedResult, OperationResult};
use assay_model::number::{rate, real};
use assay_model::units::{show_count, show_time_ns};

/// The only operation of a stream.
pub(crate) fn result<'a>(rung: &'a Rung, name: &str) -> Option<&'a OperationResult> {
    let found = |stream: &&NamedResult| stream.name == name;
    let stream = rung.measurement.streams.iter().find(found)?;
    stream.operations.iter().map(|(_, result)| result).find(|result| result.ios > 0)
}

/// A response time of the transactions of a stream, ns: the one that this share of them, 0..=1,
/// does not exceed.
pub(crate) fn response_time_ns(rung: &Rung, stream: &str, quantile: f64) -> Option<f64> {
    result(rung, stream).map(|result| real(result.response().quantile_ns(quantile)))
}

/// The same as a cell.
pub(super) fn response_time(rung: &Rung, stream: &str, quantile: f64) -> String {
    response_time_ns(rung, stream, quantile).map_or_else(unknown, show_time_ns)
}

/// Transactions of a stream that were committed, a second.
pub(super) fn per_s(rung: &Rung, stream: &str) -> f64 {
    rate(result(rung, stream).map_or(0, |result| result.ios), rung.elapsed_s())
}

/// The step in which most of a stream were committed a second; of repeats the middle one.
pub(super) fn best<'a>(load: &'a Load, stream: &str) -> Option<&'a Rung> {
    load.best_by(|rung| per_s(rung, stream))
}

/// CPU time of a thousand of the counted transactions with all that belongs to them.
pub(super) fn per_thousand(rung: &Rung, stream: &str, cpu_s: Option<f64>) -> String {
    let orders = result(rung, stream).map_or(0, |result| result.ios);
    let each = cpu_s.filter(|_| orders > 0).map(|cpu_s| cpu_s * 1000.0 / real(orders));
    each.map_or_else(unknown, |cpu_s| show_time_ns(cpu_s * 1e9))
}

/// What the server refused for the sake of others, and what was late.
pub(super) fn refusals() -> LadderColumns {
    LadderColumns {
        title: "Retries, failures, intended rollbacks, backlog",
        columns: vec![
            ("users", sessions),
            ("deadlocks", |rung| refused(rung, Refusal::Deadlock)),
            ("serialisation", |rung| refused(rung, Refusal::Conflict)),
            ("lock timeouts", |rung| refused(rung, Refusal::LockTimeout)),
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

fn refused(rung: &Rung, class: Refusal) -> String {
    let of_class = rung.retries.iter().filter(|one| one.class() == class);
    show_count(real(of_class.map(|one| one.times).sum::<u64>()))
}

/// Reads for each write: what the database asked of its data files, and what the device did, the
/// log among it.
pub(super) fn reads_and_writes() -> LadderColumns {
    LadderColumns {
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

/// The number of reads for each write, in words.
pub(super) fn ratio(reads: u64, writes: u64) -> String {
    match (reads, writes) {
        (0, 0) => unknown(),
        (_, 0) => "no writes".to_owned(),
        _ => format!("{:.1}:1", real(reads) / real(writes)),
    }
}

/// How many of the counted transactions the best step had, and how long they took; nothing without
/// one.
pub(super) fn rate_words(load: &Load, counted: &CountedTransaction) -> Vec<String> {
    let Some(rung) = best(load, counted.stream) else { return Vec::new() };
    let per_unit = |rung: &Rung| counted.rate(per_s(rung, counted.stream));
    let rate = rate_of_repeats(load, rung, per_unit, counted.unit.0);
    let users = several(rung.sessions, "user");
    let quantile = |q| response_time_ns(rung, counted.stream, q).map(show_time_ns);
    let times = quantile(0.5)
        .zip(quantile(0.99))
        .map_or_else(String::new, |(half, most)| format!("; p50 {half}, p99 {most}"));
    let all = show_count(rung.statements_per_s());
    vec![format!("{rate} with {users}{times}; {all} transactions/s in total.")]
}

/// Goal, conditions, what became of transactions, and why the ladder ended.
pub(super) fn common_words(load: &Load, limited: &str, found: &str) -> Vec<String> {
    let mut said: Vec<String> =
        load.goal.map(|goal| goal_words(&goal, "user", [limited; 2])).into_iter().collect();
    said.extend(load.checks.iter().map(|checks| {
        let all = checks.checks.len();
        let held = checks.checks.iter().filter(|check| check.violations == 0).count();
        format!("{held} of {all} consistency conditions hold {}.", checks.when)
    }));
    said.extend(commit_words(&load.commits, found));
    said.extend(parity_words(load));
    said.extend(end_words(load));
    said
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
    let verdict = if lost == 0 { "none is lost" } else { "SOME ARE MISSING from the tables" };
    Some(format!(
        "{} {found} were acknowledged{unknown}, {} are found: {verdict}.",
        show_count(real(acknowledged)),
        show_count(real(sum(|one| one.found)))
    ))
}

/// What the clients of several hosts saw against what the server counted, at the step where both
/// are farthest apart.
fn parity_words(load: &Load) -> Option<String> {
    let of_all = load.rungs.iter().map(|rung| (None, rung.commit_parity));
    let of_each = load.rungs.iter().flat_map(|rung| &rung.databases);
    let of_each = of_each.map(|one| (Some(one.target.as_str()), one.commit_parity));
    let all = of_all.chain(of_each).filter_map(|(database, parity)| Some((database, parity?)));
    let apart = |(_, one): &(Option<&str>, CommitParity)| one.difference_share().abs();
    let (database, worst) = all.max_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    let who = database.map_or_else(
        || "The clients of all hosts".to_owned(),
        |name| format!("On {name}, which has the largest difference, the clients"),
    );
    let meaning = if worst.holds() {
        "they agree"
    } else {
        "MISMATCH: others use this server, or a client is counted twice or not at all"
    };
    Some(format!(
        "{who} saw {} commits, the server counted {} ({:+.2}%): {meaning}.",
        show_count(real(worst.clients)),
        show_count(real(worst.server)),
        100.0 * worst.difference_share()
    ))
}

/// What breaks the result; nothing where the data is right.
pub(super) fn flaw(load: &Load) -> Option<String> {
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
        return Some(format!("The data are damaged: {}.", broken.join("; ")));
    }
    let lost = load.commits.iter().find(|one| one.is_lost())?;
    Some(format!(
        "Transactions are lost: of {} acknowledged ({}) with {} users {} are in the tables{}.",
        lost.acknowledged,
        lost.stream,
        lost.sessions,
        lost.found,
        lost.database.as_ref().map_or_else(String::new, |name| format!(" of {name}"))
    ))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung, transactions};
    use super::*;
    use crate::{ReportOptions, text};
    use assay_model::cause::HostLoad;
    use assay_model::load::{Check, Checks, LoadKind};

    #[test]
    fn damaged_data_and_lost_transactions_spoil_the_answer() {
        let mut made = transactions(report(vec![rung(1, 0)]), LoadKind::Oltp);
        let load = made.load.as_mut().unwrap();
        load.commits = vec![Commits { acknowledged: 10, found: 9, ..Commits::default() }];
        assert!(flaw(load).unwrap().contains("lost"));
        let check = Check { number: 3, condition: "no gap".to_owned(), violations: 2 };
        load.checks =
            vec![Checks { when: "at the end".to_owned(), checks: vec![check], elapsed_s: 1.0 }];
        let text = text(&made, ReportOptions::default(), false);
        assert!(text.contains("condition 3 (no gap) is broken 2 times at the end"), "{text}");
        assert!(text.contains("SOME ARE MISSING"), "{text}");
    }

    #[test]
    fn a_step_charges_the_server_with_its_own_cpu_time() {
        let mut step = rung(1, 0);
        let load = HostLoad::from_rung(&step).unwrap();
        assert_eq!((load.own_cores, load.server_cores), (Some(0.05), Some(0.5)));
        step.server_cpu_s = None;
        let load = HostLoad::from_rung(&step).unwrap();
        assert_eq!((load.own_cores, load.server_cores), (None, None));
    }

    #[test]
    fn a_ratio_says_what_is_not_known() {
        assert_eq!((ratio(97, 10).as_str(), ratio(3, 0).as_str()), ("9.7:1", "no writes"));
        assert_eq!(ratio(0, 0), unknown());
    }
}
