//! `assay check`: all of it in about two minutes.

use crate::conclude::{Asked, conclude};
use crate::exit::Ended;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::session::{Session, Wanted};
use crate::verbs::calibrate::on_session;
use assay_methods::presets::preset;
use assay_methods::{CalibrationPlan, Mix};
use assay_model::calibration::LatencyLimit;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use assay_store::Document;
use clap::Args;
use std::path::PathBuf;

/// Of the time for measuring, the workload of a database gets so much, the calibrations the rest.
const RUN_SHARE: f64 = 0.25;

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
    /// Criteria file; the defaults without it
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
///
/// # Errors
/// What the criteria, the store, the target or the methods say.
pub fn run(options: &Options) -> Result<Ended> {
    let asked = Asked::read(options.criteria.as_deref())?;
    let Options {
        store,
        target,
        output,
        ..
    } = options;
    let write = target.may_be_written();
    let plan = plan(options, write);
    plan.check()
        .map_err(|error| error.context("--time and --max-latency"))?;
    let wanted = Wanted {
        store,
        options: target,
        write,
        direct: true,
        workload: None,
        output,
    };
    let mut session = Session::begin(RunKind::Check, &wanted)?;
    let finish = match measure(&mut session, options, &plan, write) {
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
    write: bool,
) -> Result<Finish> {
    let workload = workload(options, write)?;
    session.writer.put(
        Document::Workload,
        &toml::to_string(&workload).unwrap_or_default(),
    )?;
    match on_session(session, plan, &options.target)? {
        Finish::Complete => Ok(session.measure("run", &workload)?.finish),
        early => Ok(early),
    }
}

/// Reads, and where it may be written also a mix, each for its part of the time.
fn plan(options: &Options, write: bool) -> CalibrationPlan {
    let shares: &[f64] = if write { &[1.0, 0.0, 0.7] } else { &[1.0] };
    let time_s =
        options.time.seconds() * (1.0 - RUN_SHARE) / assay_model::number::real_len(shares.len());
    CalibrationPlan {
        limit: LatencyLimit {
            quantile: 0.99,
            service_time_ns: real(options.max_latency.0),
        },
        mixes: shares.iter().map(|share| Mix::of(*share)).collect(),
        time_budget: Nanos::from_seconds(time_s),
        ..CalibrationPlan::default()
    }
}

/// The mix that the Dell paper takes for a typical database, or its reads where nothing may be written.
fn workload(options: &Options, write: bool) -> Result<Workload> {
    let mut workload = preset(if write { "oltp" } else { "oltp-read" })?;
    let time_s = options.time.seconds() * RUN_SHARE;
    workload.warm_up = Nanos::from_seconds(time_s * 0.1);
    workload.duration = Nanos::from_seconds(time_s * 0.9);
    Ok(workload)
}
