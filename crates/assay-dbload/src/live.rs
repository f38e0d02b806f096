//! Live servers whose sessions are watched, whatever the product: what `assay profile` and every rung of a load need of one.

mod mariadb;
mod postgres;

pub use assay_live::HostContext;
pub use assay_live::watch::{Observed, ObservedServer, Plan, TaskTimes};

use assay_model::{Profile, Result};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What looking cost a server in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Own {
    /// Time that our sessions were active, seconds.
    pub time_s: f64,
    /// Transactions of our sessions.
    pub transactions: u64,
}

/// What two snapshots and the samples between them are called.
pub type ObservedServerSpan<W> = Observed<<W as ObservedServer>::Snapshot>;

/// A product whose live servers have a profile.
pub trait Live: ObservedServer<Snapshot: Send> + Send + Sized {
    /// Where a server is, and who asks.
    type Address: Display;
    /// A session that reads single blocks while the load runs.
    type Canary: Send;

    /// Why there is no canary, where none is opened.
    const NO_CANARY: &'static str;

    /// Reads an address, with what the environment adds to it.
    ///
    /// # Errors
    /// A usage error where it is none.
    fn parse(address: &str) -> Result<Self::Address>;

    /// Opens the session that samples.
    ///
    /// # Errors
    /// An environment error when the server refuses, is too old, or goes away.
    fn connect(address: &Self::Address) -> Result<Self>;

    /// Opens a canary; `None` where this account may read no table, or the product has none.
    fn canary(address: &Self::Address) -> Result<Option<Self::Canary>>;

    /// Watches for an interval, with a canary where there is one.
    fn watch(
        &mut self,
        canary: Option<Self::Canary>,
        plan: Plan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<ObservedServerSpan<Self>>;

    /// The profile of what was seen.
    ///
    /// # Errors
    /// When the server was restarted in between.
    fn profile(seen: &ObservedServerSpan<Self>, host: &HostContext) -> Result<Profile>;

    /// What looking cost, in a database where sessions are counted by it.
    fn own(seen: &ObservedServerSpan<Self>, database: &str) -> Own;

    /// The name of the profile, for people.
    fn subject(&self) -> String;

    /// Whether its processes are this host's.
    fn is_here(&self) -> bool;

    /// Where the server keeps its data, if this account may know.
    fn data_directory(&mut self) -> Result<Option<PathBuf>>;
}
