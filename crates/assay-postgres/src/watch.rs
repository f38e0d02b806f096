//! Asks a server: counters at both ends of an interval, and in between, ten times per second, what
//! its sessions do.

mod activity;
mod canary;
mod columns;
mod io_counters;
mod link;
mod queries;
mod settings;
mod snapshot;

pub use canary::{Canary, CanaryTimes};

use crate::address::PostgresAddress;
use crate::model::{PostgresSettings, PostgresVersion};
use assay_model::Result;
use link::WatchLink;
use std::path::PathBuf;

/// Two sessions on a server: one that looks at all of it, one in the database that was named.
pub struct PostgresWatcher {
    server: WatchLink,
    database: WatchLink,
    version: PostgresVersion,
    is_near: bool,
    /// Processes of Assay's sessions, which are ignored.
    own: Vec<u32>,
    /// Version of `pg_stat_statements` and the schema it lies in, or why it is not read.
    statements: std::result::Result<(u32, String), String>,
}

impl std::fmt::Debug for PostgresWatcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Watcher")
            .field("version", &self.version)
            .field("statements", &self.statements)
            .finish_non_exhaustive()
    }
}

impl PostgresWatcher {
    /// Connects to a server.
    ///
    /// # Errors
    /// An environment error when the server refuses, is older than 14, or goes away.
    pub fn connect(address: &PostgresAddress) -> Result<Self> {
        let mut database = WatchLink::open(address)?;
        let version = database.version()?;
        // The samples are kept out of the database that is looked at, so that its counters do not
        // include them.
        let mut server = match WatchLink::open(&address.with_database("postgres")) {
            Ok(link) => link,
            Err(_) => WatchLink::open(address)?,
        };
        let own = vec![server.process_id(), database.process_id()];
        server.prepare_look(&queries::sample(&own))?;
        let statements = settings::statements_of(&mut database);
        Ok(Self { server, database, version, is_near: address.is_local(), own, statements })
    }

    /// The release.
    pub const fn version(&self) -> PostgresVersion {
        self.version
    }

    /// Whether the address leads to this host.
    pub const fn is_near(&self) -> bool {
        self.is_near
    }

    /// The process that serves one of our sessions: where it is not a process of this host, the
    /// server is on another.
    pub fn process_id(&self) -> u32 {
        self.server.process_id()
    }

    /// The database that was named.
    pub fn database(&self) -> &str {
        &self.database.database
    }

    /// Where the server keeps its data, if this account may know.
    pub fn data_directory(&mut self) -> Result<Option<PathBuf>> {
        let rows = self.server.query(queries::DATA_DIRECTORY)?;
        let text = rows.first().and_then(|row| columns::text(row, 0));
        Ok(text.filter(|text| !text.is_empty()).map(PathBuf::from))
    }

    /// Settings that decide what the counters mean.
    pub fn settings(&mut self) -> Result<PostgresSettings> {
        settings::settings(&mut self.server)
    }

    /// From now on ignores one more of Assay's sessions.
    pub fn look_past(&mut self, process: u32) -> Result<()> {
        self.own.push(process);
        self.server.forget_look()?;
        self.server.prepare_look(&queries::sample(&self.own))
    }
}
