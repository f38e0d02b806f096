//! One session on a server, which knows what itself costs.

use super::columns::text;
use crate::address::Address;
use crate::connection::{Connection, Row};
use crate::failure::Answer;
use crate::model::Version;
use assay_model::{Error, Result};
use std::time::Instant;

/// By this name a server's own views tell our sessions from others.
pub(super) const NAME: &str = "assay";
/// A look must never become a load: no statement of ours may run long, wait for a lock, or write.
pub(super) const MANNERS: &str = "SET statement_timeout = '10s'; SET lock_timeout = '1s'; SET default_transaction_read_only = on";
/// What is asked at every look is planned once.
const LOOK: &str = "assay_look";

/// A session.
#[derive(Debug)]
pub(super) struct Link {
    connection: Connection,
    pub(super) database: String,
    /// Time that its statements took, seen from here, seconds: no less than the server was busy with them.
    pub(super) own_time_s: f64,
    pub(super) own_statements: u64,
}

impl Link {
    /// Connects; a release that does not count the time of sessions is refused.
    pub(super) fn open(address: &Address) -> Result<Self> {
        let connection = Connection::open(address, NAME)
            .map_err(|failure| failure.of(format!("connecting to {address}")))?;
        let mut link =
            Self { connection, database: String::new(), own_time_s: 0.0, own_statements: 0 };
        link.check_release()?;
        link.query(MANNERS)?;
        let rows = link.query("SELECT /* assay */ current_database()")?;
        link.database = rows.first().and_then(|row| text(row, 0)).unwrap_or_default();
        Ok(link)
    }

    fn check_release(&self) -> Result<()> {
        if self.connection.major() >= Version::OLDEST {
            return Ok(());
        }
        let release = &self.connection.facts().version;
        Err(Error::environment(
            format!(
                "the server is of release {release}, which does not count the time of its sessions"
            ),
            format!("release {} and later do", Version::OLDEST),
        ))
    }

    /// The process that serves it.
    pub(super) fn process_id(&self) -> u32 {
        self.connection.facts().process_id
    }

    /// The release.
    pub(super) fn version(&mut self) -> Result<Version> {
        let rows = self.query("SELECT /* assay */ current_setting('server_version_num')")?;
        let number = rows.first().and_then(|row| row.text(0).parse().ok());
        Ok(Version(number.unwrap_or(0)))
    }

    /// Asks something.
    pub(super) fn query(&mut self, statement: &str) -> Result<Vec<Row>> {
        self.timed(|connection| connection.query(statement))
    }

    /// Prepares what is asked at every look.
    pub(super) fn prepare_look(&mut self, statement: &str) -> Result<()> {
        self.query(&format!("PREPARE {LOOK} AS {statement}")).map(drop)
    }

    /// Makes room for another look.
    pub(super) fn forget_look(&mut self) -> Result<()> {
        self.query(&format!("DEALLOCATE {LOOK}")).map(drop)
    }

    /// Asks what was prepared.
    pub(super) fn look(&mut self) -> Result<Vec<Row>> {
        self.query(&format!("EXECUTE {LOOK}"))
    }

    fn timed<T>(&mut self, ask: impl FnOnce(&mut Connection) -> Answer<T>) -> Result<T> {
        let begun = Instant::now();
        let answer = ask(&mut self.connection);
        self.own_time_s += begun.elapsed().as_secs_f64();
        self.own_statements += 1;
        answer.map_err(|failure| failure.of("asking the server"))
    }
}
