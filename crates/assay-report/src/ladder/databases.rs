//! The databases of a load on several, each by itself.

use super::columns::{doubt, part, unknown};
use super::load_view::done;
use super::split::SessionSplit;
use crate::view::ViewTable;
use assay_model::load::{DatabaseRung, Load, Rung, StreamTimes};
use assay_model::number::real;
use assay_model::units::{show_count, show_time_ns};

/// A row for each database of each step; empty where the load is on one.
pub(crate) fn databases(load: &Load) -> ViewTable {
    let done = done(load);
    let table =
        ViewTable::new("Each database").numbers("sessions").words("database").words("hosts");
    let table = table.numbers("of them").numbers(format!("{done}/s")).numbers("±");
    let table = table.numbers("share").numbers("p50").numbers("p99");
    let mut table = table.numbers("commits/s");
    for rung in &load.rungs {
        table.extend(rung.databases.iter().map(|one| row(rung, one)));
    }
    table
}

fn row(rung: &Rung, one: &DatabaseRung) -> Vec<String> {
    let time = |of: fn(&StreamTimes) -> u64| {
        counted(one).map_or_else(unknown, |times| show_time_ns(real(of(times))))
    };
    let share = 100.0 * one.statements_per_s / rung.statements_per_s().max(1e-9);
    vec![
        rung.sessions.to_string(),
        one.target.clone(),
        one.hosts.join(", "),
        one.sessions.to_string(),
        show_count(one.statements_per_s),
        doubt(one.statements),
        format!("{share:.1}%"),
        time(|times| times.p50_ns),
        time(|times| times.p99_ns),
        show_count(real(one.database.commits) / rung.elapsed_s().max(1e-9)),
    ]
}

/// Where the time of the sessions of each database went, a row for each of each step; empty where
/// the load is on one.
pub(crate) fn time_of_databases(load: &Load) -> ViewTable {
    let table = ViewTable::new("Average active sessions of each database");
    let table = table.numbers("sessions").words("database").numbers("active").numbers("CPU");
    let table = table.numbers("data I/O").numbers("log").numbers("locks").numbers("other");
    let mut table = table.words("longest wait");
    for rung in &load.rungs {
        table.extend(rung.databases.iter().map(|one| time_row(rung, one)));
    }
    table
}

fn time_row(rung: &Rung, one: &DatabaseRung) -> Vec<String> {
    let split = SessionSplit::of_database(one, rung.elapsed_s());
    vec![
        rung.sessions.to_string(),
        one.target.clone(),
        part(Some(split.database)),
        part(split.cpu),
        part(split.data_io),
        part(split.commit),
        part(split.locks),
        part(split.other),
        split.top_wait.unwrap_or_else(unknown),
    ]
}

/// The stream that there is most of.
fn counted(one: &DatabaseRung) -> Option<&StreamTimes> {
    one.streams.iter().max_by_key(|times| times.ios)
}

/// How evenly the databases did at the best step, in a sentence; nothing where the load is on one.
pub(super) fn evenness(load: &Load) -> Option<String> {
    let rung = load.best()?;
    let by_rate = |one: &&DatabaseRung, other: &&DatabaseRung| {
        one.statements_per_s.total_cmp(&other.statements_per_s)
    };
    let slowest = rung.databases.iter().min_by(by_rate)?;
    let fastest = rung.databases.iter().max_by(by_rate)?;
    let (count, done) = (rung.databases.len(), done(load));
    Some(format!(
        "{count} databases together delivered {} {done}/s with {} sessions: from {} ({}) to {} \
         ({}).",
        show_count(rung.statements_per_s()),
        rung.sessions,
        show_count(slowest.statements_per_s),
        slowest.target,
        show_count(fastest.statements_per_s),
        fastest.target,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung};
    use super::*;
    use crate::{ReportOptions, text};
    use assay_model::load::TimeSplit;

    fn one(target: &str, ios: u64) -> DatabaseRung {
        let times = |name: &str, ios, p50_ns| StreamTimes {
            name: name.to_owned(),
            ios,
            p50_ns,
            p99_ns: 2 * p50_ns,
            max_ns: 3 * p50_ns,
        };
        let wait_ns = Some(1_500_000_000);
        DatabaseRung {
            time: TimeSplit {
                database_ns: 2_000_000_000,
                read_ns: wait_ns,
                ..TimeSplit::default()
            },
            target: target.to_owned(),
            hosts: vec![format!("h{target}")],
            sessions: 1,
            ios,
            statements_per_s: real(ios) / 2.0,
            streams: vec![times("rare", 1, 9_000_000), times("read", ios, 1_000_000)],
            ..DatabaseRung::default()
        }
    }

    #[test]
    fn every_database_has_its_row_and_the_answer_says_how_even_they_are() {
        let mut both = rung(2, 0);
        both.databases = vec![one("A", 400), one("B", 600)];
        let made = report(vec![both]);
        let table = databases(made.load.as_ref().unwrap());
        let shown = text(&made, ReportOptions::default(), false);
        assert_eq!(table.rows.len(), 2, "{shown}");
        assert!(
            shown.contains("2 databases together delivered")
                && shown.contains("from 200 (A) to 300 (B)"),
            "{shown}"
        );
        let table = time_of_databases(made.load.as_ref().unwrap());
        assert_eq!(table.rows.len(), 2);
        assert!(shown.contains("Average active sessions of each database"), "{shown}");
        // The times are those of what there is most of.
        assert!(shown.contains("1.00 ms") && !shown.contains("9.00 ms"), "{shown}");
        let single = report(vec![rung(1, 0)]);
        let single = single.load.as_ref().unwrap();
        assert!(databases(single).rows.is_empty() && time_of_databases(single).rows.is_empty());
    }
}
