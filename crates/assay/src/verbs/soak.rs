//! `assay soak`: hours or days of load, with or without rests.

use crate::conclude::{close_with_page, show};
use crate::dossier::Dossier;
use crate::exit::{Ended, ended};
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::session::{Session, Wanted};
use crate::verbs::run::load;
use assay_methods::soak::{SoakRecorder, SoakRule};
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::soak::SoakPlan;
use assay_model::units::{Nanos, Share, show_count};
use assay_model::{Error, Result, Workload};
use assay_store::Document;
use clap::Args;
use std::sync::atomic::Ordering;

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
    let plan = plan(options)?;
    let workload = workload(options, plan)?;
    let mut session = Session::begin(
        RunKind::Soak,
        &Wanted {
            store: &options.store,
            options: &options.target,
            write: workload.writes(),
            direct: workload.direct,
            workload: Some(&workload),
            output: &options.output,
        },
    )?;
    let mut recorder = SoakRecorder::new();
    let finish = match cycles(&mut session, &workload, plan, &mut recorder) {
        Ok(finish) => finish,
        Err(error) => return Err(session.abandon(error)),
    };
    let rule = SoakRule { tolerance: options.tolerance.0, ..SoakRule::default() };
    let soak = recorder.finish(&workload.name, plan, &rule);
    let Session { writer, place, .. } = session;
    // Test files go before the answer is printed.
    drop(place);
    writer.put_json(Document::Soak, &soak)?;
    let run = close_with_page(writer, finish.clone())?;
    show(&Dossier::read(&run)?, &run, &options.output)?;
    Ok(ended(&finish, soak.outcome))
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

/// All cycles, and the one behind the final rest.
fn cycles(
    session: &mut Session,
    workload: &Workload,
    plan: SoakPlan,
    recorder: &mut SoakRecorder,
) -> Result<Finish> {
    let last = plan.cycles + u32::from(plan.final_rest.0 > 0);
    for cycle in 0..last {
        let name = match last {
            1 => "load".to_owned(),
            _ => format!("cycle-{:06}", cycle + 1),
        };
        let begin_s = session.now_s();
        let mut watch = |interval: &assay_model::measurement::Interval| {
            let noticed = recorder.add(cycle, begin_s, interval)?;
            Some(format!(
                "note: at {:.0} s the level went from {} to {} IOPS",
                noticed.at_s,
                show_count(noticed.before_iops),
                show_count(noticed.after_iops)
            ))
        };
        let measurement = session.measure_watched(&name, workload, &mut watch)?;
        if measurement.finish != Finish::Complete {
            return Ok(measurement.finish);
        }
        let rest = match plan.cycles - 1 {
            end if cycle == end && last > plan.cycles => plan.final_rest,
            end if cycle < end => plan.rest,
            _ => Nanos(0),
        };
        session.rest(&format!("rest after cycle {} of {last}", cycle + 1), rest);
        if session.stop.load(Ordering::Relaxed) {
            return Ok(Finish::Interrupted);
        }
    }
    Ok(Finish::Complete)
}
