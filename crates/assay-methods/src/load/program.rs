//! A server of our own as its keeper needs it, whatever the product.

use super::OwnPlan;
use assay_daemon::Stop;
use assay_model::Result;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
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

    /// Makes its files in a directory.
    ///
    /// # Errors
    /// What the programs say.
    fn create(plan: &OwnPlan<Self>, directory: &Path) -> Result<Self>;

    /// Takes a server that was made before.
    ///
    /// # Errors
    /// A usage error when other programs made it.
    fn adopt(plan: &OwnPlan<Self>, directory: &Path, password: String) -> Result<Self>;

    /// With what it is started.
    fn settings(plan: &OwnPlan<Self>, cache_bytes: u64, direct: bool) -> Self::Settings;

    /// Starts it and waits until it takes sessions.
    ///
    /// # Errors
    /// The words of its log.
    fn start(&mut self, settings: &Self::Settings, stop: &AtomicBool) -> Result<()>;

    /// Ends it.
    fn stop(&mut self, how: Stop);

    /// Whether it was started and has ended by itself.
    fn has_ended(&mut self) -> bool;

    /// The last of its words since its start by which it gave up.
    fn complaint(&self) -> Option<String>;

    /// Whether its version can pass the page cache by.
    fn knows_direct(&self) -> bool;

    /// Whether the file system of its directory takes direct I/O.
    fn can_direct(&self) -> bool;

    /// The secret of its user.
    fn password(&self) -> &str;

    /// The data directory.
    fn data(&self) -> PathBuf;

    /// How to reach it.
    fn address(&self) -> Self::Address;

    /// The first of its processes, while it runs.
    fn process_id(&self) -> Option<u32>;
}
