//! `assay soak`: hours or days of load, with or without rests.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use crate::resume::{locked_options, original_options};
use crate::verbs::run::load;
use assay_app::finish::finish_with_page;
use assay_app::recording::{Recording, RunRequest};
use assay_app::resume::{check_resumable, needed};
use assay_app::soak::Cycles;
use assay_host::clock::unix_ns;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::soak::SoakPlan;
use assay_model::units::{Nanos, Share};
use assay_model::workload::parse_workload;
use assay_model::{Error, Result, Workload};
use assay_store::{Document, RunReader};
use clap::Args;

/// What a soak that goes on keeps from its beginning, besides its targets.
const OWN: [&str; 9] = [
    "workload",
    "duration",
    "work",
    "rest",
    "cycles",
    "final_rest",
    "tolerance",
    "interval",
    "seed",
];

/// Loads a target for hours or days and says whether it becomes steady, what it loses, and whether rest brings it back
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Workload file or preset; by default `oltp`, or `oltp-read` where nothing may be written
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Load without rest
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "8h", conflicts_with_all = ["work", "rest", "cycles"])]
    duration: Nanos,
    /// Load of one cycle
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, requires = "cycles")]
    work: Option<Nanos>,
    /// Rest after the load of a cycle
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, requires = "cycles")]
    rest: Option<Nanos>,
    /// Cycles of load and rest: 300s, 600s and 215 are those of the EMC paper
    #[arg(long, value_name = "N", requires_all = ["work", "rest"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    cycles: Option<u32>,
    /// A rest behind everything, and one more cycle that shows whether the target recovered
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "0s")]
    final_rest: Nanos,
    /// Loss that does not matter
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "5%")]
    tolerance: Share,
    /// Length of an interval, instead of the workload's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    interval: Option<Nanos>,
    /// Seed of all random choices, instead of the workload's own
    #[arg(long)]
    seed: Option<u64>,
    /// Take up an unfinished soak of the store again: its id, or `latest`
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
/// What the workload, the store, the target or the engine says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    if options.resume.is_some() {
        return resume(options);
    }
    let plan = plan(options)?;
    let workload = workload(options, plan)?;
    let context = context(&options.store, &options.output)?;
    let target = options.target.plan();
    let mut recording =
        Recording::begin(RunKind::Soak, &RunRequest::of(&workload, &target), &context)?;
    let mut cycles = Cycles::new(plan, options.tolerance);
    match cycles.conduct(&mut recording, &workload) {
        Ok(finish) => conclude_soak(recording, &cycles, &workload, &finish, options),
        Err(error) => Err(recording.abandon(error)),
    }
}

fn conclude_soak(
    recording: Recording,
    cycles: &Cycles,
    workload: &Workload,
    finish: &Finish,
    options: &Options,
) -> Result<ExitStatus> {
    let soak = cycles.finish(workload);
    // Test files go before the answer is printed.
    let writer = recording.end();
    writer.put_json(Document::Soak, &soak)?;
    conclude(&finish_with_page(writer, finish, soak.outcome)?, &options.output)
}

/// Goes on with a soak that was killed or interrupted: what was measured counts, the rest is measured.
fn resume(options: &Options) -> Result<ExitStatus> {
    let name = options.resume.as_deref().unwrap_or("latest");
    let context = context(&options.store, &options.output)?;
    let store = &context.store;
    let reader = store.open(name)?;
    let begun = begun_with(&reader, options)?;
    let (plan, text) = (plan(&begun)?, needed(&reader, Document::Workload)?);
    let workload = parse_workload(&text).map_err(|error| error.context(reader.path().display()))?;
    let mut cycles = Cycles::new(plan, begun.tolerance);
    cycles.restore_progress(&reader)?;
    let writer = store.resume(name, unix_ns())?;
    let targets = &reader.manifest().targets;
    let target = begun.target.plan();
    let mut recording =
        Recording::go_on(writer, targets, &RunRequest::of(&workload, &target), &context)?;
    match cycles.conduct(&mut recording, &workload) {
        Ok(finish) => conclude_soak(recording, &cycles, &workload, &finish, options),
        Err(error) => Err(recording.abandon(error)),
    }
}

/// The options that the soak was begun with; what may be destroyed is what was typed now.
fn begun_with(run: &RunReader, now: &Options) -> Result<Options> {
    check_resumable(run)?;
    let mut begun: Options = original_options(run, "soak", "soak")?;
    begun.target.destroy.clone_from(&now.target.destroy);
    begun.target.wipe.clone_from(&now.target.wipe);
    Ok(begun)
}

fn plan(options: &Options) -> Result<SoakPlan> {
    let plan = SoakPlan {
        work: options.work.unwrap_or(options.duration),
        rest: options.rest.unwrap_or(Nanos(0)),
        cycles: options.cycles.unwrap_or(1),
        final_rest: options.final_rest,
    };
    if plan.work.seconds() < 1.0 {
        return Err(Error::usage(
            format!("{} of load say nothing", plan.work),
            "load for minutes at least: --duration 8h, or --work 300s --rest 600s --cycles 215",
        ));
    }
    Ok(plan)
}

fn workload(options: &Options, plan: SoakPlan) -> Result<Workload> {
    let may_write = options.target.plan().may_be_written();
    let default = if may_write { "oltp" } else { "oltp-read" };
    let mut workload = load(options.workload.as_deref().unwrap_or(default))?;
    workload.duration = plan.work;
    workload.warm_up = Nanos(0);
    workload.interval = options.interval.unwrap_or(workload.interval);
    workload.seed = options.seed.unwrap_or(workload.seed);
    workload.check()?;
    Ok(workload)
}
