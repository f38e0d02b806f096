//! What a server says of itself at one time. Times are in the server's milliseconds turned into
//! seconds; what a version or a right does not give is absent.

use std::collections::BTreeMap;
use std::fmt;

/// A release, as `server_version_num` gives it: 180006 is 18.6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PostgresVersion(pub u32);

impl PostgresVersion {
    /// The first that counts the time of sessions.
    pub const OLDEST: u32 = 14;
    /// The newest whose views are known here.
    pub const NEWEST: u32 = 18;

    /// The number that new features come with.
    pub const fn major(self) -> u32 {
        self.0 / 10_000
    }

    /// Whether I/O is counted by process, object and context (`pg_stat_io`).
    pub const fn has_io(self) -> bool {
        self.major() >= 16
    }

    /// Whether `pg_stat_io` counts each request with its bytes; before, it counts blocks, and a
    /// request of sixteen blocks counts as sixteen reads.
    pub const fn counts_requests(self) -> bool {
        self.major() >= 18
    }

    /// Whether the log's own I/O is in `pg_stat_io` instead of `pg_stat_wal`.
    pub const fn has_log_io(self) -> bool {
        self.major() >= 18
    }
}

impl fmt::Display for PostgresVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major(), self.0 % 10_000)
    }
}

/// Settings that decide what the counters mean.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the server's own")]
pub struct PostgresSettings {
    /// Whether I/O on data is timed.
    pub track_io_timing: bool,
    /// Whether I/O on the log is timed.
    pub track_wal_io_timing: bool,
    /// Whether accesses are counted at all.
    pub track_counts: bool,
    /// Whether sessions report what they do.
    pub track_activities: bool,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of a block of the log.
    pub log_block_bytes: u64,
    /// Whether it is a replica, or is being recovered.
    pub in_recovery: bool,
    /// Whether this account may see all sessions and counters.
    pub sees_all: bool,
    /// `sync`, `worker` or `io_uring`, from 18 on.
    pub io_method: Option<String>,
    /// When the server was started, seconds since 1970.
    pub started_s: f64,
}

/// A row of `pg_stat_database`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatabaseRow {
    /// Transactions committed.
    pub commits: u64,
    /// Transactions rolled back.
    pub rollbacks: u64,
    /// Blocks that were not in the buffer cache.
    pub blocks_read: u64,
    /// Blocks found in the buffer cache.
    pub blocks_hit: u64,
    /// Rows inserted, updated and deleted.
    pub rows_changed: u64,
    /// Temporary files made.
    pub temporary_files: u64,
    /// Bytes written to them.
    pub temporary_bytes: u64,
    /// Sessions begun.
    pub sessions: u64,
    /// Time that sessions were active, seconds.
    pub active_time_s: f64,
    /// Time in reads, seconds.
    pub read_time_s: f64,
    /// Time in writes, seconds.
    pub write_time_s: f64,
    /// When its counters were set to zero, seconds since 1970.
    pub reset_s: Option<f64>,
}

/// A client backend in `pg_stat_activity`, all but our own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendSession {
    /// Its process.
    pub process_id: u32,
    /// Its database.
    pub database: String,
    /// Whether a statement runs.
    pub is_active: bool,
    /// When its last statement began, seconds since 1970.
    pub statement_began_s: Option<f64>,
    /// When that ended, for a session that is not active.
    pub state_changed_s: Option<f64>,
}

/// What a row of `pg_stat_io` is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct IoKey {
    /// Kind of process.
    pub process: String,
    /// Kind of object.
    pub object: String,
    /// Kind of access.
    pub context: String,
}

/// A row of `pg_stat_io`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IoRow {
    /// Reads; before 18 blocks.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time in reads, seconds.
    pub read_time_s: f64,
    /// Writes; before 18 blocks.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time in writes, seconds.
    pub write_time_s: f64,
    /// Extensions of files; before 18 blocks.
    pub extends: u64,
    /// Bytes of them.
    pub extend_bytes: u64,
    /// Time in them, seconds.
    pub extend_time_s: f64,
    /// Flushes.
    pub syncs: u64,
    /// Time in flushes, seconds.
    pub sync_time_s: f64,
    /// Hints to the kernel to write, 16 and later.
    pub writeback_time_s: f64,
    /// Blocks found in the buffer cache.
    pub hits: u64,
}

/// `pg_stat_wal`; writes and flushes are there up to 17.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogCounters {
    /// Records.
    pub records: u64,
    /// Records with a whole page.
    pub full_pages: u64,
    /// Bytes.
    pub bytes: u64,
    /// How often the buffers of the log were full.
    pub full_buffers: u64,
    /// Writes; before 18 blocks.
    pub writes: Option<u64>,
    /// Flushes.
    pub syncs: Option<u64>,
    /// Time in writes, seconds.
    pub write_time_s: Option<f64>,
    /// Time in flushes, seconds.
    pub sync_time_s: Option<f64>,
}

/// Checkpointer and background writer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// Checkpoints because their time had come.
    pub timed: u64,
    /// Checkpoints that somebody or the log's size asked for.
    pub requested: u64,
    /// Blocks written by checkpoints.
    pub checkpoint_blocks: u64,
    /// Time of checkpoints in writing, seconds.
    pub checkpoint_write_s: f64,
    /// Time of checkpoints in flushing, seconds.
    pub checkpoint_sync_s: f64,
    /// Blocks written by the background writer.
    pub cleaned_blocks: u64,
    /// Written by sessions themselves, up to 16.
    pub session_blocks: Option<u64>,
}

/// A table or an index with its counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelationCounters {
    /// Schema and name.
    pub name: String,
    /// `table` or `index`.
    pub kind: String,
    /// Its tablespace.
    pub tablespace: String,
    /// Blocks that were not in the buffer cache.
    pub blocks_read: u64,
    /// Blocks found in the buffer cache.
    pub blocks_hit: u64,
    /// Its size, bytes.
    pub size_bytes: Option<u64>,
}

/// Which statement of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatementKey {
    /// Who.
    pub user: u32,
    /// Its database, or 0 where it has none.
    pub database: u32,
    /// The server's id of the statement.
    pub query: i64,
    /// Whether the client sent it, and not a function.
    pub is_top: bool,
}

/// A row of `pg_stat_statements`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementCounts {
    /// Its beginning, without values.
    pub text: String,
    /// Executions.
    pub calls: u64,
    /// Their time, seconds.
    pub elapsed_s: f64,
    /// Blocks that were not in the buffer cache.
    pub blocks_read: u64,
    /// Blocks found in the buffer cache.
    pub blocks_hit: u64,
    /// Blocks made dirty.
    pub blocks_dirtied: u64,
    /// Blocks of temporary files read and written.
    pub temporary_blocks: u64,
    /// I/O on data and, from 15 on, on temporary files.
    pub io_time_s: f64,
    /// Bytes of the log.
    pub wal_bytes: u64,
    /// When counting began, 17 and later, seconds since 1970.
    pub since_s: Option<f64>,
}

/// All of `pg_stat_statements`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementStatistics {
    /// Its rows.
    pub rows: BTreeMap<StatementKey, StatementCounts>,
    /// How often rows were thrown out to make room.
    pub thrown_out: u64,
}

/// Everything at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostgresSnapshot {
    /// The release.
    pub version: PostgresVersion,
    /// Its settings.
    pub settings: PostgresSettings,
    /// The server's clock, seconds since 1970.
    pub at_s: f64,
    /// By name; shared objects have an empty one.
    pub databases: BTreeMap<String, DatabaseRow>,
    /// Client sessions, without our own.
    pub sessions: Vec<BackendSession>,
    /// Before 16 there is none.
    pub io: Option<BTreeMap<IoKey, IoRow>>,
    /// The log.
    pub log: Option<LogCounters>,
    /// Checkpointer and background writer.
    pub background: Option<Background>,
    /// Tables and indexes of the database that was asked.
    pub relations: BTreeMap<u32, RelationCounters>,
    /// Statements, where the extension is there.
    pub statements: Option<StatementStatistics>,
    /// Time that our own sessions have been active so far, by database, seconds.
    pub own_time_s: BTreeMap<String, f64>,
    /// Statements that our own sessions have sent so far, by database.
    pub own_statements: BTreeMap<String, u64>,
    /// Processors of the host where it is this one.
    pub processors: Option<u64>,
    /// What could not be asked, with the reason.
    pub missing: Vec<String>,
}
