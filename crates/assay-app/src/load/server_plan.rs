//! The server that a load runs on, as it is planned.

use assay_dbload::load::OwnPlan;
use assay_dbserver::{IoMethod, ServerProgram};
use assay_model::durability::Control;
use assay_model::load::Dialect;
use assay_model::spelling::defaults;
use assay_model::{Error, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Heading of the options of the server.
pub const SERVER: &str = "Server options";

/// The server that Assay creates.
#[derive(Clone, Debug, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = SERVER)]
#[serde(default, deny_unknown_fields)]
pub struct ServerPlan {
    /// Product of the server that Assay creates; not needed with an address
    #[arg(long = "server", alias = "product", value_enum, value_name = "PRODUCT")]
    #[serde(rename = "server")]
    pub product: Option<Dialect>,
    /// Directory with the server's programs; by default searched next to assay, on the PATH, and
    /// where distributions install them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    pub bindir: Option<PathBuf>,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    pub buffered: bool,
    /// How the server reads ahead (PostgreSQL 18 only)
    #[arg(long, value_enum)]
    pub io_method: Option<IoMethod>,
    /// Keep the server's directory, or Assay's tables on your server
    #[arg(long)]
    pub keep: bool,
    /// What it is started without on purpose.
    #[arg(skip)]
    #[serde(skip)]
    pub without: Option<Control>,
}

impl Default for ServerPlan {
    fn default() -> Self {
        defaults()
    }
}

/// What a managed server must carry.
#[derive(Clone, Copy, Debug)]
pub struct ServerSizing {
    /// Bytes of the data that will be loaded.
    pub data_bytes: u64,
    /// Cache of the server while it is measured, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
}

impl ServerPlan {
    /// The usual server, of these programs where they are named.
    pub fn of(bindir: Option<&Path>) -> Self {
        Self { bindir: bindir.map(Path::to_owned), ..Self::default() }
    }

    /// The dialect of the server that a target and these options mean.
    ///
    /// # Errors
    /// A usage error when they contradict each other.
    pub fn dialect(&self, target: &str) -> Result<Dialect> {
        // A server that was kept is of the product that made its files.
        let made = |known: &Dialect| Path::new(target).join(known.facts().data_file).is_file();
        let of_files = || Dialect::ALL.into_iter().find(made);
        match (Dialect::of_address(target).or_else(of_files), self.product) {
            (Some(is), Some(wanted)) if is != wanted => Err(Error::usage(
                "--server does not match the server at the target",
                "omit --server: Assay detects the product",
            )),
            (is, wanted) => Ok(is.or(wanted).unwrap_or(Dialect::Postgres)),
        }
    }

    /// The managed server that these options describe.
    ///
    /// # Errors
    /// When there are no programs of a server, or an option is not of this product.
    pub fn own<S: ServerProgram>(
        &self,
        target: &Path,
        sizing: ServerSizing,
        guard: &[String],
    ) -> Result<OwnPlan<S>> {
        let choice = S::choice(self.io_method)?;
        Ok(OwnPlan {
            binaries: S::find(self.bindir.clone())?,
            target: target.to_owned(),
            guard: guard.to_vec(),
            data_bytes: sizing.data_bytes,
            cache_bytes: sizing.cache_bytes,
            sessions_max: sizing.sessions_max,
            direct: !self.buffered,
            choice,
            keep: self.keep,
            without: self.without,
        })
    }
}
