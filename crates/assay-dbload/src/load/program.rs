//! A managed server as its keeper needs it, whatever the product.

use assay_dbserver::{Account, Daemon, Held, Plan};
use assay_model::Result;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A server that was made here.
pub trait Program: Sized {
    /// Where a server is, and who asks.
    type Address;
    /// Its programs.
    type Binaries: Clone + Debug;
    /// What a start is made with.
    type Settings: Clone;
    /// What a person may choose of this product alone.
    type Choice: Clone + Debug;

    /// Names of its processes.
    const PROGRAMS: &'static [&'static str];

    /// Who must run it: nobody else than the caller unless that is the superuser.
    fn account() -> Option<Account>;

    /// Makes its files in a directory.
    fn create(plan: Plan<Self::Binaries>) -> Result<Self>;

    /// Takes a server that was made before.
    ///
    /// # Errors
    /// A usage error when other programs made it.
    fn adopt(plan: Plan<Self::Binaries>, password: String) -> Result<Self>;

    /// With what it is started.
    fn settings(plan: &OwnPlan<Self>, cache_bytes: u64, direct: bool) -> Self::Settings;

    /// Starts it and waits until it takes sessions.
    ///
    /// # Errors
    /// The words of its log.
    fn start(&mut self, settings: &Self::Settings, stop: &AtomicBool) -> Result<()>;

    /// Its files and its processes.
    fn daemon(&self) -> &Daemon;

    /// The same, to be ended.
    fn daemon_mut(&mut self) -> &mut Daemon;

    /// Whether its version can pass the page cache by.
    fn knows_direct(&self) -> bool;

    /// How to reach it.
    fn address(&self) -> Self::Address;
}

/// What a managed server is made of.
#[derive(Clone, Debug)]
pub struct OwnPlan<S: Program> {
    /// Its programs.
    pub binaries: S::Binaries,
    /// The directory on the storage under test.
    pub target: PathBuf,
    /// Words that let programs end with this one.
    pub guard: Vec<String>,
    /// Bytes of the data that will be loaded.
    pub data_bytes: u64,
    /// Cache of the server while it is measured, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether the page cache is to be passed by where that is possible.
    pub direct: bool,
    /// What a person chose of this product alone.
    pub choice: S::Choice,
    /// Leave the directory behind.
    pub keep: bool,
}

impl<S: Program> OwnPlan<S> {
    /// What the server itself is made of, in this directory.
    pub(super) fn of_server(&self, directory: &Held) -> Plan<S::Binaries> {
        Plan {
            binaries: self.binaries.clone(),
            directory: directory.clone(),
            account: S::account(),
            guard: self.guard.clone(),
        }
    }
}
