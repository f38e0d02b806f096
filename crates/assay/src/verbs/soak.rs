//! `assay soak`: hours or days of load, with or without rests.

use crate::begun::{as_begun, begun, goes_on, needed};
use crate::conclude::{close_with_page, show};
use crate::dossier::Dossier;
use crate::exit::{Ended, ended};
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::session::{Session, Wanted};
use crate::verbs::run::load;
use assay_host::clock::unix_ns;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::soak::SoakPlan;
use assay_model::units::{Nanos, Share};
use assay_model::workload::parse_workload;
use assay_model::{Error, Result, Workload};
use assay_store::{Document, RunReader};
use clap::Args;

mod course;

use course::Course;

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
/// What the workload, the store, the target or the engine says.
pub fn run(options: &Options) -> Result<Ended> {
    if options.resume.is_some() {
        return resume(options);
    }
    let plan = plan(options)?;
    let workload = workload(options, plan)?;
    let mut session = Session::begin(
        RunKind::Soak,
        &Wanted::of(&workload, &options.target, (&options.store, &options.output)),
    )?;
    let mut course = Course::new(plan, options.tolerance);
    match course.conduct(&mut session, &workload) {
        Ok(finish) => conclude(session, &course, &workload, &finish, options),
        Err(error) => Err(session.abandon(error)),
    }
}

fn conclude(
    session: Session,
    course: &Course,
    workload: &Workload,
    finish: &Finish,
    options: &Options,
) -> Result<Ended> {
    let soak = course.finish(workload);
    // Test files go before the answer is printed.
    let writer = session.end();
    writer.put_json(Document::Soak, &soak)?;
    let run = close_with_page(writer, finish.clone())?;
    show(&Dossier::read(&run)?, &run, &options.output)?;
    Ok(ended(finish, soak.outcome))
}

/// Goes on with a soak that was killed or interrupted: what was measured counts, the rest is measured.
fn resume(options: &Options) -> Result<Ended> {
    let name = options.resume.as_deref().unwrap_or("latest");
    let store = options.store.open();
    let reader = store.open(name)?;
    let begun = begun_with(&reader, options)?;
    let (plan, text) = (plan(&begun)?, needed(&reader, Document::Workload)?);
    let workload = parse_workload(&text).map_err(|error| error.context(reader.path().display()))?;
    let mut course = Course::new(plan, begun.tolerance);
    course.recall(&reader)?;
    let writer = store.resume(name, unix_ns())?;
    let targets = &reader.manifest().targets;
    let mut session = Session::go_on(
        writer,
        targets,
        &Wanted::of(&workload, &begun.target, (&options.store, &options.output)),
    )?;
    match course.conduct(&mut session, &workload) {
        Ok(finish) => conclude(session, &course, &workload, &finish, options),
        Err(error) => Err(session.abandon(error)),
    }
}

/// The options that the soak was begun with; what may be destroyed is what was typed now.
fn begun_with(run: &RunReader, now: &Options) -> Result<Options> {
    goes_on(run)?;
    let mut begun: Options = begun(run, "soak", "soak")?;
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
    let may_write = options.target.may_be_written();
    let default = if may_write { "oltp" } else { "oltp-read" };
    let mut workload = load(options.workload.as_deref().unwrap_or(default))?;
    workload.duration = plan.work;
    workload.warm_up = Nanos(0);
    workload.interval = options.interval.unwrap_or(workload.interval);
    workload.seed = options.seed.unwrap_or(workload.seed);
    workload.check()?;
    Ok(workload)
}
