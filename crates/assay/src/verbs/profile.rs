//! `assay profile`: what a database asked of its storage.

use super::profile_server;
use crate::exit::{Ended, json, print};
use crate::options::{OutputOptions, quantity};
use assay_model::Result;
use assay_model::units::Nanos;
use clap::Args;

/// Watches a live server: what is asked of storage, where time goes, and whether faster storage would help
#[derive(Args)]
pub struct Options {
    /// Address of a server, postgresql://user@host:port/database
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// How long to watch a server
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "60s")]
    length: Nanos,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
///
/// # Errors
/// What the server says.
pub fn run(options: &Options) -> Result<Ended> {
    print(&json(&profile_server::profile(&options.address, options.length, &options.output)?)?)
}
