//! The database that is measured: the way to it, what is known of it, and the place of our tables in it.

use super::{OwnServer, Product, Program};
use assay_daemon::tls::cost_per_answer_ns;
use assay_host::environment::read_storage;
use assay_host::root::{Survey, SysRoot};
use assay_model::load::ServerFacts;
use assay_model::measurement::Remark;
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use std::path::{Path, PathBuf};

/// A schema of ours in a database.
pub struct Database<L: Product = Connection> {
    /// The way to it.
    pub address: L::Address,
    /// The session that prepares and counts.
    pub(crate) admin: L,
    /// What its counters mean.
    pub knowledge: L::Knowledge,
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

impl<L: Product> Database<L> {
    /// Enters a server of our own.
    ///
    /// # Errors
    /// What the server says.
    pub fn on_own(own: &OwnServer<L::Own>, schema: &str) -> Result<Self> {
        let mut database = Self::open(&own.server().address(), schema, Some(own.directory()))?;
        database.facts.is_own = true;
        database.facts.ready_s = own.ready_s();
        database.postmaster = own.server().process_id();
        Ok(database)
    }

    /// Enters any server.
    ///
    /// # Errors
    /// What the server says, that it is a replica, or that it is too old.
    pub fn at(address: &L::Address, schema: &str) -> Result<Self> {
        Self::open(address, schema, None)
    }

    fn open(address: &L::Address, schema: &str, data: Option<&Path>) -> Result<Self> {
        let connected = L::open(address);
        let mut admin =
            connected.map_err(|failure| failure.of(format!("connecting to {address}")))?;
        let (knowledge, facts) = admin.look(address)?;
        let mut database = Self {
            address: address.clone(),
            postmaster: admin.first_process(address),
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

    /// What is told of the server, with what encryption has cost this program so far.
    pub fn told(&self) -> ServerFacts {
        let mut facts = self.facts.clone();
        if let Some(encryption) = &mut facts.encryption {
            encryption.cost_per_answer_ns = cost_per_answer_ns();
        }
        facts
    }

    /// Comes back after the server was away: a new way to it, and what is known of its processes.
    ///
    /// # Errors
    /// What the server says.
    pub fn come_back(&mut self) -> Result<()> {
        self.admin = self.connect()?;
        self.postmaster = self.admin.first_process(&self.address);
        Ok(())
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

    /// Refuses more sessions than the server will take.
    ///
    /// # Errors
    /// An environment error with both numbers.
    pub fn check_room(&mut self, sessions: u32) -> Result<()> {
        let room = self.room()?;
        if sessions <= room {
            return Ok(());
        }
        Err(Error::environment(
            format!("{sessions} sessions are asked for, and the server takes {room} more"),
            "ask for fewer with --sessions or --users, or raise max_connections",
        ))
    }

    /// So many sessions the server takes beside those it has.
    ///
    /// # Errors
    /// What the server says.
    pub fn room(&mut self) -> Result<u32> {
        let room = self.admin.room();
        let room =
            room.map_err(|failure| failure.of("asking the server how many sessions it takes"))?;
        Ok(u32::try_from(room).unwrap_or(u32::MAX))
    }

    /// A further session.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) fn connect(&self) -> Result<L> {
        let opened = L::open(&self.address);
        opened.map_err(|failure| failure.of(format!("opening a session on {}", self.address)))
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
            self.data = self.admin.data_directory().filter(|path| path.is_dir());
        }
        let root = SysRoot::live();
        let survey = Survey::new(&root);
        let storage = self.data.as_ref().and_then(|path| read_storage(&survey, path).ok());
        let layers = storage.into_iter().flat_map(|storage| storage.stack.layers);
        self.devices = layers.map(|layer| layer.name).collect();
    }

    fn remark(&mut self) {
        let mut remarks = L::remarks(self);
        if self.postmaster.is_none() {
            remarks.push(said(
                "the server runs elsewhere, or its processes may not be looked at",
                "its CPU time and its device are not in the result",
                "run assay on the machine of the server",
            ));
        } else if self.devices.is_empty() {
            remarks.push(said(
                "it is not known where the server keeps its data",
                "the device is not in the result",
                "use a user who may see all settings of the server, and run assay as one who may enter its directory",
            ));
        }
        self.remarks = remarks;
    }

    /// Removes our tables from a server that is not ours.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_schema(&mut self) -> Result<()> {
        // A session whose statement was broken off is lost.
        if !self.is_reachable() {
            self.come_back()?;
        }
        let sql = L::removing(&self.schema);
        self.run("removing our tables", &sql)
    }

    /// Removes the whole database, which is ours, from a server that is not.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_all(&mut self) -> Result<()> {
        L::remove_all(self)
    }

    /// Leaves our tables to the user: under a name that no program of ours removes.
    ///
    /// # Errors
    /// What the server says.
    pub fn give_away_schema(&mut self) -> Result<()> {
        let number = self.schema.rsplit('_').next().unwrap_or_default();
        let given = self.admin.rename_schema(&self.schema, &format!("assay_kept_{number}"));
        given.map_err(|failure| failure.of("keeping our tables"))
    }

    /// Marks our schema as one that is in use, and removes those of the same kind of load that programs left behind
    /// which were killed: nobody holds their lock any more.
    ///
    /// # Errors
    /// What the server says.
    pub fn remove_left(&mut self, kind: &str) -> Result<()> {
        let doing = "looking for tables that were left behind";
        let held = self.admin.hold(&self.schema);
        let left = held.and_then(|()| self.admin.left_schemas(kind));
        for schema in left.map_err(|failure| failure.of(doing))? {
            self.run(doing, &L::removing(&schema))?;
        }
        Ok(())
    }

    /// After loading: what is dirty in the server's cache is written, so that it does not disturb the first rung.
    pub fn settle(&mut self) {
        self.remarks.extend(self.admin.write_out(&self.schema).err());
    }
}

/// A remark in its three parts.
pub(super) fn said(what: &str, why: &str, remedy: &str) -> Remark {
    Remark { what: what.to_owned(), why: why.to_owned(), remedy: remedy.to_owned() }
}
