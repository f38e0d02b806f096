//! All of it in about two minutes: calibrations, a workload, a ladder on a real database, and a
//! verdict.

mod replayed;

pub use replayed::ReplayedDemand;

use crate::calibrate::{JudgedMixes, calibrate_recording};
use crate::cluster::{HostNames, HostsPlan};
use crate::context::Context;
use crate::database_calibration::{append_of, block_size, mixes};
use crate::dry_run::{PlanSummary, load_of};
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::load::ladder_run::{LadderPlan, beside};
use crate::load::load_driver::LoadDriver;
use crate::load::server_plan::ServerPlan;
use crate::load::slob::{BlockSetup, WARM_UP};
use crate::loaded_run::LoadedRun;
use crate::plan::CommandPlan;
use crate::plan_document::PlanDocument;
use crate::progress::ProgressSender;
use crate::recording::{Recording, RunRequest};
use crate::target_plan::TargetPlan;
use assay_dbload::load::{LadderSearch, PostgresLink, RungPlan};
use assay_dbload::slob::{RowAccess, Slob};
use assay_judge::{CriteriaRules, check_criteria};
use assay_loads::slob::SlobRules;
use assay_methods::presets::preset;
use assay_methods::target::is_simulated;
use assay_methods::{CalibrationMix, CalibrationPlan};
use assay_model::calibration::{Calibration, LatencyLimit};
use assay_model::cluster::Cluster;
use assay_model::document::to_toml;
use assay_model::load::Length;
use assay_model::measurement::Finish;
use assay_model::number::{real, real_len};
use assay_model::projection::TargetOrigin;
use assay_model::run::RunKind;
use assay_model::spelling::{LimitStatistic, defaults, latency};
use assay_model::units::{Bytes, Nanos, Rate};
use assay_model::{Error, Result, Workload};
use assay_predict::{PredictedDemand, ProjectionPlan, StorageSource, demand_of, project};
use assay_store::{RunWriter, StoredDocument};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is asked of storage for databases where nobody says.
const USUAL_LIMIT: Nanos = Nanos(1_000_000);
/// Total measured time where nobody says.
const USUAL_TIME: Nanos = Nanos(100_000_000_000);
/// Share of the measuring time for the workload of a typical database; the calibrations get the
/// rest.
const RUN_SHARE: f64 = 0.25;
/// Blocks of the database's table: 1 GiB, thirty times the cache of the server.
const SCALE_BLOCKS: u64 = 1 << 17;
/// That cache.
const SHARED_BUFFERS_BYTES: u64 = 32 << 20;

/// The least time in which a mix can be calibrated, s.
const MIX_TIME_S: f64 = 5.0;

/// Share of the measuring time for the ladder of a database, where one can be made.
const DATABASE_SHARE: f64 = 0.15;
/// The same where the question is whether one database is carried.
const DEMAND_SHARE: f64 = 0.5;

/// The plan of a check; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckPlan {
    /// Total measured time, without filling a test file [default: 100s, or less if the storage
    /// certainly fails before]
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Limit on p99 latency, at queue depth 1 and at --min-iops [default: 1ms, none with
    /// --for]
    #[arg(long, value_name = "TIME", value_parser = latency)]
    pub max_latency: Option<Nanos>,
    /// IOPS at which p99 must stay within --max-latency
    #[arg(long, value_name = "RATE", default_value = "3000/s")]
    pub min_iops: Rate,
    /// Skip the test with a real database: start no PostgreSQL server
    #[arg(long)]
    pub no_database: bool,
    /// Directory with the programs of a PostgreSQL server
    #[arg(long, value_name = "DIR", env = "ASSAY_BINDIR")]
    pub bindir: Option<PathBuf>,
    /// The demand of one database, in place of a typical one
    #[arg(skip)]
    pub demand: Option<Workload>,
    /// The database itself: what it would do on this storage is kept with the rest
    #[arg(skip)]
    #[serde(skip)]
    pub database: Option<ReplayedDemand>,
    /// Criteria to judge by instead of the default: a file, oltp-default or dell-2017
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<PathBuf>,
    /// Hosts that measure together, without a database: local:N (processes here), ssh:A,B, or
    /// names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostNames>,
    /// What is measured, and how it is opened
    #[command(flatten)]
    pub target: TargetPlan,
}

impl Default for CheckPlan {
    fn default() -> Self {
        defaults()
    }
}

/// What a check measures of storage.
struct CheckWork<'a> {
    workload: &'a Workload,
    method: &'a CalibrationPlan,
    append: Option<Bytes>,
    /// By what it may end before its time.
    judged: Option<&'a CriteriaRules>,
}

/// How the measurement of storage ended.
struct CheckMeasured {
    finish: Finish,
    /// Whether the calibration decided, so that nothing else is measured.
    is_decided: bool,
}

const fn run_share(is_demand: bool) -> f64 {
    if is_demand { DEMAND_SHARE } else { RUN_SHARE }
}

impl CommandPlan for CheckPlan {
    fn target(&self) -> TargetPlan {
        self.target.seen_by(self.hosts.as_ref())
    }

    fn summary(&self) -> Result<PlanSummary> {
        self.check()?;
        let write = self.may_be_written();
        let kinds = if write { "reads and writes" } else { "reads" };
        let server = self.directory().map(|directory| {
            format!(
                "a PostgreSQL server in {directory} with 1.00 GiB of data, removed at the end; \
                 --no-database leaves it out"
            )
        });
        Ok(PlanSummary {
            format: 1,
            title: "check".to_owned(),
            load: format!(
                "{kinds} at full speed, then {}",
                load_of(&self.workload()?, self.hosts.as_ref())
            ),
            time: format!("{}{}", self.total_time(), self.target.filling()),
            targets: self.target().summary(write, true, true)?,
            server,
        })
    }

    /// Calibrates, runs the workload and judges: by what is named, else by what the workload asks,
    /// else by limit and rate.
    fn run(&self, context: &Context) -> Result<FinishedRun> {
        let (target, database) = (self.target(), self.database.as_ref());
        let workload = self.workload()?;
        let criteria = self.judged_by(&workload)?;
        let write = self.may_be_written();
        let demand = database.map(|database| demand_of(&database.profile, None).demand);
        let method = self.method(write, demand.as_ref());
        self.check_time(&method)?;
        method.check().map_err(|error| error.context("--max-latency"))?;
        if let Some(load) = self.announcement(write) {
            context.progress.say(&format!("note: {load}"));
        }
        let document = PlanDocument::new(self)?;
        let hosts = self.hosts.clone().map(HostsPlan::of_each);
        let request = RunRequest {
            write,
            grows: true,
            hosts: hosts.as_ref(),
            document: Some(&document),
            ..RunRequest::reading(&target)
        };
        let mut recording = Recording::begin(RunKind::Check, &request, context)?;
        let append = demand.as_ref().filter(|demand| write && demand.commits_mean > 0.0);
        let append = append.map(append_of);
        let work = CheckWork {
            workload: &workload,
            method: &method,
            append,
            judged: self.judged(&criteria),
        };
        let measured = match self.measure(&mut recording, &work) {
            Ok(measured) => measured,
            Err(error) => return Err(recording.abandon(error)),
        };
        // Test files go before the database comes and before the answer is given.
        let writer = recording.end();
        if let Some(database) = database {
            writer.put_json(StoredDocument::Profile, &database.profile)?;
            self.project(database, &writer)?;
        }
        if measured.finish == Finish::Complete
            && !measured.is_decided
            && let Some(directory) = self.directory()
        {
            let progress = self.part(&context.progress, 3);
            self.on_database(directory, &writer, &Context { progress, ..context.clone() })?;
        }
        finish_run(writer, &measured.finish, Some(&criteria))
    }
}

impl CheckPlan {
    /// Total measured time.
    fn total_time(&self) -> Nanos {
        self.time.unwrap_or(USUAL_TIME)
    }

    /// By what the check may end before its time; nothing where a time is given.
    fn judged<'a>(&self, criteria: &'a CriteriaSource) -> Option<&'a CriteriaRules> {
        self.time.is_none().then_some(&criteria.rules)
    }

    /// Warm-up and measured time of the workload.
    pub fn workload_times(&self, is_demand: bool) -> (Nanos, Nanos) {
        let time_s = self.total_time().seconds() * run_share(is_demand);
        (Nanos::from_seconds(time_s * 0.1), Nanos::from_seconds(time_s * 0.9))
    }

    /// The mix that the Dell paper takes for a typical database, or its reads where nothing may be
    /// written.
    ///
    /// # Errors
    /// None: the presets ship with the program.
    pub fn typical_workload(&self, is_demand: bool) -> Result<Workload> {
        let (warm_up, duration) = self.workload_times(is_demand);
        let preset = preset(if self.may_be_written() { "oltp" } else { "oltp-read" })?;
        Ok(Workload { warm_up, duration, ..preset })
    }

    /// Whether writing is possible, also on other hosts.
    pub fn may_be_written(&self) -> bool {
        self.target().may_be_written()
    }

    /// The workload that is run.
    pub(crate) fn workload(&self) -> Result<Workload> {
        self.demand.clone().map_or_else(|| self.typical_workload(false), Ok)
    }

    /// The limit on p99, ns.
    fn limit_ns(&self) -> f64 {
        let unasked = if self.demand.is_some() { LatencyLimit::UNASKED } else { USUAL_LIMIT };
        real(self.max_latency.unwrap_or(unasked).0)
    }

    /// What is judged by: what is named, else what the workload asks, else limit and rate.
    fn judged_by(&self, workload: &Workload) -> Result<CriteriaSource> {
        if let Some(named) = CriteriaSource::named(self.criteria.as_deref())? {
            return Ok(named);
        }
        if let Some(database) = &self.database {
            return CriteriaSource::new(&database.criteria(workload));
        }
        if let Some(criteria) = CriteriaSource::of(None, workload)? {
            return Ok(criteria);
        }
        let limit = self.max_latency.unwrap_or(USUAL_LIMIT);
        CriteriaSource::new(&check_criteria(limit, self.min_iops)?)
    }

    /// What it is about to do to storage, so that it can be stopped before anything is written.
    fn announcement(&self, write: bool) -> Option<String> {
        if self.target.targets.iter().any(|target| is_simulated(target)) {
            return None;
        }
        let load = if write { "reads and writes" } else { "reads" };
        let each = self.hosts.as_ref().map_or_else(String::new, |hosts| format!(" from {hosts}"));
        let server = match self.directory() {
            Some(_) => "; then it starts a PostgreSQL server there and removes it",
            None => "",
        };
        Some(format!(
            "check loads the storage fully with {load}{each} for {} in total{server}",
            self.total_time()
        ))
    }

    /// Calibrates, then runs the workload unless the calibration came to an early end.
    fn measure(&self, recording: &mut Recording, work: &CheckWork<'_>) -> Result<CheckMeasured> {
        recording.writer.put(StoredDocument::Workload, &to_toml(work.workload)?)?;
        let whole = recording.context.progress.clone();
        recording.context.progress = self.part(&whole, 1);
        let planned_s = self.total_time().seconds();
        let judged = work.judged.map(|rules| JudgedMixes { rules, planned_s });
        let finish =
            calibrate_recording(recording, work.method, work.append, &self.target, judged)?;
        recording.context.progress = self.part(&whole, 2);
        if finish != Finish::Complete {
            return Ok(CheckMeasured { finish, is_decided: false });
        }
        if is_certain(recording)? {
            return Ok(CheckMeasured { finish, is_decided: true });
        }
        if let Some(rules) = work.judged {
            recording.end_when_certain(rules, work.workload);
        }
        let finish = measure_workload(recording, work.workload)?;
        Ok(CheckMeasured { finish, is_decided: false })
    }

    /// The progress of one of the parts: calibration, workload, and the database where there is
    /// one.
    fn part(&self, whole: &ProgressSender, number: u32) -> ProgressSender {
        let count = if self.directory().is_some() { 3 } else { 2 };
        let run_s = run_share(self.demand.is_some()) * self.total_time().seconds();
        let database_s = if self.directory().is_some() {
            DATABASE_SHARE * self.total_time().seconds()
        } else {
            0.0
        };
        let left_s = match number {
            1 => run_s + database_s,
            2 => database_s,
            _ => 0.0,
        };
        whole.part(number, count, left_s)
    }

    /// Refuses a time in which the calibrations, which get a part of it, cannot be made.
    fn check_time(&self, method: &CalibrationPlan) -> Result<()> {
        let mixes_s = MIX_TIME_S * real_len(method.mixes.len());
        let least_s = (mixes_s / self.calibration_share()).ceil();
        if self.total_time().seconds() >= least_s {
            return Ok(());
        }
        Err(Error::usage(
            format!("--time {} is too short for a check", self.total_time()),
            format!("write at least --time {}; 100s is typical", Nanos::from_seconds(least_s)),
        ))
    }

    /// The same for what would be done.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_time(&self.method(self.may_be_written(), None))
    }

    /// The directory that a database can be made in; nothing when it is not wanted or there is
    /// none, where the question is about another database, or when hosts answer together: a
    /// managed server is one of one machine.
    pub(crate) fn directory(&self) -> Option<&str> {
        let target = self.target.targets.first().filter(|target| Path::new(target).is_dir());
        let is_wanted = !self.no_database && self.demand.is_none() && self.hosts.is_none();
        target.filter(|_| is_wanted).map(String::as_str)
    }

    /// Share of the time that the calibrations get.
    fn calibration_share(&self) -> f64 {
        let database = if self.directory().is_some() { DATABASE_SHARE } else { 0.0 };
        1.0 - run_share(self.demand.is_some()) - database
    }

    /// Reads, and where it may be written also a mix, that of the database where there is one; each
    /// for its part of the time.
    fn method(&self, write: bool, database: Option<&PredictedDemand>) -> CalibrationPlan {
        let usual = CalibrationPlan::default();
        let database = database.filter(|demand| demand.reads_mean > 0.0);
        let mixes = match (write, database) {
            (false, _) => vec![CalibrationMix::of(1.0)],
            (true, None) => [1.0, 0.0, 0.7].map(CalibrationMix::of).to_vec(),
            (true, Some(demand)) => mixes(demand),
        };
        let time_s = self.total_time().seconds() * self.calibration_share() / real_len(mixes.len());
        let hosts = self.hosts.as_ref().map_or(1, HostNames::count);
        CalibrationPlan {
            limit: LatencyLimit {
                quantile: LimitStatistic::Quantile(0.99),
                service_time_ns: self.limit_ns(),
            },
            mixes,
            block_size: database.map_or(usual.block_size, block_size),
            time_budget: Nanos::from_seconds(time_s),
            queue_depth_max: usual.queue_depth_max / hosts,
            hosts,
            ..usual
        }
    }

    /// Projection for the database; nothing where there is no calibration of it.
    fn project(&self, database: &ReplayedDemand, writer: &RunWriter) -> Result<()> {
        let Some(calibration) =
            writer.reader()?.json::<Calibration>(StoredDocument::Calibration)?
        else {
            return Ok(());
        };
        let is_simulated = self.target.targets.iter().any(|target| is_simulated(target));
        let source = StorageSource {
            name: self.target.targets.join(", "),
            calibration: &calibration,
            origin: if is_simulated { TargetOrigin::Simulated } else { TargetOrigin::Measured },
            log: None,
        };
        let read = demand_of(&database.profile, None);
        let mut projection = project(&read, None, &[source], &ProjectionPlan::default());
        let measured = LoadedRun::read(&writer.reader()?)?;
        projection.replay = database.replayed(&measured);
        writer.put_json(StoredDocument::Projection, &projection)?;
        Ok(())
    }

    /// Three steps of the SLOB method, in the database's part of the time.
    fn on_database(&self, directory: &str, writer: &RunWriter, context: &Context) -> Result<()> {
        let rules = SlobRules { scale_blocks: SCALE_BLOCKS, ..SlobRules::default() };
        rules.check()?;
        let ladder = short_ladder(directory, self.total_time());
        let server = ServerPlan::of(self.bindir.as_deref());
        let setup = BlockSetup {
            rules: &rules,
            server: &server,
            cache_bytes: SHARED_BUFFERS_BYTES,
            schema: None,
            partial_data: None,
            sessions_max: ladder.climb.sessions_max(),
            are_given: false,
        };
        let slob = || Slob::<PostgresLink>::new(&rules, RowAccess::Index);
        let driver = || LoadDriver::Statements(slob());
        beside(&ladder, driver, |named, context| setup.prepare(named, context), writer, context)
    }
}

/// Whether the calibration ended because a criterion certainly fails.
fn is_certain(recording: &Recording) -> Result<bool> {
    let kept = recording.writer.reader()?.json::<Calibration>(StoredDocument::Calibration)?;
    Ok(kept.is_some_and(|calibration| calibration.early_end.is_some()))
}

/// Runs the workload; what the calibration found of hosts stays.
fn measure_workload(recording: &mut Recording, workload: &Workload) -> Result<Finish> {
    let kept =
        |recording: &Recording| recording.writer.reader()?.json::<Cluster>(StoredDocument::Cluster);
    let earlier = kept(recording)?;
    let finish = recording.measure("run", workload)?.finish;
    if let (Some(earlier), Some(last)) = (earlier, kept(recording)?) {
        recording.writer.put_json(StoredDocument::Cluster, &last.with_earlier(earlier))?;
    }
    Ok(finish)
}

fn short_ladder(directory: &str, time: Nanos) -> LadderPlan {
    let sessions = vec![1, 4, 16];
    let rung_s = time.seconds() * DATABASE_SHARE / real_len(sessions.len());
    LadderPlan {
        targets: vec![directory.to_owned()],
        rung: RungPlan::new(1, 1, Length::Time(Nanos::from_seconds(rung_s))),
        warm_up: Some(WARM_UP),
        climb: LadderSearch::Given(sessions),
        repeats: 1,
        hosts: None,
        access: RowAccess::Index.name().to_owned(),
        plan: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(target: &str, no_database: bool) -> CheckPlan {
        CheckPlan {
            target: TargetPlan { targets: vec![target.to_owned()], ..TargetPlan::default() },
            no_database,
            ..CheckPlan::default()
        }
    }

    #[test]
    fn load_time_and_server_are_announced_for_storage_alone() {
        let said = |target, no_database| plan(target, no_database).announcement(true);
        assert_eq!(
            said("/", false).unwrap(),
            "check loads the storage fully with reads and writes for 100s in total; then it starts a \
             PostgreSQL server there and removes it"
        );
        assert_eq!(
            said("/", true).unwrap(),
            "check loads the storage fully with reads and writes for 100s in total"
        );
        assert_eq!(said("sim:servers?count=2&service=10ms", false), None);
    }
}
