//! What is asked, by release. Every statement carries a mark, so that it can be told apart from
//! others in the server's own statistics. Times become seconds, byte counts 64-bit integers.

/// What every session does; these ones are ours and left out.
pub(super) fn sample(own: &[u32]) -> String {
    let own: Vec<String> = own.iter().map(u32::to_string).collect();
    let own = own.join(", ");
    format!(
        "SELECT /* assay */ pid, coalesce(backend_type, ''), coalesce(state, ''), \
         coalesce(wait_event_type, ''), coalesce(wait_event, ''), coalesce(datname, '')::text, \
         extract(epoch FROM query_start)::float8, extract(epoch FROM state_change)::float8, \
         extract(epoch FROM backend_start)::float8, extract(epoch FROM clock_timestamp())::float8 \
         FROM pg_stat_activity WHERE pid NOT IN ({own})"
    )
}

pub(super) const DATA_DIRECTORY: &str =
    "SELECT /* assay */ setting FROM pg_settings WHERE name = 'data_directory'";

pub(super) const SETTINGS: &str = "SELECT /* assay */ current_setting('track_io_timing')::bool, \
     current_setting('track_wal_io_timing')::bool, current_setting('track_counts')::bool, \
     current_setting('track_activities')::bool, current_setting('block_size')::int8, \
     current_setting('wal_block_size')::int8, pg_is_in_recovery(), (SELECT rolsuper OR \
     pg_has_role(rolname, 'pg_read_all_stats', 'usage') FROM pg_roles WHERE rolname = \
     current_user), current_setting('io_method', true), extract(epoch FROM \
     pg_postmaster_start_time())::float8, extract(epoch FROM clock_timestamp())::float8";

/// Relations of the database that anybody asked a block of; sizes are those of the last vacuum,
/// which needs no lock, and not known before the first.
pub(super) const RELATIONS: &str = "SELECT /* assay */ c.oid, n.nspname || '.' || c.relname, \
    CASE WHEN c.relkind = 'i' THEN \
     'index' ELSE 'table' END, coalesce(t.spcname, d.spcname)::text, \
     pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid), \
     pg_stat_get_blocks_hit(c.oid), nullif(c.relpages, 0)::int8 * \
     current_setting('block_size')::int8 FROM pg_class c JOIN pg_namespace n ON n.oid = \
     c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace CROSS JOIN (SELECT \
     s.spcname FROM pg_tablespace s JOIN pg_database b ON b.dattablespace = s.oid WHERE b.datname \
     = current_database()) d WHERE c.relkind IN ('r', 'i', 't', 'm') AND \
     pg_stat_get_blocks_fetched(c.oid) > 0";

/// Version and schema of the extension that counts statements.
pub(super) const STATEMENTS_OF: &str = "SELECT /* assay */ e.extversion, quote_ident(n.nspname) \
                                        FROM pg_extension e JOIN pg_namespace n ON n.oid = \
                                        e.extnamespace WHERE e.extname = 'pg_stat_statements'";

/// Statements; the columns follow the extension's version, which can be older than the server: 1.10
/// came with release 15, 1.11 with 17. Ours are left out.
pub(super) fn statements(minor: u32, schema: &str) -> String {
    let (times, since) = match minor {
        11.. => (
            "shared_blk_read_time + shared_blk_write_time + local_blk_read_time + \
             local_blk_write_time + temp_blk_read_time + temp_blk_write_time",
            "extract(epoch FROM stats_since)::float8",
        ),
        10 => (
            "blk_read_time + blk_write_time + temp_blk_read_time + temp_blk_write_time",
            "NULL::float8",
        ),
        _ => ("blk_read_time + blk_write_time", "NULL::float8"),
    };
    format!(
        "SELECT /* assay */ userid, dbid, queryid, toplevel, left(query, 200), calls, \
         total_exec_time / 1000, shared_blks_read + local_blks_read, shared_blks_hit + \
         local_blks_hit, shared_blks_dirtied + local_blks_dirtied, temp_blks_read + \
         temp_blks_written, ({times}) / 1000, wal_bytes::int8, {since} FROM \
         {schema}.pg_stat_statements WHERE queryid IS NOT NULL AND query NOT LIKE '%/* assay */%'"
    )
}

/// How often statements were thrown out.
pub(super) fn thrown_out(schema: &str) -> String {
    format!("SELECT /* assay */ dealloc FROM {schema}.pg_stat_statements_info")
}
