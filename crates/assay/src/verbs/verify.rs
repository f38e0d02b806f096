//! `assay verify`: whether storage keeps what it acknowledged.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{COMMON, OutputOptions, StoreOptions, TargetOptions, measuring_context};
use crate::spelling::quantity;
use crate::start;
use assay_app::Context;
use assay_app::finish::CriteriaSource;
use assay_app::verify::{AfterPlan, VerifyPlan};
use assay_ledger::{LedgerPlace, Token, WitnessAddress};
use assay_model::durability::CutKind;
use assay_model::units::Nanos;
use assay_model::{Error, Outcome, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Finds out whether storage keeps what it acknowledged: flush times, a verified load, and power cuts against a ledger
#[derive(Args)]
#[command(after_help = "Examples:
  assay verify /mnt/data
  assay verify /mnt/data --ledger /other/disk/data.ledger
  assay verify /mnt/data --after --ledger /other/disk/data.ledger --cut power
  assay verify /mnt/data --witness 192.0.2.7:9310 --token-file token
  assay verify /mnt/data --after --resume --witness 192.0.2.7:9310 --token-file token")]
pub struct Options {
    /// How long it lasts; by default 150s, or until the storage dies if there is a ledger
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", value_parser = quantity::<Nanos>)]
    time: Option<Nanos>,
    /// Criteria to judge by: a file
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Keep what is acknowledged in this new file on another device, and write until the storage dies
    #[arg(long, value_name = "FILE", conflicts_with = "witness", help_heading = CUTS)]
    ledger: Option<PathBuf>,
    /// Keep what is acknowledged at this witness on another machine, and write until the storage dies
    #[arg(long, value_name = "HOST:PORT", requires = "token_file", help_heading = CUTS)]
    witness: Option<String>,
    /// File with the token that the witness has, too
    #[arg(long, value_name = "FILE", requires = "witness", help_heading = CUTS)]
    token_file: Option<PathBuf>,
    /// Judge what the storage holds after a cut, by the ledger
    #[arg(long, help_heading = CUTS)]
    after: bool,
    /// Write on after the judgement if nothing was lost, until the storage dies again
    #[arg(long, requires = "after", help_heading = CUTS)]
    resume: bool,
    /// What was cut; by default the system if it was started again, else the process
    #[arg(long, value_name = "WHAT", requires = "after", help_heading = CUTS)]
    cut: Option<Cut>,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

const CUTS: &str = "Power cuts";

/// What was cut.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Cut {
    /// The process alone
    Process,
    /// The operating system, or the virtual machine
    System,
    /// The power of the whole path
    Power,
}

impl From<Cut> for CutKind {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Process => Self::Process,
            Cut::System => Self::System,
            Cut::Power => Self::Power,
        }
    }
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let verify =
        VerifyPlan { target: options.target.plan(), time: options.time, ledger: place(options)? };
    if options.target.start.dry_run {
        return start::show(&verify.summary()?, &options.output);
    }
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    if options.after {
        let context = context(options)?;
        return after(
            &AfterPlan { verify, cut: options.cut.map(CutKind::from) },
            criteria.as_ref(),
            options,
            &context,
        );
    }
    start::check(&verify.target.targets, &options.target.start)?;
    conclude(&verify.run(criteria.as_ref(), &context(options)?)?, &options.output)
}

fn context(options: &Options) -> Result<Context> {
    let name = options.target.start.name.as_deref();
    measuring_context(&options.store, &options.output, name, &options.target.live)
}

/// Judges, and writes on where that is asked and nothing was lost.
fn after(
    plan: &AfterPlan,
    criteria: Option<&CriteriaSource>,
    options: &Options,
    context: &Context,
) -> Result<ExitStatus> {
    if options.resume {
        start::check(&plan.verify.target.targets, &options.target.start)?;
    }
    let judged = plan.judge(criteria, context)?;
    let status = conclude(&judged, &options.output)?;
    if !options.resume || judged.outcome == Outcome::Fail {
        return Ok(status);
    }
    conclude(&plan.resume(context)?, &options.output)
}

/// Where the ledger lies.
fn place(options: &Options) -> Result<Option<LedgerPlace>> {
    if let (Some(address), Some(token)) = (&options.witness, &options.token_file) {
        let token = Token::read(token)?;
        return Ok(Some(LedgerPlace::Witness(WitnessAddress { address: address.clone(), token })));
    }
    match &options.ledger {
        Some(path) => Ok(Some(LedgerPlace::File(path.clone()))),
        None if options.after => Err(Error::usage(
            "--after needs the ledger of what was acknowledged",
            "name it with --ledger FILE or --witness HOST:PORT",
        )),
        None => Ok(None),
    }
}
