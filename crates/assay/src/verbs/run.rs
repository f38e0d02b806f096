//! `assay run`: one workload on one target.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use crate::resume::{locked_options, original_options};
use assay_app::finish::{CriteriaSource, finish_run};
use assay_app::recording::{Recording, RunRequest, remaining};
use assay_app::resume::{check_resumable, needed};
use assay_host::clock::unix_ns;
use assay_methods::files::read_document;
use assay_methods::presets::preset;
use assay_model::measurement::Measurement;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::workload::parse_workload;
use assay_model::{Result, Workload};
use assay_store::{Document, RunReader};
use clap::Args;
use std::path::{Path, PathBuf};

/// The cell of the one workload.
const CELL: &str = "run";

/// What a run that goes on keeps from its beginning, besides its targets.
const OWN: [&str; 5] = ["workload", "duration", "warm_up", "interval", "seed"];

/// Runs a workload (a file or a preset), and judges what came of it where criteria are given
#[derive(Args)]
pub struct Options {
    /// Workload file, or a preset: oltp, oltp-read, oltp-readmostly, oltp-write, dss, redo, scan, backup, database
    #[arg(required_unless_present = "resume")]
    workload: Option<String>,
    #[command(flatten)]
    target: TargetOptions,
    /// Measured time, instead of the workload's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    duration: Option<Nanos>,
    /// Load before measuring, instead of the workload's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    warm_up: Option<Nanos>,
    /// Length of an interval, instead of the workload's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    interval: Option<Nanos>,
    /// Seed of all random choices, instead of the workload's own
    #[arg(long)]
    seed: Option<u64>,
    /// Criteria to judge by: a file, or oltp-default or dell-2017; without it what the workload asks, if anything
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Take up an unfinished run of the store again as it was begun: its id, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = locked_options(&OWN))]
    resume: Option<String>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
///
/// # Errors
/// What the workload, the criteria, the store, the target or the engine says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let Some(name) = &options.workload else {
        return resume(options);
    };
    let workload = changed(load(name)?, options)?;
    let asked = CriteriaSource::of(options.criteria.as_deref(), &workload)?;
    let context = context(&options.store, &options.output)?;
    let target = options.target.plan();
    let mut recording =
        Recording::begin(RunKind::Run, &RunRequest::of(&workload, &target), &context)?;
    let unanswered = asked.as_ref().map(|asked| asked.rules.unanswered_by(&workload));
    for doubt in unanswered.unwrap_or_default() {
        context.progress.say(&format!("note: {doubt}"));
    }
    match recording.measure(CELL, &workload) {
        Ok(measurement) => finish(recording, &measurement, asked.as_ref(), options),
        Err(error) => Err(recording.abandon(error)),
    }
}

fn finish(
    recording: Recording,
    measurement: &Measurement,
    asked: Option<&CriteriaSource>,
    options: &Options,
) -> Result<ExitStatus> {
    // Test files go before the answer is printed.
    let finished = finish_run(recording.end(), &measurement.finish, asked)?;
    conclude(&finished, &options.output)
}

/// A file where there is one of that name, else a preset.
///
/// # Errors
/// A usage error when it is neither, or cannot be meant.
pub fn load(name: &str) -> Result<Workload> {
    if Path::new(name).is_file() {
        return parse_workload(&read_document(Path::new(name), "workload")?)
            .map_err(|error| error.context(name));
    }
    preset(name)
}

/// The workload with what the command line says otherwise.
fn changed(mut workload: Workload, options: &Options) -> Result<Workload> {
    workload.duration = options.duration.unwrap_or(workload.duration);
    workload.warm_up = options.warm_up.unwrap_or(workload.warm_up);
    workload.interval = options.interval.unwrap_or(workload.interval);
    workload.seed = options.seed.unwrap_or(workload.seed);
    workload.check()?;
    Ok(workload)
}

/// Goes on with a run that was killed or interrupted: the same workload for the time that is left.
fn resume(options: &Options) -> Result<ExitStatus> {
    let name = options.resume.as_deref().unwrap_or("latest");
    let context = context(&options.store, &options.output)?;
    let store = &context.store;
    let reader = store.open(name)?;
    let begun = begun_with(&reader, options)?;
    let left = left(&reader)?;
    let asked = CriteriaSource::of(options.criteria.as_deref(), &left)?;
    let writer = store.resume(name, unix_ns())?;
    let target = begun.target.plan();
    let mut recording = Recording::go_on(
        writer,
        &reader.manifest().targets,
        &RunRequest::of(&left, &target),
        &context,
    )?;
    let measured = if reader.cell(CELL).is_ok() {
        let cell = recording.writer.resume_cell(CELL, &recording.cell_start())?;
        recording.measure_into(cell, &left)
    } else {
        recording.measure(CELL, &left)
    };
    match measured {
        Ok(measurement) => finish(recording, &measurement, asked.as_ref(), options),
        Err(error) => Err(recording.abandon(error)),
    }
}

/// The options that the run was begun with; what may be destroyed is what was typed now.
fn begun_with(run: &RunReader, now: &Options) -> Result<Options> {
    check_resumable(run)?;
    let mut begun: Options = original_options(run, "run", "run of one workload")?;
    begun.target.destroy.clone_from(&now.target.destroy);
    begun.target.wipe.clone_from(&now.target.wipe);
    Ok(begun)
}

/// The workload for the time that is left; all of it when the run ended before anything was measured.
fn left(run: &RunReader) -> Result<Workload> {
    if let Ok(cell) = run.cell(CELL) {
        return remaining(&cell.workload()?, cell.elapsed_ns()?);
    }
    let text = needed(run, Document::Workload)?;
    parse_workload(&text).map_err(|error| error.context(run.path().display()))
}
