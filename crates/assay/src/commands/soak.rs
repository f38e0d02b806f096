//! `assay soak`: hours or days of load, with or without rests.

use crate::commands::run::load;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::resume::{ids, locked_options};
use crate::start;
use assay_app::CommandPlan;
use assay_app::soak::SoakPlan;
use assay_methods::patterns::WorkloadChanges;
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use clap::Args;

/// Run for hours: does performance hold and recover?
#[derive(Args)]
#[command(after_help = "Examples:
  assay soak /mnt/data --time 12h
  assay soak /mnt/data --time 300s --rest 600s --cycles 215 --final-rest 1h
  assay soak /mnt/data --time 12h --hosts hA,hB
  assay soak --resume latest")]
pub struct SoakOptions {
    /// Workload file, preset or pattern; by default `oltp`, or `oltp-read` if writing is not
    /// allowed
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    #[command(flatten)]
    plan: SoakPlan,
    /// Continue an unfinished soak as it was started: its id, or `latest`
    #[arg(
        long,
        help_heading = None::<&'static str>,
        value_name = "RUN",
        conflicts_with_all = locked_options(
            &["workload"],
            &[ids::<SoakPlan>(), ids::<WorkloadChanges>()],
        )
    )]
    resume: Option<String>,
    #[command(flatten, next_help_heading = None::<&'static str>)]
    changes: WorkloadChanges,
    #[command(flatten)]
    run: RunOptions,
}

/// Carries the command out.
pub fn run(options: &SoakOptions) -> Result<ExitStatus> {
    if let Some(run) = &options.resume {
        return start::resume(run, &options.plan.target, &options.run, |_: &mut SoakPlan| ());
    }
    let plan = SoakPlan { workload: options.workload()?, ..options.plan.clone() };
    start::carry_out(&plan, &options.run)
}

impl SoakOptions {
    fn workload(&self) -> Result<Workload> {
        let default = if self.plan.target().may_be_written() { "oltp" } else { "oltp-read" };
        let named = load(self.workload.as_deref().unwrap_or(default))?;
        let workload = self.changes.apply(named)?;
        Ok(Workload { duration: self.plan.cycles.work, warm_up: Nanos(0), ..workload })
    }
}
