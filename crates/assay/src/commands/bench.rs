//! `assay bench`: what a real database gets of a storage.

pub mod guard;

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::ledger_options::{CUTS, LedgerOptions};
use crate::options::RunOptions;
use crate::start;
use assay_app::load::LoadPlan;
use assay_app::load::brokerage::BrokeragePlan;
use assay_app::load::dss::DssPlan;
use assay_app::load::oltp::OltpPlan;
use assay_app::load::slob::SlobPlan;
use assay_app::load::transactions::{CommitPlan, CommitStep};
use assay_model::durability::Control;
use assay_model::{Error, Outcome, Result};
use clap::{Args, Subcommand};

/// Run a database benchmark: slob, oltp, dss, brokerage
#[derive(Args)]
#[command(after_help = "Examples:
  assay bench slob /mnt/data --sessions 1,4,16
  assay bench oltp postgresql://user@host/database --warehouses 10")]
pub struct BenchOptions {
    #[command(subcommand)]
    kind: BenchKind,
}

/// Kinds of load.
#[derive(Subcommand)]
enum BenchKind {
    /// Run brokerage in the manner of TPC-E: trade results/s
    ///
    /// Derived from published descriptions of TPC-E; results are not TPC results and cannot be
    /// compared with published ones.
    #[command(
        alias = "tpce",
        after_help = "Examples:
  assay bench brokerage /mnt/data
  assay bench brokerage mysql://user@host/database --customers 5000 --mix write-heavy"
    )]
    Brokerage(Box<TransactionCommand<BrokeragePlan>>),
    /// Run decision-support queries in the manner of TPC-H
    #[command(
        alias = "tpch",
        after_help = "Examples:
  assay bench dss /mnt/data --scale 10
  assay bench dss postgresql://user@host/database --scale 10 --streams 2,4"
    )]
    Dss(Box<LoadCommand<DssPlan>>),
    /// Read and write random blocks through a database (SLOB)
    #[command(after_help = "Examples:
  assay bench slob /mnt/data
  assay bench slob /mnt/data --sessions 1,8,64 --time 30s --update-pct 25
  assay bench slob postgresql://user@host/database --max-latency 5ms")]
    Slob(Box<LoadCommand<SlobPlan>>),
    /// Run order entry in the manner of TPC-C: new orders/min
    ///
    /// Derived from the TPC-C standard; results are not TPC results and cannot be compared with
    /// published ones.
    #[command(
        alias = "tpcc",
        after_help = "Examples:
  assay bench oltp /mnt/data --warehouses 10 --sessions 1,8,32
  assay bench oltp postgresql://user@host/database --warehouses 10 --find-knee
  assay bench oltp postgresql://user@hA/database postgresql://user@hB/database --hosts ssh:c1,c2"
    )]
    Oltp(Box<TransactionCommand<OltpPlan>>),
}

/// A load.
#[derive(Args)]
struct LoadCommand<Plan: Args> {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    run: RunOptions,
}

/// A load of transactions.
#[derive(Args)]
struct TransactionCommand<Plan: Args> {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    commits: CommitOptions,
    #[command(flatten)]
    run: RunOptions,
}

/// The ledger of acknowledged transactions.
#[derive(Args)]
struct CommitOptions {
    #[command(flatten)]
    ledger: LedgerOptions,
    /// Deliberately start the managed server without this safeguard: a cut must then lose data, or
    /// this test cannot detect losses; the data are unusable afterwards
    #[arg(long, value_enum, value_name = "WHAT", help_heading = CUTS)]
    control: Option<Control>,
}

impl CommitOptions {
    /// What is done with a ledger, where there is one.
    ///
    /// # Errors
    /// A usage error when options contradict each other, an environment error when the token cannot
    /// be read.
    fn plan(&self, step: CommitStep) -> Result<Option<CommitPlan>> {
        let control = self.control;
        match self.ledger.place()? {
            Some(place) => Ok(Some(CommitPlan { place, step, cut: self.ledger.cut, control })),
            None if control.is_some() => Err(Error::usage(
                "--control needs a ledger: without one no loss can be seen",
                "specify it with --ledger FILE or --witness HOST:PORT",
            )),
            None => Ok(None),
        }
    }
}

impl BenchKind {
    /// The plan, how its run is kept and shown, and the ledger of a load of transactions.
    fn parts(&self) -> (LoadPlan, &RunOptions, Option<&CommitOptions>) {
        match self {
            Self::Brokerage(load) => {
                (LoadPlan::Brokerage(load.plan.clone()), &load.run, Some(&load.commits))
            }
            Self::Dss(load) => (LoadPlan::Dss(load.plan.clone()), &load.run, None),
            Self::Slob(load) => (LoadPlan::Slob(load.plan.clone()), &load.run, None),
            Self::Oltp(load) => (LoadPlan::Oltp(load.plan.clone()), &load.run, Some(&load.commits)),
        }
    }
}

/// Carries the command out.
pub fn run(options: &BenchOptions) -> Result<ExitStatus> {
    let (mut plan, run, commits) = options.kind.parts();
    let is_after = commits.is_some_and(|commits| commits.ledger.after);
    let step = if is_after { CommitStep::Judge } else { CommitStep::Begin };
    if let Some(commits) = commits {
        plan.set_ledger(commits.plan(step)?);
    }
    if run.start.dry_run {
        return start::show(&plan.summary()?, &run.output);
    }
    start::check(&plan.targets(), &run.start)?;
    let context = run.context()?;
    let finished = plan.run(&context)?;
    let status = conclude(&finished, &run.output, run.page())?;
    let Some(commits) = commits.filter(|commits| commits.ledger.resume) else { return Ok(status) };
    if finished.outcome == Outcome::Fail {
        return Ok(status);
    }
    plan.set_ledger(commits.plan(CommitStep::GoOn)?);
    conclude(&plan.run(&context)?, &run.output, None)
}
