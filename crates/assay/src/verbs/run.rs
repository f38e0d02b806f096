//! `assay run`: one workload on one target.

use crate::begun::{as_begun, begun, goes_on, needed};
use crate::conclude::{Asked, conclude};
use crate::exit::Ended;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::session::{Session, Wanted, remaining};
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
    #[arg(long, value_name = "RUN", conflicts_with_all = as_begun(&OWN))]
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
pub fn run(options: &Options) -> Result<Ended> {
    let Some(name) = &options.workload else {
        return resume(options);
    };
    let workload = changed(load(name)?, options)?;
    let asked = Asked::of(options.criteria.as_deref(), &workload)?;
    let mut session = Session::begin(
        RunKind::Run,
        &Wanted::of(&workload, &options.target, (&options.store, &options.output)),
    )?;
    let unanswered = asked.as_ref().map(|asked| asked.rules.unanswered_by(&workload));
    for doubt in unanswered.unwrap_or_default() {
        session.progress.say(&format!("note: {doubt}"));
    }
    match session.measure(CELL, &workload) {
        Ok(measurement) => finish(session, &measurement, asked.as_ref(), options),
        Err(error) => Err(session.abandon(error)),
    }
}

fn finish(
    session: Session,
    measurement: &Measurement,
    asked: Option<&Asked>,
    options: &Options,
) -> Result<Ended> {
    // Test files go before the answer is printed.
    conclude(session.end(), &measurement.finish, asked, &options.output)
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
fn resume(options: &Options) -> Result<Ended> {
    let name = options.resume.as_deref().unwrap_or("latest");
    let store = options.store.open();
    let reader = store.open(name)?;
    let begun = begun_with(&reader, options)?;
    let left = left(&reader)?;
    let asked = Asked::of(options.criteria.as_deref(), &left)?;
    let writer = store.resume(name, unix_ns())?;
    let mut session = Session::go_on(
        writer,
        &reader.manifest().targets,
        &Wanted::of(&left, &begun.target, (&options.store, &options.output)),
    )?;
    let measured = if reader.cell(CELL).is_ok() {
        let cell = session.writer.resume_cell(CELL, &session.cell_start())?;
        session.measure_into(cell, &left)
    } else {
        session.measure(CELL, &left)
    };
    match measured {
        Ok(measurement) => finish(session, &measurement, asked.as_ref(), options),
        Err(error) => Err(session.abandon(error)),
    }
}

/// The options that the run was begun with; what may be destroyed is what was typed now.
fn begun_with(run: &RunReader, now: &Options) -> Result<Options> {
    goes_on(run)?;
    let mut begun: Options = begun(run, "run", "run of one workload")?;
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
