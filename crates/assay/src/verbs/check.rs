//! `assay check`: all of it in about two minutes.

use crate::demand_options::DemandOptions;
use crate::exit::ExitStatus;
use crate::options::{MeasurementOptions, context, without_passwords};
use crate::start;
use assay_app::Context;
use assay_app::check::{CheckPlan, DatabaseDemand, workload_times};
use assay_app::cluster::{HostNames, HostsPlan};
use assay_app::database_source::{DatabaseSource, is_address};
use assay_app::finish::CriteriaSource;
use assay_cluster::division::Outstanding;
use assay_methods::presets::preset;
use assay_model::calibration::LatencyLimit;
use assay_model::spelling::latency;
use assay_model::units::{Nanos, Rate};
use assay_model::verdict::{Bound, Criterion};
use assay_model::{Error, Profile, Result, Workload};
use clap::Args;
use std::path::PathBuf;

/// Test whether storage is fast enough, also for one database
#[derive(Args)]
#[command(after_help = "Examples:
  assay check /mnt/data
  assay check /mnt/data --time 30s --max-latency 500us --min-iops 20000/s
  assay check /mnt/data --for awr.html
  assay check /mnt/data --for postgresql://user@host/database --profile-time 60s
  assay check /mnt/data --hosts hA,hB --min-iops 50000/s")]
pub struct Options {
    /// Judge by one database: a report, a folder of reports, a profile, RUN:SESSIONS, or the address of a server
    #[arg(long = "for", value_name = "DB")]
    database: Option<String>,
    /// How long to watch a live server first
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "database")]
    profile_time: Nanos,
    /// Measured time in total; filling a test file comes on top
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "100s")]
    time: Nanos,
    /// Limit on p99 latency: for one I/O at a time, and at --min-iops [default: 1ms, none with --for]
    #[arg(long, value_name = "TIME", value_parser = latency)]
    max_latency: Option<Nanos>,
    /// IOPS at which p99 must stay within --max-latency
    #[arg(long, value_name = "RATE", default_value = "3000/s")]
    min_iops: Rate,
    /// Skip the test with a real database: start no PostgreSQL server
    #[arg(long)]
    no_database: bool,
    /// Directory with the programs of a PostgreSQL server
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    bindir: Option<PathBuf>,
    /// Criteria to judge by instead: a file, oltp-default or dell-2017
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Hosts that measure together, without a database: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<HostNames>,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// What is asked of storage for databases where nobody says.
const USUAL_LIMIT: Nanos = Nanos(1_000_000);

/// Carries the command out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let target = options.shared.target.seen_by(options.hosts.as_ref());
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let is_dry = options.shared.run.start.dry_run;
    // A live server is watched before anything is loaded, and not for a plan that is only shown.
    start::check_storage(&target)?;
    start::check(&target.targets, &options.shared.run.start)?;
    let (workload, demand) = workload(options, target.may_be_written(), is_dry)?;
    let unasked = if options.database.is_some() { LatencyLimit::UNASKED } else { USUAL_LIMIT };
    let plan = CheckPlan {
        target,
        time: options.time,
        max_latency: options.max_latency.unwrap_or(unasked),
        min_iops: options.min_iops,
        no_database: options.no_database,
        bindir: options.bindir.clone(),
        is_demand: options.database.is_some(),
        workload,
        hosts: options
            .hosts
            .clone()
            .map(|hosts| HostsPlan { hosts, outstanding: Outstanding::PerHost }),
    };
    let run = |context: &Context| plan.run(criteria, demand.as_ref(), context);
    start::carry_out_checked(&options.shared.run, || plan.summary(), run)
}

/// The mix that the Dell paper takes for a typical database, or its reads where nothing may be written; or the demand of
/// the database that is named.
fn workload(
    options: &Options,
    write: bool,
    is_dry: bool,
) -> Result<(Workload, Option<DatabaseDemand>)> {
    let (warm_up, duration) = workload_times(options.time, options.database.is_some());
    let usual = || -> Result<Workload> {
        let preset = preset(if write { "oltp" } else { "oltp-read" })?;
        Ok(Workload { warm_up, duration, ..preset })
    };
    let Some(named) = &options.database else {
        return Ok((usual()?, None));
    };
    if is_dry && is_address(named) {
        let description = format!(
            "the demand of {}, after watching it for {}",
            without_passwords(named),
            options.profile_time
        );
        return Ok((Workload { description, ..usual()? }, None));
    }
    let profile = watched(options, named)?;
    let plan = assay_methods::plan(&profile, &options.demand.plan(duration, warm_up))?;
    if plan.workload.writes() && !write {
        return Err(Error::usage(
            format!(
                "the database of {} writes, and these targets may only be read",
                without_passwords(named)
            ),
            "name a directory to make a test file in, or a device with --destroy",
        ));
    }
    let demand = DatabaseDemand {
        profile,
        classes: plan.classes,
        parity: options.demand.parity(),
        has_limits: options.demand.has_limits(),
    };
    Ok((with_limit(plan.workload, options.max_latency), Some(demand)))
}

/// The profile; a person who ends the watching ends the check.
fn watched(options: &Options, named: &str) -> Result<Profile> {
    let context = context(&options.shared.run.store, &options.shared.run.output)?;
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
