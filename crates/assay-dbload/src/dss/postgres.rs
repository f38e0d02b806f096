//! Tables and sessions of this load on PostgreSQL.

use super::asked::Asked;
use super::copy::Binary;
use super::manifest::SCHEMA;
use super::store::{DssStore, Wanted};
use crate::load::{Chunk, Database};
use assay_dbserver::Usage;
use assay_loads::dss::{Index, Table, create_table, put_rows};
use assay_model::failure::{Answer, Failure};
use assay_model::row::Row;
use assay_model::units::Nanos;
use assay_postgres::connection::Connection;
use std::sync::mpsc::SyncSender;

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;
/// The server's word for a statement that was cancelled, here by its limit.
const CANCELLED: &str = "57014";

impl DssStore for Connection {
    const BEGIN_UNLIMITED: &'static str = "BEGIN; SET LOCAL statement_timeout = 0";

    fn take_hold(&mut self) -> Answer<bool> {
        let held = self.one(&format!("SELECT pg_try_advisory_lock(hashtext('{SCHEMA}'))"))?;
        Ok(held.is_true(0))
    }

    /// A table in one piece is made in the transaction that sends its rows.
    fn make(&mut self, notes: &[(String, String)], parts: &[(Table, i32)]) -> Answer<()> {
        let mut statements = vec![
            format!(
                "CREATE TABLE {SCHEMA}.assay_manifest (item text PRIMARY KEY, value text NOT NULL)"
            ),
            Self::put(notes),
        ];
        let cut = parts.iter().filter(|(_, of)| *of > 1);
        statements.extend(cut.map(|(table, _)| create_here(*table)));
        let made = self.run(&format!("BEGIN; {}; COMMIT", statements.join("; ")));
        if made.is_err() {
            // The refusal is what must be heard of.
            let _ = self.run("ROLLBACK");
        }
        made
    }

    /// They were made with the schema.
    fn make_missing(&mut self, _parts: &[(Table, i32)]) -> Answer<()> {
        Ok(())
    }

    fn put(notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(item, value)| format!("('{item}', '{value}')")).collect();
        format!(
            "INSERT INTO {SCHEMA}.assay_manifest VALUES {} \
             ON CONFLICT (item) DO UPDATE SET value = excluded.value",
            values.join(", ")
        )
    }

    fn ready_to_load(&mut self) {
        // Only some users may; the server's own settings serve, too.
        let _ = self.run("SET maintenance_work_mem = '256MB'; SET synchronous_commit = off");
    }

    fn rows_of(wanted: Wanted<'_>, to: &SyncSender<Chunk>) {
        let mut give = |bytes, rows| to.send((bytes, rows)).is_ok();
        let columns = wanted.table.columns().len();
        let mut binary = Binary::new(columns, CHUNK_BYTES, &mut give);
        put_rows(wanted.table, wanted.scale, wanted.part, wanted.rekey, &mut binary);
        binary.finish();
    }

    fn begin_part(&mut self, table: Table, is_whole: bool) -> Answer<()> {
        self.run("BEGIN")?;
        if is_whole { self.run(&create_here(table)) } else { Ok(()) }
    }

    /// A table that was made in the same transaction is not logged where that is allowed, and its rows need no second
    /// visit.
    fn send(
        &mut self,
        table: Table,
        is_whole: bool,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let option = if is_whole { ", FREEZE" } else { "" };
        let name = table.name();
        let mut copying =
            self.copy_in(&format!("COPY {SCHEMA}.{name} FROM STDIN (FORMAT binary{option})"))?;
        let mut sent = 0;
        for (chunk, rows) in chunks {
            copying.send(&chunk)?;
            sent += rows;
        }
        copying.finish().map(|()| sent)
    }

    /// Two of them at once do not wait for each other; the key itself is declared behind them.
    fn build_key(&mut self, table: Table) -> Answer<()> {
        self.run(&format!(
            "CREATE UNIQUE INDEX IF NOT EXISTS {0}_pkey ON {SCHEMA}.{0} ({1})",
            table.name(),
            table.key()
        ))
    }

    fn build_index(&mut self, table: Table, index: &Index) -> Answer<()> {
        self.run(&format!(
            "CREATE INDEX IF NOT EXISTS {} ON {SCHEMA}.{} ({})",
            index.name,
            table.name(),
            index.columns
        ))
    }

    fn gather(&mut self, table: Table, frozen: bool) -> Answer<()> {
        declare_key(self, table)?;
        let how = if frozen { "ANALYZE" } else { "VACUUM (FREEZE, ANALYZE)" };
        self.run(&format!("{how} {SCHEMA}.{}", table.name()))
    }

    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64> {
        let sql = format!("DELETE FROM {SCHEMA}.{} WHERE {condition}", table.name());
        let statement = self.prepare("", &sql, &[])?;
        Ok(self.execute(&statement)?.count)
    }

    fn bytes(&mut self) -> Answer<(u64, u64)> {
        let row = self.one(&format!(
            "SELECT sum(pg_table_size(oid)) FILTER (WHERE relkind = 'r'), \
             coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0) \
             FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relname NOT IN ('assay_manifest', 'assay_owner')"
        ))?;
        Ok((row.count(0).unwrap_or(0), row.count(1).unwrap_or(0)))
    }

    fn parallel_max(&mut self) -> Option<u32> {
        let row = self.one("SHOW max_parallel_workers").ok()?;
        row.text(0).parse().ok()
    }

    /// It is as it is to be.
    fn fit(_database: &mut Database) -> Answer<()> {
        Ok(())
    }

    fn ready_to_ask(&mut self, asked: &Asked) -> Answer<()> {
        self.run(&settings(asked))?;
        // Some versions lack one, and only some users may set the other; the result says what was timed.
        let _ = self.run("SET client_connection_check_interval = '1s'");
        let _ = self.run("SET track_io_timing = on");
        Ok(())
    }

    fn limited(&self, sql: String, _limit: Option<Nanos>) -> String {
        sql
    }

    fn ask(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.query(sql)
    }

    fn is_over_limit(failure: &Failure) -> bool {
        failure.code() == Some(CANCELLED)
    }

    /// It looks for its client once a second.
    fn ending(&self) -> Option<String> {
        None
    }

    fn whole_usage(first_process: u32) -> Option<Usage> {
        assay_postgres::processes::whole_usage(first_process)
    }
}

/// Without automatic vacuum: what it does would disturb what is measured.
fn create_here(table: Table) -> String {
    let name = format!("{SCHEMA}.{}", table.name());
    format!("{} WITH (autovacuum_enabled = off)", create_table(table, &name))
}

/// Not again where an earlier run had come so far.
fn declare_key(connection: &mut Connection, table: Table) -> Answer<()> {
    let name = table.name();
    let there = connection.one(&format!(
        "SELECT count(*) FROM pg_constraint \
         WHERE conrelid = '{SCHEMA}.{name}'::regclass AND contype = 'p'"
    ))?;
    if there.count(0) == Some(1) {
        return Ok(());
    }
    connection.run(&format!("ALTER TABLE {SCHEMA}.{name} ADD PRIMARY KEY USING INDEX {name}_pkey"))
}

/// Settings of a session.
fn settings(asked: &Asked) -> String {
    let mut all = vec![
        format!("SET search_path = {SCHEMA}"),
        format!("SET max_parallel_workers_per_gather = {}", asked.parallel),
    ];
    if let Some(limit) = asked.limit {
        all.push(format!("SET statement_timeout = {}", limit.0.div_ceil(1_000_000).max(1)));
    }
    if let Some(work) = asked.memory.work {
        all.push(format!("SET work_mem = '{}kB'", (work.0 >> 10).max(64)));
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::Memory;
    use assay_loads::dss::{Choice, Scale};
    use assay_model::units::Bytes;

    #[test]
    fn sessions_have_the_settings_that_were_asked() {
        let asked = Asked {
            scale: Scale::new(1.0).unwrap(),
            choice: Choice::Validation,
            limit: Some(Nanos(1_500_000)),
            parallel: 3,
            memory: Memory { work: Some(Bytes(64 << 20)) },
        };
        let all = settings(&asked);
        for wanted in ["per_gather = 3", "statement_timeout = 2", "work_mem = '65536kB'"] {
            assert!(all.contains(wanted), "{all}");
        }
        assert!(!settings(&Asked { limit: None, ..asked }).contains("timeout"));
    }

    #[test]
    fn only_a_cancelled_query_is_over_its_limit() {
        let refused = |code| assay_postgres::failure::refused(code, "no");
        assert!(Connection::is_over_limit(&refused("57014")));
        assert!(!Connection::is_over_limit(&refused("53100")));
    }
}
