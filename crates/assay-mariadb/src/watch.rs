//! Asks a server: counters at both ends of an interval, and in between, ten times per second, what
//! its sessions do.

mod own;
mod queries;
mod sampling;
mod snapshot;

use crate::address::MariadbAddress;
use crate::connection::MariadbConnection;
use crate::failure::Failure;
use crate::threads::Thread;
use crate::views::transactions;
use assay_model::{Error, Result};
use own::OwnWork;
use std::path::PathBuf;
use std::time::Duration;

/// The server ends our statements before this; a server that is silent for longer has stopped.
const PATIENCE: Duration = Duration::from_secs(15);

/// What this account may read, and what there is to read.
#[derive(Clone, Copy, Debug, Default)]
struct AccountAccess {
    /// The performance schema is on and may be read.
    schema: bool,
    /// Other users' sessions and the engine's own tables (`PROCESS`).
    process: bool,
}

/// A session on a server that looks at all of it.
#[derive(Debug)]
pub struct MariadbWatcher {
    connection: MariadbConnection,
    database: String,
    access: AccountAccess,
    is_near: bool,
    /// The server's process, where it is on this host.
    process: Option<u32>,
    own: Vec<OwnWork>,
    /// What cannot be asked, with the way to it.
    missing: Vec<String>,
    /// What every sample asks.
    question: String,
    /// Whether samples show what sessions wait for.
    tells_waits: bool,
    /// Whether each session has a thread of its own.
    has_own_threads: bool,
    /// Bytes of a page.
    page_bytes: u64,
}

impl MariadbWatcher {
    /// Connects to a server.
    ///
    /// # Errors
    /// An environment error when the server refuses, shows this account nothing of its sessions, or
    /// goes away.
    pub fn connect(address: &MariadbAddress) -> Result<Self> {
        let connection = MariadbConnection::open(address)
            .map_err(|failure| failure.of(format!("connecting to {address}")))?;
        let mut watcher = Self {
            connection,
            database: address.database.clone().unwrap_or_default(),
            access: AccountAccess::default(),
            is_near: address.is_local(),
            process: None,
            own: Vec::new(),
            missing: Vec::new(),
            question: String::new(),
            tells_waits: false,
            has_own_threads: true,
            page_bytes: 0,
        };
        watcher.connection.refuse_proxy(address)?;
        watcher.prepare().map_err(failed)?;
        watcher.check(address)?;
        Ok(watcher)
    }

    fn prepare(&mut self) -> std::result::Result<(), Failure> {
        self.connection.wait_at_most(PATIENCE)?;
        let is_mariadb = self.connection.facts().is_mariadb();
        self.connection.run(queries::manners(is_mariadb))?;
        let is_on = self.connection.one(queries::IS_SCHEMA_ON)?.count(0) == Some(1);
        let may_read = self.connection.query(queries::MAY_READ_SCHEMA).is_ok();
        let process = transactions(&mut self.connection).is_ok();
        self.access = AccountAccess { schema: is_on && may_read, process };
        self.note(is_on, may_read);
        let session = u64::from(self.connection.facts().session);
        let thread = Thread::of(&mut self.connection).filter(|_| self.is_near);
        self.process = thread.map(|thread| thread.process);
        let number = self.number_of(session)?;
        let thread = thread.map(|thread| thread.thread);
        self.own.push(OwnWork { session, number, thread });
        Ok(())
    }

    /// The number of a session in the performance schema.
    fn number_of(&mut self, session: u64) -> std::result::Result<Option<u64>, Failure> {
        if !self.access.schema {
            return Ok(None);
        }
        let rows = self.connection.query(&queries::number_of(session))?;
        Ok(rows.first().and_then(|row| row.count(0)))
    }

    /// What cannot be asked, and what to do so that it can.
    fn note(&mut self, is_on: bool, may_read: bool) {
        let missing = &mut self.missing;
        if !is_on {
            missing.push(
                "times of statements and I/O: the performance schema is off; start the server \
                 with performance_schema = ON"
                    .to_owned(),
            );
        } else if !may_read {
            missing.push(
                "times of statements and I/O: this account may not read them; GRANT SELECT ON \
                 performance_schema.* to it"
                    .to_owned(),
            );
        }
        if !self.access.process {
            missing.push(
                "sizes of tables and how long statements have been running: GRANT PROCESS ON *.* \
                 to this account"
                    .to_owned(),
            );
        }
    }

    /// Refuses where nothing of other sessions is shown.
    fn check(&self, address: &MariadbAddress) -> Result<()> {
        if self.access.schema || self.access.process {
            return Ok(());
        }
        Err(Error::environment(
            format!("{} can see only its own sessions of {address}", address.user),
            "GRANT PROCESS ON *.* and SELECT ON performance_schema.* to it, or use another account",
        ))
    }

    /// Whether the address leads to this host.
    pub const fn is_near(&self) -> bool {
        self.is_near
    }

    /// The server's process, where that is one of this host.
    pub const fn process_id(&self) -> Option<u32> {
        self.process
    }

    /// The server, for people: the database that was named, or the product.
    pub fn subject(&self) -> &str {
        if self.database.is_empty() {
            self.connection.facts().product.name()
        } else {
            &self.database
        }
    }

    /// Where the server keeps its data.
    pub fn data_directory(&mut self) -> Result<Option<PathBuf>> {
        let row = self.connection.one(queries::DATA_DIRECTORY).map_err(failed)?;
        Ok(Some(row.text(0)).filter(|text| !text.is_empty()).map(PathBuf::from))
    }
}

impl Drop for MariadbWatcher {
    fn drop(&mut self) {
        self.connection.say_good_bye();
    }
}

/// An error of a question.
#[expect(clippy::needless_pass_by_value, reason = "it maps the failure of an answer")]
fn failed(failure: Failure) -> Error {
    failure.of("asking the server")
}
