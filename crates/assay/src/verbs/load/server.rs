//! Options of the server that a load runs on.

use assay_methods::load::OwnPlan;
use assay_model::Result;
use assay_postgres::binaries::Places;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// The server of our own.
#[derive(Args, Clone, Default)]
pub struct ServerOptions {
    /// Directory with the programs of a PostgreSQL server; else beside assay, on the path, where distributions put them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    pub bindir: Option<PathBuf>,
    /// Through the page cache instead of direct I/O
    #[arg(long)]
    pub buffered: bool,
    /// Who reads ahead (PostgreSQL 18)
    #[arg(long, value_enum)]
    pub io_method: Option<IoMethod>,
    /// Keep the server's directory, or our tables in a server of yours
    #[arg(long)]
    pub keep: bool,
}

/// Who reads ahead.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoMethod {
    /// Each session itself
    Sync,
    /// Processes of the server
    Worker,
    /// The kernel's rings, where the server was built with them
    IoUring,
}

/// What a server of our own must carry.
#[derive(Clone, Copy, Debug)]
pub struct Burden {
    /// Bytes of the data that will be loaded.
    pub data_bytes: u64,
    /// Cache of the server while it is measured, bytes.
    pub shared_buffers_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
}

impl ServerOptions {
    /// The usual server, of these programs where they are named.
    pub fn of(bindir: Option<&Path>) -> Self {
        Self { bindir: bindir.map(Path::to_owned), ..Self::default() }
    }

    /// The server of our own that these options mean.
    ///
    /// # Errors
    /// When there are no programs of a server.
    pub fn own_plan(&self, target: &Path, burden: Burden) -> Result<OwnPlan> {
        Ok(OwnPlan {
            binaries: Places::of_this_program(self.bindir.clone()).find()?,
            target: target.to_owned(),
            guard: super::guard::words(),
            data_bytes: burden.data_bytes,
            shared_buffers_bytes: burden.shared_buffers_bytes,
            sessions_max: burden.sessions_max,
            direct: !self.buffered,
            io_method: self.io_method.map(|method| match method {
                IoMethod::Sync => assay_postgres::server::IoMethod::Sync,
                IoMethod::Worker => assay_postgres::server::IoMethod::Worker,
                IoMethod::IoUring => assay_postgres::server::IoMethod::IoUring,
            }),
            keep: self.keep,
        })
    }
}
