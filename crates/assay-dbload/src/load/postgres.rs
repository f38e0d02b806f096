//! PostgreSQL as the rung and the keeper of a server need it.

use super::link::ServerUse;
use super::product::Product;
use super::remark::remark;
use assay_dbserver::Usage;
use assay_model::failure::{Answer, Failure};
use assay_model::load::{DatabaseCounts, DatabaseProduct, ServerFacts, Setting, TimeSplit};
use assay_model::measurement::{BackendKind, Remark};
use assay_model::{Error, Result};
use assay_postgres::address::Address;
use assay_postgres::binaries::MAJOR_MIN;
use assay_postgres::connection::Connection;
use assay_postgres::counters::{DatabaseCounters, Knowledge};
use assay_postgres::processes::{self, background, usage};
use assay_postgres::server::{Server, missing_in};
use assay_postgres::watch::Watcher;
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

impl Product for Connection {
    const BACKEND: BackendKind = BackendKind::Postgresql;

    type Knowledge = Knowledge;
    type Watcher = Watcher;
    type Own = Server;

    fn inspect(&mut self, address: &Address) -> Result<(Knowledge, ServerFacts)> {
        check(self, address)?;
        let failed = |failure: Failure| failure.of("asking the server about itself");
        let knowledge = Knowledge::of(self).map_err(failed)?;
        let facts = facts(self, &knowledge).map_err(failed)?;
        Ok((knowledge, facts))
    }

    /// The parent of the process that serves this session, when both are here.
    fn first_process(&mut self, address: &Address) -> Option<u32> {
        let session = self.facts().process_id;
        let here = address.is_local() && usage(session).is_some();
        here.then(|| processes::parent(session)).flatten()
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        let row = self.one("SHOW data_directory").ok()?;
        Some(PathBuf::from(row.text(0)))
    }

    fn database_of<'a>(address: &'a Address, _schema: &'a str) -> &'a str {
        &address.database
    }

    fn remarks(facts: &ServerFacts, knowledge: &Knowledge) -> Vec<Remark> {
        let mut remarks: Vec<Remark> = missing_in(knowledge.major)
            .into_iter()
            .map(|missing| {
                remark(
                    &format!("PostgreSQL {}: {missing}", facts.version),
                    "what depends on it is not in the result",
                    "use version 16 or newer",
                )
            })
            .collect();
        if !knowledge.is_io_timed {
            remarks.push(remark(
                "the server does not time its I/O",
                "waiting for reads and writes is not known",
                "set track_io_timing = on",
            ));
        }
        if facts.direct_io != Some(true) {
            remarks.push(remark(
                "the server reads through the page cache",
                "reads that memory answers are not reads from the storage; each rung says how many there were",
                "use a server of version 16 or newer with debug_io_direct = data, or far more data than memory",
            ));
        }
        remarks
    }

    fn counted(
        &mut self,
        address: &Address,
        knowledge: &Knowledge,
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

    fn whole_usage(first_process: u32) -> Option<Usage> {
        processes::whole_usage(first_process)
    }

    fn room(&mut self) -> Answer<u64> {
        // The reserved ones are for superusers; our session that prepares and counts stays open as well.
        let row = self.one(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
             - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')",
        )?;
        Ok(row.count(0).unwrap_or(0))
    }

    fn write_out(&mut self, _schema: &str) -> std::result::Result<(), Remark> {
        self.run("CHECKPOINT").map_err(|_| {
            remark(
                "this user may not ask for a checkpoint",
                "writes of the loading may disturb the first rungs",
                "use a user with the right pg_checkpoint",
            )
        })
    }
}

fn counts(database: &DatabaseCounters) -> DatabaseCounts {
    let (sessions, others) = (&database.sessions, &database.background);
    let write_wait_ns = match (sessions.write_ns, others.write_ns) {
        (Some(mine), Some(theirs)) => Some(mine + theirs),
        (known, _) => known,
    };
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
fn check(admin: &mut Connection, address: &Address) -> Result<()> {
    let oldest = MAJOR_MIN;
    if admin.major() < oldest {
        return Err(Error::environment(
            format!(
                "{address} is PostgreSQL {}, which lacks what is measured here",
                admin.facts().version
            ),
            format!("use version {oldest} or newer"),
        ));
    }
    let row = admin.one("SELECT pg_is_in_recovery()");
    let row = row.map_err(|failure| failure.of("asking the server about itself"))?;
    if row.is_true(0) {
        return Err(Error::environment(
            format!("{address} is a replica, which cannot be written to"),
            "name the primary",
        ));
    }
    Ok(())
}

fn facts(admin: &mut Connection, knowledge: &Knowledge) -> Answer<ServerFacts> {
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
