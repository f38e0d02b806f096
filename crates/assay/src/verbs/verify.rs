//! `assay verify`: whether storage keeps what it acknowledged.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::ledger_options::LedgerOptions;
use crate::options::MeasurementOptions;
use crate::start;
use assay_app::Context;
use assay_app::finish::CriteriaSource;
use assay_app::verify::{AfterPlan, VerifyPlan};
use assay_model::units::Nanos;
use assay_model::{Outcome, Result};
use clap::Args;
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
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME")]
    time: Option<Nanos>,
    /// Criteria to judge by: a file
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    ledger: LedgerOptions,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let verify = VerifyPlan {
        target: options.shared.target.plan.clone(),
        time: options.time,
        ledger: options.ledger.place()?,
    };
    if options.shared.target.start.dry_run {
        return start::show(&verify.summary()?, &options.shared.output);
    }
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    if options.ledger.after {
        let context = options.shared.context()?;
        return after(
            &AfterPlan { verify, cut: options.ledger.cut() },
            criteria.as_ref(),
            options,
            &context,
        );
    }
    start::check(&verify.target.targets, &options.shared.target.start)?;
    conclude(&verify.run(criteria.as_ref(), &options.shared.context()?)?, &options.shared.output)
}

/// Judges, and writes on where that is asked and nothing was lost.
fn after(
    plan: &AfterPlan,
    criteria: Option<&CriteriaSource>,
    options: &Options,
    context: &Context,
) -> Result<ExitStatus> {
    if options.ledger.resume {
        start::check(&plan.verify.target.targets, &options.shared.target.start)?;
    }
    let judged = plan.judge(criteria, context)?;
    let status = conclude(&judged, &options.shared.output)?;
    if !options.ledger.resume || judged.outcome == Outcome::Fail {
        return Ok(status);
    }
    conclude(&plan.resume(context)?, &options.shared.output)
}
