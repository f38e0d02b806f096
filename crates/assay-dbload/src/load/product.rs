//! What the keeper of a server, a step and the tables of a load need of a product.

use super::chunks::{Chunk, Chunks};
use super::copies::{OwnDatabase, no_copies};
use super::link::{ServerLink, ServerUse};
use super::owner::{OwnerCandidate, Ownership, SchemaOwner};
use super::tables::{IndexLayout, Procedure, TableLayout};
use assay_dbserver::{CpuUsage, ServerProgram};
use assay_live::watch::ObservedServer;
use assay_loads::sink::RowSink;
use assay_model::Result;
use assay_model::failure::Answer;
use assay_model::load::{DatabaseCounts, ServerFacts, TimeSplit};
use assay_model::measurement::Remark;
use std::path::PathBuf;

/// A table that rows are sent to.
pub struct Destination<'a> {
    /// Its schema.
    pub schema: &'a str,
    /// What it is.
    pub layout: &'a TableLayout,
    /// Whether the transaction at hand made it.
    pub is_new: bool,
}

/// A database that is Assay's alone.
pub struct OwnedPlace<L: ServerLink> {
    /// It, by its record.
    pub database: OwnDatabase,
    /// Whether it was made just now.
    pub is_new: bool,
    /// The way into it.
    pub address: L::Address,
}

/// A product: what its servers are asked about themselves, what on them is Assay's, and how they
/// keep the tables of a load.
pub trait Product: ServerLink {
    /// What the counters of a server mean.
    type Knowledge: Send + Sync;
    /// Who looks at a live server.
    type Watcher: ObservedServer<Address = Self::Address>;
    /// A managed server.
    type Own: ServerProgram<Address = Self::Address>;

    /// Refuses what cannot be measured, and returns what is known of the server.
    ///
    /// # Errors
    /// What the server says, that it is a replica, or that it is too old.
    fn inspect(&mut self, address: &Self::Address) -> Result<(Self::Knowledge, ServerFacts)>;

    /// The first process of the server, when it runs on this machine.
    fn first_process(&mut self, address: &Self::Address) -> Option<u32>;

    /// Where it keeps its data, if it says so.
    fn data_directory(&mut self) -> Option<PathBuf>;

    /// What the server calls the database in which a schema lies.
    fn database_of<'a>(address: &'a Self::Address, schema: &'a str) -> &'a str;

    /// What a reader must know of the server and its counters.
    fn remarks(facts: &ServerFacts, knowledge: &Self::Knowledge) -> Vec<Remark>;

    /// All counters since the server began; processor times are not among them.
    fn counted(
        &mut self,
        address: &Self::Address,
        knowledge: &Self::Knowledge,
    ) -> Answer<(DatabaseCounts, TimeSplit)>;

    /// What the processes of a server used, those of these sessions left out where each has its
    /// own.
    fn server_use(first_process: u32, sessions: &[u32]) -> Option<ServerUse>;

    /// What all its processes used together, those among them that have ended.
    fn whole_usage(first_process: u32) -> Option<CpuUsage>;

    /// Sessions that the server accepts in addition to those that are open.
    fn room(&mut self) -> Answer<u64>;

    /// Writes what is dirty of a schema's tables in the server's cache, or more.
    ///
    /// # Errors
    /// When this user may not ask for it.
    fn write_out(&mut self, schema: &str) -> std::result::Result<(), Remark>;

    /// Creates a schema with the record of its owner in it, before anything else.
    ///
    /// # Errors
    /// What the server says, for example that there is one of this name.
    fn claim(&mut self, schema: &str, owner: &SchemaOwner) -> Answer<()>;

    /// Whether a schema is there, belongs to this account and holds nothing.
    fn is_vacant(&mut self, schema: &str) -> Answer<bool>;

    /// Whose a schema is, by the record in it.
    fn standing(&mut self, schema: &str) -> Answer<Ownership>;

    /// Drops a schema that carries this record, and nothing that its load did not make.
    ///
    /// # Errors
    /// That it carries another record, is in use, or holds what is not ours, or what the server
    /// says.
    fn remove_owned(&mut self, schema: &str, owner: &SchemaOwner) -> Result<()>;

    /// Gives a schema that carries this record another name, and notes that it is to be kept.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &SchemaOwner) -> Result<()>;

    /// Marks a schema as one that is in use, until this session ends; says whether no other program
    /// had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool>;

    /// All schemas that carry a record or look as if they did.
    fn candidates(&mut self) -> Answer<Vec<OwnerCandidate>>;

    /// Notes that the database of this session is to be kept, where a schema is not one.
    fn keep_database(&mut self) -> Answer<()> {
        Ok(())
    }

    /// Enters or makes a database that is Assay's alone, so that it can be copied.
    ///
    /// # Errors
    /// What the server says, that another has its name, or that the product has no such copies.
    fn enter_database(_address: &Self::Address, _name: &str) -> Result<OwnedPlace<Self>> {
        Err(no_copies())
    }

    /// Copies a database, to go back to it.
    ///
    /// # Errors
    /// What the server says, or that the product has no such copies.
    fn copy_database(_address: &Self::Address, _own: &OwnDatabase) -> Result<OwnDatabase> {
        Err(no_copies())
    }

    /// Makes a database from its copy again.
    ///
    /// # Errors
    /// What the server says, or that something else lies in it by now.
    fn restore_database(
        _address: &Self::Address,
        _own: &OwnDatabase,
        _copy: &OwnDatabase,
    ) -> Result<()> {
        Err(no_copies())
    }

    /// Drops a database or a copy.
    ///
    /// # Errors
    /// What the server says, or that it is not ours.
    fn drop_database(_address: &Self::Address, _own: &OwnDatabase) -> Result<()> {
        Err(no_copies())
    }

    /// Assay's databases on a server that nobody uses, with their names and their sizes in bytes;
    /// none where a schema is one.
    fn left_databases(_address: &Self::Address) -> Answer<Vec<(OwnDatabase, String, u64)>> {
        Ok(Vec::new())
    }

    /// Drops one of them.
    ///
    /// # Errors
    /// What the server says, or that it is not ours.
    fn remove_left_database(_address: &Self::Address, _left: &OwnDatabase) -> Result<()> {
        Err(no_copies())
    }

    /// Settings of a session that loads; what this user may not set stays.
    const LOADING: &'static [&'static str];
    /// Begins a transaction whose statements have no time limit.
    const BEGIN: &'static str;

    /// Creates the table of notes.
    fn create_manifest(schema: &str) -> String;

    /// Writes notes, in the place of those of their names.
    fn put_notes(schema: &str, notes: &[(String, String)]) -> String;

    /// The statements before the rows of a table in one piece, or of one part: a transaction, and
    /// the table in it where the product can do so.
    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String>;

    /// Creates a table, unless it is there.
    fn create_table(schema: &str, layout: &TableLayout) -> String;

    /// The index of the primary key, where it is built after the rows.
    fn key_index(layout: &TableLayout) -> Option<IndexLayout>;

    /// Builds an index.
    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String;

    /// Counts the entries of the server's catalogue about an index.
    fn count_index(schema: &str, table: &str, name: &str) -> String;

    /// Declares the primary key where that is not done, and gathers statistics.
    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String>;

    /// Bytes of tables and of indexes on storage, as two columns; the program's own notes left out.
    fn table_sizes(schema: &str) -> String;

    /// Encodes rows in the form of the product's bulk load.
    fn encoder(chunks: Chunks<'_>) -> impl RowSink;

    /// Sends rows in the transaction at hand; gives their number.
    ///
    /// # Errors
    /// What the server says, or that it took fewer.
    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64>;

    /// Refuses a server that cannot read a text as rows, where that is how rows reach a statement.
    ///
    /// # Errors
    /// When it is too old.
    fn check_rows_of_json(&self) -> Result<()> {
        Ok(())
    }

    /// Makes procedures again, and then notes that they are there, where sessions of the product
    /// call such.
    ///
    /// # Errors
    /// What the server says, or that it is too old for them.
    fn make_procedures(&mut self, _schema: &str, _wanted: &[Procedure], _note: &str) -> Result<()> {
        Ok(())
    }
}
