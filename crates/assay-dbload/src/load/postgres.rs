//! PostgreSQL as a product: its servers, the schemas on them that are Assay's, and tables of a
//! load, of which those in one piece come to be in the transaction of their rows.

use super::chunks::{Chunk, Chunks};
use super::copies::OwnDatabase;
use super::copies_postgres::{keep_database, left_databases, remove_left_database};
use super::copy::CopyRows;
use super::link::ServerUse;
use super::owned_postgres::{drop_all, drop_failed, number_of, rolled_back, standing_as, take};
use super::owner::{OwnerCandidate, Ownership, RECORD, SchemaOwner, quoted};
use super::product::{Destination, OwnedPlace, Product};
use super::remark::remark;
use super::tables::{IndexLayout, Statistics, TableLayout};
use assay_dbserver::CpuUsage;
use assay_loads::sink::RowSink;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Dialect::Postgres;
use assay_model::load::{DatabaseCounts, DatabaseProduct, ServerFacts, Setting, TimeSplit};
use assay_model::measurement::Remark;
use assay_model::row::Row;
use assay_model::{Error, Result};
use assay_postgres::address::PostgresAddress;
use assay_postgres::binaries::MAJOR_MIN;
use assay_postgres::connection::PostgresConnection;
use assay_postgres::counters::{DatabaseCounters, PostgresKnowledge};
use assay_postgres::processes::{self, background, usage};
use assay_postgres::server::{PostgresServer, missing_in};
use assay_postgres::watch::PostgresWatcher;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Before version 15 counts travel to a process of their own, twice a second.
const TRAVEL: Duration = Duration::from_millis(1200);
/// Settings that matter for storage; what a version lacks is left out.
const SETTINGS: [&str; 14] = [
    "shared_buffers",
    "debug_io_direct",
    "io_method",
    "effective_io_concurrency",
    "block_size",
    "data_checksums",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "max_wal_size",
    "checkpoint_timeout",
    "track_io_timing",
    "track_wal_io_timing",
];

impl Product for PostgresConnection {
    type Knowledge = PostgresKnowledge;
    type Watcher = PostgresWatcher;
    type Own = PostgresServer;

    fn inspect(&mut self, address: &PostgresAddress) -> Result<(PostgresKnowledge, ServerFacts)> {
        check(self, address)?;
        let failed = |failure: Failure| failure.of("reading the server's version and settings");
        let knowledge = PostgresKnowledge::of(self).map_err(failed)?;
        let facts = facts(self, &knowledge).map_err(failed)?;
        Ok((knowledge, facts))
    }

    /// The parent of the process that serves this session, when both are here.
    fn first_process(&mut self, address: &PostgresAddress) -> Option<u32> {
        let session = self.facts().process_id;
        let here = address.is_local() && usage(session).is_some();
        here.then(|| processes::parent(session)).flatten()
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        let row = self.one("SHOW data_directory").ok()?;
        Some(PathBuf::from(row.text(0)))
    }

    fn database_of<'a>(address: &'a PostgresAddress, _schema: &'a str) -> &'a str {
        &address.database
    }

    fn remarks(facts: &ServerFacts, knowledge: &PostgresKnowledge) -> Vec<Remark> {
        let mut remarks: Vec<Remark> = missing_in(knowledge.major)
            .into_iter()
            .map(|missing| {
                remark(
                    &format!("PostgreSQL {}: {missing}", facts.version),
                    "values that depend on it are missing",
                    "use version 16 or newer",
                )
            })
            .collect();
        if !knowledge.is_io_timed {
            remarks.push(remark(
                "the server does not time its I/O",
                "waits for reads and writes are unknown",
                "set track_io_timing = on",
            ));
        }
        if facts.direct_io != Some(true) {
            remarks.push(remark(
                "the server reads through the page cache",
                "reads from memory are not reads from the storage; each step reports their number",
                "use a server of version 16 or newer with debug_io_direct = data, or far more \
                 data than memory",
            ));
        }
        remarks
    }

    fn counted(
        &mut self,
        address: &PostgresAddress,
        knowledge: &PostgresKnowledge,
    ) -> Answer<(DatabaseCounts, TimeSplit)> {
        if knowledge.major < 15 {
            std::thread::sleep(TRAVEL);
        }
        let counted = knowledge.read(self, &address.database)?;
        Ok((counts(&counted), split(&counted)))
    }

    fn server_use(first_process: u32, sessions: &[u32]) -> Option<ServerUse> {
        Some(ServerUse::Background(background(first_process, sessions)))
    }

    fn whole_usage(first_process: u32) -> Option<CpuUsage> {
        processes::whole_usage(first_process)
    }

    fn room(&mut self) -> Answer<u64> {
        // The reserved ones are for superusers; our session that prepares and counts stays open as
        // well.
        let row = self.one(
            "SELECT current_setting('max_connections')::int - \
             current_setting('superuser_reserved_connections')::int - (SELECT count(*) FROM \
             pg_stat_activity WHERE backend_type = 'client backend')",
        )?;
        Ok(row.count(0).unwrap_or(0))
    }

    fn write_out(&mut self, _schema: &str) -> std::result::Result<(), Remark> {
        self.run("CHECKPOINT").map_err(|_| {
            remark(
                "this user cannot request a checkpoint",
                "delayed writes of the loading may disturb the first steps",
                "use a user with the role pg_checkpoint",
            )
        })
    }

    /// Makes a schema, unless it is given: its record comes with it or neither.
    fn claim(&mut self, schema: &str, owner: &SchemaOwner) -> Answer<()> {
        let name = quoted(Postgres, schema);
        let create = if owner.is_given { String::new() } else { format!("CREATE SCHEMA {name}; ") };
        let made = self.run(&format!(
            "BEGIN; {create}CREATE TABLE {name}.{RECORD} (name text PRIMARY KEY, value text NOT \
             NULL); INSERT INTO {name}.{RECORD} VALUES {}; COMMIT",
            owner.values(&number_of(schema))
        ));
        rolled_back(self, made)
    }

    /// Everything in a schema depends on it.
    fn is_vacant(&mut self, schema: &str) -> Answer<bool> {
        let row = self.one(&format!(
            "SELECT EXISTS (SELECT FROM pg_namespace AS n WHERE nspname = '{}' AND \
             pg_get_userbyid(nspowner) = current_user AND NOT EXISTS (SELECT FROM pg_depend WHERE \
             refclassid = 'pg_namespace'::regclass AND refobjid = n.oid AND classid <> \
             'pg_default_acl'::regclass))",
            schema.replace('\'', "''")
        ))?;
        Ok(row.is_true(0))
    }

    fn standing(&mut self, schema: &str) -> Answer<Ownership> {
        standing_as(self, schema, None)
    }

    /// Drops a schema that carries this record, with everything in it that its load makes, or
    /// nothing at all.
    fn remove_owned(&mut self, schema: &str, owner: &SchemaOwner) -> Result<()> {
        let taken = take(self, schema, owner);
        let done = taken.and_then(|gone| {
            drop_all(self, schema, &gone, owner)?;
            self.run("COMMIT").map_err(|failure| drop_failed(schema, &failure))
        });
        rolled_back(self, done)
    }

    /// Gives an Assay schema another name, and notes that it is to be kept.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &SchemaOwner) -> Result<()> {
        let taken = take(self, schema, owner);
        let done = taken.and_then(|gone| {
            let sql = format!(
                "ALTER SCHEMA {0} RENAME TO {1}; UPDATE {1}.{RECORD} SET value = 'yes' WHERE name \
                 = 'kept'; COMMIT",
                quoted(Postgres, &gone),
                quoted(Postgres, name)
            );
            self.run(&sql).map_err(|failure| drop_failed(schema, &failure))
        });
        rolled_back(self, done)
    }

    /// Marks a schema as one that is in use until this session ends; says whether no other program
    /// had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool> {
        Ok(self.one(&format!("SELECT pg_try_advisory_lock(hashtext('{schema}'))"))?.is_true(0))
    }

    fn keep_database(&mut self) -> Answer<()> {
        keep_database(self)
    }

    fn enter_database(address: &PostgresAddress, name: &str) -> Result<OwnedPlace<Self>> {
        let (database, is_new) = OwnDatabase::enter(address, name)?;
        Ok(OwnedPlace { database, is_new, address: address.with_database(name) })
    }

    fn copy_database(address: &PostgresAddress, own: &OwnDatabase) -> Result<OwnDatabase> {
        own.copied(address)
    }

    fn restore_database(
        address: &PostgresAddress,
        own: &OwnDatabase,
        copy: &OwnDatabase,
    ) -> Result<()> {
        own.restored(address, copy)
    }

    fn drop_database(address: &PostgresAddress, own: &OwnDatabase) -> Result<()> {
        own.dropped(address)
    }

    fn left_databases(address: &PostgresAddress) -> Answer<Vec<(OwnDatabase, String, u64)>> {
        left_databases(address)
    }

    fn remove_left_database(address: &PostgresAddress, left: &OwnDatabase) -> Result<()> {
        remove_left_database(address, left)
    }

    fn candidates(&mut self) -> Answer<Vec<OwnerCandidate>> {
        // A lock of the transaction is given back with the statement.
        let rows = self.query(
            "SELECT nspname, coalesce((SELECT sum(pg_total_relation_size(oid)) FROM pg_class \
             WHERE relnamespace = n.oid AND relkind IN ('r', 'm')), 0)::bigint, \
             pg_try_advisory_xact_lock(hashtext(nspname)) FROM pg_namespace AS n WHERE nspname \
             LIKE 'assay\\_%' OR EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND \
             relname = 'assay_owner')",
        )?;
        let of = |row: &Row| OwnerCandidate {
            name: row.text(0).to_owned(),
            bytes: row.count(1).unwrap_or(0),
            is_free: row.is_true(2),
        };
        Ok(rows.iter().map(of).collect())
    }

    const LOADING: &'static [&'static str] =
        &["SET maintenance_work_mem = '256MB'", "SET synchronous_commit = off"];
    const BEGIN: &'static str = "BEGIN; SET LOCAL statement_timeout = 0";

    fn create_manifest(schema: &str) -> String {
        format!("CREATE TABLE {schema}.assay_manifest (name text PRIMARY KEY, value text NOT NULL)")
    }

    /// By the name of the key, because the first column has had two.
    fn put_notes(schema: &str, notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
        format!(
            "INSERT INTO {schema}.assay_manifest VALUES {} ON CONFLICT ON CONSTRAINT \
             assay_manifest_pkey DO UPDATE SET value = excluded.value",
            values.join(", ")
        )
    }

    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String> {
        let begin = "BEGIN".to_owned();
        if layout.parts > 1 { vec![begin] } else { vec![begin, create("TABLE", schema, layout)] }
    }

    fn create_table(schema: &str, layout: &TableLayout) -> String {
        create("TABLE IF NOT EXISTS", schema, layout)
    }

    /// Two indexes of a table at once do not wait for each other; the key itself is declared behind
    /// them. That of a partitioned table cannot be declared so.
    fn key_index(layout: &TableLayout) -> Option<IndexLayout> {
        let name = format!("{}_pkey", layout.name);
        let columns = layout.key.filter(|_| layout.partitions.is_none())?;
        Some(IndexLayout { name, columns, is_unique: true })
    }

    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX {} ON {schema}.{table} ({})", index.name, index.columns)
    }

    fn count_index(schema: &str, table: &str, name: &str) -> String {
        format!(
            "SELECT count(*) FROM pg_indexes WHERE schemaname = '{schema}' AND tablename = \
             '{table}' AND indexname = '{name}'"
        )
    }

    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String> {
        let name = format!("{schema}.{}", layout.name);
        let mut statements: Vec<String> =
            layout.key.map(|key| declare_key(&name, layout, key)).into_iter().collect();
        match layout.statistics {
            Statistics::None => {}
            // Rows that were sent in one piece need no second visit.
            _ if layout.parts == 1 => statements.push(format!("ANALYZE {name}")),
            _ => statements.push(format!("VACUUM (FREEZE, ANALYZE) {name}")),
        }
        statements
    }

    fn table_sizes(schema: &str) -> String {
        format!(
            "SELECT coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)::bigint, \
             coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0)::bigint FROM \
             pg_class WHERE relnamespace = '{schema}'::regnamespace AND relname NOT LIKE \
             'assay\\_manifest%' AND relname NOT LIKE 'assay\\_owner%'"
        )
    }

    fn encoder(chunks: Chunks<'_>) -> impl RowSink {
        CopyRows(chunks)
    }

    /// Rows of a table that was made in the same transaction are not logged where that is allowed,
    /// and need no second visit, which a partitioned table does not allow.
    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let freeze = if to.is_new && to.layout.partitions.is_none() { ", FREEZE" } else { "" };
        let name = &to.layout.name;
        let mut copying =
            self.copy_in(&format!("COPY {}.{name} FROM STDIN (FORMAT binary{freeze})", to.schema))?;
        let mut sent = 0;
        for (chunk, rows) in chunks {
            copying.send(&chunk)?;
            sent += rows;
        }
        copying.finish().map(|()| sent)
    }
}

fn counts(database: &DatabaseCounters) -> DatabaseCounts {
    let (sessions, others) = (&database.sessions, &database.background);
    // Before version 16 only writes of sessions are timed, and most writes are others'.
    let write_wait_ns = sessions.write_ns.zip(others.write_ns).map(|(mine, theirs)| mine + theirs);
    DatabaseCounts {
        logical_reads: database.hit_blocks + database.read_blocks,
        reads: sessions.reads + others.reads,
        read_bytes: sessions.read_bytes + others.read_bytes,
        read_wait_ns: sessions.read_ns,
        writes: sessions.writes + others.writes,
        write_bytes: sessions.write_bytes + others.write_bytes,
        write_wait_ns,
        log_bytes: database.wal_bytes,
        log_syncs: database.wal_syncs,
        log_sync_wait_ns: database.wal_sync_ns,
        commits: database.commits,
    }
}

fn split(database: &DatabaseCounters) -> TimeSplit {
    TimeSplit {
        database_ns: database.active_ns,
        cpu_ns: None,
        cpu_queue_ns: None,
        read_ns: database.sessions.read_ns,
        write_ns: database.sessions.write_ns,
        commit_ns: database.wal_sync_ns,
    }
}

/// Refuses what cannot be measured.
fn check(admin: &mut PostgresConnection, address: &PostgresAddress) -> Result<()> {
    let oldest = MAJOR_MIN;
    if admin.major() < oldest {
        return Err(Error::environment(
            format!(
                "{address} is PostgreSQL {}, which does not report the required counters",
                admin.facts().version
            ),
            format!("use version {oldest} or newer"),
        ));
    }
    let row = admin.one("SELECT pg_is_in_recovery()");
    let row = row.map_err(|failure| failure.of("reading the server's version and settings"))?;
    if row.is_true(0) {
        return Err(Error::environment(
            format!("{address} is a replica, which cannot be written to"),
            "specify the primary",
        ));
    }
    check_pooling(admin, address)
}

/// Sessions of a benchmark prepare their statements and set what plans depend on.
fn check_pooling(admin: &mut PostgresConnection, address: &PostgresAddress) -> Result<()> {
    let is_shared = admin.is_pooled_by_transaction(address);
    if !is_shared.map_err(|failure| failure.of("reading the server's version and settings"))? {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{address} is a connection pooler in transaction mode, which does not keep sessions"
        ),
        assay_postgres::failure::NO_SESSION,
    ))
}

fn facts(admin: &mut PostgresConnection, knowledge: &PostgresKnowledge) -> Answer<ServerFacts> {
    let names: Vec<String> =
        SETTINGS.iter().map(|name| format!("current_setting('{name}', true)")).collect();
    let row = admin.one(&format!("SELECT {}", names.join(", ")))?;
    let known = (0..SETTINGS.len()).filter(|column| !row.text(*column).is_empty());
    let settings: Vec<Setting> = known
        .map(|column| Setting {
            name: SETTINGS[column].to_owned(),
            value: row.text(column).to_owned(),
        })
        .collect();
    let direct = settings.iter().find(|setting| setting.name == "debug_io_direct");
    Ok(ServerFacts {
        product: DatabaseProduct::Postgres,
        version: admin.facts().version.clone(),
        is_own: false,
        ready_s: None,
        direct_io: Some(direct.is_some_and(|direct| direct.value.contains("data"))),
        block_bytes: knowledge.block_bytes,
        settings,
        encryption: admin.encryption(),
    })
}

/// Creates a table, in partitions by a hash where that is wanted. Where the server is not to vacuum
/// it, what it would do must not disturb what is measured.
fn create(what: &str, schema: &str, layout: &TableLayout) -> String {
    let (name, columns) = (format!("{schema}.{}", layout.name), &layout.columns);
    let vacuum = if layout.is_vacuumed { "" } else { ", autovacuum_enabled = off" };
    let with = format!("WITH (fillfactor = {}{vacuum})", layout.filled_percent);
    let Some((by, partitions)) = layout.partitions else {
        return format!("CREATE {what} {name} ({columns}) {with}");
    };
    let mut sql = format!("CREATE {what} {name} ({columns}) PARTITION BY HASH ({by});");
    for number in 0..partitions {
        let _ = write!(
            sql,
            "CREATE {what} {name}_{number} PARTITION OF {name} FOR VALUES WITH (MODULUS \
             {partitions}, REMAINDER {number}) {with};"
        );
    }
    sql
}

/// Declares a key, unless an earlier loading did.
fn declare_key(name: &str, layout: &TableLayout, key: &str) -> String {
    let how = match layout.partitions {
        None => format!("USING INDEX {}_pkey", layout.name),
        Some(_) => format!("({key})"),
    };
    format!(
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = '{name}'::regclass \
         AND contype = 'p') THEN ALTER TABLE {name} ADD PRIMARY KEY {how}; END IF; END $$"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, LoadTables};
    use crate::oltp::SchemaShape;
    use assay_loads::oltp::{OltpRules, OltpTable};
    use assay_postgres::counters::IoTiming;

    #[test]
    fn writes_of_all_processes_count_and_their_time_is_unknown_if_some_are_not_timed() {
        let timing = |writes: u64, write_ns| IoTiming {
            writes,
            write_bytes: writes * 8192,
            write_ns,
            ..IoTiming::default()
        };
        let server = |background| DatabaseCounters {
            sessions: timing(7, Some(500)),
            background,
            ..DatabaseCounters::default()
        };
        let old = counts(&server(timing(610, None)));
        assert_eq!((old.writes, old.write_bytes, old.write_wait_ns), (617, 617 * 8192, None));
        let new = counts(&server(timing(610, Some(2500))));
        assert_eq!((new.writes, new.write_wait_ns), (617, Some(3000)));
    }

    #[test]
    fn order_lines_are_one_table_or_partitions_by_warehouse() {
        let rules = OltpRules::default();
        let layout = |partitions, table| {
            SchemaShape { rules: &rules, partitions, calls: Calls::Functions }.layout(table)
        };
        let create = |layout| PostgresConnection::begin_rows("s", &layout).concat();
        assert!(!create(layout(0, OltpTable::OrderLine)).contains("PARTITION"));
        let cut = layout(4, OltpTable::OrderLine);
        assert!(PostgresConnection::key_index(&cut).is_none());
        assert!(
            PostgresConnection::finish_table("s", &cut)[0].contains("ADD PRIMARY KEY (ol_w_id")
        );
        assert_eq!(create(cut).matches("PARTITION OF").count(), 4);
        let stock = layout(4, OltpTable::Stock);
        assert!(
            PostgresConnection::finish_table("s", &stock)[0].contains("USING INDEX stock_pkey")
        );
        assert!(!create(stock).contains("PARTITION"));
    }

    #[test]
    fn a_table_that_is_cut_is_there_before_its_parts_and_visited_again() {
        let mut layout = TableLayout::new("orders", "o_orderkey bigint", 7);
        layout.parts = 2;
        assert_eq!(PostgresConnection::begin_rows("s", &layout), ["BEGIN"]);
        assert!(PostgresConnection::create_table("s", &layout).contains("IF NOT EXISTS s.orders"));
        assert_eq!(
            PostgresConnection::finish_table("s", &layout),
            ["VACUUM (FREEZE, ANALYZE) s.orders"]
        );
    }
}
