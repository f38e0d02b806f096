//! `assay judge`: a kept run against criteria, without measuring anything.

use crate::conclude::{Asked, colour};
use crate::dossier::Dossier;
use crate::exit::{Ended, json, print};
use crate::options::{OutputOptions, StoreOptions};
use assay_model::Result;
use assay_report::Options as Shown;
use clap::Args;
use std::path::PathBuf;

/// Judges a kept run by criteria: PASS, FAIL or INCONCLUSIVE
#[derive(Args)]
pub struct Options {
    /// Id of a run, the beginning of one, `latest`, or a run's directory
    #[arg(default_value = "latest")]
    run: String,
    /// Criteria file; the defaults without it
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
///
/// # Errors
/// What the criteria or the store says.
pub fn run(options: &Options) -> Result<Ended> {
    let asked = Asked::read(options.criteria.as_deref())?;
    let run = options.store.open().open(&options.run)?;
    let mut dossier = Dossier::read(&run)?;
    let verdict = dossier.judge(&asked.rules);
    let outcome = verdict.outcome;
    if options.output.json {
        print(&json(&verdict)?)?;
        return Ok(outcome.into());
    }
    dossier.report.verdict = Some(verdict);
    print(&assay_report::verdict_text(&dossier.report, Shown::default(), colour()))?;
    Ok(outcome.into())
}
