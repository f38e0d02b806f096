//! Takes a snapshot: every counter that is on and the account may read; the rest is said to be
//! missing.

use super::{MariadbWatcher, queries};
use crate::connection::Row;

use crate::failure::Answer;
use crate::model::{EventTally, FileCounts, Instruments, MariadbSettings, MariadbSnapshot};
use crate::views::{self, PICOSECONDS, read_own_status, read_status};
use assay_live::watch::IoCounters;
use std::collections::BTreeMap;

/// Ways to read that pass the page cache by.
const DIRECT: [&str; 2] = ["O_DIRECT", "O_DIRECT_NO_FSYNC"];
/// The first MariaDB that cuts a wait for a row lock to milliseconds, each by itself.
const CUTS_SINCE: (u32, u32) = (10, 6);

/// Sums of client sessions by event, and the sum of Assay's sessions.
type SnapshotSums = (BTreeMap<String, EventTally>, EventTally);

impl MariadbWatcher {
    /// Everything at this moment.
    pub(super) fn take_snapshot(&mut self) -> Answer<MariadbSnapshot> {
        let mut missing = self.missing.clone();
        let settings = self.settings(&mut missing)?;
        let instruments = settings.instruments;
        self.choose_question(instruments.current_waits);
        self.has_own_threads = settings.has_own_threads;
        self.page_bytes = settings.page_bytes;
        let status = self.status_of_others()?;
        let sizes = self.sizes(&mut missing);
        let mut snapshot =
            MariadbSnapshot { settings, status, sizes, ..MariadbSnapshot::default() };
        if self.access.schema {
            snapshot.files = self.files(&views::files())?.into_iter().map(first).collect();
            snapshot.instances = self.files(&views::instances())?;
            snapshot.waits = self.sums(&queries::waits(&self.own))?.0;
            let stages = self.sums(&queries::stages(&self.own))?.0;
            snapshot.commits =
                stages.values().fold(EventTally::default(), |sum, one| sum.plus(one));
            let row = self.connection.one(queries::UNCOUNTED)?;
            snapshot.uncounted_sessions = row.count(0).unwrap_or(0);
        }
        // Last, because the time of statements that run is counted up to here.
        if instruments.statements {
            let (statements, own) = self.sums(&queries::statements(&self.own))?;
            snapshot.running_time_s = self.running();
            snapshot.statement_time_s = Some(statements.values().map(|one| one.time_s).sum());
            snapshot.own_time_s = own.time_s;
        }
        snapshot.at_s = self.connection.one(queries::NOW)?.real(0).unwrap_or_default();
        snapshot.missing = missing;
        Ok(snapshot)
    }

    fn settings(&mut self, missing: &mut Vec<String>) -> Answer<MariadbSettings> {
        let facts = self.connection.facts().clone();
        let row = self.connection.one(queries::SETTINGS)?;
        let instruments = self.instruments(missing)?;
        Ok(MariadbSettings {
            cuts_lock_times: facts.is_mariadb() && facts.release() >= CUTS_SINCE,
            page_bytes: row.count(0).unwrap_or(16_384),
            has_own_threads: row.text(1) == "one-thread-per-connection",
            is_direct: DIRECT.contains(&row.text(2)),
            is_read_only: !["0", "OFF"].contains(&row.text(3)),
            product: facts.product,
            version: facts.version,
            instruments,
        })
    }

    /// What is counted and timed; what is not is said, with the way to it.
    fn instruments(&mut self, missing: &mut Vec<String>) -> Answer<Instruments> {
        if !self.access.schema {
            return Ok(Instruments::default());
        }
        let rows = self.connection.query(queries::INSTRUMENTS)?;
        let has = |name: &str| rows.iter().any(|row| row.text(0) == name);
        let counts_all = has("global_instrumentation");
        let counts_sessions = counts_all && has("thread_instrumentation");
        let commits = has("stage/sql/Commit") || has("stage/sql/waiting for handler commit");
        let instruments = Instruments {
            statements: counts_sessions && has("statement/sql/select"),
            files: counts_all && has("wait/io/file/innodb/innodb_data_file"),
            log: counts_all && has("wait/io/file/innodb/innodb_log_file"),
            commits: counts_sessions && commits,
            current_waits: counts_sessions && has("events_waits_current"),
        };
        missing.extend(lacking(instruments, self.connection.facts().is_mariadb()));
        Ok(instruments)
    }

    /// Counters of the status without what this session did itself.
    fn status_of_others(&mut self) -> Answer<BTreeMap<String, u64>> {
        let names = queries::status();
        let counted_by_session: Vec<&str> =
            names.iter().copied().filter(|name| is_of_session(name)).collect();
        let own = read_own_status(&mut self.connection, &counted_by_session)?;
        let mut status = read_status(&mut self.connection, &names)?;
        for (name, count) in own {
            status.entry(name).and_modify(|all| *all = all.saturating_sub(count));
        }
        Ok(status)
    }

    /// The server's own counters of I/O; it counts transactions of this session as statements, none
    /// of which commits.
    pub(super) fn take_io_counters(&mut self) -> Answer<IoCounters> {
        let status = read_status(&mut self.connection, queries::IO_STATUS)?;
        let count = |name: &str| status.get(name).copied().unwrap_or(0);
        let (read, written) = (count("INNODB_PAGES_READ"), count("INNODB_PAGES_WRITTEN"));
        let doubled = count("INNODB_DBLWR_PAGES_WRITTEN");
        Ok(IoCounters {
            reads: read,
            read_bytes: read.saturating_mul(self.page_bytes),
            writes: written + count("INNODB_DBLWR_WRITES"),
            write_bytes: (written + doubled).saturating_mul(self.page_bytes),
            log_writes: count("INNODB_LOG_WRITES"),
            log_bytes: count("INNODB_OS_LOG_WRITTEN"),
            transactions: count("COM_COMMIT") + count("COM_ROLLBACK"),
        })
    }

    fn sizes(&mut self, missing: &mut Vec<String>) -> BTreeMap<String, u64> {
        let sql = queries::sizes(self.connection.facts().is_mariadb());
        if !self.access.process {
            return BTreeMap::new();
        }
        match self.connection.query(sql) {
            Ok(rows) => {
                let pair = |row: &Row| Some((row.text(0).to_owned(), row.count(1)?));
                rows.iter().filter_map(pair).collect()
            }
            Err(failure) => {
                missing.push(format!("sizes of tables: {failure}"));
                BTreeMap::new()
            }
        }
    }

    fn files(&mut self, sql: &str) -> Answer<BTreeMap<(String, String), FileCounts>> {
        let rows = self.connection.query(sql)?;
        Ok(rows.iter().map(views::file).collect())
    }

    /// Time of statements that run, seconds; nothing where this account does not see other users'
    /// sessions.
    fn running(&mut self) -> Option<f64> {
        let is_mariadb = self.connection.facts().is_mariadb();
        if is_mariadb && !self.access.process {
            return None;
        }
        let row = self.connection.one(&queries::running(is_mariadb, &self.own)).ok()?;
        Some(row.real(0)? / PICOSECONDS)
    }

    /// Sums by event, our own taken out and told apart.
    fn sums(&mut self, sql: &str) -> Answer<SnapshotSums> {
        let rows = self.connection.query(sql)?;
        let (of_all, of_own): (Vec<&Row>, Vec<&Row>) =
            rows.iter().partition(|row| row.count(0) == Some(0));
        let mut sums: BTreeMap<String, EventTally> = BTreeMap::new();
        for (event, one) in of_all.into_iter().map(counted) {
            let sum = sums.entry(event).or_default();
            *sum = sum.plus(&one);
        }
        let mut own = EventTally::default();
        for (event, one) in of_own.into_iter().map(counted) {
            own = own.plus(&one);
            let sum = sums.entry(event).or_default();
            *sum = sum.since(&one);
        }
        Ok((sums, own))
    }
}

/// Whether sessions count it each for themselves; of all else the server has one sum.
fn is_of_session(name: &str) -> bool {
    name.starts_with("COM_") || ["QUESTIONS", "CREATED_TMP_DISK_TABLES"].contains(&name)
}

/// What is off, and how to turn it on.
fn lacking(on: Instruments, is_mariadb: bool) -> Vec<String> {
    let stage = if is_mariadb { "Commit" } else { "waiting for handler commit" };
    let turn_on = |name: &str| {
        format!(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE \
             NAME LIKE '{name}'"
        )
    };
    let all = [
        (
            on.statements,
            format!(
                "DB time: statements are not timed; {} and the consumers global_instrumentation \
                 and thread_instrumentation",
                turn_on("statement/%")
            ),
        ),
        (on.files, format!("times of I/O: {}", turn_on("wait/io/file/%"))),
        (
            on.commits,
            format!(
                "times of commits, which samples estimate: {}",
                turn_on(&format!("stage/sql/{stage}"))
            ),
        ),
        (
            on.current_waits,
            "waits of sessions, sample by sample: UPDATE performance_schema.setup_consumers SET \
             ENABLED = 'YES' WHERE NAME = 'events_waits_current'"
                .to_owned(),
        ),
    ];
    let mut lacking: Vec<String> =
        all.into_iter().filter(|(is_on, _)| !is_on).map(|(_, what)| what).collect();
    if !on.log {
        lacking.push(if is_mariadb {
            "times of the log's writes and flushes: MariaDB from 10.8 on has no instrument for its \
             log"
            .to_owned()
        } else {
            format!(
                "times of the log's writes and flushes: {}",
                turn_on("wait/io/file/innodb/innodb_log_file")
            )
        });
    }
    lacking
}

/// An event with its sum.
fn counted(row: &Row) -> (String, EventTally) {
    let time_s = row.real(3).unwrap_or(0.0) / PICOSECONDS;
    (row.text(1).to_owned(), EventTally { count: row.count(2).unwrap_or(0), time_s })
}

fn first(((event, _), counts): ((String, String), FileCounts)) -> (String, FileCounts) {
    (event, counts)
}
