//! The views of counters that loads and profiles both read: what is asked, and what the rows mean.
//!
//! Sources: MariaDB documentation, "InnoDB Status Variables", "Performance Schema
//! `file_summary_by_event_name` Table", "`events_statements_summary_global_by_event_name` Table";
//! MySQL manual, chapters of the same names.

use crate::connection::{MariadbConnection, Row};
use crate::failure::Answer;
use crate::model::FileCounts;
use std::collections::BTreeMap;

/// Picoseconds of the performance schema in a second.
pub(crate) const PICOSECONDS: f64 = 1e12;
/// All three counters of transactions.
pub(crate) const ALL_TRANSACTIONS: u64 = 3;
/// Statements that sessions worked on: those inside of procedures are part of the calls, and a
/// replica that is fed, or a session that says nothing, works on none.
pub(crate) const SESSION_STATEMENTS: &str = "(EVENT_NAME LIKE 'statement/sql/%' OR EVENT_NAME \
                                             LIKE 'statement/com/%') AND EVENT_NAME NOT LIKE \
                                             'statement/com/Binlog Dump%'";
const OPERATIONS: &str = "COUNT_READ, SUM_TIMER_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_WRITE, \
                          SUM_TIMER_WRITE, SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC, SUM_TIMER_MISC";

pub(crate) fn files() -> String {
    format!(
        "SELECT /* assay */ EVENT_NAME, '', {OPERATIONS} FROM \
         performance_schema.file_summary_by_event_name WHERE COUNT_STAR > 0"
    )
}

pub(crate) fn instances() -> String {
    format!(
        "SELECT /* assay */ EVENT_NAME, FILE_NAME, {OPERATIONS} FROM \
         performance_schema.file_summary_by_instance WHERE COUNT_STAR > 0"
    )
}

/// Values of the server's status that are whole numbers, by their names in capitals; what a release
/// lacks is not there.
pub(crate) fn read_status(
    connection: &mut MariadbConnection,
    names: &[&str],
) -> Answer<BTreeMap<String, u64>> {
    status_rows(connection, names, "global_status")
}

/// The same as far as this session made them.
pub(crate) fn read_own_status(
    connection: &mut MariadbConnection,
    names: &[&str],
) -> Answer<BTreeMap<String, u64>> {
    status_rows(connection, names, "session_status")
}

fn status_rows(
    connection: &mut MariadbConnection,
    names: &[&str],
    table: &str,
) -> Answer<BTreeMap<String, u64>> {
    let is_mariadb = connection.facts().is_mariadb();
    // MySQL takes such a name as it is written where file names have small and large letters.
    let schema = if is_mariadb { "information_schema" } else { "performance_schema" };
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let rows = connection.query(&format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM {schema}.{table} WHERE VARIABLE_NAME IN ({})",
        names.join(", ")
    ))?;
    Ok(status_of(&rows))
}

pub(crate) fn status_of(rows: &[Row]) -> BTreeMap<String, u64> {
    rows.iter().filter_map(|row| Some((row.text(0).to_uppercase(), row.count(1)?))).collect()
}

/// How many of the engine's three counters of transactions are on, and their sum: those that
/// changed something, and those that read, with and without a lock.
pub(crate) fn transactions(connection: &mut MariadbConnection) -> Answer<(u64, u64)> {
    let is_on = if connection.facts().is_mariadb() { "ENABLED = 1" } else { "STATUS = 'enabled'" };
    let row = connection.one(&format!(
        "SELECT SUM({is_on}), CAST(SUM(COUNT) AS UNSIGNED) FROM information_schema.INNODB_METRICS \
         WHERE NAME IN ('trx_rw_commits', 'trx_ro_commits', 'trx_nl_ro_commits')"
    ))?;
    Ok((row.count(0).unwrap_or(0), row.count(1).unwrap_or(0)))
}

/// Files of an event, or one of them.
pub(crate) fn file(row: &Row) -> ((String, String), FileCounts) {
    let count = |column| row.count(column).unwrap_or(0);
    let time_s = |column| row.real(column).unwrap_or(0.0) / PICOSECONDS;
    let counts = FileCounts {
        reads: count(2),
        read_time_s: time_s(3),
        read_bytes: count(4),
        writes: count(5),
        write_time_s: time_s(6),
        write_bytes: count(7),
        others: count(8),
        other_time_s: time_s(9),
    };
    ((row.text(0).to_owned(), row.text(1).to_owned()), counts)
}
