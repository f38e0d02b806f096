//! What a server counted: its status, and the sums of its performance schema; what it lacks is
//! nothing, never 0.
//!
//! Sources: MariaDB documentation, "InnoDB Status Variables", "Performance Schema
//! `file_summary_by_event_name` Table", "`events_statements_summary_global_by_event_name` Table";
//! MySQL manual, chapters of the same names.

use crate::connection::MariadbConnection;
use crate::failure::Answer;
use crate::model::FileCounts;
use crate::views::{self, ALL_TRANSACTIONS, SESSION_STATEMENTS, read_status, transactions};
use assay_model::load::{DatabaseCounts, TimeSplit};
use assay_model::number::count;
use std::collections::BTreeMap;

/// Picoseconds of the performance schema in a nanosecond.
const PICOSECONDS: u64 = 1000;
/// What is asked of the server's status, in the order of [`ServerStatus`].
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
struct ServerStatus(BTreeMap<String, u64>);

/// What a server can report, and in what units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MariadbKnowledge {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// What it times.
    pub timed: TimedInstruments,
    /// Whether the engine counts its transactions; else committed statements are reported.
    pub are_transactions_counted: bool,
}

/// What the performance schema times, where it is on and may be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimedInstruments {
    /// Reads of data files.
    pub io: bool,
    /// Statements.
    pub statements: bool,
    /// The log of changes (MySQL, and MariaDB before 10.8).
    pub log: bool,
}

impl MariadbKnowledge {
    /// Asks a server.
    pub fn of(connection: &mut MariadbConnection) -> Answer<Self> {
        let row = connection.one("SELECT @@innodb_page_size, @@performance_schema")?;
        let is_on = row.count(1) == Some(1);
        let timed = if is_on { timed_instruments(connection) } else { Vec::new() };
        let has = |name: &str| timed.iter().any(|timed| timed == name);
        Ok(Self {
            page_bytes: row.count(0).unwrap_or(16_384),
            timed: TimedInstruments {
                io: has("wait/io/file/innodb/innodb_data_file"),
                statements: has("statement/sql/select"),
                log: has("wait/io/file/innodb/innodb_log_file"),
            },
            are_transactions_counted: transactions(connection)
                .is_ok_and(|(on, _)| on == ALL_TRANSACTIONS),
        })
    }

    /// Reads all counters from the start of the server on.
    pub fn read(&self, connection: &mut MariadbConnection) -> Answer<(DatabaseCounts, TimeSplit)> {
        let status = ServerStatus(read_status(connection, &NAMES)?);
        let mut counts = status.counts(self.page_bytes);
        let mut time = TimeSplit::default();
        if self.timed.io {
            for row in &connection.query(&views::files())? {
                let ((event, _), file) = views::file(row);
                add_file(&mut counts, &mut time, &event, &file);
            }
        }
        if self.are_transactions_counted {
            counts.commits = transactions(connection)?.1;
        }
        if !self.timed.log {
            time.commit_ns = None;
        }
        if self.timed.statements {
            let row = connection.one(&statement_time())?;
            time.database_ns = row.count(0).unwrap_or(0) / PICOSECONDS;
        }
        Ok((counts, time))
    }
}

/// Time of the statements of all sessions, in picoseconds.
fn statement_time() -> String {
    format!(
        "SELECT CAST(COALESCE(SUM(SUM_TIMER_WAIT), 0) AS UNSIGNED) FROM \
         performance_schema.events_statements_summary_global_by_event_name WHERE \
         {SESSION_STATEMENTS}"
    )
}

/// Instruments that are on and timed, as far as they are of interest; none where they may not be
/// read.
fn timed_instruments(connection: &mut MariadbConnection) -> Vec<String> {
    let rows = connection.query(
        "SELECT NAME FROM performance_schema.setup_instruments WHERE ENABLED = 'YES' AND TIMED = \
         'YES' AND (NAME = 'statement/sql/select' OR NAME LIKE 'wait/io/file/innodb/%')",
    );
    let may =
        connection.query(&views::files()).is_ok() && connection.one(&statement_time()).is_ok();
    let rows = rows.ok().filter(|_| may).unwrap_or_default();
    rows.iter().map(|row| row.text(0).to_owned()).collect()
}

fn add_file(counts: &mut DatabaseCounts, time: &mut TimeSplit, event: &str, file: &FileCounts) {
    let waited_ns = |time_s: f64| Some(count(1e9 * time_s));
    match event {
        "wait/io/file/innodb/innodb_data_file" => {
            counts.read_wait_ns = waited_ns(file.read_time_s);
            time.read_ns = waited_ns(file.read_time_s);
        }
        "wait/io/file/innodb/innodb_log_file" => {
            let time_s = file.write_time_s + file.other_time_s;
            counts.log_sync_wait_ns = waited_ns(time_s);
            time.commit_ns = waited_ns(time_s);
        }
        _ => {}
    }
}

impl ServerStatus {
    fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// Reads and writes are those of pages: the engine's sums of all its I/O count steps of sorting
    /// and of its log, too, and differ by release.
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
    use crate::connection::Row;
    use crate::views::status_of;

    fn row(columns: &[&str]) -> Row {
        Row(columns.iter().map(|text| Some((*text).to_owned())).collect())
    }

    #[test]
    fn what_a_server_lacks_is_nothing() {
        let counts = ServerStatus(status_of(&[
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
        let mut add = |columns: &[&str]| {
            let ((event, _), file) = views::file(&row(columns));
            add_file(&mut counts, &mut time, &event, &file);
        };
        add(&[
            "wait/io/file/innodb/innodb_data_file",
            "",
            "5",
            "32450204000",
            "0",
            "1",
            "7",
            "0",
            "1",
            "7",
        ]);
        add(&[
            "wait/io/file/innodb/innodb_log_file",
            "",
            "0",
            "0",
            "0",
            "1",
            "2000000",
            "0",
            "1",
            "3000000",
        ]);
        assert_eq!((counts.read_wait_ns, time.read_ns), (Some(32_450_204), Some(32_450_204)));
        assert_eq!((counts.log_sync_wait_ns, time.commit_ns), (Some(5000), Some(5000)));
    }
}
