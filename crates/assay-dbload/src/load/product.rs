//! What a rung and the keeper of a server need of a product.

use super::link::ServerUse;
use super::owner::SchemaOwner;
use crate::live::Live;
use assay_dbserver::{Program, Usage};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_model::load::{DatabaseCounts, ServerFacts, TimeSplit};
use assay_model::measurement::{BackendKind, Remark};
use std::path::PathBuf;

/// A product: what its servers are asked about themselves.
pub trait Product: SchemaOwner {
    /// The name in the conduct of a measurement.
    const BACKEND: BackendKind;

    /// What the counters of a server mean.
    type Knowledge: Send + Sync;
    /// Who looks at a live server.
    type Watcher: Live<Address = Self::Address>;
    /// A managed server.
    type Own: Program<Address = Self::Address>;

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

    /// What the processes of a server used, those of these sessions left out where each has its own.
    fn server_use(first_process: u32, sessions: &[u32]) -> Option<ServerUse>;

    /// What all its processes used together, those among them that have ended.
    fn whole_usage(first_process: u32) -> Option<Usage>;

    /// Sessions that the server accepts in addition to those that are open.
    fn room(&mut self) -> Answer<u64>;

    /// Writes what is dirty of a schema's tables in the server's cache, or more.
    ///
    /// # Errors
    /// When this user may not ask for it.
    fn write_out(&mut self, schema: &str) -> std::result::Result<(), Remark>;
}
