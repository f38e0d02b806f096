//! MariaDB and MySQL as a product: their servers, the databases on them that are Assay's, and
//! tables of a load.
//!
//! A schema is a database here. InnoDB keeps a table as a tree by its primary key, so the key is
//! there before the rows. A statement that makes a table ends a transaction, so a table is noted
//! when it is whole, and one that is not noted is made again.

use super::chunks::{Chunk, Chunks};
use super::link::{ServerLink, ServerUse};
use super::mariadb_link::MariadbLink;
use super::owned_mariadb::{ROUTINES, about, check_owner, quoted, strangers, text};
use super::owner::{
    OwnedKind, OwnerCandidate, Ownership, RECORD, SchemaOwner, foreign, holds_foreign, pairs,
};
use super::product::{Destination, Product};
use super::remark::remark;
use super::tables::{IndexLayout, LETTERS, Procedure, Statistics, TableLayout};
use super::text_rows::TextRows;
use crate::makes;
use assay_dbserver::CpuUsage;
use assay_loads::sink::RowSink;
use assay_mariadb::address::MariadbAddress;
use assay_mariadb::connection::MariadbConnection;
use assay_mariadb::counters::MariadbKnowledge;
use assay_mariadb::server::MariadbServer;
use assay_mariadb::threads::whole_usage;
use assay_mariadb::watch::MariadbWatcher;
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::load::{DatabaseCounts, DatabaseProduct, ServerFacts, Setting, TimeSplit};
use assay_model::measurement::Remark;
use assay_model::row::Row;
use assay_model::{Error, Result};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The oldest releases whose counters are known: of MariaDB and of MySQL.
const RELEASES: [(DatabaseProduct, (u32, u32)); 2] =
    [(DatabaseProduct::MariaDb, (10, 5)), (DatabaseProduct::MySql, (8, 0))];
/// The first release of MariaDB that reads a text of JSON as rows.
const ROWS_OF_JSON: (u32, u32) = (10, 6);
/// Settings that matter for storage; what a version lacks is left out.
const SETTINGS: [&str; 18] = [
    "innodb_buffer_pool_size",
    "innodb_page_size",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_log_file_buffering",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_read_ahead_threshold",
    "innodb_use_native_aio",
    "innodb_checksum_algorithm",
    "innodb_flush_neighbors",
    "sync_binlog",
    "log_bin",
    "performance_schema",
    "transaction_isolation",
];
/// Ways to write that pass the page cache by.
const DIRECT: [&str; 2] = ["O_DIRECT", "O_DIRECT_NO_FSYNC"];

impl Product for MariadbLink {
    type Knowledge = MariadbKnowledge;
    type Watcher = MariadbWatcher;
    type Own = MariadbServer;

    fn inspect(&mut self, address: &MariadbAddress) -> Result<(MariadbKnowledge, ServerFacts)> {
        check(&mut self.connection, address)?;
        self.connection.refuse_proxy(address)?;
        let failed = |failure: Failure| failure.of("reading the server's version and settings");
        let knowledge = MariadbKnowledge::of(&mut self.connection).map_err(failed)?;
        let facts = facts(&mut self.connection, &knowledge).map_err(failed)?;
        if !self.connection.facts().is_mariadb() {
            // Else sizes of tables are those of yesterday.
            let fresh = self.connection.run("SET SESSION information_schema_stats_expiry = 0");
            fresh.map_err(failed)?;
        }
        Ok((knowledge, facts))
    }

    fn first_process(&mut self, _address: &MariadbAddress) -> Option<u32> {
        self.thread.map(|(thread, _)| thread.process)
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        let row = self.connection.one("SELECT @@datadir").ok()?;
        Some(PathBuf::from(row.text(0)))
    }

    fn database_of<'a>(_address: &'a MariadbAddress, schema: &'a str) -> &'a str {
        schema
    }

    fn remarks(facts: &ServerFacts, knowledge: &MariadbKnowledge) -> Vec<Remark> {
        remarks(facts, knowledge)
    }

    fn counted(
        &mut self,
        _address: &MariadbAddress,
        knowledge: &MariadbKnowledge,
    ) -> Answer<(DatabaseCounts, TimeSplit)> {
        knowledge.read(&mut self.connection)
    }

    fn server_use(first_process: u32, _sessions: &[u32]) -> Option<ServerUse> {
        whole_usage(first_process).map(ServerUse::Whole)
    }

    fn whole_usage(first_process: u32) -> Option<CpuUsage> {
        whole_usage(first_process)
    }

    fn room(&mut self) -> Answer<u64> {
        let status = if self.connection.facts().is_mariadb() {
            "information_schema"
        } else {
            "performance_schema"
        };
        // One more is for an administrator; our session that prepares and counts stays open as
        // well.
        let row = self.connection.one(&format!(
            "SELECT CAST(@@max_connections AS SIGNED) - CAST(VARIABLE_VALUE AS SIGNED), \
             @@max_user_connections FROM {status}.global_status WHERE VARIABLE_NAME = \
             'THREADS_CONNECTED'"
        ))?;
        let of_user = row.count(1).filter(|most| *most > 0).unwrap_or(u64::MAX);
        Ok(row.count(0).unwrap_or(0).min(of_user.saturating_sub(1)))
    }

    /// Its settings are not ours to change, and a server at rest may keep its changed pages for
    /// ever. Before files of tables may be copied it writes what is changed of them (MariaDB
    /// documentation, "FLUSH TABLES FOR EXPORT"), and that is what is asked for.
    fn write_out(&mut self, schema: &str) -> std::result::Result<(), Remark> {
        let written = self.write_tables(schema);
        if written.is_ok() || self.waits_until_written() {
            return Ok(());
        }
        Err(remark(
            "pages changed by loading are not yet written, and this user cannot request a \
             checkpoint",
            "writing them may disturb the first steps",
            "use a user with the privileges RELOAD and LOCK TABLES; or load with --keep, and run \
             again when the server is idle",
        ))
    }

    /// Makes a database with its record, unless it is given; the server refuses what is there.
    fn claim(&mut self, schema: &str, owner: &SchemaOwner) -> Answer<()> {
        let name = quoted(schema);
        if !owner.is_given {
            self.run(&format!("CREATE DATABASE {name}"))?;
        }
        self.run(&format!(
            "CREATE TABLE {name}.{RECORD} (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT \
             NULL) ENGINE = InnoDB {LETTERS}"
        ))?;
        let noted = self
            .run(&format!("INSERT INTO {name}.{RECORD} VALUES {}", owner.values(&text(schema))));
        if noted.is_err() {
            // Without its rows nobody would know it again.
            let _ = self.run(&format!("DROP TABLE {name}.{RECORD}"));
        }
        noted
    }

    /// These products have no owners: who may use a database sees it.
    fn is_vacant(&mut self, schema: &str) -> Answer<bool> {
        let row = self.connection.one(&about(
            "SELECT COUNT(*) - 1 + (SELECT COUNT(*) FROM information_schema.TABLES WHERE \
             TABLE_SCHEMA = {s}) + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE \
             ROUTINE_SCHEMA = {s}) + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE \
             EVENT_SCHEMA = {s}) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {s}",
            schema,
        ))?;
        Ok(row.count(0) == Some(0))
    }

    /// Whose a database is.
    fn standing(&mut self, schema: &str) -> Answer<Ownership> {
        let found = self.query(&format!(
            "SELECT COALESCE(TABLE_TYPE, '') FROM information_schema.SCHEMATA LEFT JOIN \
             information_schema.TABLES ON TABLE_SCHEMA = SCHEMA_NAME AND TABLE_NAME = '{RECORD}' \
             WHERE SCHEMA_NAME = {}",
            text(schema)
        ))?;
        match found.first().map(|row| row.text(0)) {
            None => return Ok(Ownership::Absent),
            Some("") => return Ok(foreign("it has no owner record")),
            Some("BASE TABLE") => {}
            Some(_) => return Ok(foreign("its owner record is not a table")),
        }
        let rows = self.query(&format!("SELECT name, value FROM {}.{RECORD}", quoted(schema)))?;
        Ok(match SchemaOwner::of(&pairs(&rows)) {
            None => foreign("its owner record was not written by Assay"),
            Some(owner) if owner.place != schema => foreign("it is a copy of a record of Assay"),
            Some(owner) => Ownership::Ours(owner),
        })
    }

    /// Drops a database that carries this record, with what its load makes.
    fn remove_owned(&mut self, schema: &str, owner: &SchemaOwner) -> Result<()> {
        check_owner(self, schema, owner)?;
        let failed = |failure: Failure| failure.of(format!("dropping the database {schema}"));
        let refuse = |strangers: Vec<String>| -> Result<()> {
            if strangers.is_empty() {
                return Ok(());
            }
            Err(holds_foreign(&format!("the database {schema}"), &strangers))
        };
        refuse(strangers(self, schema, owner.kind).map_err(failed)?)?;
        let mut tables = self.tables(schema).map_err(failed)?;
        // What came in between is not of the load, and makes the last look refuse.
        tables.retain(|table| table != RECORD && makes(owner.kind, table));
        if !tables.is_empty() {
            let names: Vec<String> = tables
                .iter()
                .map(|table| format!("{}.{}", quoted(schema), quoted(table)))
                .collect();
            self.run(&format!("DROP TABLE {}", names.join(", "))).map_err(failed)?;
        }
        let routines = self.query(&about(ROUTINES, schema)).map_err(failed)?;
        for row in routines.iter().filter(|row| makes(owner.kind, row.text(1))) {
            let (what, name) = (row.text(0), quoted(row.text(1)));
            self.run(&format!("DROP {what} {}.{name}", quoted(schema))).map_err(failed)?;
        }
        // The record goes last, so that what is cut short here is known again.
        refuse(strangers(self, schema, OwnedKind::Database).map_err(failed)?)?;
        let name = quoted(schema);
        let last = if owner.is_given {
            format!("DROP TABLE {name}.{RECORD}")
        } else {
            format!("DROP DATABASE {name}")
        };
        self.run(&last).map_err(failed)
    }

    /// Gives the tables of an Assay database to another one, which is to be kept: no statement
    /// renames a database.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &SchemaOwner) -> Result<()> {
        check_owner(self, schema, owner)?;
        let failed = |failure: Failure| failure.of("keeping Assay's tables");
        let kept = SchemaOwner { is_kept: true, ..owner.clone() };
        self.claim(name, &kept).map_err(failed)?;
        for table in self.tables(schema).map_err(failed)? {
            if table != RECORD && makes(owner.kind, &table) {
                let (from, to) = (quoted(schema), quoted(name));
                let sql = format!("RENAME TABLE {from}.{table} TO {to}.{table}");
                self.run(&sql).map_err(failed)?;
            }
        }
        self.remove_owned(schema, owner)
    }

    /// Marks a database as one that is in use until this session ends; says whether no other
    /// program had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool> {
        Ok(self.connection.one(&format!("SELECT GET_LOCK({}, 0)", text(schema)))?.count(0)
            == Some(1))
    }

    fn candidates(&mut self) -> Answer<Vec<OwnerCandidate>> {
        let rows = self.query(&format!(
            "SELECT SCHEMA_NAME, IS_FREE_LOCK(SCHEMA_NAME), (SELECT CAST(COALESCE(SUM(DATA_LENGTH \
             + INDEX_LENGTH), 0) AS UNSIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = \
             SCHEMA_NAME) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'assay\\_%' OR \
             EXISTS (SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = SCHEMA_NAME AND \
             TABLE_NAME = '{RECORD}')"
        ))?;
        let of = |row: &Row| OwnerCandidate {
            name: row.text(0).to_owned(),
            bytes: row.count(2).unwrap_or(0),
            is_free: row.count(1) == Some(1),
        };
        Ok(rows.iter().map(of).collect())
    }

    /// Statistics of columns are those of a sample, as in other products; sizes are those of now.
    const LOADING: &'static [&'static str] = &["/*M! SET analyze_sample_percentage = 0 */"];
    /// Limits are those of queries only.
    const BEGIN: &'static str = "START TRANSACTION";

    fn create_manifest(schema: &str) -> String {
        format!(
            "CREATE TABLE {schema}.assay_manifest (name VARCHAR(80) PRIMARY KEY, value \
             VARCHAR(80) NOT NULL) ENGINE = InnoDB {LETTERS}"
        )
    }

    fn put_notes(schema: &str, notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
        format!("REPLACE INTO {schema}.assay_manifest VALUES {}", values.join(", "))
    }

    /// A table in one piece is made again as a whole, so that what was sent of it need not be taken
    /// back.
    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String> {
        if layout.parts > 1 {
            return vec!["START TRANSACTION".to_owned()];
        }
        let drop = format!("DROP TABLE IF EXISTS {schema}.{}", layout.name);
        vec![drop, create("TABLE", schema, layout)]
    }

    fn create_table(schema: &str, layout: &TableLayout) -> String {
        create("TABLE IF NOT EXISTS", schema, layout)
    }

    /// It was there before the rows.
    fn key_index(_layout: &TableLayout) -> Option<IndexLayout> {
        None
    }

    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        format!("ALTER TABLE {schema}.{table} ADD {unique}INDEX {} ({})", index.name, index.columns)
    }

    fn count_index(schema: &str, table: &str, name: &str) -> String {
        format!(
            "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{schema}' \
             AND TABLE_NAME = '{table}' AND INDEX_NAME = '{name}'"
        )
    }

    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String> {
        let name = format!("{schema}.{}", layout.name);
        let analyze = format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}");
        match layout.statistics {
            Statistics::None => Vec::new(),
            Statistics::Table => vec![analyze],
            // A comment to MySQL, which gathers them by a statement of its own.
            Statistics::Columns => vec![format!("{analyze} /*M! PERSISTENT FOR ALL */")],
        }
    }

    fn table_sizes(schema: &str) -> String {
        format!(
            "SELECT CAST(COALESCE(SUM(DATA_LENGTH), 0) AS UNSIGNED), \
             CAST(COALESCE(SUM(INDEX_LENGTH), 0) AS UNSIGNED) FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME NOT IN ('assay_manifest', \
             'assay_owner')"
        )
    }

    fn encoder(chunks: Chunks<'_>) -> impl RowSink {
        TextRows::new(chunks)
    }

    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let name = format!("{}.{}", to.schema, to.layout.name);
        let columns = to.layout.sent.as_deref().unwrap_or_default();
        let mut bulk = self.connection.bulk(&name, columns)?;
        let mut sent = 0;
        for (chunk, rows) in chunks {
            bulk.send(&chunk)?;
            sent += rows;
        }
        let taken = bulk.finish()?;
        // Rows whose keys are there are left out without a word.
        if taken == sent {
            return Ok(sent);
        }
        Err(Failure::Protocol(format!("the server accepted {taken} of {sent} rows")))
    }

    fn check_rows_of_json(&self) -> Result<()> {
        let facts = self.connection.facts();
        if facts.is_mariadb() && facts.release() < ROWS_OF_JSON {
            return Err(Error::environment(
                format!(
                    "MariaDB {} does not have JSON_TABLE, which this load needs",
                    facts.version
                ),
                "use MariaDB 10.6 or newer",
            ));
        }
        Ok(())
    }

    fn make_procedures(&mut self, schema: &str, wanted: &[Procedure], note: &str) -> Result<()> {
        self.check_rows_of_json()?;
        let made = create_procedures(self, schema, wanted, note);
        made.map_err(|failure| not_made(schema, &failure))
    }
}

impl MariadbLink {
    /// Makes the server write all changed pages of tables.
    fn write_tables(&mut self, schema: &str) -> Answer<()> {
        let names = self.tables(schema)?;
        let names: Vec<String> = names.iter().map(|table| format!("{schema}.{table}")).collect();
        if names.is_empty() {
            return Ok(());
        }
        let written = self.run(&format!("FLUSH TABLES {} FOR EXPORT", names.join(", ")));
        self.run("UNLOCK TABLES")?;
        written
    }

    /// Whether a server that writes by itself while nothing else is to be done has soon written
    /// what is changed.
    fn waits_until_written(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let dirty =
                self.connection.one("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
            if dirty.is_ok_and(|row| row.count(1).is_some_and(|dirty| dirty < DIRTY_PAGES)) {
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }
}

/// How often it is looked whether pages are still to be written.
const LOOK: Duration = Duration::from_millis(50);
/// What is not written by then stays.
const PATIENCE: Duration = Duration::from_secs(20);
/// So few changed pages disturb nobody.
const DIRTY_PAGES: u64 = 32;

/// Refuses what cannot be measured.
fn check(admin: &mut MariadbConnection, address: &MariadbAddress) -> Result<()> {
    let facts = admin.facts().clone();
    let oldest = RELEASES.iter().find(|(product, _)| *product == facts.product);
    let oldest = oldest.map_or((0, 0), |(_, release)| *release);
    if facts.release() < oldest {
        return Err(Error::environment(
            format!(
                "{address} is {} {}, which does not report the required counters",
                facts.product, facts.version
            ),
            format!("use release {}.{} or newer", oldest.0, oldest.1),
        ));
    }
    let row = admin.one("SELECT @@read_only");
    let row = row.map_err(|failure| failure.of("reading the server's version and settings"))?;
    if row.text(0) != "0" && row.text(0) != "OFF" {
        return Err(Error::environment(
            format!("{address} is read-only, like a replica"),
            "specify the primary, or set read_only = OFF if this is the primary",
        ));
    }
    Ok(())
}

fn facts(admin: &mut MariadbConnection, knowledge: &MariadbKnowledge) -> Answer<ServerFacts> {
    let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
    let rows = admin
        .query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", ")))?;
    let value = |name: &&str| {
        let row = rows.iter().find(|row| row.text(0).eq_ignore_ascii_case(name))?;
        Some(Setting { name: (*name).to_owned(), value: row.text(1).to_owned() })
    };
    let settings: Vec<Setting> = SETTINGS.iter().filter_map(value).collect();
    let flush = settings.iter().find(|setting| setting.name == "innodb_flush_method");
    let direct = flush.map(|flush| DIRECT.contains(&flush.value.as_str()));
    Ok(ServerFacts {
        product: admin.facts().product,
        version: admin.facts().version.clone(),
        is_own: false,
        ready_s: None,
        direct_io: direct,
        block_bytes: knowledge.page_bytes,
        settings,
        encryption: admin.encryption(),
    })
}

fn remarks(facts: &ServerFacts, knowledge: &MariadbKnowledge) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if !knowledge.timed.statements {
        remarks.push(remark(
            "the server does not time statements, or this user cannot see the times",
            "the time of its sessions is unknown: DB time is shown as 0",
            "start it with performance_schema = ON, and use an account that can read \
             performance_schema",
        ));
    }
    if !knowledge.timed.io {
        remarks.push(remark(
            "the server does not time its I/O",
            "waits for reads are unknown",
            "start it with performance_schema = ON and performance_schema_instrument = \
             'wait/io/file/%=ON'",
        ));
    }
    if !knowledge.are_transactions_counted {
        remarks.push(remark(
            "the server does not count transactions, or this user cannot see the counters",
            "commits are counted by statement, including those inside a transaction",
            "set innodb_monitor_enable = 'trx_%commits', and use a user with the PROCESS privilege",
        ));
    }
    if !knowledge.timed.log {
        remarks.push(remark(
            &format!("{} {} does not time its redo log", facts.product, facts.version),
            "commit waits are part of the remaining DB time; only the profile of each step \
             separates them",
            "see the class Commit in that profile, or compare with a step without updates",
        ));
    }
    remarks.push(remark(
        "changed pages are written in the background, and the server times only the request",
        "waits for writes of data files are not reported",
        "check the writes of the device",
    ));
    if facts.direct_io != Some(true) {
        remarks.push(remark(
            "the server reads through the page cache",
            "reads from memory are not reads from the storage; each step reports their number",
            "set innodb_flush_method = O_DIRECT, or use far more data than memory",
        ));
    }
    remarks
}

/// Makes procedures in the place of those of their names. Who may make one may drop it, but not one
/// that is not there.
fn create_procedures(
    link: &mut MariadbLink,
    schema: &str,
    wanted: &[Procedure],
    note: &str,
) -> Answer<()> {
    let rows = link.query(&format!(
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '{schema}'"
    ))?;
    for Procedure { name, sql } in wanted {
        if rows.iter().any(|row| row.text(0) == *name) {
            link.run(&format!("DROP PROCEDURE {schema}.{name}"))?;
        }
        link.run(sql)?;
    }
    link.run(note)
}

/// A right that lacks has its own remedy.
fn not_made(schema: &str, failure: &Failure) -> Error {
    let doing = format!("--calls proc: making the procedures of {schema}");
    match failure.meaning() {
        Some(Refusal::Denied) => Error::environment(
            format!("{doing}: {failure}"),
            format!(
                "GRANT CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {schema}.* to this user, or take \
                 --calls stmt"
            ),
        ),
        _ => failure.of(doing),
    }
}

/// Creates a table.
fn create(what: &str, schema: &str, layout: &TableLayout) -> String {
    // A moment to the microsecond that no time zone changes.
    let mut columns = layout.columns.replace("timestamp", "datetime(6)");
    if let Some(numbered) = layout.numbered {
        let column = format!("{numbered} bigint");
        columns = columns.replacen(&column, &format!("{column} AUTO_INCREMENT"), 1);
    }
    let key = layout.key.map_or_else(String::new, |key| format!(", PRIMARY KEY ({key})"));
    let partitions = layout.partitions.map_or_else(String::new, |(by, count)| {
        format!(" PARTITION BY HASH ({by}) PARTITIONS {count}")
    });
    let (name, options) = (&layout.name, layout.options);
    format!(
        "CREATE {what} {schema}.{name} ({columns}{key}) ENGINE = InnoDB{options} \
         {LETTERS}{partitions}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, LoadTables};
    use crate::oltp::SchemaShape;
    use assay_loads::oltp::{OltpRules, OltpTable};

    #[test]
    fn a_table_numbers_its_new_rows_where_it_shall() {
        let rules = assay_loads::brokerage::BrokerageRules::default();
        let floor = crate::brokerage::BrokerageSchema { rules: &rules };
        let create = |table| MariadbLink::create_table("s", &floor.layout(table));
        assert!(
            create(assay_loads::brokerage::BrokerageTable::Trade)
                .contains("(id bigint AUTO_INCREMENT, at datetime(6)")
        );
        assert!(!create(assay_loads::brokerage::BrokerageTable::Broker).contains("AUTO_INCREMENT"));
    }

    #[test]
    fn tables_have_their_keys_and_no_time_zones() {
        let rules = OltpRules::default();
        let shape = SchemaShape { rules: &rules, partitions: 4, calls: Calls::Statements };
        let create = |table| MariadbLink::begin_rows("s", &shape.layout(table)).concat();
        assert!(create(OltpTable::OrderLine).contains("PARTITIONS 4"));
        assert!(create(OltpTable::Orders).contains("PRIMARY KEY (o_w_id, o_d_id, o_id)"));
        let history = create(OltpTable::History);
        assert!(!history.contains("KEY") && history.contains("h_date datetime(6)"));
        let refused = |number| assay_mariadb::failure::refused(number, "HY000", "no");
        assert!([1213, 1205].iter().all(|number| MariadbLink::is_for_others(&refused(*number))));
        assert!(!MariadbLink::is_for_others(&refused(1114)));
    }
}
