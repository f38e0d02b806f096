//! `assay check`: all of it in about two minutes.

use crate::conclude::{Asked, conclude};
use crate::exit::Ended;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::progress::Progress;
use crate::reports::read_profile;
use crate::session::{Session, Wanted};
use crate::verbs::calibrate::on_session;
use crate::verbs::load::climb::{Ladder, beside};
use crate::verbs::load::server::ServerOptions;
use crate::verbs::load::slob::WARM_UP;
use crate::verbs::load::slob::course::{Blocks, Place};
use crate::verbs::plan::DemandOptions;
use assay_dbload::load::{Climb, Length, RungPlan};
use assay_dbload::slob::{Access, Slob};
use assay_judge::check_criteria;
use assay_loads::slob::Rules;
use assay_methods::presets::preset;
use assay_methods::{CalibrationPlan, Mix};
use assay_model::calibration::LatencyLimit;
use assay_model::measurement::Finish;
use assay_model::number::{real, real_len};
use assay_model::run::RunKind;
use assay_model::units::{Nanos, Rate};
use assay_model::{Error, Result, Workload};
use assay_store::{Document, RunWriter};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Of the time for measuring, the workload of a typical database gets so much, the calibrations the rest.
const RUN_SHARE: f64 = 0.25;
/// Blocks of the database's table: 1 GiB, thirty times the cache of the server.
const SCALE_BLOCKS: u64 = 1 << 17;
/// That cache.
const SHARED_BUFFERS_BYTES: u64 = 32 << 20;

/// Of the time for measuring, the ladder of a database gets so much, where one can be made.
const DATABASE_SHARE: f64 = 0.15;
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
    /// Limit on p99 that is asked: of one I/O at a time, and at --min-iops
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "1ms")]
    max_latency: Nanos,
    /// Rate at which p99 must keep --max-latency
    #[arg(long, value_name = "RATE", value_parser = quantity::<Rate>, default_value = "3000/s")]
    min_iops: Rate,
    /// Leave the ladder on a real database out
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
    let asked = match Asked::of(options.criteria.as_deref(), &workload)? {
        Some(asked) => asked,
        None => Asked::new(&check_criteria(options.max_latency, options.min_iops)?)?,
    };
    let Options { store, target, output, .. } = options;
    let plan = plan(options, write);
    plan.check().map_err(|error| error.context("--time and --max-latency"))?;
    let wanted =
        Wanted { store, options: target, write, direct: true, workload: None, study: None, output };
    let mut session = Session::begin(RunKind::Check, &wanted)?;
    let finish = match measure(&mut session, options, &plan, &workload) {
        Ok(finish) => finish,
        Err(error) => return Err(session.abandon(error)),
    };
    // Test files go before the database comes and before the answer is printed.
    let stop = Arc::clone(&session.stop);
    let writer = session.end();
    if finish == Finish::Complete
        && let Some(directory) = options.directory()
    {
        let mut progress = Progress::new(output);
        on_database(directory, options, &writer, &mut progress, &stop)?;
    }
    conclude(writer, &finish, Some(&asked), output)
}

impl Options {
    /// The directory that a database can be made in; nothing when it is not wanted or there is none.
    fn directory(&self) -> Option<&str> {
        let target = self.target.targets.first().filter(|target| Path::new(target).is_dir());
        target.filter(|_| !self.no_database).map(String::as_str)
    }

    /// Share of the time that the calibrations get.
    fn calibration_share(&self) -> f64 {
        let database = if self.directory().is_some() { DATABASE_SHARE } else { 0.0 };
        1.0 - self.run_share() - database
    }
}

/// Three rungs of the SLOB method, in the database's part of the time.
fn on_database(
    directory: &str,
    options: &Options,
    writer: &RunWriter,
    progress: &mut Progress,
    stop: &Arc<AtomicBool>,
) -> Result<()> {
    let rules = Rules { scale_blocks: SCALE_BLOCKS, ..Rules::default() };
    rules.check()?;
    let ladder = short_ladder(directory, options.time);
    let server = ServerOptions::of(options.bindir.as_deref());
    let place = Place {
        rules: &rules,
        server: &server,
        shared_buffers_bytes: SHARED_BUFFERS_BYTES,
        left: None,
        sessions_max: ladder.climb.sessions_max(),
        are_given: false,
    };
    let mut course: Blocks<'_> = Blocks(Slob::new(&rules, Access::Index));
    beside(
        &ladder,
        &mut course,
        |named, stop, progress| place.prepare(named, stop, progress),
        writer,
        progress,
        stop,
    )
}

fn short_ladder(directory: &str, time: Nanos) -> Ladder {
    let sessions = vec![1, 4, 16];
    let rung_s = time.seconds() * DATABASE_SHARE / real_len(sessions.len());
    Ladder {
        target: directory.to_owned(),
        rung: RungPlan::new(1, 1, Length::Time(Nanos::from_seconds(rung_s))),
        warm_up: Some(WARM_UP),
        climb: Climb::Given(sessions),
        repeats: 1,
        access: Access::Index.name().to_owned(),
        plan: Vec::new(),
    }
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
    let time_s = options.time.seconds() * options.calibration_share() / real_len(shares.len());
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
