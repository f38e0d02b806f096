//! The server's own I/O counters in one row, read every second.

use super::PostgresWatcher;
use crate::model::PostgresVersion;
use crate::views::or_zero;
use assay_live::watch::IoCounters;
use assay_model::Result;

/// Transactions and temporary files; what is written to these comes in pieces of 128 KiB.
const DATABASES: &str = "(SELECT sum(xact_commit + xact_rollback)::int8 AS transactions, \
                         sum(temp_bytes)::int8 AS temporary, sum(blks_read)::int8 AS blocks, \
                         current_setting('block_size')::int8 AS block FROM pg_stat_database) d";
/// `pg_stat_io` in one row.
const IO: &str = "(SELECT sum(reads) FILTER (WHERE is_data)::int8 AS reads, sum(read_bytes) \
                  FILTER (WHERE is_data)::int8 AS read_bytes, sum(written) FILTER (WHERE \
                  is_data)::int8 AS writes, sum(write_bytes) FILTER (WHERE is_data)::int8 AS \
                  write_bytes, sum(written) FILTER (WHERE NOT is_data)::int8 AS log_writes FROM \
                  ROWS) i";

/// What is asked of a release: reads, their bytes, writes, their bytes, writes of the log, its
/// bytes, transactions.
fn question(version: PostgresVersion) -> String {
    let of_io = |rows: &str, log: &str| {
        let io = IO.replace("ROWS", rows);
        format!(
            "SELECT /* assay */ reads, read_bytes, writes + ceil(temporary / 131072.0)::int8, \
             write_bytes + temporary, {log}, wal_bytes::int8, transactions FROM {DATABASES} CROSS \
             JOIN {io} CROSS JOIN pg_stat_wal"
        )
    };
    if version.has_log_io() {
        return of_io(
            "(SELECT object <> 'wal' AS is_data, reads, read_bytes, coalesce(writes, 0) + \
             coalesce(extends, 0) AS written, coalesce(write_bytes, 0) + coalesce(extend_bytes, \
             0) AS write_bytes FROM pg_stat_io) r",
            "log_writes",
        );
    }
    if version.has_io() {
        return of_io(
            "(SELECT true AS is_data, reads, reads * op_bytes AS read_bytes, coalesce(writes, 0) \
             + coalesce(extends, 0) AS written, (coalesce(writes, 0) + coalesce(extends, 0)) * \
             op_bytes AS write_bytes FROM pg_stat_io) r",
            "wal_write",
        );
    }
    format!(
        "SELECT /* assay */ blocks, blocks * block, written + ceil(temporary / 131072.0)::int8, \
         written * block + temporary, wal_write, wal_bytes::int8, transactions FROM {DATABASES} \
         CROSS JOIN pg_stat_wal CROSS JOIN (SELECT buffers_checkpoint + buffers_clean + \
         buffers_backend AS written FROM pg_stat_bgwriter) b"
    )
}

impl PostgresWatcher {
    /// The counters at this moment, Assay's own transactions left out.
    pub(super) fn take_io_counters(&mut self) -> Result<IoCounters> {
        let rows = self.server.query(&question(self.version))?;
        let own = self.server.own_statements + self.database.own_statements;
        let count = |column: usize| rows.first().map_or(0, |row| or_zero(row, column));
        Ok(IoCounters {
            reads: count(0),
            read_bytes: count(1),
            writes: count(2),
            write_bytes: count(3),
            log_writes: count(4),
            log_bytes: count(5),
            transactions: count(6).saturating_sub(own),
        })
    }
}
