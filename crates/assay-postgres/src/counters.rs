//! What a server counted between two moments, by what its version has; what it lacks is nothing, never 0.
//!
//! Sources: PostgreSQL documentation, "The Cumulative Statistics System", of versions 14 to 18.

use crate::connection::{Connection, Row};
use crate::failure::Answer;
use assay_model::number::{count, real};

/// Counters at one moment, or their differences.
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
    pub sessions: Io,
    /// The same by everybody else: checkpointer, writers.
    pub background: Io,
    /// Waiting of all processes for the log to reach storage, ns; `None` where the version does not report it.
    pub wal_sync_ns: Option<u64>,
    /// How often that was waited for.
    pub wal_syncs: Option<u64>,
}

/// Reads and writes with the time that was waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Io {
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
pub struct Knowledge {
    /// Major version.
    pub major: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Whether I/O is timed for everybody (`track_io_timing`).
    pub is_io_timed: bool,
    /// Whether waiting for the log is timed (`track_wal_io_timing`).
    pub is_wal_timed: bool,
}

impl Knowledge {
    /// Asks a server.
    pub fn of(connection: &mut Connection) -> Answer<Self> {
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
    pub fn read(&self, connection: &mut Connection, database: &str) -> Answer<DatabaseCounters> {
        let name = database.replace('\'', "''");
        let row = connection.one(&format!(
            "SELECT blks_hit, blks_read, xact_commit, active_time, blk_read_time, blk_write_time, \
             CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') END \
             FROM pg_stat_database WHERE datname = '{name}'"
        ))?;
        let mut counters = self.of_database(&row);
        if self.major >= 16 {
            let rows = connection.query(&self.io_query())?;
            for row in &rows {
                self.add_io(&mut counters, row);
            }
        }
        if self.major < 18 && self.is_wal_timed {
            let row = connection.one("SELECT wal_sync, wal_sync_time FROM pg_stat_wal")?;
            counters.wal_syncs = row.count(0);
            counters.wal_sync_ns = row.real(1).map(nanoseconds);
        }
        Ok(counters)
    }

    /// Before version 16 only the database as a whole is counted; its writers are sessions for the most part.
    fn of_database(&self, row: &Row) -> DatabaseCounters {
        let blocks = row.count(1).unwrap_or(0);
        let timed = |column| {
            let time = row.real(column).map(nanoseconds);
            time.filter(|_| self.is_io_timed)
        };
        let mut counters = DatabaseCounters {
            hit_blocks: row.count(0).unwrap_or(0),
            read_blocks: blocks,
            commits: row.count(2).unwrap_or(0),
            active_ns: nanoseconds(row.real(3).unwrap_or(0.0)),
            wal_bytes: count(row.real(6).unwrap_or(0.0)),
            ..DatabaseCounters::default()
        };
        if self.major < 16 {
            counters.sessions = Io {
                reads: blocks,
                read_bytes: blocks * self.block_bytes,
                read_ns: timed(4),
                write_ns: timed(5),
                ..Io::default()
            };
        }
        counters
    }

    /// From 18 on bytes are counted; before, every read was a block.
    fn io_query(&self) -> String {
        let (read_bytes, write_bytes, data, wal) = if self.major >= 18 {
            ("read_bytes", "write_bytes, extend_bytes", "object <> 'wal'", "object = 'wal'")
        } else {
            ("reads * op_bytes", "writes * op_bytes, extends * op_bytes", "true", "false")
        };
        let (write_bytes, extend_bytes) =
            write_bytes.split_once(", ").unwrap_or((write_bytes, "0"));
        let sum = |what: &str, of: &str| format!("coalesce(sum({what}) FILTER (WHERE {of}), 0)");
        let columns = [
            sum("reads", data),
            sum(read_bytes, data),
            sum("read_time", data),
            sum("coalesce(writes, 0) + coalesce(extends, 0)", data),
            sum(&format!("coalesce({write_bytes}, 0) + coalesce({extend_bytes}, 0)"), data),
            sum("coalesce(write_time, 0) + coalesce(extend_time, 0)", data),
            sum("fsyncs", wal),
            sum("fsync_time", wal),
        ];
        format!(
            "SELECT backend_type = 'client backend', {} FROM pg_stat_io GROUP BY 1",
            columns.join(", ")
        )
    }

    fn add_io(&self, counters: &mut DatabaseCounters, row: &Row) {
        let timed = |column| {
            let time = row.real(column).map(nanoseconds);
            time.filter(|_| self.is_io_timed)
        };
        let whole = |column| count(row.real(column).unwrap_or(0.0));
        let io = Io {
            reads: whole(1),
            read_bytes: whole(2),
            read_ns: timed(3),
            writes: whole(4),
            write_bytes: whole(5),
            write_ns: timed(6),
        };
        if row.is_true(0) {
            counters.sessions = io;
        } else {
            counters.background = io;
        }
        if self.major >= 18 && self.is_wal_timed {
            counters.wal_syncs = Some(counters.wal_syncs.unwrap_or(0) + whole(7));
            let waited = nanoseconds(row.real(8).unwrap_or(0.0));
            counters.wal_sync_ns = Some(counters.wal_sync_ns.unwrap_or(0) + waited);
        }
    }
}

/// The server gives times in milliseconds.
fn nanoseconds(time_ms: f64) -> u64 {
    count(time_ms * 1e6)
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

impl Io {
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

    fn row(columns: &[&str]) -> Row {
        Row(columns.iter().map(|text| Some((*text).to_owned())).collect())
    }

    const NEW: Knowledge =
        Knowledge { major: 18, block_bytes: 8192, is_io_timed: true, is_wal_timed: true };

    #[test]
    fn sessions_and_others_are_kept_apart_and_log_waits_joined() {
        let mut counters = DatabaseCounters::default();
        NEW.add_io(
            &mut counters,
            &row(&["t", "10", "81920", "1.5", "2", "16384", "0.5", "3", "0.25"]),
        );
        NEW.add_io(&mut counters, &row(&["f", "0", "0", "0", "7", "57344", "2", "1", "0.75"]));
        assert_eq!((counters.sessions.reads, counters.background.writes), (10, 7));
        assert_eq!(counters.sessions.read_mean_ns(), Some(150_000.0));
        assert_eq!((counters.wal_syncs, counters.wal_sync_ns), (Some(4), Some(1_000_000)));
        assert_eq!(
            counters.since(&counters),
            DatabaseCounters {
                sessions: Io { read_ns: Some(0), write_ns: Some(0), ..Io::default() },
                background: Io { read_ns: Some(0), write_ns: Some(0), ..Io::default() },
                wal_syncs: Some(0),
                wal_sync_ns: Some(0),
                ..DatabaseCounters::default()
            }
        );
    }

    #[test]
    fn times_that_were_not_taken_are_unknown_and_not_0() {
        let untimed = Knowledge { is_io_timed: false, is_wal_timed: false, ..NEW };
        let mut counters = DatabaseCounters::default();
        untimed.add_io(&mut counters, &row(&["t", "10", "81920", "0", "0", "0", "0", "9", "0"]));
        assert_eq!((counters.sessions.read_ns, counters.sessions.read_mean_ns()), (None, None));
        assert_eq!((counters.wal_syncs, counters.wal_sync_ns), (None, None));
    }

    #[test]
    fn before_version_16_the_database_as_a_whole_is_counted() {
        let old = Knowledge { major: 15, ..NEW };
        let counters = old.of_database(&row(&["100", "20", "3", "2.5", "4", "0", "1000"]));
        assert_eq!(counters.sessions.read_bytes, 20 * 8192);
        assert_eq!(counters.sessions.read_ns, Some(4_000_000));
        assert_eq!((counters.active_ns, counters.wal_bytes), (2_500_000, 1000));
    }
}
