//! A managed server as its keeper needs it, whatever the product.

use super::OwnPlan;
use assay_dbserver::{Account, Daemon, Plan};
use assay_model::Result;
use std::fmt::Debug;
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
