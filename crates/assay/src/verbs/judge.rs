//! `assay judge`: a kept run against criteria, without measuring anything.

use crate::exit::{ExitStatus, json, print};
use crate::options::{COMMON, OutputOptions, StoreOptions};
use crate::terminal::layout;
use assay_app::finish::CriteriaSource;
use assay_app::loaded_run::LoadedRun;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_report::Options as Shown;
use assay_store::{Document, RunReader};
use clap::Args;
use std::path::{Path, PathBuf};

/// Judges a stored run by criteria: PASS, FAIL or INCONCLUSIVE
#[derive(Args)]
#[command(after_help = "Examples:
  assay judge
  assay judge latest --criteria oltp-default")]
pub struct Options {
    /// Id of a run or its beginning, `latest`, or a run's directory
    #[arg(default_value = "latest")]
    run: String,
    /// Criteria to judge by: a file, check, oltp-default or dell-2017; by default those that the run was judged by, else
    /// oltp-default, or check for a calibration
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// The run's own criteria, or those that ship for its kind.
fn asked_of(run: &RunReader) -> Result<CriteriaSource> {
    if let Some(text) = run.document(Document::Criteria)? {
        return CriteriaSource::parse(text).map_err(|error| error.context(run.path().display()));
    }
    let name = match run.manifest().kind {
        RunKind::Calibrate | RunKind::Check => "check",
        _ => "oltp-default",
    };
    CriteriaSource::read(Path::new(name))
}

/// A run that nothing was asked of, and of which no criteria that ship say anything.
fn nothing_to_judge(run: &RunReader) -> Error {
    let manifest = run.manifest();
    Error::usage(
        format!(
            "the run {} ({}) has nothing that can be judged",
            manifest.id,
            manifest.kind.name()
        ),
        "name criteria with --criteria FILE; docs/methods/verdict.md lists what they can ask",
    )
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    // Invalid criteria are refused before the run is read.
    let named = CriteriaSource::named(options.criteria.as_deref())?;
    let run = options.store.open().open(&options.run)?;
    let mut loaded = LoadedRun::read(&run)?;
    let is_named = named.is_some();
    let asked = named.map_or_else(|| asked_of(&run), Ok)?;
    let verdict = loaded.judge(&asked.rules);
    if verdict.judgements.is_empty() && !is_named {
        return Err(nothing_to_judge(&run));
    }
    let outcome = verdict.outcome;
    if options.output.json {
        print(&json(&verdict)?)?;
        return Ok(outcome.into());
    }
    loaded.report.verdict = Some(verdict);
    print(&assay_report::verdict_text(&loaded.report, Shown::default(), layout(true)))?;
    Ok(outcome.into())
}
