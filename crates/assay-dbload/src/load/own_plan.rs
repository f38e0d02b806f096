//! What a managed server is made of, whatever the product.

use assay_dbserver::{HeldServer, HomePlan, ServerProgram, ServerStart};
use assay_model::durability::Control;
use std::path::PathBuf;

/// What a managed server is made of.
#[derive(Clone, Debug)]
pub struct OwnPlan<S: ServerProgram> {
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
    /// What it is started without on purpose.
    pub without: Option<Control>,
}

impl<S: ServerProgram> OwnPlan<S> {
    /// What the server itself is made of, in this directory.
    pub(super) fn of_server(&self, directory: &HeldServer) -> HomePlan<S::Binaries> {
        HomePlan {
            binaries: self.binaries.clone(),
            directory: directory.clone(),
            account: S::account(),
            guard: self.guard.clone(),
        }
    }

    /// What it is started with while data is loaded or measured.
    pub(super) fn settings(&self, cache_bytes: u64, direct: bool) -> S::Settings {
        let Self { sessions_max, without, .. } = *self;
        S::settings(ServerStart { cache_bytes, sessions_max, direct, without }, &self.choice)
    }
}
