//! `assay check`: all of it in about two minutes.

use crate::exit::ExitStatus;
use crate::hosts_option::{hosts_plan, target_plan};
use crate::options::MeasurementOptions;
use crate::spelling::quantity;
use crate::start;
use crate::verbs::plan::DemandOptions;
use assay_app::Context;
use assay_app::check::{CheckPlan, workload_times};
use assay_app::cluster::HostNames;
use assay_app::finish::CriteriaSource;
use assay_app::reports::read_profile;
use assay_cluster::division::Outstanding;
use assay_methods::presets::preset;
use assay_model::units::{Nanos, Rate};
use assay_model::{Error, Profile, Result, Workload};
use clap::Args;
use std::path::PathBuf;

/// Inspects and calibrates the storage, runs a database's workload, starts a PostgreSQL server of its own there, and
/// judges whether the result is good enough
#[derive(Args)]
#[command(after_help = "Examples:
  assay check /mnt/data
  assay check /mnt/data --time 30s --max-latency 500us --min-iops 20000/s
  assay check /mnt/data --for awr.html
  assay check /mnt/data --hosts hA,hB --min-iops 50000/s")]
pub struct Options {
    /// Measured time in total; filling a test file comes on top
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "100s")]
    time: Nanos,
    /// Limit on p99 latency: for one I/O at a time, and at --min-iops
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "1ms")]
    max_latency: Nanos,
    /// IOPS at which p99 must stay within --max-latency
    #[arg(long, value_name = "RATE", value_parser = quantity::<Rate>, default_value = "3000/s")]
    min_iops: Rate,
    /// Skip the test with a real database: start no PostgreSQL server
    #[arg(long)]
    no_database: bool,
    /// Directory with the programs of a PostgreSQL server; by default found next to assay, on the PATH, or where
    /// distributions install them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    bindir: Option<PathBuf>,
    /// Criteria to judge by instead: a file, oltp-default or dell-2017; with --for, by default what that database demands
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Take the demand of this report (AWR, Statspack or profile) instead of a typical database, and judge whether the
    /// storage carries it
    #[arg(long = "for", value_name = "REPORT")]
    report: Option<PathBuf>,
    /// Hosts that answer together, each on the targets as it sees them; no database is started: local:N for N processes of this machine,
    /// ssh:A,B for hosts that ssh reaches, or names of hosts of a Ray cluster joined by commas
    #[arg(long, value_name = "HOSTS", value_parser = quantity::<HostNames>)]
    hosts: Option<HostNames>,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let target = target_plan(&options.shared.target, options.hosts.as_ref());
    let profile = options.report.as_deref().map(read_profile).transpose()?;
    let workload = workload(options, profile.as_ref(), target.may_be_written())?;
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let plan = CheckPlan {
        target,
        time: options.time,
        max_latency: options.max_latency,
        min_iops: options.min_iops,
        no_database: options.no_database,
        bindir: options.bindir.clone(),
        is_demand: options.report.is_some(),
        workload,
        hosts: options
            .hosts
            .as_ref()
            .map(|hosts| hosts_plan(hosts, &options.shared.target, Outstanding::PerHost)),
    };
    let (shared, targets) = (&options.shared, &plan.target.targets);
    let run = |context: &Context| plan.run(criteria, profile.as_ref(), context);
    start::carry_out(shared, targets, || plan.summary(), run)
}

/// The mix that the Dell paper takes for a typical database, or its reads where nothing may be written; or the
/// demand of the report.
fn workload(options: &Options, profile: Option<&Profile>, write: bool) -> Result<Workload> {
    let (warm_up, duration) = workload_times(options.time, options.report.is_some());
    let Some((report, profile)) = options.report.as_ref().zip(profile) else {
        let preset = preset(if write { "oltp" } else { "oltp-read" })?;
        return Ok(Workload { warm_up, duration, ..preset });
    };
    let plan = assay_methods::plan(profile, &options.demand.plan(duration, warm_up))?;
    if plan.workload.writes() && !write {
        return Err(Error::usage(
            format!(
                "the database of {} writes, and these targets may only be read",
                report.display()
            ),
            "name a directory to make a test file in, or a device with --destroy",
        ));
    }
    Ok(plan.workload)
}
