//! The database that is measured: the way to it, what is known of it, and the place of our tables
//! in it.

use super::copies::OwnDatabase;
use super::own::OwnServer;
use super::owner::{
    LeftoverSchema, LeftoversOnServer, OwnedKind, OwnerCandidate, Ownership, SchemaOwner,
    in_the_way, in_use, keep_owned,
};
use super::product::Product;
use super::remark::remark;
use assay_dbserver::ServerProgram;
use assay_dbserver::tls::EncryptionCost;
use assay_host::environment::read_storage;
use assay_host::root::{Survey, SysRoot};
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::load::{LoadKind, ServerFacts};
use assay_model::measurement::Remark;
use assay_model::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An Assay schema in a database.
pub struct LoadSchema<L: Product> {
    /// The way to it.
    pub address: L::Address,
    /// The session that prepares and counts.
    pub(crate) admin: L,
    /// What its counters mean.
    pub knowledge: L::Knowledge,
    /// The schema that holds our tables.
    pub schema: String,
    /// What the report says of it.
    pub facts: ServerFacts,
    /// Where its data lies, when that is on this machine and may be known.
    pub data: Option<PathBuf>,
    /// Kernel names of the devices under the data, from the top down.
    pub devices: Vec<String>,
    /// The first of its processes, when it runs on this machine.
    pub first_process: Option<u32>,
    /// What a reader must know.
    pub remarks: Vec<Remark>,
    /// The record in our schema, once it was made or read.
    pub(crate) owner: Option<SchemaOwner>,
    /// Whether this run wrote that record.
    is_claimed: bool,
    /// The database around our schema, where that is ours alone.
    pub own_database: Option<OwnDatabase>,
    /// What encryption had cost when the first session began to measure.
    cost_before: EncryptionCost,
}

/// A new name for the schema of a kind of load: two programs at once never share one.
///
/// # Errors
/// An environment error when the system gives no random bytes.
pub fn schema_name(kind: LoadKind) -> Result<String> {
    let random = assay_dbserver::password()?;
    Ok(format!("assay_{}_{}", kind.name(), &random[..12]))
}

/// A right that lacks has its own remedy.
fn not_claimed(schema: &str, failure: &Failure) -> Error {
    let doing = format!("creating the schema {schema}");
    if failure.meaning() != Some(Refusal::Denied) {
        return failure.of(doing);
    }
    Error::environment(
        format!("{doing}: {failure}"),
        "specify an empty schema or database of this account with --schema, or grant it this right",
    )
}

impl<L: Product> LoadSchema<L> {
    /// Connects to a managed server.
    pub fn on_own(own: &OwnServer<L::Own>, schema: &str) -> Result<Self> {
        let mut database = Self::open(&own.server().address(), schema, Some(own.directory()))?;
        database.facts.is_own = true;
        database.facts.ready_s = own.ready_s();
        database.first_process = own.process_id();
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
        let (knowledge, facts) = admin.inspect(address)?;
        let mut database = Self {
            address: address.clone(),
            first_process: admin.first_process(address),
            data: data.map(Path::to_owned),
            admin,
            knowledge,
            schema: schema.to_owned(),
            facts,
            devices: Vec::new(),
            remarks: Vec::new(),
            owner: None,
            is_claimed: false,
            own_database: None,
            cost_before: EncryptionCost::default(),
        };
        database.locate();
        database.remark();
        Ok(database)
    }

    /// From now on sessions measure: what encryption cost before, while data were loaded, does not
    /// count.
    pub fn begin_to_measure(&mut self) {
        self.cost_before = EncryptionCost::so_far();
    }

    /// What the report says of the server, with what encryption has cost this program since it
    /// began to measure.
    pub fn facts(&self) -> ServerFacts {
        let mut facts = self.facts.clone();
        if let Some(encryption) = &mut facts.encryption {
            encryption.cost_per_answer_ns =
                EncryptionCost::so_far().per_answer_ns(self.cost_before);
        }
        facts
    }

    /// Comes back after the server was away: a new way to it, and what is known of its processes.
    pub fn come_back(&mut self) -> Result<()> {
        self.admin = self.connect()?;
        self.first_process = self.admin.first_process(&self.address);
        if self.owner.is_some() {
            // Whoever took it in the meantime finds it changed, and learns so from what he reads.
            let _ = self.admin.hold(&self.schema);
        }
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
            format!("{sessions} sessions are required, but the server accepts only {room} more"),
            "use fewer --sessions, or raise max_connections",
        ))
    }

    /// The number of sessions that the server accepts in addition to those it has.
    pub fn room(&mut self) -> Result<u32> {
        let room = self.admin.room();
        let room = room.map_err(|failure| failure.of("asking the server for its session limit"))?;
        Ok(u32::try_from(room).unwrap_or(u32::MAX))
    }

    /// A further session.
    pub(crate) fn connect(&self) -> Result<L> {
        let opened = L::open(&self.address);
        opened.map_err(|failure| failure.of(format!("opening a session on {}", self.address)))
    }

    /// Runs our statements.
    pub(crate) fn run(&mut self, doing: &str, sql: &str) -> Result<()> {
        self.admin.run(sql).map_err(|failure| failure.of(doing))
    }

    /// Where the data lies, and on what.
    fn locate(&mut self) {
        if self.data.is_none() && self.first_process.is_some() {
            self.data = self.admin.data_directory().filter(|path| path.is_dir());
        }
        let root = SysRoot::live();
        let survey = Survey::new(&root);
        let storage = self.data.as_ref().and_then(|path| read_storage(&survey, path).ok());
        let layers = storage.into_iter().flat_map(|storage| storage.stack.layers);
        self.devices = layers.map(|layer| layer.name).collect();
    }

    fn remark(&mut self) {
        let mut remarks = L::remarks(&self.facts, &self.knowledge);
        if self.first_process.is_none() {
            remarks.push(remark(
                "the server runs elsewhere, or its processes are not visible",
                "the result does not include its CPU time and its device",
                "run assay on the machine of the server",
            ));
        } else if self.devices.is_empty() {
            remarks.push(remark(
                "the server's data directory is unknown",
                "the result does not include the device",
                "use a database user who can see all settings, and run assay as a user with access \
                 to the data directory",
            ));
        }
        self.remarks = remarks;
    }

    /// Makes our schema, or takes an empty one of this account, with its record before anything
    /// else.
    ///
    /// # Errors
    /// That there is one of its name that is not empty, or what the server says.
    pub fn claim(&mut self, kind: LoadKind) -> Result<()> {
        let is_given = self.is_vacant()?;
        let owner = SchemaOwner { is_given, ..SchemaOwner::new(OwnedKind::Load(kind))? };
        let claimed = self.admin.claim(&self.schema, &owner);
        claimed.map_err(|failure| not_claimed(&self.schema, &failure))?;
        self.owner = Some(owner);
        self.is_claimed = true;
        Ok(())
    }

    /// Removes what this run loaded, as far as the server lets it; what was there before stays.
    pub fn undo_claim(&mut self) {
        if self.is_claimed {
            // Why it is undone is what must be heard of; what remains is named by the next start.
            let _ = self.remove_schema();
        }
    }

    fn is_vacant(&mut self) -> Result<bool> {
        let vacant = self.admin.is_vacant(&self.schema);
        vacant.map_err(|failure| failure.of(format!("inspecting the schema {}", self.schema)))
    }

    /// Who owns the schema according to its record; if Assay does, it may be used from now on. An
    /// empty one of this account is as good as none.
    pub fn standing(&mut self) -> Result<Ownership> {
        let standing = self.admin.standing(&self.schema);
        let standing = standing.map_err(|failure| failure.of("looking for an owner record"))?;
        if matches!(standing, Ownership::Foreign(_)) && self.is_vacant()? {
            return Ok(Ownership::Absent);
        }
        if let Ownership::Ours(owner) = &standing {
            self.owner = Some(owner.clone());
        }
        Ok(standing)
    }

    /// Whether the schema is there and of Assay.
    ///
    /// # Errors
    /// What the server says.
    pub fn is_ours(&mut self) -> Result<bool> {
        Ok(matches!(self.standing()?, Ownership::Ours(_)))
    }

    /// Removes our tables from a server that is not ours.
    ///
    /// # Errors
    /// That the schema carries another record than that of this run or holds what is not ours, or
    /// what the server says.
    pub fn remove_schema(&mut self) -> Result<()> {
        // A session whose statement was broken off is lost.
        if !self.is_reachable() {
            self.come_back()?;
        }
        let Some(owner) = self.owner.take() else {
            return Err(in_the_way("the schema", &self.schema, "it has no owner record"));
        };
        self.admin.remove_owned(&self.schema, &owner)
    }

    /// Removes the whole database, which is ours, from a server that is not; where a schema is all
    /// that is ours, that one.
    pub fn remove_all(&mut self) -> Result<()> {
        let Some(own) = self.own_database.clone() else {
            return self.remove_schema();
        };
        self.leave();
        L::drop_database(&self.address, &own)
    }

    /// Leaves our tables to the user: under a name that Assay never removes, unless the schema is
    /// the user's own.
    pub fn give_away_schema(&mut self) -> Result<()> {
        if self.owner.as_ref().is_some_and(|owner| owner.is_given) {
            return self.keep_schema();
        }
        let Some(owner) = self.owner.take() else {
            return Err(in_the_way("the schema", &self.schema, "it has no owner record"));
        };
        let number = self.schema.rsplit('_').next().unwrap_or_default();
        self.admin.rename_owned(&self.schema, &format!("assay_kept_{number}"), &owner)
    }

    /// Leaves our tables as they are, for later runs.
    pub fn keep_schema(&mut self) -> Result<()> {
        match &self.owner {
            Some(owner) if !owner.is_kept => {
                let kept = self.keep_records();
                kept.map_err(|failure| failure.of("keeping Assay's tables"))
            }
            _ => Ok(()),
        }
    }

    fn keep_records(&mut self) -> Answer<()> {
        keep_owned(&mut self.admin, &self.schema)?;
        if self.own_database.is_some() { self.admin.keep_database() } else { Ok(()) }
    }

    /// Marks our schema as one that is in use. A server frees the mark of a session only after it
    /// has noticed the session's end, so that a load that follows another one tries for a
    /// moment.
    ///
    /// # Errors
    /// That another program uses it, or what the server says.
    pub fn hold(&mut self) -> Result<()> {
        const TRIES: u32 = 10;
        for _ in 0..TRIES {
            let held = self.admin.hold(&self.schema);
            if held.map_err(|failure| failure.of("marking Assay's tables as used"))? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(in_use(&format!("the schema {}", self.schema)))
    }

    /// What earlier runs left on the server that nobody uses, but for our own schema; and what only
    /// looks like it.
    pub fn left(&mut self) -> Result<LeftoversOnServer> {
        let left = self.left_schemas();
        left.map_err(|failure| failure.of("looking for tables that were left behind"))
    }

    fn left_schemas(&mut self) -> Answer<LeftoversOnServer> {
        let (mut left, mut others) = (Vec::new(), Vec::new());
        for OwnerCandidate { name, bytes, is_free } in self.admin.candidates()? {
            if name == self.schema {
                continue;
            }
            match self.admin.standing(&name)? {
                Ownership::Ours(owner) if owner.is_kept || !is_free => {}
                Ownership::Ours(owner) if owner.kind == OwnedKind::Database => {}
                Ownership::Ours(owner) => left.push(LeftoverSchema { name, owner, bytes }),
                Ownership::Foreign(why) => others.push((name, why)),
                Ownership::Absent => {}
            }
        }
        Ok((left, others))
    }

    /// Drops one of those that were left.
    ///
    /// # Errors
    /// That it is used or holds what is not ours by now, or what the server says.
    pub fn remove_left(&mut self, left: &LeftoverSchema) -> Result<()> {
        self.admin.remove_owned(&left.name, &left.owner)
    }

    /// After loading: what is dirty in the server's cache is written, so that it does not disturb
    /// the first step.
    pub fn write_out(&mut self) {
        self.remarks.extend(self.admin.write_out(&self.schema).err());
    }
}
