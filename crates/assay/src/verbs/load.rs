//! `assay load`: what a real database gets of a storage; one file a kind of load.

pub mod brokerage;
mod calls;
pub mod dss;
pub mod guard;
pub mod left;
pub mod oltp;
pub mod server;
pub mod slob;
pub mod transactions;

use crate::exit::ExitStatus;
use assay_model::Result;
use clap::{Args, Subcommand};

/// Runs a real database on the storage and shows what it gets
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    kind: Kind,
}

/// Kinds of load.
#[derive(Subcommand)]
enum Kind {
    Brokerage(Box<brokerage::Options>),
    Dss(Box<dss::Options>),
    Slob(Box<slob::Options>),
    Oltp(Box<oltp::Options>),
}

/// Carries the verb out.
///
/// # Errors
/// What the kind of load says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    match &options.kind {
        Kind::Brokerage(options) => brokerage::run(options),
        Kind::Dss(options) => dss::run(options),
        Kind::Slob(options) => slob::run(options),
        Kind::Oltp(options) => oltp::run(options),
    }
}
