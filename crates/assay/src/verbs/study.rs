//! `assay study`: an experiment from a file.

use crate::exit::{ExitStatus, json, print};
use crate::finish::show;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use crate::resume::{locked_options, original_options};
use assay_app::Context;
use assay_app::finish::finish_with_page;
use assay_app::load::prepared_server::{LoadTarget, see_to_left_in};
use assay_app::recording::{OpenTarget, Recording, RunRequest};
use assay_app::resume::needed;
use assay_app::statistics::Book;
use assay_app::study::outline::is_of_loads;
use assay_app::study::shared_data::Data;
use assay_app::study::{executor, load_cells, outline, phases};
use assay_app::target_plan::TargetPlan;
use assay_host::clock::unix_ns;
use assay_judge::{factor_curves, factor_scaling};
use assay_methods::files::read_document;
use assay_methods::study::{base_workload, cells, workload_of};
use assay_methods::target::SimulatedDevice;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::study::{Cell, CellResult, CellState, Scale, Study, StudyResult, parse_study};
use assay_model::{Error, Outcome, Result};
use assay_store::{Document, NewRun, RunWriter};
use clap::Args;
use std::path::Path;
use std::time::Instant;

mod command;

/// What a study that goes on keeps from its beginning, besides its targets.
const OWN: [&str; 3] = ["study", "scale", "dry_run"];

/// Carries out an experiment: every combination of the factors of a study file, in its order, with its phases
#[derive(Args)]
pub struct Options {
    /// Study file (`*.study.toml`, or one of studies/)
    #[arg(required_unless_present = "resume")]
    study: Option<String>,
    #[command(flatten)]
    target: TargetOptions,
    /// Make data and times so many times smaller: 1/1000, 5%
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Scale>, default_value = "1")]
    scale: Scale,
    /// Print the cells, what happens in each, and how long it takes; nothing is touched
    #[arg(long)]
    dry_run: bool,
    /// Take up an unfinished study of the store again: its id, or `latest`
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
/// What the study, the store, the target or the engine says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let Some(name) = options.study.clone() else {
        return resume(options);
    };
    let text = read_document(Path::new(&name), "study")?;
    let study = parse_study(&text).map_err(|error| error.context(&name))?;
    let before = Before { cells: Vec::new(), notes: study.floors(options.scale) };
    let study = study.scaled(options.scale);
    if options.dry_run {
        return dry_run(&study, &before.notes, options);
    }
    if is_of_loads(&study, &options.target.targets) {
        return begin_loads(&study, before, options);
    }
    let mut target = options.target.plan();
    has_work(&study, &target)?;
    base_workload(&study)?;
    outline::check(&study, &target.targets)?;
    give_size(&study, &mut target);
    let context = context(&options.store, &options.output)?;
    let recording = Recording::begin(RunKind::Study, &wanted(&study, &target)?, &context)?;
    let refused = match executor::keep(&recording.writer, &study) {
        Ok(()) => phases::used(&recording, &study, None).err(),
        Err(error) => Some(error),
    };
    match refused {
        Some(error) => Err(recording.abandon(error)),
        None => go(recording, &study, before, options),
    }
}

/// What is known of a study before its next cell: results of earlier ones, and what holds for all.
#[derive(Default)]
struct Before {
    cells: Vec<CellResult>,
    notes: Vec<String>,
}

/// The plan as text or JSON. Cells that cannot be made are known before anything is touched.
fn dry_run(study: &Study, notes: &[String], options: &Options) -> Result<ExitStatus> {
    for target in &options.target.targets {
        SimulatedDevice::parse(target)?;
    }
    let targets = &options.target.targets;
    let target = targets.first().map(String::as_str).unwrap_or_default();
    let load = |study: &Study, cell: &Cell| command::phases(study, cell, target);
    if options.output.json {
        return print(&json(&outline::document(study, notes, targets, &load))?);
    }
    print(&outline::text(study, notes, targets, &load))
}

/// What only a database or a simulated array can do is not asked of a storage.
fn has_work(study: &Study, target: &TargetPlan) -> Result<()> {
    let is_array = target.targets.iter().any(|target| target.starts_with("array:"));
    if study.has_workload() || (is_array && study.sessions.is_some()) {
        return Ok(());
    }
    Err(Error::usage(
        format!("the study '{}' has nothing to do on {}", study.name, target.targets.join(", ")),
        "add a [workload] or a preset for storage, [sessions] for array:NAME, [load] for a database",
    ))
}

/// A study whose cells are loads of a database.
fn begin_loads(study: &Study, before: Before, options: &Options) -> Result<ExitStatus> {
    let target = options.target.targets.first().map(String::as_str).unwrap_or_default();
    let named = LoadTarget::read(target)?;
    for cell in cells(study) {
        command::words(study, &cell, target)?;
    }
    let context = context(&options.store, &options.output)?;
    let writer = context.store.create(&NewRun {
        kind: RunKind::Study,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: named.command(target, &context.command),
        targets: vec![named.shown()],
        created_unix_ns: unix_ns(),
    })?;
    executor::keep(&writer, study)?;
    go_loads(writer, study, (target, &named.shown()), before, (options, &context))
}

/// All loads that have no result yet, then the page.
fn go_loads(
    writer: RunWriter,
    study: &Study,
    (target, shown): (&str, &str),
    before: Before,
    (options, context): (&Options, &Context),
) -> Result<ExitStatus> {
    let mut result = fresh(study, before);
    if let LoadTarget::Directory(path) = LoadTarget::read(target)? {
        see_to_left_in(&path, None, &context.progress)?;
    }
    let mut place = load_cells::LoadCells {
        target,
        shown,
        context,
        writer: &writer,
        words: &|study, cell| command::words(study, cell, target),
        began: Instant::now(),
        data: Data::open(study, target)?,
    };
    let finish = executor::run_cells(&mut place, study, &mut result);
    // What was loaded goes before the answer is printed, whatever came of it.
    let closed = place.data.take().map_or(Ok(()), Data::close);
    context.progress.clear();
    let finish = finish.and_then(|finish| closed.map(|()| finish))?;
    conclude(writer, &mut result, &finish, options)
}

fn wanted<'a>(study: &'a Study, target: &'a TargetPlan) -> Result<RunRequest<'a>> {
    let writes = |cell| workload_of(study, &cell).is_ok_and(|workload| workload.writes());
    let prepares = cells(study).iter().any(|cell| cell.restored);
    Ok(RunRequest {
        target,
        write: prepares || cells(study).into_iter().any(writes),
        direct: base_workload(study)?.direct,
        workload: None,
        study: Some(study),
    })
}

/// A test file as large as the data of the study, and as many of them as it has volumes.
fn give_size(study: &Study, target: &mut TargetPlan) {
    let volumes = study
        .factors
        .iter()
        .filter(|factor| factor.name == "volumes")
        .flat_map(|factor| factor.values.iter().filter_map(assay_model::study::FactorValue::number))
        .fold(1.0, f64::max);
    let directories = target.targets.iter().all(|path| Path::new(path).is_dir());
    if !directories || target.targets.is_empty() {
        return;
    }
    if let [only] = target.targets.as_slice() {
        target.targets = vec![only.clone(); assay_model::number::index(volumes).max(1)];
    }
    if target.size.is_none() {
        let files = assay_model::number::count_of(target.targets.len());
        // A file keeps some of its bytes for what says that it is ours.
        let each = |bytes: u64| bytes.div_ceil(files << 20) + 4;
        target.size = study.capacity.map(|size| assay_model::units::Bytes(each(size.0) << 20));
    }
}

/// All cells that have no result yet, then the page.
fn go(
    recording: Recording,
    study: &Study,
    before: Before,
    options: &Options,
) -> Result<ExitStatus> {
    let is_fresh = before.cells.is_empty();
    let mut result = fresh(study, before);
    let mut runner = executor::OnStorage::new(recording, study, is_fresh);
    let finish = executor::run_cells(&mut runner, study, &mut result)?;
    result.course = runner.course(study);
    // Test files go before the answer is printed.
    let writer = runner.recording.end();
    conclude(writer, &mut result, &finish, options)
}

fn fresh(study: &Study, before: Before) -> StudyResult {
    StudyResult {
        format: 1,
        study: study.name.clone(),
        description: study.description.clone(),
        planned: u32::try_from(cells(study).len()).unwrap_or(u32::MAX),
        notes: before.notes,
        cells: before.cells,
        curves: Vec::new(),
        scaling: Vec::new(),
        course: None,
    }
}

/// Curves, the page, the answer.
fn conclude(
    writer: RunWriter,
    result: &mut StudyResult,
    finish: &Finish,
    options: &Options,
) -> Result<ExitStatus> {
    result.curves = factor_curves(&result.cells, &Book);
    result.scaling = factor_scaling(&result.curves, &Book);
    writer.put_json(Document::Results, result)?;
    let finished = finish_with_page(writer, finish, Outcome::Pass)?;
    show(&finished.loaded, &finished.run, &options.output)?;
    let failed = result.cells.iter().any(|cell| matches!(cell.state, CellState::Failed { .. }));
    Ok(match finish {
        Finish::Complete if failed => ExitStatus::Failure,
        Finish::Complete => ExitStatus::Success,
        Finish::Interrupted | Finish::Unfinished => ExitStatus::Interrupted,
        Finish::Failed { .. } => ExitStatus::Aborted,
    })
}

/// Goes on with a study that was killed or interrupted: cells that have a result are not measured again.
fn resume(options: &Options) -> Result<ExitStatus> {
    let name = options.resume.as_deref().unwrap_or("latest");
    let context = context(&options.store, &options.output)?;
    let store = &context.store;
    let reader = store.open(name)?;
    let mut begun: Options = original_options(&reader, "study", "study")?;
    begun.target.destroy.clone_from(&options.target.destroy);
    begun.target.wipe.clone_from(&options.target.wipe);
    let text = needed(&reader, Document::Study)?;
    let study = parse_study(&text).map_err(|error| error.context(reader.path().display()))?;
    let before = reader
        .json::<StudyResult>(Document::Results)?
        .map(|result| Before { cells: result.cells, notes: result.notes })
        .unwrap_or_default();
    if before.cells.len() >= cells(&study).len() {
        return Err(Error::usage(
            format!("the study {} has a result for every cell", reader.manifest().id),
            "report it with `assay report`",
        ));
    }
    if is_of_loads(&study, &begun.target.targets) {
        return resume_loads(name, &study, &begun, before, (options, &context));
    }
    let mut target = begun.target.plan();
    give_size(&study, &mut target);
    let writer = store.resume(name, unix_ns())?;
    let wanted = wanted(&study, &target)?;
    let recording = Recording::go_on(writer, &target.targets, &wanted, &context)?;
    if matches!(recording.target, OpenTarget::Simulated(..)) {
        context
            .progress
            .say("note: a simulated device starts over; what earlier cells left in it is gone");
    }
    go(recording, &study, before, options)
}

/// A study of loads goes on; a target whose secret was kept out of the run must have it from the environment.
fn resume_loads(
    name: &str,
    study: &Study,
    begun: &Options,
    before: Before,
    (options, context): (&Options, &Context),
) -> Result<ExitStatus> {
    let target = begun.target.targets.first().map(String::as_str).unwrap_or_default();
    let shown = LoadTarget::read(target)?.shown();
    let writer = context.store.resume(name, unix_ns())?;
    go_loads(writer, study, (target, &shown), before, (options, context))
}
