//! `assay check`: all of it in about two minutes.

use crate::commands::run::unwatched;
use crate::demand_options::DemandOptions;
use crate::exit::ExitStatus;
use crate::options::{RunOptions, context, without_passwords};
use crate::start;
use assay_app::CommandPlan;
use assay_app::check::{CheckPlan, ReplayedDemand};
use assay_app::database_source::{DatabaseSource, is_address};
use assay_model::units::Nanos;
use assay_model::verdict::{Bound, Criterion};
use assay_model::{Error, Profile, Result, Workload};
use clap::Args;

/// Test whether storage is fast enough, also for one database
#[derive(Args)]
#[command(after_help = "Examples:
  assay check /mnt/data
  assay check /mnt/data --time 30s --max-latency 500us --min-iops 20000/s
  assay check /mnt/data --for awr.html
  assay check /mnt/data --for postgresql://user@host/database --profile-time 60s
  assay check /mnt/data --hosts hA,hB --min-iops 50000/s")]
pub struct CheckOptions {
    /// Judge for one database: a report, a folder of reports, a profile, RUN:SESSIONS, or the
    /// address of a server
    #[arg(long = "for", value_name = "DB")]
    database: Option<String>,
    /// How long to watch a live server before the test
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "database")]
    profile_time: Nanos,
    #[command(flatten)]
    plan: CheckPlan,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    #[command(flatten)]
    run: RunOptions,
}

/// Carries the command out.
pub fn run(options: &CheckOptions) -> Result<ExitStatus> {
    let target = options.plan.target();
    // A live server is watched before anything is loaded, and not for a plan that is only shown.
    start::check_storage(&target)?;
    start::check(&target.targets, &options.run.start)?;
    let (demand, database) = options.database.as_deref().map_or_else(
        || Ok((None, None)),
        |named| demand(options, named).map(|(workload, database)| (Some(workload), database)),
    )?;
    let plan = CheckPlan { demand, database, ..options.plan.clone() };
    start::carry_out_checked(&plan, &options.run)
}

/// The demand of the database that is named, as a workload; of a live server nothing is known
/// before it was watched.
fn demand(options: &CheckOptions, named: &str) -> Result<(Workload, Option<ReplayedDemand>)> {
    let check = &options.plan;
    if options.run.start.dry_run && is_address(named) {
        let typical = check.typical_workload(true)?;
        return Ok((unwatched(named, options.profile_time, typical), None));
    }
    let (warm_up, duration) = check.workload_times(true);
    let profile = watched(options, named)?;
    let plan = assay_methods::plan(&profile, &options.demand.plan(duration, warm_up))?;
    if plan.workload.writes() && !check.may_be_written() {
        return Err(Error::usage(
            format!(
                "the database of {} writes, but these targets are read-only",
                without_passwords(named)
            ),
            "specify a directory for a test file, or a device with --destroy",
        ));
    }
    let demand = ReplayedDemand {
        profile,
        classes: plan.classes,
        parity: options.demand.parity(),
        has_limits: options.demand.has_limits(),
    };
    Ok((with_limit(plan.workload, check.max_latency), Some(demand)))
}

/// The profile; a person who ends the watching ends the check.
fn watched(options: &CheckOptions, named: &str) -> Result<Profile> {
    let context = context(&options.run.store, &options.run.output)?;
    let profile = DatabaseSource::open(named, options.profile_time, &context)?.profile;
    if context.is_stopped() {
        return Err(Error::environment(
            "stopped while watching the server: the storage was not tested",
            "run it again, with a shorter --profile-time",
        ));
    }
    Ok(profile)
}

/// The demand with a limit on p99 of reads, where one is asked for.
fn with_limit(mut workload: Workload, limit: Option<Nanos>) -> Workload {
    workload.criteria.extend(limit.map(|limit| Criterion {
        quantity: "read.response_time.q0.99".to_owned(),
        at_most: Some(Bound(limit.to_string())),
        why: "Required by --max-latency.".to_owned(),
        ..Criterion::default()
    }));
    workload
}
