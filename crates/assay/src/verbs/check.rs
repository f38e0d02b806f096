//! `assay check`: all of it in about two minutes.

use crate::conclude::{Asked, conclude};
use crate::exit::Ended;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::reports::read_profile;
use crate::session::{Session, Wanted};
use crate::verbs::calibrate::on_session;
use crate::verbs::plan::DemandOptions;
use assay_methods::presets::preset;
use assay_methods::{CalibrationPlan, Mix};
use assay_model::calibration::LatencyLimit;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::{Error, Result, Workload};
use assay_store::Document;
use clap::Args;
use std::path::PathBuf;

/// Of the time for measuring, the workload of a typical database gets so much, the calibrations the rest.
const RUN_SHARE: f64 = 0.25;
/// The same where the question is whether one database is carried.
const DEMAND_SHARE: f64 = 0.5;

/// Inspects, calibrates, runs a database's workload and judges: what this storage gives, and whether that is enough
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Measured time in all; filling a test file comes before it
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "100s")]
    time: Nanos,
    /// Limit on the 0.99 quantile of the service time
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "1ms")]
    max_latency: Nanos,
    /// Instead of a typical database take the one of this report (AWR, Statspack or profile), and ask whether the storage
    /// carries it
    #[arg(long = "for", value_name = "REPORT")]
    report: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    /// Criteria file; the defaults without it, with --for what the report's database asks
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl Options {
    const fn run_share(&self) -> f64 {
        if self.report.is_some() { DEMAND_SHARE } else { RUN_SHARE }
    }
}

/// Carries the verb out.
///
/// # Errors
/// What the criteria, the store, the target or the methods say.
pub fn run(options: &Options) -> Result<Ended> {
    let write = options.target.may_be_written();
    let workload = workload(options, write)?;
    let asked = Asked::of(options.criteria.as_deref(), &workload)?;
    let Options { store, target, output, .. } = options;
    let plan = plan(options, write);
    plan.check().map_err(|error| error.context("--time and --max-latency"))?;
    let wanted = Wanted { store, options: target, write, direct: true, workload: None, output };
    let mut session = Session::begin(RunKind::Check, &wanted)?;
    let finish = match measure(&mut session, options, &plan, &workload) {
        Ok(finish) => finish,
        Err(error) => return Err(session.abandon(error)),
    };
    // Test files go before the answer is printed.
    conclude(session.end(), &finish, &asked, output)
}

/// Calibrates, then runs the workload unless the calibration came to an early end.
fn measure(
    session: &mut Session,
    options: &Options,
    plan: &CalibrationPlan,
    workload: &Workload,
) -> Result<Finish> {
    session.writer.put(Document::Workload, &assay_model::document::to_toml(workload)?)?;
    match on_session(session, plan, &options.target)? {
        Finish::Complete => Ok(session.measure("run", workload)?.finish),
        early => Ok(early),
    }
}

/// Reads, and where it may be written also a mix, each for its part of the time.
fn plan(options: &Options, write: bool) -> CalibrationPlan {
    let shares: &[f64] = if write { &[1.0, 0.0, 0.7] } else { &[1.0] };
    let time_s = options.time.seconds() * (1.0 - options.run_share())
        / assay_model::number::real_len(shares.len());
    CalibrationPlan {
        limit: LatencyLimit { quantile: 0.99, service_time_ns: real(options.max_latency.0) },
        mixes: shares.iter().map(|share| Mix::of(*share)).collect(),
        time_budget: Nanos::from_seconds(time_s),
        ..CalibrationPlan::default()
    }
}

/// The mix that the Dell paper takes for a typical database, or its reads where nothing may be written; or the
/// demand of the report.
fn workload(options: &Options, write: bool) -> Result<Workload> {
    let time_s = options.time.seconds() * options.run_share();
    let (warm_up, duration) =
        (Nanos::from_seconds(time_s * 0.1), Nanos::from_seconds(time_s * 0.9));
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
