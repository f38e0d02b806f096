//! Options of the server that a load runs on.

use assay_app::load::server_plan::{self, ServerPlan};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Heading of the options of the server.
pub const SERVER: &str = "Server options";

/// The server that Assay creates.
#[derive(Args)]
#[command(next_help_heading = SERVER)]
pub struct ServerOptions {
    /// Product of the server that Assay creates; an address already says which one it is
    #[arg(long = "server", alias = "product", value_enum, value_name = "PRODUCT")]
    product: Option<ProductName>,
    /// Directory with the programs of the server; by default found next to assay, on the PATH, or where distributions
    /// install them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    bindir: Option<PathBuf>,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    buffered: bool,
    /// How the server reads ahead (PostgreSQL 18 only)
    #[arg(long, value_enum)]
    io_method: Option<IoMethod>,
    /// Keep the server's directory, or Assay's tables on your server
    #[arg(long)]
    keep: bool,
}

/// Products whose servers are known.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProductName {
    /// PostgreSQL
    #[value(aliases = ["postgresql", "pg"])]
    Postgres,
    /// MariaDB, or MySQL behind an address
    #[value(alias = "mysql")]
    Mariadb,
}

/// How the server reads ahead.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IoMethod {
    /// Each session reads for itself
    Sync,
    /// Worker processes of the server
    Worker,
    /// `io_uring`, if the server was built with it
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
            without: None,
        }
    }
}
