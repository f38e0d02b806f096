//! What a server counted: its status, and the sums of its performance schema; what it lacks is nothing, never 0.
//!
//! Sources: MariaDB documentation, "InnoDB Status Variables", "Performance Schema `file_summary_by_event_name` Table",
//! "`events_statements_summary_global_by_event_name` Table"; MySQL manual, chapters of the same names.

use crate::connection::{Connection, Row};
use crate::failure::Answer;
use assay_model::load::{DatabaseCounts, TimeSplit};
use std::collections::BTreeMap;

/// Picoseconds of the performance schema in a nanosecond.
const PICOSECONDS: u64 = 1000;
/// All three counters of transactions.
pub(crate) const ALL_TRANSACTIONS: u64 = 3;
/// What is asked of the server's status, in the order of [`Status`].
const NAMES: [&str; 7] = [
    "INNODB_BUFFER_POOL_READ_REQUESTS",
    "INNODB_PAGES_READ",
    "INNODB_PAGES_WRITTEN",
    "INNODB_DBLWR_PAGES_WRITTEN",
    "INNODB_OS_LOG_WRITTEN",
    "INNODB_OS_LOG_FSYNCS",
    "HANDLER_COMMIT",
];

/// Values of the status by their names.
#[derive(Clone, Debug, Default)]
struct Status(BTreeMap<String, u64>);

/// What a server can report, and in what units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// What it times.
    pub timed: Timed,
    /// Whether the engine counts its transactions; else committed statements are reported.
    pub are_transactions_counted: bool,
}

/// What the performance schema times, where it is on and may be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Reads of data files.
    pub io: bool,
    /// Statements.
    pub statements: bool,
    /// The log of changes (MySQL, and MariaDB before 10.8).
    pub log: bool,
}

impl Knowledge {
    /// Asks a server.
    pub fn of(connection: &mut Connection) -> Answer<Self> {
        let row = connection.one("SELECT @@innodb_page_size, @@performance_schema")?;
        let is_on = row.count(1) == Some(1);
        let timed = if is_on { timed_instruments(connection) } else { Vec::new() };
        let has = |name: &str| timed.iter().any(|timed| timed == name);
        Ok(Self {
            page_bytes: row.count(0).unwrap_or(16_384),
            timed: Timed {
                io: has("wait/io/file/innodb/innodb_data_file"),
                statements: has("statement/sql/select"),
                log: has("wait/io/file/innodb/innodb_log_file"),
            },
            are_transactions_counted: transactions(connection)
                .is_ok_and(|(on, _)| on == ALL_TRANSACTIONS),
        })
    }

    /// Reads all counters from the start of the server on.
    pub fn read(&self, connection: &mut Connection) -> Answer<(DatabaseCounts, TimeSplit)> {
        let status = Status(read_status(connection, &NAMES)?);
        let mut counts = status.counts(self.page_bytes);
        let mut time = TimeSplit::default();
        if self.timed.io {
            for row in &connection.query(FILES)? {
                add_file(&mut counts, &mut time, row);
            }
        }
        if self.are_transactions_counted {
            counts.commits = transactions(connection)?.1;
        }
        if !self.timed.log {
            time.commit_ns = None;
        }
        if self.timed.statements {
            let row = connection.one(STATEMENTS)?;
            time.database_ns = row.count(0).unwrap_or(0) / PICOSECONDS;
        }
        Ok((counts, time))
    }
}

/// How many of the engine's three counters of transactions are on, and their sum: those that changed something, and those
/// that read, with and without a lock.
pub(crate) fn transactions(connection: &mut Connection) -> Answer<(u64, u64)> {
    let is_on = if connection.facts().is_mariadb() { "ENABLED = 1" } else { "STATUS = 'enabled'" };
    let row = connection.one(&format!(
        "SELECT SUM({is_on}), CAST(SUM(COUNT) AS UNSIGNED) FROM information_schema.INNODB_METRICS \
         WHERE NAME IN ('trx_rw_commits', 'trx_ro_commits', 'trx_nl_ro_commits')"
    ))?;
    Ok((row.count(0).unwrap_or(0), row.count(1).unwrap_or(0)))
}

const FILES: &str = "SELECT EVENT_NAME, SUM_TIMER_READ, SUM_TIMER_WRITE + SUM_TIMER_MISC \
    FROM performance_schema.file_summary_by_event_name \
    WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file')";

/// Statements inside of procedures are part of the calls, and a session that says nothing works on none.
const STATEMENTS: &str = "SELECT CAST(COALESCE(SUM(SUM_TIMER_WAIT), 0) AS UNSIGNED) \
    FROM performance_schema.events_statements_summary_global_by_event_name \
    WHERE EVENT_NAME LIKE 'statement/sql/%' OR EVENT_NAME LIKE 'statement/com/%'";

/// Instruments that are on and timed, as far as they are of interest; none where they may not be read.
fn timed_instruments(connection: &mut Connection) -> Vec<String> {
    let rows = connection.query(
        "SELECT NAME FROM performance_schema.setup_instruments WHERE ENABLED = 'YES' AND TIMED = 'YES' AND \
         (NAME = 'statement/sql/select' OR NAME LIKE 'wait/io/file/innodb/%')",
    );
    let may = connection.query(FILES).is_ok() && connection.one(STATEMENTS).is_ok();
    let rows = rows.ok().filter(|_| may).unwrap_or_default();
    rows.iter().map(|row| row.text(0).to_owned()).collect()
}

fn add_file(counts: &mut DatabaseCounts, time: &mut TimeSplit, row: &Row) {
    let waited_ns = |column| row.count(column).map(|time| time / PICOSECONDS);
    if row.text(0).ends_with("data_file") {
        counts.read_wait_ns = waited_ns(1);
        time.read_ns = waited_ns(1);
    } else {
        counts.log_sync_wait_ns = waited_ns(2);
        time.commit_ns = waited_ns(2);
    }
}

/// Values of the server's status that are whole numbers, by their names in capitals; what a release lacks is not there.
pub(crate) fn read_status(
    connection: &mut Connection,
    names: &[&str],
) -> Answer<BTreeMap<String, u64>> {
    let is_mariadb = connection.facts().is_mariadb();
    // MySQL takes such a name as it is written where file names have small and large letters.
    let schema = if is_mariadb { "information_schema" } else { "performance_schema" };
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let rows = connection.query(&format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM {schema}.global_status WHERE VARIABLE_NAME IN ({})",
        names.join(", ")
    ))?;
    Ok(status_of(&rows))
}

fn status_of(rows: &[Row]) -> BTreeMap<String, u64> {
    rows.iter().filter_map(|row| Some((row.text(0).to_uppercase(), row.count(1)?))).collect()
}

impl Status {
    fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// Reads and writes are those of pages: the engine's sums of all its I/O count steps of sorting and of its log, too,
    /// and differ by release.
    fn counts(&self, page_bytes: u64) -> DatabaseCounts {
        let value = |name: &str| self.get(name).unwrap_or(0);
        let (read, written) = (value("INNODB_PAGES_READ"), value("INNODB_PAGES_WRITTEN"));
        // A page that is written twice is two writes to storage.
        let all_written = written + value("INNODB_DBLWR_PAGES_WRITTEN");
        DatabaseCounts {
            logical_reads: value("INNODB_BUFFER_POOL_READ_REQUESTS"),
            reads: read,
            read_bytes: read.saturating_mul(page_bytes),
            read_wait_ns: None,
            writes: written,
            write_bytes: all_written.saturating_mul(page_bytes),
            write_wait_ns: None,
            log_bytes: value("INNODB_OS_LOG_WRITTEN"),
            log_syncs: self.get("INNODB_OS_LOG_FSYNCS"),
            log_sync_wait_ns: None,
            commits: value("HANDLER_COMMIT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[&str]) -> Row {
        Row(columns.iter().map(|text| Some((*text).to_owned())).collect())
    }

    #[test]
    fn what_a_server_lacks_is_nothing() {
        let counts = Status(status_of(&[
            row(&["Innodb_pages_read", "10"]),
            row(&["INNODB_PAGES_WRITTEN", "5"]),
            row(&["INNODB_DBLWR_PAGES_WRITTEN", "4"]),
            row(&["INNODB_OS_LOG_WRITTEN", "2000"]),
        ]))
        .counts(8192);
        assert_eq!((counts.reads, counts.read_bytes, counts.log_syncs), (10, 81_920, None));
        assert_eq!((counts.writes, counts.write_bytes), (5, 73_728));
        assert_eq!((counts.log_bytes, counts.read_wait_ns), (2000, None));
        assert_eq!(counts.log_sync_wait_ns, None);
    }

    #[test]
    fn times_come_in_picoseconds() {
        let (mut counts, mut time) = (DatabaseCounts::default(), TimeSplit::default());
        let data = "wait/io/file/innodb/innodb_data_file";
        add_file(&mut counts, &mut time, &row(&[data, "32450204804", "7"]));
        assert_eq!((counts.read_wait_ns, time.read_ns), (Some(32_450_204), Some(32_450_204)));
        assert_eq!((counts.log_sync_wait_ns, time.commit_ns), (None, None));
        let log = "wait/io/file/innodb/innodb_log_file";
        add_file(&mut counts, &mut time, &row(&[log, "0", "5000000"]));
        assert_eq!((counts.log_sync_wait_ns, time.commit_ns), (Some(5000), Some(5000)));
    }
}
