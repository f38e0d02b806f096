//! The views of counters that loads and profiles both read: what is asked by release, and what the
//! rows mean. Times become seconds, byte counts 64-bit integers.
//!
//! Sources: PostgreSQL documentation, "The Cumulative Statistics System", of versions 14 to 18.

use crate::connection::Row;
use crate::model::{Background, DatabaseRow, IoKey, IoRow, LogCounters, PostgresVersion};

/// Databases; times in seconds.
pub(crate) const DATABASES: &str = "SELECT /* assay */ coalesce(datname, '')::text, \
    xact_commit, xact_rollback, blks_read, \
     blks_hit, tup_inserted + tup_updated + tup_deleted, temp_files, temp_bytes, sessions, \
     active_time / 1000, blk_read_time / 1000, blk_write_time / 1000, extract(epoch FROM \
     stats_reset)::float8 FROM pg_stat_database";

/// I/O by process, object and context.
pub(crate) fn io(version: PostgresVersion) -> Option<&'static str> {
    if !version.has_io() {
        return None;
    }
    Some(if version.counts_requests() {
        "SELECT /* assay */ backend_type, object, context, reads, read_bytes::int8, read_time / \
         1000, writes, write_bytes::int8, write_time / 1000, extends, extend_bytes::int8, \
         extend_time / 1000, fsyncs, fsync_time / 1000, writeback_time / 1000, hits FROM pg_stat_io"
    } else {
        "SELECT /* assay */ backend_type, object, context, reads, reads * op_bytes::int8, \
         read_time / 1000, writes, writes * op_bytes::int8, write_time / 1000, extends, extends * \
         op_bytes::int8, extend_time / 1000, fsyncs, fsync_time / 1000, writeback_time / 1000, \
         hits FROM pg_stat_io"
    })
}

/// The log.
pub(crate) const fn log(version: PostgresVersion) -> &'static str {
    if version.has_log_io() {
        "SELECT /* assay */ wal_records, wal_fpi, wal_bytes::int8, wal_buffers_full, NULL::int8, \
         NULL::int8, NULL::float8, NULL::float8 FROM pg_stat_wal"
    } else {
        "SELECT /* assay */ wal_records, wal_fpi, wal_bytes::int8, wal_buffers_full, wal_write, \
         wal_sync, wal_write_time / 1000, wal_sync_time / 1000 FROM pg_stat_wal"
    }
}

/// Checkpointer and background writer.
pub(crate) const fn background(version: PostgresVersion) -> &'static str {
    if version.major() >= 17 {
        "SELECT /* assay */ num_timed, num_requested, c.buffers_written, c.write_time / 1000, \
         c.sync_time / 1000, b.buffers_clean, NULL::int8 FROM pg_stat_checkpointer c CROSS JOIN \
         pg_stat_bgwriter b"
    } else {
        "SELECT /* assay */ checkpoints_timed, checkpoints_req, buffers_checkpoint, \
         checkpoint_write_time / 1000, checkpoint_sync_time / 1000, buffers_clean, buffers_backend \
         FROM pg_stat_bgwriter"
    }
}

pub(crate) fn database(row: &Row) -> (String, DatabaseRow) {
    let database = DatabaseRow {
        commits: or_zero(row, 1),
        rollbacks: or_zero(row, 2),
        blocks_read: or_zero(row, 3),
        blocks_hit: or_zero(row, 4),
        rows_changed: or_zero(row, 5),
        temporary_files: or_zero(row, 6),
        temporary_bytes: or_zero(row, 7),
        sessions: or_zero(row, 8),
        active_time_s: row.real(9).unwrap_or_default(),
        read_time_s: row.real(10).unwrap_or_default(),
        write_time_s: row.real(11).unwrap_or_default(),
        reset_s: row.real(12),
    };
    (row.text(0).to_owned(), database)
}

pub(crate) fn io_row(row: &Row) -> (IoKey, IoRow) {
    let word = |column| row.text(column).to_owned();
    let time = |column| row.real(column).unwrap_or_default();
    let key = IoKey { process: word(0), object: word(1), context: word(2) };
    let counters = IoRow {
        reads: or_zero(row, 3),
        read_bytes: or_zero(row, 4),
        read_time_s: time(5),
        writes: or_zero(row, 6),
        write_bytes: or_zero(row, 7),
        write_time_s: time(8),
        extends: or_zero(row, 9),
        extend_bytes: or_zero(row, 10),
        extend_time_s: time(11),
        syncs: or_zero(row, 12),
        sync_time_s: time(13),
        writeback_time_s: time(14),
        hits: or_zero(row, 15),
    };
    (key, counters)
}

pub(crate) fn log_row(row: &Row) -> LogCounters {
    LogCounters {
        records: or_zero(row, 0),
        full_pages: or_zero(row, 1),
        bytes: or_zero(row, 2),
        full_buffers: or_zero(row, 3),
        writes: row.count(4),
        syncs: row.count(5),
        write_time_s: row.real(6),
        sync_time_s: row.real(7),
    }
}

pub(crate) fn background_row(row: &Row) -> Background {
    Background {
        timed: or_zero(row, 0),
        requested: or_zero(row, 1),
        checkpoint_blocks: or_zero(row, 2),
        checkpoint_write_s: row.real(3).unwrap_or_default(),
        checkpoint_sync_s: row.real(4).unwrap_or_default(),
        cleaned_blocks: or_zero(row, 5),
        session_blocks: row.count(6),
    }
}

/// A count that is 0 where it is not known.
pub(crate) fn or_zero(row: &Row, column: usize) -> u64 {
    row.count(column).unwrap_or_default()
}
