//! The database that is measured: the way to it, what is known of it, and the place of our tables in it.

use super::OwnServer;
use assay_host::environment::read_storage;
use assay_host::root::{Survey, SysRoot};
use assay_model::load::{ServerFacts, Setting};
use assay_model::measurement::Remark;
use assay_model::{Error, Result};
use assay_postgres::address::Address;
use assay_postgres::connection::Connection;
use assay_postgres::counters::Knowledge;
use assay_postgres::processes;
use assay_postgres::server::missing_in;
use std::path::{Path, PathBuf};

/// How this program calls itself to a server.
pub(super) const APPLICATION: &str = "assay";
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

/// A schema of ours in a database.
pub struct Database {
    /// The way to it.
    pub address: Address,
    /// The session that prepares and counts.
    pub(crate) admin: Connection,
    /// What its counters mean.
    pub knowledge: Knowledge,
    /// The schema that holds our tables.
    pub schema: String,
    /// What is told of it.
    pub facts: ServerFacts,
    /// Where its data lies, when that is on this machine and may be known.
    pub data: Option<PathBuf>,
    /// Kernel names of the devices under the data, from the top down.
    pub devices: Vec<String>,
    /// The first of its processes, when it runs on this machine.
    pub postmaster: Option<u32>,
    /// What a reader must know.
    pub remarks: Vec<Remark>,
}

/// A name for the schema of a kind of load, for example `slob`: two programs at once never share one.
pub fn schema_name(kind: &str) -> String {
    format!("assay_{kind}_{}", std::process::id())
}

impl Database {
    /// Enters a server of our own.
    ///
    /// # Errors
    /// What the server says.
    pub fn on_own(own: &OwnServer, schema: &str) -> Result<Self> {
        let mut database =
            Self::open(&own.server().address("postgres"), schema, Some(own.directory()))?;
        database.facts.is_own = true;
        database.facts.ready_s = own.ready_s();
        database.postmaster = own.server().process_id();
        Ok(database)
    }

    /// Enters any server.
    ///
    /// # Errors
    /// What the server says, that it is a replica, or that it is too old.
    pub fn at(address: &Address, schema: &str) -> Result<Self> {
        Self::open(address, schema, None)
    }

    fn open(address: &Address, schema: &str, data: Option<&Path>) -> Result<Self> {
        let connected = Connection::open(address, APPLICATION);
        let mut admin =
            connected.map_err(|failure| failure.of(format!("connecting to {address}")))?;
        check(&mut admin, address)?;
        let told = |failure: assay_postgres::failure::Failure| {
            failure.of("asking the server about itself")
        };
        let knowledge = Knowledge::of(&mut admin).map_err(told)?;
        let facts = facts(&mut admin, &knowledge).map_err(told)?;
        let mut database = Self {
            address: address.clone(),
            postmaster: postmaster(&admin, address),
            data: data.map(Path::to_owned),
            admin,
            knowledge,
            schema: schema.to_owned(),
            facts,
            devices: Vec::new(),
            remarks: Vec::new(),
        };
        database.locate();
        database.remark();
        Ok(database)
    }

    /// Comes back after the server was away: a new way to it, and what is known of its processes.
    ///
    /// # Errors
    /// What the server says.
    pub fn come_back(&mut self) -> Result<()> {
        self.admin = self.connect()?;
        self.postmaster = postmaster(&self.admin, &self.address);
        Ok(())
    }

    /// A session on another database of the same server, from which this one can be removed and made anew.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) fn beside(&self) -> Result<Connection> {
        let address = self.address.with_database("postgres");
        let opened = Connection::open(&address, APPLICATION);
        opened.map_err(|failure| failure.of(format!("opening a session on {address}")))
    }

    /// Ends the session that prepares and counts, until it comes back.
    pub(crate) fn leave(&mut self) {
        // An interrupted session is a lost one; nothing is asked of it before the next is there.
        if let Ok(interrupter) = self.admin.interrupter() {
            interrupter.interrupt();
        }
    }

    /// Whether the session that prepares and counts still answers.
    pub fn is_reachable(&mut self) -> bool {
        self.admin.run("SELECT 1").is_ok()
    }

    /// Makes a database of ours on a server, unless it is there; says whether it was made.
    ///
    /// # Errors
    /// What the server says, for example that this user may not create databases.
    pub fn make_beside(address: &Address, name: &str) -> Result<bool> {
        let told = |failure: assay_postgres::failure::Failure| {
            failure.of(format!("creating a database on {address}"))
        };
        let mut connection = Connection::open(address, APPLICATION).map_err(told)?;
        let sql = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
        let is_there = connection.one(&sql).map_err(told)?.count(0) == Some(1);
        if !is_there {
            connection.run(&format!("CREATE DATABASE {name}")).map_err(told)?;
        }
        connection.close();
        Ok(!is_there)
    }

    /// Removes our database from a server that is not ours.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_database(&mut self) -> Result<()> {
        let name = self.address.database.clone();
        let mut beside = self.beside()?;
        self.leave();
        let removed = beside.run(&format!("DROP DATABASE {name} WITH (FORCE)"));
        removed.map_err(|failure| failure.of("removing our database"))
    }

    /// Refuses more sessions than the server will take.
    ///
    /// # Errors
    /// An environment error with both numbers.
    pub fn check_room(&mut self, sessions: u32) -> Result<()> {
        // The reserved ones are for superusers; ours that prepares and counts stays open beside them.
        let row = self.admin.one(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
             - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')",
        );
        let row =
            row.map_err(|failure| failure.of("asking the server how many sessions it takes"))?;
        let room = row.count(0).unwrap_or(0);
        if u64::from(sessions) <= room {
            return Ok(());
        }
        Err(Error::environment(
            format!("{sessions} sessions are asked for, and the server takes {room} more"),
            "ask for fewer with --users, or raise max_connections",
        ))
    }

    /// A further session.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let opened = Connection::open(&self.address, APPLICATION);
        opened.map_err(|failure| failure.of(format!("opening a session on {}", self.address)))
    }

    /// Processes that the server has for parallel steps of all sessions together; none where it does not tell.
    pub fn parallel_max(&mut self) -> Option<u32> {
        let row = self.admin.one("SHOW max_parallel_workers").ok()?;
        row.text(0).parse().ok()
    }

    /// Runs statements of ours.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) fn run(&mut self, doing: &str, sql: &str) -> Result<()> {
        self.admin.run(sql).map_err(|failure| failure.of(doing))
    }

    /// Where the data lies, and on what.
    fn locate(&mut self) {
        if self.data.is_none() && self.postmaster.is_some() {
            let told = self.admin.one("SHOW data_directory").ok();
            self.data = told.map(|row| PathBuf::from(row.text(0))).filter(|path| path.is_dir());
        }
        let root = SysRoot::live();
        let survey = Survey::new(&root);
        let storage = self.data.as_ref().and_then(|path| read_storage(&survey, path).ok());
        let layers = storage.into_iter().flat_map(|storage| storage.stack.layers);
        self.devices = layers.map(|layer| layer.name).collect();
    }

    fn remark(&mut self) {
        let mut say = |what: &str, why: &str, remedy: &str| {
            self.remarks.push(Remark {
                what: what.to_owned(),
                why: why.to_owned(),
                remedy: remedy.to_owned(),
            });
        };
        for missing in missing_in(self.knowledge.major) {
            say(
                &format!("PostgreSQL {}: {missing}", self.facts.version),
                "what depends on it is not in the result",
                "use version 16 or newer",
            );
        }
        if !self.knowledge.is_io_timed {
            say(
                "the server does not time its I/O",
                "waiting for reads and writes is not known",
                "set track_io_timing = on",
            );
        }
        if self.facts.direct_io != Some(true) {
            say(
                "the server reads through the page cache",
                "reads that memory answers are no reads of the storage; each rung says how many there were",
                "use a server of version 16 or newer with debug_io_direct = data, or far more data than memory",
            );
        }
        if self.postmaster.is_none() {
            say(
                "the server runs elsewhere, or its processes may not be looked at",
                "its CPU time and its device are not in the result",
                "run assay on the machine of the server",
            );
        } else if self.devices.is_empty() {
            say(
                "it is not known where the server keeps its data",
                "the device is not in the result",
                "use a user with the right pg_read_all_settings",
            );
        }
    }

    /// Removes our tables from a server that is not ours.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_schema(&mut self) -> Result<()> {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        self.run("removing our tables", &sql)
    }

    /// Leaves our tables to the user: under a name that no program of ours removes.
    ///
    /// # Errors
    /// What the server says.
    pub fn give_away_schema(&mut self) -> Result<()> {
        let number = self.schema.rsplit('_').next().unwrap_or_default();
        let sql = format!("ALTER SCHEMA {} RENAME TO assay_kept_{number}", self.schema);
        self.run("keeping our tables", &sql)
    }

    /// Marks our schema as one that is in use, and removes those of the same kind of load that programs left behind
    /// which were killed: nobody holds their lock any more.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_left(&mut self, kind: &str) -> Result<()> {
        let doing = "looking for tables that were left behind";
        let told = |failure: assay_postgres::failure::Failure| failure.of(doing);
        let own = format!("SELECT pg_try_advisory_lock(hashtext('{}'))", self.schema);
        self.admin.run(&own).map_err(told)?;
        let rows = self.admin.query(&format!(
            "SELECT nspname FROM pg_namespace WHERE nspname ~ '^assay_{kind}_[0-9]+$' \
             AND pg_has_role(nspowner, 'USAGE') AND pg_try_advisory_lock(hashtext(nspname))",
        ));
        for row in rows.map_err(told)? {
            self.run(doing, &format!("DROP SCHEMA {} CASCADE", row.text(0)))?;
        }
        Ok(())
    }

    /// After loading: what is dirty in the server's cache is written, so that it does not disturb the first rung.
    pub fn settle(&mut self) {
        if self.admin.run("CHECKPOINT").is_err() {
            self.remarks.push(Remark {
                what: "this user may not ask for a checkpoint".to_owned(),
                why: "writes of the loading may disturb the first rungs".to_owned(),
                remedy: "use a user with the right pg_checkpoint".to_owned(),
            });
        }
    }
}

/// Refuses what cannot be measured.
fn check(admin: &mut Connection, address: &Address) -> Result<()> {
    let oldest = assay_postgres::binaries::MAJOR_MIN;
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

fn facts(
    admin: &mut Connection,
    knowledge: &Knowledge,
) -> assay_postgres::failure::Answer<ServerFacts> {
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
        product: "PostgreSQL".to_owned(),
        version: admin.facts().version.clone(),
        is_own: false,
        ready_s: None,
        direct_io: Some(direct.is_some_and(|direct| direct.value.contains("data"))),
        block_bytes: knowledge.block_bytes,
        settings,
    })
}

/// The parent of the process that serves this session, when both are here.
fn postmaster(admin: &Connection, address: &Address) -> Option<u32> {
    let session = admin.facts().process_id;
    let here = address.is_local() && processes::usage(session).is_some();
    here.then(|| processes::parent(session)).flatten()
}
