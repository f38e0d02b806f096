//! What a server counted between two moments, by what its version has; what it lacks is nothing,
//! never 0.
//!
//! Sources: PostgreSQL documentation, "The Cumulative Statistics System", of versions 14 to 18.

use crate::connection::PostgresConnection;
use crate::failure::Answer;
use crate::model::{Background, DatabaseRow, IoKey, IoRow, PostgresVersion};
use crate::views;
use assay_model::number::{count, real};

/// A release's number is that of its major version times this, and more.
const VERSION_STEP: u32 = 10_000;
/// Bytes of the log of changes from its beginning; a replica writes none.
const LOG_PLACE: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE \
                         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8 END";

/// Counters at one time, or their differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DatabaseCounters {
    /// Blocks found in the server's cache.
    pub hit_blocks: u64,
    /// Blocks that the server read from the operating system.
    pub read_blocks: u64,
    /// Transactions committed.
    pub commits: u64,
    /// Time in which sessions worked on statements, ns.
    pub active_ns: u64,
    /// Bytes of the log of changes.
    pub wal_bytes: u64,
    /// Reads and writes of data files by sessions.
    pub sessions: IoTiming,
    /// The same by everybody else: checkpointer, writers.
    pub background: IoTiming,
    /// Waiting of all processes for the log to reach storage, ns; `None` where the version does
    /// not report it.
    pub wal_sync_ns: Option<u64>,
    /// How often that was waited for.
    pub wal_syncs: Option<u64>,
}

/// Reads and writes with the time that was waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IoTiming {
    /// Reads as the server counts them: up to version 17 one a block, from 18 on one a call.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time waited for reads, ns; `None` where it was not timed.
    pub read_ns: Option<u64>,
    /// Writes, extensions of files included.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time waited for writes, ns; `None` where it was not timed.
    pub write_ns: Option<u64>,
}

/// Whether this server can time its I/O, and what it may be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostgresKnowledge {
    /// Major version.
    pub major: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Whether I/O is timed for everybody (`track_io_timing`).
    pub is_io_timed: bool,
    /// Whether waiting for the log is timed (`track_wal_io_timing`).
    pub is_wal_timed: bool,
}

impl PostgresKnowledge {
    /// Asks a server.
    pub fn of(connection: &mut PostgresConnection) -> Answer<Self> {
        let row = connection.one(
            "SELECT current_setting('block_size'), current_setting('track_io_timing', true), \
             current_setting('track_wal_io_timing', true)",
        )?;
        Ok(Self {
            major: connection.major(),
            block_bytes: row.count(0).unwrap_or(8192),
            is_io_timed: row.is_true(1),
            is_wal_timed: row.is_true(2),
        })
    }

    /// Reads all counters of one database.
    pub fn read(
        &self,
        connection: &mut PostgresConnection,
        database: &str,
    ) -> Answer<DatabaseCounters> {
        let version = PostgresVersion(self.major * VERSION_STEP);
        let databases = connection.query(views::DATABASES)?;
        let found = databases.iter().map(views::database).find(|(name, _)| name == database);
        let mut counters = self.of_database(&found.map(|(_, counted)| counted).unwrap_or_default());
        // The place in the log is exact at once, and what the view of it counts comes later.
        counters.wal_bytes = connection.one(LOG_PLACE)?.count(0).unwrap_or(0);
        if let Some(query) = views::io(version) {
            let rows = connection.query(query)?;
            self.add_io(&mut counters, rows.iter().map(views::io_row));
        } else {
            let written = connection.one(views::background(version))?;
            self.add_written(&mut counters, &views::background_row(&written));
        }
        if !version.has_log_io() && self.is_wal_timed {
            let log = views::log_row(&connection.one(views::log(version))?);
            counters.wal_syncs = log.syncs;
            counters.wal_sync_ns = log.sync_time_s.map(nanoseconds);
        }
        Ok(counters)
    }

    /// Before version 16 reads and times are counted for the database as a whole.
    fn of_database(&self, database: &DatabaseRow) -> DatabaseCounters {
        let blocks = database.blocks_read;
        let timed = |time_s| self.is_io_timed.then(|| nanoseconds(time_s));
        let mut counters = DatabaseCounters {
            hit_blocks: database.blocks_hit,
            read_blocks: blocks,
            commits: database.commits,
            active_ns: nanoseconds(database.active_time_s),
            ..DatabaseCounters::default()
        };
        if self.major < 16 {
            counters.sessions = IoTiming {
                reads: blocks,
                read_bytes: blocks * self.block_bytes,
                read_ns: timed(database.read_time_s),
                write_ns: timed(database.write_time_s),
                ..IoTiming::default()
            };
        }
        counters
    }

    /// Before version 16 all processes of the server are counted: blocks that sessions wrote
    /// themselves, and those of checkpoints and the background writer. The time of these is not
    /// counted.
    ///
    /// Source: PostgreSQL 15 documentation, 28.2, "The `pg_stat_bgwriter` View".
    fn add_written(&self, counters: &mut DatabaseCounters, written: &Background) {
        let of_sessions = written.session_blocks.unwrap_or(0);
        let of_others = written.checkpoint_blocks + written.cleaned_blocks;
        counters.sessions.writes = of_sessions;
        counters.sessions.write_bytes = of_sessions * self.block_bytes;
        counters.background.writes = of_others;
        counters.background.write_bytes = of_others * self.block_bytes;
    }

    /// From 18 on the log has rows of its own.
    fn add_io(&self, counters: &mut DatabaseCounters, rows: impl Iterator<Item = (IoKey, IoRow)>) {
        let (mut sessions, mut others, mut log) =
            (IoRow::default(), IoRow::default(), IoRow::default());
        for (key, row) in rows {
            let sum = match (key.object.as_str(), key.process.as_str()) {
                ("wal", _) => &mut log,
                (_, "client backend") => &mut sessions,
                _ => &mut others,
            };
            *sum = sum.plus(&row);
        }
        counters.sessions = self.io(&sessions);
        counters.background = self.io(&others);
        if self.major >= 18 && self.is_wal_timed {
            counters.wal_syncs = Some(log.syncs);
            counters.wal_sync_ns = Some(nanoseconds(log.sync_time_s));
        }
    }

    fn io(&self, row: &IoRow) -> IoTiming {
        let timed = |time_s| self.is_io_timed.then(|| nanoseconds(time_s));
        IoTiming {
            reads: row.reads,
            read_bytes: row.read_bytes,
            read_ns: timed(row.read_time_s),
            writes: row.writes + row.extends,
            write_bytes: row.write_bytes + row.extend_bytes,
            write_ns: timed(row.write_time_s + row.extend_time_s),
        }
    }
}

fn nanoseconds(time_s: f64) -> u64 {
    count(time_s * 1e9)
}

/// The later of two counters less the earlier; unknown where one is.
fn both(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    Some(later?.saturating_sub(earlier?))
}

impl DatabaseCounters {
    /// What was counted after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            hit_blocks: self.hit_blocks.saturating_sub(earlier.hit_blocks),
            read_blocks: self.read_blocks.saturating_sub(earlier.read_blocks),
            commits: self.commits.saturating_sub(earlier.commits),
            active_ns: self.active_ns.saturating_sub(earlier.active_ns),
            wal_bytes: self.wal_bytes.saturating_sub(earlier.wal_bytes),
            sessions: self.sessions.since(&earlier.sessions),
            background: self.background.since(&earlier.background),
            wal_sync_ns: both(self.wal_sync_ns, earlier.wal_sync_ns),
            wal_syncs: both(self.wal_syncs, earlier.wal_syncs),
        }
    }
}

impl IoTiming {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            read_ns: both(self.read_ns, earlier.read_ns),
            writes: self.writes.saturating_sub(earlier.writes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            write_ns: both(self.write_ns, earlier.write_ns),
        }
    }

    /// Mean time waited for a read, ns.
    pub fn read_mean_ns(&self) -> Option<f64> {
        let waited = self.read_ns.filter(|_| self.reads > 0)?;
        Some(real(waited) / real(self.reads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: PostgresKnowledge =
        PostgresKnowledge { major: 18, block_bytes: 8192, is_io_timed: true, is_wal_timed: true };

    fn row(process: &str, object: &str, counted: IoRow) -> (IoKey, IoRow) {
        let key = IoKey {
            process: process.to_owned(),
            object: object.to_owned(),
            context: "normal".to_owned(),
        };
        (key, counted)
    }

    fn reads(reads: u64, time_s: f64) -> IoRow {
        IoRow { reads, read_bytes: reads * 8192, read_time_s: time_s, ..IoRow::default() }
    }

    fn syncs(syncs: u64, sync_time_s: f64) -> IoRow {
        IoRow { syncs, sync_time_s, ..IoRow::default() }
    }

    #[test]
    fn sessions_and_others_are_kept_apart_and_log_waits_joined() {
        let mut counters = DatabaseCounters::default();
        let written = IoRow { writes: 5, extends: 2, ..IoRow::default() };
        let rows = [
            row("client backend", "relation", reads(10, 0.0015)),
            row("client backend", "wal", syncs(3, 0.000_25)),
            row("checkpointer", "relation", written),
            row("walwriter", "wal", syncs(1, 0.000_75)),
        ];
        NEW.add_io(&mut counters, rows.into_iter());
        assert_eq!((counters.sessions.reads, counters.background.writes), (10, 7));
        assert_eq!(counters.sessions.read_mean_ns(), Some(150_000.0));
        assert_eq!((counters.wal_syncs, counters.wal_sync_ns), (Some(4), Some(1_000_000)));
        assert_eq!(
            counters.since(&counters),
            DatabaseCounters {
                sessions: IoTiming { read_ns: Some(0), write_ns: Some(0), ..IoTiming::default() },
                background: IoTiming { read_ns: Some(0), write_ns: Some(0), ..IoTiming::default() },
                wal_syncs: Some(0),
                wal_sync_ns: Some(0),
                ..DatabaseCounters::default()
            }
        );
    }

    #[test]
    fn times_that_were_not_taken_are_unknown_and_not_0() {
        let untimed = PostgresKnowledge { is_io_timed: false, is_wal_timed: false, ..NEW };
        let mut counters = DatabaseCounters::default();
        let rows =
            [row("client backend", "relation", reads(10, 0.0)), row("x", "wal", syncs(9, 0.0))];
        untimed.add_io(&mut counters, rows.into_iter());
        assert_eq!((counters.sessions.read_ns, counters.sessions.read_mean_ns()), (None, None));
        assert_eq!((counters.wal_syncs, counters.wal_sync_ns), (None, None));
    }

    #[test]
    fn before_version_16_the_database_as_a_whole_is_counted() {
        let old = PostgresKnowledge { major: 15, ..NEW };
        let counters = old.of_database(&DatabaseRow {
            blocks_hit: 100,
            blocks_read: 20,
            commits: 3,
            active_time_s: 0.0025,
            read_time_s: 0.004,
            ..DatabaseRow::default()
        });
        assert_eq!(counters.sessions.read_bytes, 20 * 8192);
        assert_eq!(counters.sessions.read_ns, Some(4_000_000));
        assert_eq!((counters.active_ns, counters.commits), (2_500_000, 3));
    }

    #[test]
    fn before_version_16_blocks_written_by_all_processes_are_counted() {
        let old = PostgresKnowledge { major: 15, ..NEW };
        let at = |checkpoint_blocks, cleaned_blocks, session_blocks| {
            let mut counters = old.of_database(&DatabaseRow::default());
            let written = Background {
                checkpoint_blocks,
                cleaned_blocks,
                session_blocks: Some(session_blocks),
                ..Background::default()
            };
            old.add_written(&mut counters, &written);
            counters
        };
        let passed = at(700, 60, 9).since(&at(100, 50, 2));
        assert_eq!((passed.sessions.writes, passed.sessions.write_bytes), (7, 7 * 8192));
        assert_eq!((passed.background.writes, passed.background.write_bytes), (610, 610 * 8192));
        assert_eq!(passed.background.write_ns, None);
    }
}
