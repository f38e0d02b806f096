//! From a profile to the demand of one unit of work, with the source of every input.

use crate::demand::{Deviations, PredictedDemand};
use crate::objections;
use crate::of_load::StepFacts;
use assay_model::Estimate;
use assay_model::profile::{Figure, IoClass, IoPurpose, Profile, RateKind};
use assay_model::projection::{InputKind, Objection, ProjectionInput, WorkUnit};
use assay_stats::group_commit;

/// A profile as the model sees it.
#[derive(Clone, Debug)]
pub struct ReadProfile {
    /// The database, for people.
    pub name: String,
    /// The product.
    pub product: String,
    /// What one unit of work asks.
    pub demand: PredictedDemand,
    /// The same for a reader, with sources.
    pub inputs: Vec<ProjectionInput>,
    /// What stands against any answer.
    pub objections: Vec<Objection>,
    /// Sessions that were connected, where they are known.
    pub sessions: Option<f64>,
    /// Processors of the host, where they are known.
    pub processors_total: Option<f64>,
    /// Share of the reads that the page cache answered, where it is known.
    pub cached_share: Option<f64>,
}

/// Standard deviations of what a server or a report counts: clocks and rounding, and that the next
/// hour is another one.
const COUNTED: f64 = 0.01;
/// The same of waits that are split by samples or by events of many kinds.
const SPLIT: f64 = 0.10;

/// Reads a profile. `cached_share` is the share of its reads that the page cache answered, where a
/// run knows it better than the profile itself.
pub fn demand_of(profile: &Profile, cached_share: Option<f64>) -> ReadProfile {
    let reader = ProfileReader { profile };
    reader.read(reader.demand(), cached_share)
}

/// The same of a step of a load, whose sessions know their work and its time themselves.
pub fn demand_of_load(profile: &Profile, facts: &StepFacts) -> ReadProfile {
    let reader = ProfileReader { profile };
    let mut demand = reader.demand();
    facts.correct(&mut demand);
    reader.read(demand, facts.cached_share)
}

fn value(figure: Option<&Figure>) -> Option<f64> {
    figure.map(|figure| figure.value).filter(|value| value.is_finite())
}

/// What sessions wait for in large pieces; of temporary files they write as much as they read.
const LARGE: [IoPurpose; 3] =
    [IoPurpose::MultiBlockRead, IoPurpose::DirectRead, IoPurpose::Temporary];
/// Bytes of a large read of which nothing is known.
const LARGE_BYTES: f64 = 131_072.0;

/// Work fewer than this a second is counted by statements, where those are known: a report prints a
/// tenth at best.
const TRANSACTIONS_MIN: f64 = 1.0;

struct ProfileReader<'a> {
    profile: &'a Profile,
}

impl ProfileReader<'_> {
    fn read(&self, demand: PredictedDemand, cached_share: Option<f64>) -> ReadProfile {
        let profile = self.profile;
        ReadProfile {
            name: profile.name.clone(),
            product: profile.source.product.to_string(),
            inputs: self.inputs(&demand),
            objections: objections::of_profile(profile, &demand, cached_share),
            sessions: value(profile.sessions.as_ref()),
            processors_total: value(profile.time.cpus.as_ref()),
            cached_share: objections::known_cached_share(profile, cached_share),
            demand,
        }
    }

    /// What is counted as work, how much of it a second, and where that stands.
    fn work(&self) -> (WorkUnit, f64, String) {
        let work = &self.profile.work;
        let of = |figure: &Option<Figure>, least: f64| {
            figure.as_ref().filter(|figure| figure.value > least).cloned()
        };
        let transactions = || of(&work.transactions_per_s, 0.0);
        let reads =
            || self.class(IoPurpose::SingleBlockRead).and_then(|class| class.rate_iops.clone());
        let found = of(&work.transactions_per_s, TRANSACTIONS_MIN)
            .map(|figure| (WorkUnit::Transaction, figure))
            .or_else(|| of(&work.executions_per_s, 0.0).map(|one| (WorkUnit::Execution, one)))
            .or_else(|| transactions().map(|one| (WorkUnit::Transaction, one)))
            .or_else(|| reads().filter(|one| one.value > 0.0).map(|one| (WorkUnit::Read, one)));
        found.map_or_else(
            || (WorkUnit::default(), 0.0, String::new()),
            |(unit, figure)| (unit, figure.value, figure.source),
        )
    }

    fn class(&self, purpose: IoPurpose) -> Option<&IoClass> {
        self.profile.class(purpose)
    }

    fn elapsed_s(&self) -> f64 {
        value(self.profile.elapsed_s.as_ref()).unwrap_or(0.0)
    }

    fn demand(&self) -> PredictedDemand {
        let (unit, throughput_per_s, _) = self.work();
        let time = &self.profile.time;
        let active = value(time.average_active_sessions.as_ref()).or_else(|| {
            Some(value(time.db_time_s.as_ref())? / self.elapsed_s()).filter(|one| one.is_finite())
        });
        let per = |rate: f64| if throughput_per_s > 0.0 { rate / throughput_per_s } else { 0.0 };
        let cpus_busy = value(time.db_cpu_s.as_ref())
            .map(|cpu_s| cpu_s / self.elapsed_s())
            .filter(|busy| busy.is_finite())
            .unwrap_or(0.0);
        let mut demand = PredictedDemand {
            unit,
            throughput_per_s,
            response_s: per(active.unwrap_or(0.0)),
            cpu_s: per(cpus_busy),
            processors_mean: self.processors(cpus_busy),
            deviations: self.deviations(),
            ..PredictedDemand::default()
        };
        self.reads(&mut demand, &per);
        self.writes(&mut demand, &per);
        self.waits(&mut demand);
        self.commits(&mut demand, &per);
        demand
    }

    /// Processors that other programs and the database's own background leave.
    fn processors(&self, sessions_busy: f64) -> f64 {
        let time = &self.profile.time;
        let Some(all) = value(time.cpus.as_ref()).filter(|all| *all > 0.0) else {
            // Not known: they are taken for no limit, which is among the objections.
            return 4096.0;
        };
        let background =
            value(time.background_cpu_s.as_ref()).map_or(0.0, |cpu_s| cpu_s / self.elapsed_s());
        let others = value(time.host_busy_share.as_ref())
            .map_or(background, |busy| (busy * all - sessions_busy).max(0.0));
        (all - others).max(0.05 * all).max(sessions_busy)
    }

    fn deviations(&self) -> Deviations {
        let cpu = self.profile.server.as_ref().and_then(|server| {
            let event = server.events.iter().find(|event| event.class == "CPU")?;
            Some(crate::storage::deviation_of(&event.time_s))
        });
        Deviations {
            throughput_deviation: COUNTED.max(self.rounding()),
            cpu_deviation: cpu.unwrap_or(COUNTED).max(COUNTED),
            reads_deviation: COUNTED,
            writes_deviation: 2.0 * COUNTED,
            flush_deviation: 2.0 * COUNTED,
            other_deviation: SPLIT,
            curve_deviation: COUNTED,
        }
    }

    /// Reports print work a second with one digit after the point: half a unit of it, as evenly
    /// spread.
    fn rounding(&self) -> f64 {
        let (_, throughput_per_s, _) = self.work();
        let is_rounded = self.profile.report.is_some() && throughput_per_s > 0.0;
        if is_rounded { 0.05 / 3.0_f64.sqrt() / throughput_per_s } else { 0.0 }
    }

    fn reads(&self, demand: &mut PredictedDemand, per: &dyn Fn(f64) -> f64) {
        if let Some(small) = self.class(IoPurpose::SingleBlockRead) {
            demand.reads_mean = per(value(small.rate_iops.as_ref()).unwrap_or(0.0));
            demand.read_latency_s = value(small.latency_s.as_ref()).unwrap_or(0.0);
            demand.read_bytes = value(small.block_size_bytes.as_ref())
                .or_else(|| value(self.profile.block_bytes.as_ref()))
                .unwrap_or(8192.0);
        }
        let unknown_bytes = self.large_block_size_bytes(demand);
        let mut bytes = 0.0;
        for purpose in LARGE {
            let Some((waits, latency_s, block_size)) = self.class(purpose).and_then(large) else {
                continue;
            };
            demand.large_reads_mean += per(waits);
            demand.large_reads_s += per(waits) * latency_s;
            bytes += per(waits) * block_size.unwrap_or(unknown_bytes);
        }
        if demand.large_reads_mean > 0.0 {
            demand.large_read_bytes = bytes / demand.large_reads_mean;
        }
    }

    /// Bytes of a large I/O whose class does not say: what all I/Os have beyond small ones, over
    /// those that are not small.
    fn large_block_size_bytes(&self, demand: &PredictedDemand) -> f64 {
        let all = self.class(IoPurpose::All);
        let of = |figure: fn(&IoClass) -> Option<&Figure>| value(all.and_then(figure));
        let small = [IoPurpose::SingleBlockRead, IoPurpose::DataFileWrite, IoPurpose::LogWrite];
        let small_iops: f64 = small
            .iter()
            .filter_map(|purpose| value(self.class(*purpose)?.rate_iops.as_ref()))
            .sum();
        let known = of(|class| class.rate_iops.as_ref())
            .zip(of(|class| class.throughput_bytes_per_s.as_ref()));
        let found = known
            .filter(|(iops, _)| *iops > small_iops)
            .map(|(iops, bytes)| (bytes - small_iops * demand.read_bytes) / (iops - small_iops));
        found.unwrap_or(LARGE_BYTES).clamp(demand.read_bytes.max(512.0), 8.0 * LARGE_BYTES)
    }

    fn writes(&self, demand: &mut PredictedDemand, per: &dyn Fn(f64) -> f64) {
        let rate = |kind: RateKind| value(self.profile.rate(kind)?.write_per_s.as_ref());
        let class = |purpose| value(self.class(purpose)?.rate_iops.as_ref());
        let log = class(IoPurpose::LogWrite).unwrap_or(0.0);
        let all = rate(RateKind::Total)
            .filter(|_| self.profile.report.is_some())
            .map(|all| (all - log).max(0.0))
            .or_else(|| rate(RateKind::Database))
            .or_else(|| class(IoPurpose::DataFileWrite))
            .unwrap_or(0.0);
        let own = value(self.profile.work.foreground_writes_per_s.as_ref()).unwrap_or(0.0).min(all);
        demand.foreground_writes_mean = per(own);
        demand.writes_mean = per(all - own);
        demand.foreground_writes_s = per(self.foreground_write_s());
        demand.write_queue_depth = self.write_queue_depth();
        let redo = value(self.profile.redo.write_iops.as_ref());
        demand.log_writes_mean = per(redo.unwrap_or(log));
        let whole = self.class(IoPurpose::All);
        let bytes = whole.and_then(|class| value(class.throughput_bytes_per_s.as_ref()));
        demand.io_bytes = per(bytes.unwrap_or(0.0));
    }

    /// Where sessions wait for late writes, all writers are at work: what is outstanding then
    /// follows by Little's law. Not in Oracle's reports: its writers submit batches, which grow
    /// with what is late, and a report times batches.
    fn write_queue_depth(&self) -> Option<f64> {
        self.profile.server.as_ref()?;
        let behind = self.profile.verdict.write_behind_share?;
        let writes = self.class(IoPurpose::DataFileWrite)?;
        let found = value(writes.rate_iops.as_ref())? * value(writes.latency_s.as_ref())?;
        (behind > objections::BEHIND_MIN && found >= 1.0).then_some(found)
    }

    /// Seconds that sessions waited a second for their own writes of data.
    fn foreground_write_s(&self) -> f64 {
        let functions = self.profile.server.iter().flat_map(|server| &server.functions);
        let own = functions.filter(|one| one.process == "client backend" && one.object != "wal");
        let time_s: f64 = own.filter_map(|one| one.write_time_s).sum();
        if self.elapsed_s() > 0.0 { time_s / self.elapsed_s() } else { 0.0 }
    }

    /// All waits that are neither reads nor commits.
    fn waits(&self, demand: &mut PredictedDemand) {
        let verdict = &self.profile.verdict;
        let of = |share: Option<f64>| share.unwrap_or(0.0) * demand.response_s;
        let cluster_s = self.class_share(&["Cluster"]) * demand.response_s;
        let locks = verdict
            .contention_share
            .unwrap_or_else(|| self.class_share(&["Concurrency", "Application", "Cluster"]));
        let named = [
            "User I/O",
            "System I/O",
            "Commit",
            "Concurrency",
            "Application",
            "Cluster",
            "Configuration",
            "Idle",
            "CPU",
        ];
        let elsewhere = self.profile.time.waits.iter();
        let elsewhere_s: f64 = elsewhere
            .filter(|wait| !named.contains(&wait.class.as_str()))
            .map(|wait| wait.time_s.value)
            .sum();
        let db_time_s = value(self.profile.time.db_time_s.as_ref()).unwrap_or(0.0);
        let other = verdict.other_share.unwrap_or(if db_time_s > 0.0 {
            elsewhere_s / db_time_s
        } else {
            0.0
        });
        let reads_s = demand.reads_s() + demand.large_reads_s + demand.foreground_writes_s;
        let further_io_s = (of(verdict.user_io_share) - reads_s).max(0.0);
        demand.write_behind_s = of(verdict.write_behind_share);
        demand.cluster_s = cluster_s;
        demand.contention_s = (locks * demand.response_s - cluster_s).max(0.0);
        demand.other_s = other * demand.response_s + further_io_s;
        demand.unaccounted_s = self.unaccounted_share() * demand.response_s;
    }

    fn class_share(&self, classes: &[&str]) -> f64 {
        let waits = self.profile.time.waits.iter();
        let of = waits.filter(|wait| classes.contains(&wait.class.as_str()));
        let time_s: f64 = of.map(|wait| wait.time_s.value).sum();
        let db_time_s = value(self.profile.time.db_time_s.as_ref()).unwrap_or(0.0);
        if db_time_s > 0.0 { time_s / db_time_s } else { 0.0 }
    }

    /// Where the machine was busy it is the wait for a processor, which is a station of the model.
    fn unaccounted_share(&self) -> f64 {
        let verdict = &self.profile.verdict;
        if verdict.cpu_queue_share.is_some() {
            return 0.0;
        }
        let time = &self.profile.time;
        let rest = || Some(value(time.unaccounted_s.as_ref())? / value(time.db_time_s.as_ref())?);
        verdict.unaccounted_share.or_else(rest).filter(|share| share.is_finite()).unwrap_or(0.0)
    }

    fn commits(&self, demand: &mut PredictedDemand, per: &dyn Fn(f64) -> f64) {
        let (redo, work) = (&self.profile.redo, &self.profile.work);
        let commit_share = self.profile.verdict.commit_share.or(redo.sync_share).unwrap_or(0.0);
        let commit_s = commit_share * demand.response_s;
        demand.redo_bytes = per(value(redo.redo_bytes_per_s.as_ref()).unwrap_or(0.0));
        if self.profile.server.is_some() {
            // PostgreSQL counts flushes of those who lead, and times each of them; InnoDB times
            // commits, and its log where it still can.
            let is_innodb = self.profile.source.product.is_innodb();
            let leading = redo.sync_latency_s.as_ref().filter(|_| !is_innodb);
            demand.flush_s = value(leading.or(redo.write_latency_s.as_ref()));
            let most = per(value(work.commits_per_s.as_ref()).unwrap_or(0.0));
            demand.commits_mean = waited_commits(demand, commit_s, most);
        } else {
            demand.flush_s = value(redo.write_latency_s.as_ref());
            let waits =
                value(redo.syncs_per_s.as_ref()).or_else(|| value(work.commits_per_s.as_ref()));
            demand.commits_mean = per(waits.unwrap_or(0.0));
        }
        if commit_s <= 0.0 || demand.commits_mean <= 0.0 {
            demand.commits_mean = 0.0;
            demand.other_s += commit_s;
            return;
        }
        demand.commit_latency_s = commit_s / demand.commits_mean;
    }

    /// What the model takes of the profile, each with its interval and source; nothing that is
    /// absent or none.
    fn inputs(&self, demand: &PredictedDemand) -> Vec<ProjectionInput> {
        let rows = self.inputs_of_work(demand).into_iter();
        let rows = rows.chain(self.inputs_of_ios(demand)).chain(self.inputs_of_commits(demand));
        rows.chain(inputs_of_waits(demand))
            .filter(|(_, value, ..)| *value > 0.0)
            .map(|(kind, value, deviation, source)| ProjectionInput {
                kind,
                value: around(value, deviation),
                source,
            })
            .collect()
    }

    fn inputs_of_work(&self, demand: &PredictedDemand) -> Vec<InputRow> {
        let (_, _, of_work) = self.work();
        let (time, deviations) = (&self.profile.time, demand.deviations);
        let (work_deviation, cpu_deviation) =
            (deviations.throughput_deviation, deviations.cpu_deviation);
        vec![
            (InputKind::Throughput, demand.throughput_per_s, work_deviation, of_work),
            (InputKind::Response, demand.response_s, COUNTED, source(time.db_time_s.as_ref())),
            (InputKind::Cpu, demand.cpu_s, cpu_deviation, source(time.db_cpu_s.as_ref())),
            (InputKind::Processors, demand.processors_mean, 0.0, source(time.cpus.as_ref())),
        ]
    }

    fn inputs_of_ios(&self, demand: &PredictedDemand) -> Vec<InputRow> {
        let small = self.class(IoPurpose::SingleBlockRead);
        let reads = source(small.and_then(|class| class.rate_iops.as_ref()));
        let latency = source(small.and_then(|class| class.latency_s.as_ref()));
        let large = "waits for multi-block reads".to_owned();
        let writes = "writes except those of the log".to_owned();
        let Deviations { reads_deviation, writes_deviation, .. } = demand.deviations;
        vec![
            (InputKind::Reads, demand.reads_mean, reads_deviation, reads),
            (InputKind::ReadLatency, demand.read_latency_s, COUNTED, latency),
            (InputKind::LargeReads, demand.large_reads_mean, reads_deviation, large),
            (InputKind::Writes, demand.writes_mean, writes_deviation, writes),
        ]
    }

    fn inputs_of_commits(&self, demand: &PredictedDemand) -> Vec<InputRow> {
        let redo = &self.profile.redo;
        let commits = source(redo.syncs_per_s.as_ref());
        let latency = source(redo.sync_latency_s.as_ref());
        let flush = source(redo.write_latency_s.as_ref().or(redo.sync_latency_s.as_ref()));
        let flush_s = demand.flush_s.unwrap_or(0.0);
        vec![
            (InputKind::Commits, demand.commits_mean, COUNTED, commits),
            (InputKind::CommitLatency, demand.commit_latency_s, COUNTED, latency),
            (InputKind::FlushTime, flush_s, demand.deviations.flush_deviation, flush),
        ]
    }
}

/// An input with its standard deviation and where it stands.
type InputRow = (InputKind, f64, f64, String);

fn inputs_of_waits(demand: &PredictedDemand) -> [InputRow; 2] {
    let contention_s = demand.contention_s + demand.cluster_s;
    let other_s = demand.other_s + demand.unaccounted_s.max(0.0);
    [(InputKind::Contention, contention_s), (InputKind::Other, other_s)].map(|(kind, time_s)| {
        (kind, time_s, demand.deviations.other_deviation, "waits by class".to_owned())
    })
}

fn source(figure: Option<&Figure>) -> String {
    figure.map_or_else(String::new, |figure| figure.source.clone())
}

/// A value with the interval of a standard deviation of its logarithm.
pub(crate) fn around(value: f64, deviation: f64) -> Estimate {
    let factor = (crate::draws::NORMAL_95 * deviation).exp();
    Estimate { value, low: value / factor, high: value * factor, confidence: 0.95, n: 1 }
}

/// Waits a second, their mean time and the bytes of each: one wait can stand for several I/Os, so
/// the waits are what is outstanding over the time of one.
fn large(class: &IoClass) -> Option<(f64, f64, Option<f64>)> {
    let latency_s = value(class.latency_s.as_ref()).filter(|time_s| *time_s > 0.0)?;
    let waits = match value(class.queue_depth.as_ref()) {
        Some(queue_depth) => queue_depth / latency_s,
        None => value(class.rate_iops.as_ref())?,
    };
    let bytes = value(class.throughput_bytes_per_s.as_ref()).map(|bytes| bytes / waits);
    (waits > 0.0).then_some((waits, latency_s, bytes))
}

/// Commits of one unit that waited for the log: all of them, or as many as explain the time that
/// was waited, where that is less than a flush for each. Those that changed nothing wait for
/// nothing.
fn waited_commits(demand: &PredictedDemand, commit_s: f64, most: f64) -> f64 {
    let Some(flush_s) = demand.flush_s.filter(|flush_s| *flush_s > 0.0) else {
        return most;
    };
    let waited = |commits: f64| {
        commits * group_commit::open(commits * demand.throughput_per_s, flush_s, 0.0).wait_s
    };
    if waited(most) <= commit_s {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if waited(middle) < commit_s { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
