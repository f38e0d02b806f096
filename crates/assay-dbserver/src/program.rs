//! A managed server of any product, as its keeper needs it.

use crate::account::SystemAccount;
use crate::daemon::Daemon;
use crate::home::HomePlan;
use assay_model::Result;
use assay_model::durability::{Control, PageCheck};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What a start is made with, whatever the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerStart {
    /// Cache of the server, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether the page cache is passed by.
    pub direct: bool,
    /// What it is started without on purpose, so that a power cut breaks something.
    pub without: Option<Control>,
}

/// Who carries out reads that the server asks for ahead (PostgreSQL 18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoMethod {
    /// Each session reads for itself
    Sync,
    /// Worker processes of the server
    Worker,
    /// `io_uring`, if the server was built with it
    IoUring,
}

impl fmt::Display for IoMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sync => "sync",
            Self::Worker => "worker",
            Self::IoUring => "io_uring",
        })
    }
}

/// A server that was made here.
pub trait ServerProgram: Sized + Send {
    /// Where a server is, and who asks.
    type Address;
    /// Its programs.
    type Binaries: Clone + Debug + Send;
    /// What a start is made with.
    type Settings: Clone + Send;
    /// What a person may choose of this product alone.
    type Choice: Clone + Debug + Send;

    /// Names of its processes; the kernel keeps fifteen letters.
    const PROGRAMS: &'static [&'static str];
    /// What it says, in small letters, when it does not start because of what it finds in its
    /// files.
    const DAMAGE: &'static [&'static str];

    /// Finds its programs, in a directory where one is named.
    ///
    /// # Errors
    /// An environment error when there are none.
    fn find(directory: Option<PathBuf>) -> Result<Self::Binaries>;

    /// What a person chose, where the product has such a choice.
    ///
    /// # Errors
    /// A usage error when it has none.
    fn choice(io_method: Option<IoMethod>) -> Result<Self::Choice>;

    /// Who must run it: nobody else than the caller unless that is the superuser.
    fn account() -> Option<SystemAccount>;

    /// Makes its files in a directory.
    ///
    /// # Errors
    /// An environment error when a program cannot be run or fails, with its words.
    fn create(plan: HomePlan<Self::Binaries>) -> Result<Self>;

    /// Takes a server that was made before, in a directory that was kept.
    ///
    /// # Errors
    /// A usage error when other programs made it.
    fn adopt(plan: HomePlan<Self::Binaries>, password: String) -> Result<Self>;

    /// With what it is started.
    fn settings(start: ServerStart, choice: &Self::Choice) -> Self::Settings;

    /// Starts it and waits until it takes sessions, however long its recovery is; `stop` ends the
    /// waiting.
    ///
    /// # Errors
    /// An environment error with the words of its log when it ends instead.
    fn start(&mut self, settings: &Self::Settings, stop: &AtomicBool) -> Result<()>;

    /// Its files and its processes.
    fn daemon(&self) -> &Daemon;

    /// The same, to be ended.
    fn daemon_mut(&mut self) -> &mut Daemon;

    /// Whether its version can pass the page cache by.
    fn knows_direct(&self) -> bool;

    /// Makes damaged pages visible where they are not by themselves, while it rests.
    fn seal_pages(&self) {}

    /// What its own programs and statements say of the tables of a schema, while it runs.
    fn check_running(&self, schema: &str) -> Vec<PageCheck>;

    /// What its own programs say of its files, while it rests.
    fn check_at_rest(&self) -> Vec<PageCheck>;

    /// How to reach it.
    fn address(&self) -> Self::Address;
}
