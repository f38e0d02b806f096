//! `assay soak`: hours or days of load, with or without rests.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::MeasurementOptions;
use crate::resume::{ids, locked_options};
use crate::start;
use crate::stream_options::StreamOptions;
use crate::verbs::run::load;
use assay_app::cluster::HostsPlan;
use assay_app::plan_document::kept_plan;
use assay_app::resume::check_resumable;
use assay_app::soak::SoakPlan;
use assay_app::target_plan::TargetPlan;
use assay_model::run::RunKind;
use assay_model::soak;
use assay_model::units::{Nanos, Share};
use assay_model::{Result, Workload};
use clap::Args;

/// What a soak that goes on keeps from its beginning, besides its targets.
const OWN: [&str; 10] = [
    "workload",
    "time",
    "work",
    "rest",
    "cycles",
    "final_rest",
    "tolerance",
    "interval",
    "seed",
    "verify",
];

/// Run for hours: does performance hold and recover?
#[derive(Args)]
#[command(after_help = "Examples:
  assay soak /mnt/data --time 12h
  assay soak /mnt/data --work 300s --rest 600s --cycles 215 --final-rest 1h
  assay soak /mnt/data --time 12h --hosts hA,hB
  assay soak --resume latest")]
pub struct Options {
    /// Workload file, preset or pattern; by default `oltp`, or `oltp-read` if writing is not
    /// allowed
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Time under load, without rests
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "8h", conflicts_with_all = ["work", "rest", "cycles"])]
    time: Nanos,
    /// Time under load in each cycle
    #[arg(long, value_name = "TIME", requires = "cycles")]
    work: Option<Nanos>,
    /// Rest after the load of each cycle
    #[arg(long, value_name = "TIME", requires = "cycles")]
    rest: Option<Nanos>,
    /// Number of cycles of load and rest
    #[arg(long, value_name = "N", requires_all = ["work", "rest"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    cycles: Option<u32>,
    /// Rest at the end, followed by one more cycle that shows whether the target recovered
    #[arg(long, value_name = "TIME", default_value = "0s")]
    final_rest: Nanos,
    /// Largest loss of rate that is acceptable
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    tolerance: Share,
    /// Length of an interval; by default the workload's own
    #[arg(long, value_name = "TIME")]
    interval: Option<Nanos>,
    /// Seed of all random choices; by default the workload's own
    #[arg(long)]
    seed: Option<u64>,
    /// Verify reads (all, or this share) against what was written, and read everything again at
    /// the end
    #[arg(long, value_name = "SHARE", conflicts_with = "hosts", num_args = 0..=1, require_equals = true, default_missing_value = "100%")]
    verify: Option<Share>,
    #[command(flatten)]
    hosts: Option<HostsPlan>,
    /// Continue an unfinished soak as it was started: its id, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = locked_options(&OWN, &[ids::<StreamOptions>(), ids::<HostsPlan>()]))]
    resume: Option<String>,
    #[command(flatten)]
    stream: StreamOptions,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// Carries the command out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    if options.resume.is_some() {
        return resume(options);
    }
    let hosts = HostsPlan::names(options.hosts.as_ref());
    let target = options.shared.target.seen_by(hosts);
    let workload = options.workload(&target)?;
    let plan = options.plan(target, workload);
    start::carry_out(
        &options.shared.run,
        &plan.target,
        || plan.summary(),
        |context| plan.run(context),
    )
}

/// Goes on with a soak; what may be destroyed is what was typed now.
fn resume(options: &Options) -> Result<ExitStatus> {
    let context = options.shared.run.context()?;
    let run = context.store.open(options.resume.as_deref().unwrap_or("latest"))?;
    check_resumable(&run)?;
    let mut plan: SoakPlan = kept_plan(&run, RunKind::Soak)?;
    start::go_on_with(&mut plan.target, &options.shared)?;
    conclude(&plan.resume(&run, &context)?, &options.shared.run.output, options.shared.run.page())
}

impl Options {
    fn plan(&self, target: TargetPlan, workload: Workload) -> SoakPlan {
        let cycles = soak::SoakPlan {
            work: self.work.unwrap_or(self.time),
            rest: self.rest.unwrap_or(Nanos(0)),
            cycles: self.cycles.unwrap_or(1),
            final_rest: self.final_rest,
        };
        let hosts = self.hosts.clone();
        let tolerance = self.tolerance;
        SoakPlan { target, workload, cycles, tolerance, verify: self.verify, hosts }
    }

    fn workload(&self, target: &TargetPlan) -> Result<Workload> {
        let default = if target.may_be_written() { "oltp" } else { "oltp-read" };
        let named = load(self.workload.as_deref().unwrap_or(default))?;
        let mut workload = self.stream.spec().apply(named)?;
        workload.duration = self.work.unwrap_or(self.time);
        workload.warm_up = Nanos(0);
        workload.interval = self.interval.unwrap_or(workload.interval);
        workload.seed = self.seed.unwrap_or(workload.seed);
        Ok(workload)
    }
}
