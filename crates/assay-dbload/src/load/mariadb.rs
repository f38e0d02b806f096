//! MariaDB and MySQL as the rung and the keeper of a server need them.

use super::link::{Link, ServerUse};
use super::mariadb_link::MariadbLink;
use super::product::Product;
use super::remark::remark;
use assay_dbserver::Usage;
use assay_mariadb::address::Address;
use assay_mariadb::connection::Connection;
use assay_mariadb::counters::Knowledge;
use assay_mariadb::server::Server;
use assay_mariadb::threads::whole_usage;
use assay_mariadb::watch::Watcher;
use assay_model::failure::{Answer, Failure};
use assay_model::load::{DatabaseCounts, DatabaseProduct, ServerFacts, Setting, TimeSplit};
use assay_model::measurement::{BackendKind, Remark};
use assay_model::{Error, Result};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The oldest releases whose counters are known: of MariaDB and of MySQL.
const RELEASES: [(DatabaseProduct, (u32, u32)); 2] =
    [(DatabaseProduct::MariaDb, (10, 5)), (DatabaseProduct::MySql, (8, 0))];
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
    const BACKEND: BackendKind = BackendKind::Mariadb;

    type Knowledge = Knowledge;
    type Watcher = Watcher;
    type Own = Server;

    fn inspect(&mut self, address: &Address) -> Result<(Knowledge, ServerFacts)> {
        check(&mut self.connection, address)?;
        let failed = |failure: Failure| failure.of("asking the server about itself");
        let knowledge = Knowledge::of(&mut self.connection).map_err(failed)?;
        let facts = facts(&mut self.connection, &knowledge).map_err(failed)?;
        if !self.connection.facts().is_mariadb() {
            // Else sizes of tables are those of yesterday.
            let fresh = self.connection.run("SET SESSION information_schema_stats_expiry = 0");
            fresh.map_err(failed)?;
        }
        Ok((knowledge, facts))
    }

    fn first_process(&mut self, _address: &Address) -> Option<u32> {
        self.thread.map(|(thread, _)| thread.process)
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        let row = self.connection.one("SELECT @@datadir").ok()?;
        Some(PathBuf::from(row.text(0)))
    }

    fn database_of<'a>(_address: &'a Address, schema: &'a str) -> &'a str {
        schema
    }

    fn remarks(facts: &ServerFacts, knowledge: &Knowledge) -> Vec<Remark> {
        remarks(facts, knowledge)
    }

    fn counted(
        &mut self,
        _address: &Address,
        knowledge: &Knowledge,
    ) -> Answer<(DatabaseCounts, TimeSplit)> {
        knowledge.read(&mut self.connection)
    }

    fn server_use(first_process: u32, _sessions: &[u32]) -> Option<ServerUse> {
        whole_usage(first_process).map(ServerUse::Whole)
    }

    fn whole_usage(first_process: u32) -> Option<Usage> {
        whole_usage(first_process)
    }

    fn room(&mut self) -> Answer<u64> {
        let status = if self.connection.facts().is_mariadb() {
            "information_schema"
        } else {
            "performance_schema"
        };
        // One more is for an administrator; our session that prepares and counts stays open as well.
        let row = self.connection.one(&format!(
            "SELECT CAST(@@max_connections AS SIGNED) - CAST(VARIABLE_VALUE AS SIGNED), \
             @@max_user_connections FROM {status}.global_status WHERE VARIABLE_NAME = 'THREADS_CONNECTED'"
        ))?;
        let of_user = row.count(1).filter(|most| *most > 0).unwrap_or(u64::MAX);
        Ok(row.count(0).unwrap_or(0).min(of_user.saturating_sub(1)))
    }

    /// Its settings are not ours to change, and a server at rest may keep its changed pages for ever. Before files of tables
    /// may be copied it writes what is changed of them (MariaDB documentation, "FLUSH TABLES FOR EXPORT"), and that is
    /// what is asked for.
    fn write_out(&mut self, schema: &str) -> std::result::Result<(), Remark> {
        let written = self.write_tables(schema);
        if written.is_ok() || self.waits_until_written() {
            return Ok(());
        }
        Err(remark(
            "pages that loading changed are still to be written, and this user may not ask for it",
            "their writing may disturb the first rungs",
            "use a user with the rights RELOAD and LOCK TABLES; or load with --keep, and run again when the server is at rest",
        ))
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

    /// Whether a server that writes by itself while nothing else is to be done has soon written what is changed.
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
fn check(admin: &mut Connection, address: &Address) -> Result<()> {
    let facts = admin.facts().clone();
    let oldest = RELEASES.iter().find(|(product, _)| *product == facts.product);
    let oldest = oldest.map_or((0, 0), |(_, release)| *release);
    if facts.release() < oldest {
        return Err(Error::environment(
            format!(
                "{address} is {} {}, which lacks what is measured here",
                facts.product, facts.version
            ),
            format!("use release {}.{} or newer", oldest.0, oldest.1),
        ));
    }
    let row = admin.one("SELECT @@read_only");
    let row = row.map_err(|failure| failure.of("asking the server about itself"))?;
    if row.text(0) != "0" && row.text(0) != "OFF" {
        return Err(Error::environment(
            format!("{address} is read-only, as replicas are, and cannot be written to"),
            "name the primary, or set read_only = OFF if this is one",
        ));
    }
    Ok(())
}

fn facts(admin: &mut Connection, knowledge: &Knowledge) -> Answer<ServerFacts> {
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

fn remarks(facts: &ServerFacts, knowledge: &Knowledge) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if !knowledge.timed.statements {
        remarks.push(remark(
            "the server does not time statements, or this user may not see it",
            "the time of its sessions is not known: DB time is shown as 0",
            "start it with performance_schema = ON, and use a user who may read performance_schema",
        ));
    }
    if !knowledge.timed.io {
        remarks.push(remark(
            "the server does not time its I/O",
            "waiting for reads is not known",
            "start it with performance_schema = ON and performance_schema_instrument = 'wait/io/file/%=ON'",
        ));
    }
    if !knowledge.are_transactions_counted {
        remarks.push(remark(
            "the server does not count transactions, or this user may not see it",
            "commits are those of statements: those inside of a transaction count, too",
            "set innodb_monitor_enable = 'trx_%commits', and use a user with the right PROCESS",
        ));
    }
    if !knowledge.timed.log {
        remarks.push(remark(
            &format!("{} {} does not time its log of changes", facts.product, facts.version),
            "waiting of commits is in the rest of DB time and not told apart, but in the profile of each rung",
            "look at the class Commit there, or compare with a rung without updates",
        ));
    }
    remarks.push(remark(
        "changed pages are written in the background, and the server times the asking only",
        "waiting for writes of data files is not reported",
        "look at the writes of the device",
    ));
    if facts.direct_io != Some(true) {
        remarks.push(remark(
            "the server reads through the page cache",
            "reads that memory answers are not reads from the storage; each rung says how many there were",
            "set innodb_flush_method = O_DIRECT, or use far more data than memory",
        ));
    }
    remarks
}
