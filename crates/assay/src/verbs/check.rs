//! `assay check`: all of it in about two minutes.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use crate::verbs::calibrate::on_recording;
use crate::verbs::plan::DemandOptions;
use assay_app::Context;
use assay_app::finish::{CriteriaSource, finish_run};
use assay_app::load::ladder_run::{LadderPlan, beside};
use assay_app::load::server_plan::ServerPlan;
use assay_app::load::slob::{BlockSetup, SlobDriver, WARM_UP};
use assay_app::recording::{Recording, RunRequest};
use assay_app::reports::read_profile;
use assay_dbload::load::{Climb, RungPlan};
use assay_dbload::slob::{Access, Slob};
use assay_judge::check_criteria;
use assay_loads::slob::Rules;
use assay_methods::presets::preset;
use assay_methods::{CalibrationPlan, Mix};
use assay_model::calibration::LatencyLimit;
use assay_model::load::Length;
use assay_model::measurement::Finish;
use assay_model::number::{real, real_len};
use assay_model::run::RunKind;
use assay_model::units::{Nanos, Rate};
use assay_model::{Error, Result, Workload};
use assay_store::{Document, RunWriter};
use clap::Args;
use std::path::{Path, PathBuf};

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
pub fn run(options: &Options) -> Result<ExitStatus> {
    let target = options.target.plan();
    let write = target.may_be_written();
    let workload = workload(options, write)?;
    let asked = match CriteriaSource::of(options.criteria.as_deref(), &workload)? {
        Some(asked) => asked,
        None => CriteriaSource::new(&check_criteria(options.max_latency, options.min_iops)?)?,
    };
    let plan = plan(options, write);
    plan.check().map_err(|error| error.context("--time and --max-latency"))?;
    let wanted = RunRequest { target: &target, write, direct: true, workload: None, study: None };
    let context = context(&options.store, &options.output)?;
    let mut recording = Recording::begin(RunKind::Check, &wanted, &context)?;
    let finish = match measure(&mut recording, options, &plan, &workload) {
        Ok(finish) => finish,
        Err(error) => return Err(recording.abandon(error)),
    };
    // Test files go before the database comes and before the answer is printed.
    let writer = recording.end();
    if finish == Finish::Complete
        && let Some(directory) = options.directory()
    {
        on_database(directory, options, &writer, &context)?;
    }
    conclude(&finish_run(writer, &finish, Some(&asked))?, &options.output)
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
    context: &Context,
) -> Result<()> {
    let rules = Rules { scale_blocks: SCALE_BLOCKS, ..Rules::default() };
    rules.check()?;
    let ladder = short_ladder(directory, options.time);
    let server = ServerPlan::of(options.bindir.as_deref());
    let place = BlockSetup {
        rules: &rules,
        server: &server,
        cache_bytes: SHARED_BUFFERS_BYTES,
        left: None,
        sessions_max: ladder.climb.sessions_max(),
        are_given: false,
    };
    let mut course: SlobDriver<'_, assay_postgres::connection::Connection> =
        SlobDriver(Slob::new(&rules, Access::Index));
    beside(&ladder, &mut course, |named, context| place.prepare(named, context), writer, context)
}

fn short_ladder(directory: &str, time: Nanos) -> LadderPlan {
    let sessions = vec![1, 4, 16];
    let rung_s = time.seconds() * DATABASE_SHARE / real_len(sessions.len());
    LadderPlan {
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
    recording: &mut Recording,
    options: &Options,
    plan: &CalibrationPlan,
    workload: &Workload,
) -> Result<Finish> {
    recording.writer.put(Document::Workload, &assay_model::document::to_toml(workload)?)?;
    match on_recording(recording, plan, &options.target.plan())? {
        Finish::Complete => Ok(recording.measure("run", workload)?.finish),
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
