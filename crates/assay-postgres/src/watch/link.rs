//! One session on a server, which knows what itself costs.

use super::columns::text;
use crate::address::PostgresAddress;
use crate::connection::{PostgresConnection, Row, SYSTEM_NAMES};
use crate::model::PostgresVersion;
use assay_model::{Error, Result};
use std::time::Duration;

/// The name that marks Assay's sessions in a server's own views.
pub(super) const NAME: &str = "assay";
/// A sample must never become a load: none of our statements may run long, wait for a lock, or
/// write.
pub(super) const MANNERS: &str = "SET statement_timeout = '10s'; SET lock_timeout = '1s'; SET \
                                  default_transaction_read_only = on";
/// The server ends our statements before this; a server that is silent for longer has stopped.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
/// Closes every question; both clocks are the server's, and the second one stands still since the
/// question came.
const OWN_TIME: &str =
    "SELECT /* assay */ extract(epoch FROM clock_timestamp() - statement_timestamp())::float8";
/// What is asked at every sample is planned once.
const LOOK: &str = "assay_look";

/// A session.
#[derive(Debug)]
pub(super) struct WatchLink {
    connection: PostgresConnection,
    pub(super) database: String,
    /// Time that the server was busy with its statements by its own clock, seconds. Seen from here
    /// it would be longer where this host has no CPU to spare, and too much would be left out
    /// of DB time.
    pub(super) own_time_s: f64,
    pub(super) own_statements: u64,
}

impl WatchLink {
    /// Connects; a release that does not count the time of sessions is refused.
    pub(super) fn open(address: &PostgresAddress) -> Result<Self> {
        let mut connection = PostgresConnection::open(address, NAME)
            .map_err(|failure| failure.of(format!("connecting to {address}")))?;
        connection.wait_at_most(PATIENCE).map_err(|failure| failure.of("asking the server"))?;
        let mut link =
            Self { connection, database: String::new(), own_time_s: 0.0, own_statements: 0 };
        link.check_release()?;
        link.connection.refuse_pooler(address)?;
        link.query(SYSTEM_NAMES)?;
        link.query(MANNERS)?;
        let rows = link.query("SELECT /* assay */ current_database()")?;
        link.database = rows.first().and_then(|row| text(row, 0)).unwrap_or_default();
        Ok(link)
    }

    fn check_release(&self) -> Result<()> {
        if self.connection.major() >= PostgresVersion::OLDEST {
            return Ok(());
        }
        let release = &self.connection.facts().version;
        Err(Error::environment(
            format!(
                "the server is of release {release}, which does not count the time of its sessions"
            ),
            format!("release {} and later do", PostgresVersion::OLDEST),
        ))
    }

    /// The process that serves it.
    pub(super) fn process_id(&self) -> u32 {
        self.connection.facts().process_id
    }

    /// The release.
    pub(super) fn version(&mut self) -> Result<PostgresVersion> {
        let rows = self.query("SELECT /* assay */ current_setting('server_version_num')")?;
        let number = rows.first().and_then(|row| row.text(0).parse().ok());
        Ok(PostgresVersion(number.unwrap_or(0)))
    }

    /// Asks something, and how long the server was busy with it.
    pub(super) fn query(&mut self, statement: &str) -> Result<Vec<Row>> {
        let answer = self.connection.query(&format!("{statement}; {OWN_TIME}"));
        self.own_statements += 1;
        let mut rows = answer.map_err(|failure| failure.of("asking the server"))?;
        self.own_time_s += rows.pop().and_then(|row| row.real(0)).unwrap_or(0.0);
        Ok(rows)
    }

    /// Prepares what is asked at every sample.
    pub(super) fn prepare_look(&mut self, statement: &str) -> Result<()> {
        self.query(&format!("PREPARE {LOOK} AS {statement}")).map(drop)
    }

    /// Makes room for another sample.
    pub(super) fn forget_look(&mut self) -> Result<()> {
        self.query(&format!("DEALLOCATE {LOOK}")).map(drop)
    }

    /// Asks what was prepared.
    pub(super) fn activity(&mut self) -> Result<Vec<Row>> {
        self.query(&format!("EXECUTE {LOOK}"))
    }
}
