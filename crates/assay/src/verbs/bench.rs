//! `assay bench`: what a real database gets of a storage; the options of each benchmark in a file of its own.

pub mod brokerage;
mod calls;
pub mod dss;
pub mod guard;
pub mod oltp;
mod partial_data;
mod server;
pub mod slob;
mod transactions;

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{LoadRunOptions, measuring_context};
use crate::start;
use assay_app::load::LoadPlan;
use assay_app::load::transactions::CommitStep;
use assay_model::{Outcome, Result};
use clap::{Args, Subcommand};
use transactions::TransactionOptions;

/// Run a database benchmark: slob, oltp, dss, brokerage
#[derive(Args)]
#[command(after_help = "Examples:
  assay bench slob /mnt/data --sessions 1,4,16
  assay bench oltp postgresql://user@host/database --warehouses 10")]
pub struct Options {
    #[command(subcommand)]
    kind: Kind,
}

/// Kinds of load.
#[derive(Subcommand)]
enum Kind {
    #[command(alias = "tpce")]
    Brokerage(Box<brokerage::Options>),
    #[command(alias = "tpch")]
    Dss(Box<dss::Options>),
    Slob(Box<slob::Options>),
    #[command(alias = "tpcc")]
    Oltp(Box<oltp::Options>),
}

impl Kind {
    /// The options of a load of transactions.
    fn transactions(&self) -> Option<&TransactionOptions> {
        match self {
            Self::Brokerage(options) => Some(&options.shared),
            Self::Oltp(options) => Some(&options.shared),
            Self::Dss(_) | Self::Slob(_) => None,
        }
    }

    /// The plan that the options mean, and how its run is kept and shown.
    fn plan(&self) -> (LoadPlan, &LoadRunOptions) {
        match self {
            Self::Brokerage(options) => (LoadPlan::Brokerage(options.plan()), &options.shared.run),
            Self::Dss(options) => (LoadPlan::Dss(options.plan()), &options.run),
            Self::Slob(options) => (LoadPlan::Slob(options.plan()), &options.run),
            Self::Oltp(options) => (LoadPlan::Oltp(options.plan()), &options.shared.run),
        }
    }
}

/// Carries the command out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let (mut plan, run) = options.kind.plan();
    let ledger = options.kind.transactions();
    let is_after = ledger.is_some_and(|options| options.ledger.after);
    let step = if is_after { CommitStep::Judge } else { CommitStep::Begin };
    if let Some(options) = ledger {
        plan.set_ledger(options.ledger(step)?);
    }
    if run.start.dry_run {
        return start::show(&plan.summary()?, &run.output);
    }
    start::check(&plan.targets(), &run.start)?;
    let context = measuring_context(&run.store, &run.output, &run.start, &run.live)?;
    let finished = plan.run(&context)?;
    let status = conclude(&finished, &run.output, run.start.html.as_deref())?;
    let Some(options) = ledger.filter(|options| options.ledger.resume) else { return Ok(status) };
    if finished.outcome == Outcome::Fail {
        return Ok(status);
    }
    plan.set_ledger(options.ledger(CommitStep::GoOn)?);
    conclude(&plan.run(&context)?, &run.output, None)
}
