//! `assay run`: one workload on one target.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::job_options::{JobOptions, say_report};
use crate::options::{COMMON, OutputOptions, StoreOptions, TargetOptions, context};
use crate::resume::{locked_options, original_options};
use crate::spelling::quantity;
use assay_app::finish::CriteriaSource;
use assay_app::job_file::{self, JobPlan, check_complete, chosen_targets, job_text, read_job};
use assay_app::plan_document::read_plan;
use assay_app::resume::{check_resumable, needed};
use assay_app::run::RunPlan;
use assay_methods::files::read_document;
use assay_methods::presets::preset;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::workload::parse_workload;
use assay_model::{Result, Workload};
use assay_store::{Document, RunReader};
use clap::Args;
use std::path::{Path, PathBuf};

/// What a run that goes on keeps from its beginning, besides its targets.
const OWN: [&str; 5] = ["workload", "time", "warm_up", "interval", "seed"];

/// Runs a workload, from a file or a preset, and judges the result if criteria are given
#[derive(Args)]
#[command(after_help = "Examples:
  assay run oltp /mnt/data
  assay run scan /mnt/data --time 30s
  assay run oltp array:xtremio-1
  assay run job.fio /mnt/data
  assay run --resume latest")]
pub struct Options {
    /// Workload file, job file of fio or Vdbench, or a preset: oltp, oltp-read, oltp-readmostly, oltp-write, dss, redo, scan, backup, database
    #[arg(required_unless_present = "resume")]
    workload: Option<String>,
    /// Measured time, instead of the workload's own
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", value_parser = quantity::<Nanos>)]
    time: Option<Nanos>,
    /// Time under load before measuring, instead of the workload's own
    #[arg(long, aliases = ["warmup", "ramp-time"], value_name = "TIME", value_parser = quantity::<Nanos>)]
    warm_up: Option<Nanos>,
    /// Length of an interval, instead of the workload's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    interval: Option<Nanos>,
    /// Seed of all random choices, instead of the workload's own
    #[arg(long)]
    seed: Option<u64>,
    /// Criteria to judge by: a file, oltp-default or dell-2017; by default those of the workload, if it has any
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Continue an unfinished run as it was started: its id, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = locked_options(&OWN))]
    resume: Option<String>,
    #[command(flatten)]
    job: JobOptions,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let Some(name) = &options.workload else {
        return resume(options);
    };
    if let Some(text) = job_of(name)? {
        return run_job(name, &text, options);
    }
    let plan = RunPlan { target: options.target.plan(), workload: changed(load(name)?, options)? };
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let finished = plan.run(criteria, &context(&options.store, &options.output)?)?;
    conclude(&finished, &options.output)
}

/// The text of another program's job file, where the name is that of one.
fn job_of(name: &str) -> Result<Option<String>> {
    if Path::new(name).is_file() { job_text(Path::new(name)) } else { Ok(None) }
}

/// Runs what a job file stands for, one document after the other; the first bad end counts.
fn run_job(name: &str, text: &str, options: &Options) -> Result<ExitStatus> {
    let settings = options.job.settings();
    let conversion = read_job(Path::new(name), text, &settings)?;
    check_complete(&conversion)?;
    say_report(&conversion, options.output.quiet)?;
    let target = options.target.plan();
    let chosen = chosen_targets(&conversion, &target.targets, &settings)?;
    let context = context(&options.store, &options.output)?;
    let mut worst = ExitStatus::Success;
    for (number, part) in (1..).zip(&conversion.parts) {
        if !options.output.quiet && conversion.parts.len() > 1 {
            let count = conversion.parts.len();
            crate::terminal::say(&format!("{number} of {count}: {}", part.document.name()));
        }
        let finished = match job_file::plan(part, &chosen, &target) {
            JobPlan::Run(plan) => {
                let plan = RunPlan { workload: changed(plan.workload, options)?, ..plan };
                plan.run(CriteriaSource::named(options.criteria.as_deref())?, &context)?
            }
            JobPlan::Study(mut plan) => {
                plan.study.phases.measure = options.time.unwrap_or(plan.study.phases.measure);
                plan.study.phases.warm_up = options.warm_up.unwrap_or(plan.study.phases.warm_up);
                plan.run(&context)?
            }
        };
        let status = conclude(&finished, &options.output)?;
        if worst == ExitStatus::Success {
            worst = status;
        }
        if context.is_stopped() {
            break;
        }
    }
    Ok(worst)
}

/// A file where there is one of that name, else a preset.
///
/// # Errors
/// A usage error when it is neither, or is invalid.
pub fn load(name: &str) -> Result<Workload> {
    if Path::new(name).is_file() {
        return parse_workload(&read_document(Path::new(name), "workload")?)
            .map_err(|error| error.context(name));
    }
    preset(name)
}

/// The workload with what the command line says otherwise.
fn changed(mut workload: Workload, options: &Options) -> Result<Workload> {
    workload.duration = options.time.unwrap_or(workload.duration);
    workload.warm_up = options.warm_up.unwrap_or(workload.warm_up);
    workload.interval = options.interval.unwrap_or(workload.interval);
    workload.seed = options.seed.unwrap_or(workload.seed);
    workload.check()?;
    Ok(workload)
}

/// Goes on with a run; what may be destroyed is what was typed now.
fn resume(options: &Options) -> Result<ExitStatus> {
    let context = context(&options.store, &options.output)?;
    let run = context.store.open(options.resume.as_deref().unwrap_or("latest"))?;
    check_resumable(&run)?;
    let mut plan = match read_plan(&run, RunKind::Run)? {
        Some(plan) => plan,
        None => original_plan(&run)?,
    };
    plan.target.destroy.clone_from(&options.target.destroy);
    plan.target.wipe.clone_from(&options.target.wipe);
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    conclude(&plan.resume(&run, criteria, &context)?, &options.output)
}

/// The plan of a run that was begun by a version that kept none.
fn original_plan(run: &RunReader) -> Result<RunPlan> {
    let begun: Options = original_options(run, "run", "run of one workload")?;
    let text = needed(run, Document::Workload)?;
    let workload = parse_workload(&text).map_err(|error| error.context(run.path().display()))?;
    Ok(RunPlan { target: begun.target.plan(), workload })
}
