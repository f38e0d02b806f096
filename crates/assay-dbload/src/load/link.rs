//! What a rung needs of a server and of a database on it, whatever the product.

use super::counted::Passed;
use super::owner::{LeftOnServer, Owner, Standing};
use super::{Database, Program};
use assay_dbserver::processes::Group;
use assay_dbserver::{Interrupter, Usage};
use assay_model::failure::Answer;
use assay_model::load::{DatabaseCounts, ServerFacts, TimeSplit};
use assay_model::measurement::Remark;
use assay_model::row::Row;
use assay_model::{Profile, Result};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// One session on a server.
pub trait Link: Send + Sync + Sized {
    /// Where a server is, and who asks.
    type Address: Clone + Display + Send + Sync;

    /// Connects and logs in.
    fn open(address: &Self::Address) -> Answer<Self>;

    /// Runs statements whose rows are of no interest.
    fn run(&mut self, sql: &str) -> Answer<()>;

    /// All rows of a query, in text form.
    fn query(&mut self, sql: &str) -> Answer<Vec<Row>>;

    /// A handle that ends the session from another thread.
    fn interrupter(&self) -> Answer<Interrupter>;

    /// Number of the process or thread that serves it; 0 where it is not known.
    fn served_by(&self) -> u32;

    /// What serving it has used; none where it is not on this machine.
    fn usage(&self) -> Option<Usage>;

    /// Makes the server count what the session did until now, where it would do so later.
    fn settle_counts(&mut self) {}

    /// Says good-bye.
    fn close(self);
}

/// A product: what its servers are asked about databases.
pub trait Product: Link {
    /// The name in the conduct of a measurement.
    const BACKEND: &'static str;

    /// What the counters of a server mean.
    type Knowledge: Send + Sync;
    /// Who looks while a rung is measured.
    type Beside: Beside;
    /// A managed server.
    type Own: Program<Address = Self::Address>;

    /// Refuses what cannot be measured, and returns what is known of the server.
    ///
    /// # Errors
    /// What the server says, that it is a replica, or that it is too old.
    fn look(&mut self, address: &Self::Address) -> Result<(Self::Knowledge, ServerFacts)>;

    /// The first process of the server, when it runs on this machine.
    fn first_process(&mut self, address: &Self::Address) -> Option<u32>;

    /// Where it keeps its data, if it says so.
    fn data_directory(&mut self) -> Option<PathBuf>;

    /// What a reader must know of the server and its counters.
    fn remarks(database: &Database<Self>) -> Vec<Remark>;

    /// All counters since the server began; processor times are not among them.
    fn counted(database: &mut Database<Self>) -> Answer<(DatabaseCounts, TimeSplit)>;

    /// What the processes of a server used, those of these sessions left out where each has its own.
    fn server_use(first_process: u32, sessions: &[u32]) -> Option<ServerUse>;

    /// Opens the sessions that look while a rung is measured; nothing where the server gives none, because a rung is
    /// measured all the same.
    fn beside(database: &Database<Self>) -> Option<Self::Beside>;

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
    fn claim(&mut self, schema: &str, owner: &Owner) -> Answer<()>;

    /// Whose a schema is, by the record in it.
    fn standing(&mut self, schema: &str) -> Answer<Standing>;

    /// Drops a schema that carries this record, and nothing that its load did not make.
    ///
    /// # Errors
    /// That it carries another record, is in use, or holds what is not ours, or what the server says.
    fn remove_owned(&mut self, schema: &str, owner: &Owner) -> Result<()>;

    /// Gives a schema that carries this record another name, and notes that it is to be kept.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &Owner) -> Result<()>;

    /// Notes that an Assay schema, and the Assay database around it, is to be kept.
    fn keep_owned(database: &mut Database<Self>) -> Answer<()>;

    /// Removes the whole database, which is ours, from a server that is not.
    ///
    /// # Errors
    /// What the server says, or that it is not ours.
    fn remove_all(database: &mut Database<Self>) -> Result<()>;

    /// Marks a schema as one that is in use, until this session ends; says whether no other program had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool>;

    /// Assay's schemas that nobody uses and nobody asked to keep, except `own`; and those that only look like ours, with
    /// the reason why they are not.
    fn left_schemas(&mut self, own: &str) -> Answer<LeftOnServer>;
}

/// What processes of a server used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerUse {
    /// Each of those that serve no session.
    Background(Group),
    /// All together: sessions are threads of one process.
    Whole(Usage),
}

impl ServerUse {
    /// What those that serve no session used after `earlier`, where they can be told apart from the others.
    pub fn background_since(&self, earlier: &Self) -> Option<Usage> {
        match (self, earlier) {
            (Self::Background(now), Self::Background(then)) => Some(now.since(then)),
            _ => None,
        }
    }

    /// What all used together after `earlier`, where they cannot.
    pub fn whole_since(&self, earlier: &Self) -> Option<Usage> {
        match (self, earlier) {
            (Self::Whole(now), Self::Whole(then)) => Some(now.since(then)),
            _ => None,
        }
    }
}

/// Who looks at a server while a rung is measured.
pub trait Beside: Send + Sized {
    /// What was seen.
    type Seen: Send;

    /// Looks until the sessions have ended; a server that went away gives nothing.
    fn watch(self, done: &AtomicBool) -> Option<Self::Seen>;

    /// Takes what looking cost out of what was counted.
    fn take_out(seen: &Self::Seen, passed: &mut Passed);

    /// The profile of the rung.
    fn profile(
        seen: &Self::Seen,
        passed: &Passed,
        sessions: u32,
        is_complete: bool,
    ) -> Option<Profile>;
}
