//! `assay check`: all of it in about two minutes.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use crate::verbs::plan::DemandOptions;
use assay_app::check::{CheckPlan, workload_times};
use assay_app::finish::CriteriaSource;
use assay_app::reports::read_profile;
use assay_methods::presets::preset;
use assay_model::units::{Nanos, Rate};
use assay_model::{Error, Result, Workload};
use clap::Args;
use std::path::PathBuf;

/// Inspects, calibrates, runs a database's workload and judges: what this storage gives, and whether that is enough
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Measured time in all; filling a test file comes before it
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "100s")]
    time: Nanos,
    /// Limit on p99 that is asked: of one I/O at a time, and at --min-iops
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "1ms")]
    max_latency: Nanos,
    /// Rate at which p99 must keep --max-latency
    #[arg(long, value_name = "RATE", value_parser = quantity::<Rate>, default_value = "3000/s")]
    min_iops: Rate,
    /// Leave the ladder on a real database out: start no PostgreSQL server
    #[arg(long)]
    no_database: bool,
    /// Directory with the programs of a PostgreSQL server; else beside assay, on the path, where distributions put them
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    bindir: Option<PathBuf>,
    /// Instead of a typical database take the one of this report (AWR, Statspack or profile), and ask whether the storage
    /// carries it
    #[arg(long = "for", value_name = "REPORT")]
    report: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    /// Criteria to judge by instead: a file, or oltp-default or dell-2017; with --for it is what the report's database asks
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let target = options.target.plan();
    let workload = workload(options, target.may_be_written())?;
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
    };
    let finished = plan.run(criteria, &context(&options.store, &options.output)?)?;
    conclude(&finished, &options.output)
}

/// The mix that the Dell paper takes for a typical database, or its reads where nothing may be written; or the
/// demand of the report.
fn workload(options: &Options, write: bool) -> Result<Workload> {
    let (warm_up, duration) = workload_times(options.time, options.report.is_some());
    let Some(report) = &options.report else {
        let preset = preset(if write { "oltp" } else { "oltp-read" })?;
        return Ok(Workload { warm_up, duration, ..preset });
    };
    let profile = read_profile(report)?;
    let plan = assay_methods::plan(&profile, &options.demand.plan(duration, warm_up))?;
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
