//! Options of the server that a load runs on.

use assay_app::load::server_plan::ServerPlan;
use assay_model::load::Dialect;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Heading of the options of the server.
pub const SERVER: &str = "Server options";

/// The databases of a load that can be on several.
#[derive(Args)]
pub struct DatabaseOptions {
    /// Directory on the storage, where Assay creates a server, or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "STORAGE|DB")]
    pub target: String,
    /// Further databases for the same load, each with a server, data and hosts of its own; hosts have them in turn
    #[arg(value_name = "STORAGE|DB", requires = "hosts")]
    pub other_targets: Vec<String>,
}

/// The server that Assay creates.
#[derive(Args)]
#[command(next_help_heading = SERVER)]
pub struct ServerOptions {
    /// Product of the server that Assay creates; an address already says which one it is
    #[arg(long = "server", alias = "product", value_parser = products(), value_name = "PRODUCT")]
    product: Option<Dialect>,
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

/// Products whose servers are known.
fn products() -> impl TypedValueParser<Value = Dialect> {
    let product = |known: Dialect| {
        let facts = known.facts();
        PossibleValue::new(facts.name).aliases(facts.aliases).help(facts.help)
    };
    PossibleValuesParser::new(Dialect::ALL.map(product))
        .try_map(|name| Dialect::named(&name).ok_or("it is not a product"))
}

impl ServerOptions {
    /// The server that these options mean.
    pub fn plan(&self) -> ServerPlan {
        ServerPlan {
            product: self.product,
            bindir: self.bindir.clone(),
            buffered: self.buffered,
            io_method: self.io_method.map(|method| match method {
                IoMethod::Sync => assay_dbserver::IoMethod::Sync,
                IoMethod::Worker => assay_dbserver::IoMethod::Worker,
                IoMethod::IoUring => assay_dbserver::IoMethod::IoUring,
            }),
            keep: self.keep,
            without: None,
        }
    }
}
