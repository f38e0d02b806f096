//! `assay verify`: whether storage keeps what it acknowledged.

mod replay;
mod witness;

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::ledger_options::LedgerOptions;
use crate::options::RunOptions;
use crate::start;
use assay_app::Context;
use assay_app::verify::{AfterPlan, VerifyPlan};
use assay_model::{Outcome, Result};
use clap::{Args, Subcommand};

/// Test whether acknowledged writes survive power cuts
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  assay verify /mnt/data
  assay verify /mnt/data --ledger /other/disk/data.ledger
  assay verify /mnt/data --after --ledger /other/disk/data.ledger --cut power
  assay verify /mnt/data --witness 192.0.2.7:9310 --token-file token
  assay verify /mnt/data --after --resume --witness 192.0.2.7:9310 --token-file token"
)]
pub struct VerifyOptions {
    #[command(subcommand)]
    part: Option<PowerCutPart>,
    #[command(flatten)]
    plan: VerifyPlan,
    #[command(flatten)]
    ledger: LedgerOptions,
    #[command(flatten)]
    run: RunOptions,
}

/// What belongs to a test with power cuts and measures nothing itself.
#[derive(Subcommand)]
enum PowerCutPart {
    Witness(witness::WitnessOptions),
    Replay(replay::ReplayOptions),
}

/// Carries the command out.
pub fn run(options: &VerifyOptions) -> Result<ExitStatus> {
    match &options.part {
        Some(PowerCutPart::Witness(options)) => witness::run(options),
        Some(PowerCutPart::Replay(options)) => replay::run(options),
        None => verify(options),
    }
}

fn verify(options: &VerifyOptions) -> Result<ExitStatus> {
    let verify = VerifyPlan { ledger: options.ledger.place()?, ..options.plan.clone() };
    if options.ledger.after && !options.run.start.dry_run {
        start::check_storage(&verify.target)?;
        let context = options.run.context()?;
        return after(&AfterPlan { verify, cut: options.ledger.cut }, options, &context);
    }
    start::carry_out(&verify, &options.run)
}

/// Judges, and writes on where that is asked and nothing was lost.
fn after(plan: &AfterPlan, options: &VerifyOptions, context: &Context) -> Result<ExitStatus> {
    if options.ledger.resume {
        start::check(&plan.verify.target.targets, &options.run.start)?;
    }
    let judged = plan.judge(context)?;
    let status = conclude(&judged, &options.run.output, options.run.page())?;
    if !options.ledger.resume || judged.outcome == Outcome::Fail {
        return Ok(status);
    }
    conclude(&plan.resume(context)?, &options.run.output, None)
}
