//! Connection poolers in front of a server.

use super::PostgresConnection;
use crate::address::PostgresAddress;
use crate::failure::{Answer, Failure};
use assay_model::{Error, Result};
use std::time::Duration;

/// A pool without a free server process lets a session wait; longer than this means that none
/// comes.
const PATIENCE: Duration = Duration::from_secs(10);

impl PostgresConnection {
    /// The process that runs its statements; through a pooler another than that of the login.
    pub fn serving_process(&mut self) -> Answer<u32> {
        let row = self.one("SELECT /* assay */ pg_catalog.pg_backend_pid()")?;
        let number = row.text(0).parse();
        number.map_err(|_| Failure::Protocol("a process without a number".to_owned()))
    }

    /// Refuses a pooler: it gives out process numbers of its own, its sessions are not those of the
    /// clients, and what it shows of itself would be taken for the load.
    ///
    /// # Errors
    /// A usage error that names both processes, or what the server says.
    pub fn refuse_pooler(&mut self, address: &PostgresAddress) -> Result<()> {
        let serving = self.serving_process();
        let serving = serving.map_err(|failure| failure.of("asking the server"))?;
        let login = self.facts.process_id;
        if serving == login {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "{address} is a connection pooler, not the server: the login has process {login}, \
                 but its statements run in process {serving}"
            ),
            "specify the host and port of the server itself, usually 5432",
        ))
    }

    /// Whether a pooler gives its server process to other sessions between two transactions:
    /// prepared statements are lost then, and settings reach sessions of others.
    ///
    /// # Errors
    /// When the server refuses, or the pool has no process for a second session.
    pub fn is_pooled_by_transaction(&mut self, address: &PostgresAddress) -> Answer<bool> {
        let serving = self.serving_process()?;
        if serving == self.facts.process_id {
            return Ok(false);
        }
        let mut other = Self::open(address, "assay")?;
        other.wait_at_most(PATIENCE)?;
        other.run("BEGIN")?;
        // A pool may hand out its processes in turn: then this session is moved instead.
        let is_shared = other.serving_process()? == serving || self.serving_process()? != serving;
        other.close();
        Ok(is_shared)
    }
}
