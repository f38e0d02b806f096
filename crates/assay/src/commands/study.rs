//! `assay study`: an experiment from a file.

use crate::exit::{ExitStatus, json, print};
use crate::finish::conclude;
use crate::options::RunOptions;
use crate::resume::{ids, locked_options};
use crate::start;
use crate::terminal::say;
use assay_app::study::StudyPlan;
use assay_app::study::outline::{self, StudyListing};
use assay_methods::files::{is_file_name, read_owned_document, shadow_note};
use assay_methods::shipped_studies::study_text;
use assay_methods::target::SimulatedDevice;
use assay_model::study::{Scale, Study, parse_study};
use assay_model::{Error, Result};
use clap::Args;
use std::path::Path;

/// Run every combination of the factors in a study file
#[derive(Args)]
#[command(after_help = "Examples:
  assay study dell-locality /mnt/data --scale 1/1000 --dry-run
  assay study dell-locality /mnt/data --scale 1/1000
  assay study cluster.study.toml /mnt/data --hosts local:4
  assay study --resume latest")]
pub struct StudyOptions {
    /// Study file (`*.study.toml`), or the name of a built-in study; `assay list studies` lists
    /// them
    #[arg(required_unless_present = "resume")]
    study: Option<String>,
    /// Scale data and times down to this share: 1/1000, 5%
    #[arg(long, value_name = "SHARE", default_value = "1")]
    scale: Scale,
    /// Continue an unfinished study as it was started: its id, or `latest`
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = locked_options(&["study", "scale"], &[ids::<StudyPlan>()])
    )]
    resume: Option<String>,
    #[command(flatten)]
    plan: StudyPlan,
    #[command(flatten)]
    run: RunOptions,
}

/// Carries the command out.
pub fn run(options: &StudyOptions) -> Result<ExitStatus> {
    if let Some(run) = &options.resume {
        return start::resume(run, &options.plan.target, &options.run, |_: &mut StudyPlan| ());
    }
    let name = options.study.as_deref().unwrap_or_default();
    if !options.run.output.quiet
        && let Some(note) = shadow_note(name, is_built_in(name))
    {
        say(&note);
    }
    let study = load(name)?;
    let plan = StudyPlan {
        notes: study.floors(options.scale),
        study: study.scaled(options.scale),
        ..options.plan.clone()
    };
    carry_out(&plan, &options.run)
}

/// Carries a study out, or shows its cells.
///
/// # Errors
/// What the study, the store, the target or the engine says.
pub(super) fn carry_out(plan: &StudyPlan, options: &RunOptions) -> Result<ExitStatus> {
    if options.start.dry_run {
        return dry_run(plan, options);
    }
    start::check(&plan.target.targets, &options.start)?;
    let finished = plan.run(&options.context()?)?;
    conclude(&finished, &options.output, options.page())
}

fn is_built_in(name: &str) -> bool {
    study_text(name).is_ok()
}

/// The built-in study of this name, else the file. A file that another user can have written runs
/// no commands.
fn load(name: &str) -> Result<Study> {
    let is_file = is_file_name(name, is_built_in(name)) || name.contains('/');
    let (text, is_own) = if is_file {
        read_owned_document(Path::new(name), "study")?
    } else {
        (study_text(name)?.to_owned(), true)
    };
    let study = parse_study(&text).map_err(|error| error.context(name))?;
    let has_hooks = study.hooks.before.is_some() || study.hooks.after.is_some();
    if is_own || !has_hooks {
        return Ok(study);
    }
    Err(Error::usage(
        format!("{name} runs hooks, and another user can write to it"),
        "check the hooks, then use a copy that only you can write",
    ))
}

/// The plan as text or JSON. Cells that cannot be made are known before anything is touched.
fn dry_run(plan: &StudyPlan, options: &RunOptions) -> Result<ExitStatus> {
    let (targets, study) = (&plan.target.targets, &plan.on_each_host());
    for target in targets {
        SimulatedDevice::parse(target)?;
    }
    if options.output.json {
        return print(&json(&StudyListing::of(study, &plan.notes, targets))?);
    }
    print(&outline::text(study, &plan.notes, targets))
}
