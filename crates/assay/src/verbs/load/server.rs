//! Options of the server that a load runs on.

use assay_app::load::server_plan::{self, ServerPlan};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The server of our own.
#[derive(Args)]
pub struct ServerOptions {
    /// Product of the server of our own; an address tells its product itself
    #[arg(long = "server", value_enum, value_name = "PRODUCT")]
    product: Option<ProductName>,
    /// Directory with the programs of the server; else beside assay, on the path, where distributions put them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    bindir: Option<PathBuf>,
    /// Through the page cache instead of direct I/O
    #[arg(long)]
    buffered: bool,
    /// Who reads ahead (PostgreSQL 18 only)
    #[arg(long, value_enum)]
    io_method: Option<IoMethod>,
    /// Keep the server's directory, or our tables in a server of yours
    #[arg(long)]
    keep: bool,
}

/// Products whose servers are known.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProductName {
    /// PostgreSQL
    Postgres,
    /// MariaDB, or MySQL behind an address
    Mariadb,
}

/// Who reads ahead.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IoMethod {
    /// Each session itself
    Sync,
    /// Processes of the server
    Worker,
    /// The kernel's rings, where the server was built with them
    IoUring,
}

impl ServerOptions {
    /// The server that these options mean.
    pub fn plan(&self) -> ServerPlan {
        ServerPlan {
            product: self.product.map(|product| match product {
                ProductName::Postgres => server_plan::ProductName::Postgres,
                ProductName::Mariadb => server_plan::ProductName::Mariadb,
            }),
            bindir: self.bindir.clone(),
            buffered: self.buffered,
            io_method: self.io_method.map(|method| match method {
                IoMethod::Sync => server_plan::IoMethod::Sync,
                IoMethod::Worker => server_plan::IoMethod::Worker,
                IoMethod::IoUring => server_plan::IoMethod::IoUring,
            }),
            keep: self.keep,
        }
    }
}
