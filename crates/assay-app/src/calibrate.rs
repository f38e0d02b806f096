//! What a target can give.

use crate::cluster::{ClusterBench, HostNames, HostsPlan, OpenHosts};
use crate::context::Context;
use crate::database_calibration::{self, append_of, log_plan};
use crate::database_source::DatabaseSource;
use crate::dry_run::PlanSummary;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan::CommandPlan;
use crate::plan_document::PlanDocument;
use crate::progress::ProgressSender;
use crate::recording::{OpenTarget, Recording, RunRequest, host_busy};
use crate::target_plan::TargetPlan;
use assay_judge::{CriteriaRules, certain_failure};
use assay_methods::target::TargetStorage;
use assay_methods::{
    Bench, CalibrationMix, CalibrationPlan, CalibrationUpdate, LogPlan, SimulatedBench,
    StorageBench, calibrate_log, calibrate_until, transfer_max,
};
use assay_model::calibration::{Calibration, Capacity, LatencyLimit, MixCalibration};
use assay_model::cluster::Cluster;
use assay_model::environment::Environment;
use assay_model::measurement::{EarlyDecision, EarlyEnd, Finish, Interval, Remark};
use assay_model::number::{count_of, real, real_len};
use assay_model::run::RunKind;
use assay_model::spelling::{LimitStatistic, Spelling, defaults, latency, quantity};
use assay_model::units::{Bytes, Nanos, Share, show_count, show_time_ns};
use assay_model::{Error, Outcome, Result, read_from_command_line};
use assay_store::StoredDocument;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum measured time of each mix where nobody says.
const USUAL_MIX_TIME: Nanos = Nanos(60_000_000_000);

/// The plan of a calibration; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationRunPlan {
    /// Maximum measured time of each mix [default: 60s; with --criteria, no further mix after a
    /// certain FAIL]
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Limit on the latency (service time), reads and writes each for themselves
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = latency)]
    pub max_latency: Nanos,
    /// Quantile that must meet the limit, or `mean`
    #[arg(long, alias = "of", value_name = "QUANTILE", default_value = "0.99")]
    pub quantile: LimitStatistic,
    /// Shares of reads to calibrate, for example `100%,0%,70%`; by default reads, plus writes and
    /// 70% if writing is allowed
    #[arg(long, alias = "rwmixread", value_name = "SHARES", value_delimiter = ',')]
    pub read_share: Vec<Share>,
    /// Size of a small I/O
    #[serde(alias = "transfer")]
    #[arg(
        long,
        aliases = ["block", "bs", "transfer"],
        value_name = "SIZE",
        default_value = "8KiB"
    )]
    pub block_size: Bytes,
    /// Size of a large I/O
    #[serde(alias = "large_transfer")]
    #[arg(
        long = "large-block",
        alias = "large-transfer",
        value_name = "SIZE",
        default_value = "1MiB"
    )]
    pub large_block_size: Bytes,
    /// Maximum queue depth (outstanding I/Os)
    #[serde(alias = "outstanding_max")]
    #[arg(long, alias = "outstanding-max", value_name = "N", default_value_t = 1024)]
    pub queue_depth_max: u32,
    /// Add a table of IOPS within latency limits FROM:TO:STEP, for example `100us:2ms:100us`
    #[arg(long, value_name = "FROM:TO:STEP")]
    pub steps: Option<LimitSeries>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Time for each mix beyond `time`, for the precision of its whole curve; 0 is none
    #[arg(skip)]
    pub curve_time: Nanos,
    /// Bytes of an append to the log of a database, where that is measured, too
    #[arg(skip)]
    pub append: Option<Bytes>,
    /// Criteria to judge by: a file, oltp-default or dell-2017; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<PathBuf>,
    /// Hosts that issue I/O together, each on its own view of the targets: local:N (processes
    /// here), ssh:A,B, or names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostNames>,
    /// What is measured, and how it is opened
    #[command(flatten)]
    pub target: TargetPlan,
}

/// Limits on the latency from one to another in equal steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LimitSeries(pub Vec<Nanos>);

impl FromStr for LimitSeries {
    type Err = Error;

    /// Reads `FROM:TO:STEP`.
    fn from_str(text: &str) -> Result<Self> {
        let refused =
            |hint: &str| Error::usage(format!("'{text}' is not a series of limits"), hint);
        let parts: Option<Vec<Nanos>> = text.split(':').map(|part| quantity(part).ok()).collect();
        let Some([from, to, step]) = parts.as_deref() else {
            return Err(refused("write FROM:TO:STEP, for example 100us:2ms:100us"));
        };
        if step.0 == 0 || from.0 == 0 || to.0 < from.0 || (to.0 - from.0) / step.0 > 200 {
            return Err(refused("use a step above 0, FROM below TO, and at most 200 limits"));
        }
        let limits = (0..=(to.0 - from.0) / step.0).map(|index| Nanos(from.0 + index * step.0));
        Ok(Self(limits.collect()))
    }
}

impl Spelling for LimitSeries {}

read_from_command_line!(LimitSeries);

impl Default for CalibrationRunPlan {
    fn default() -> Self {
        defaults()
    }
}

impl CommandPlan for CalibrationRunPlan {
    fn target(&self) -> TargetPlan {
        self.target.seen_by(self.hosts.as_ref())
    }

    fn summary(&self) -> Result<PlanSummary> {
        let plan = self.resolved();
        let mixes: Vec<String> =
            plan.read_share.iter().map(|share| format!("{:.0}%", 100.0 * share.0)).collect();
        let all = Nanos(self.mix_time().0.saturating_mul(count_of(mixes.len())));
        Ok(PlanSummary {
            format: 1,
            title: "calibrate".to_owned(),
            load: format!(
                "random {} with read shares of {}, and sequential {}, up to full speed",
                self.block_size,
                mixes.join(", "),
                self.large_block_size
            ),
            time: format!("up to {all}{}", plan.target.filling()),
            targets: plan.target().summary(plan.writes(), true, true)?,
            server: None,
        })
    }

    /// Finds the most IOPS within the limit, the most bytes per second, and the curve between.
    fn run(&self, context: &Context) -> Result<FinishedRun> {
        let plan = self.resolved();
        let criteria = CriteriaSource::named(self.criteria.as_deref())?;
        let method = plan.method();
        plan.check_hosts()?;
        method.check()?;
        let document = PlanDocument::new(&plan)?;
        let target = plan.target();
        let hosts = plan.hosts.clone().map(HostsPlan::sharing);
        let request = RunRequest {
            write: plan.writes(),
            grows: true,
            hosts: hosts.as_ref(),
            document: Some(&document),
            ..RunRequest::reading(&target)
        };
        let mut recording = Recording::begin(RunKind::Calibrate, &request, context)?;
        let planned_s = method.time_budget.seconds() * real_len(method.mixes.len());
        let judged = criteria.as_ref().filter(|_| plan.time.is_none());
        let judged = judged.map(|criteria| JudgedMixes { rules: &criteria.rules, planned_s });
        match calibrate_recording(&mut recording, &method, plan.append, &target, judged) {
            // Test files go before the answer is given.
            Ok(finish) => finish_run(recording.end(), &finish, criteria.as_ref()),
            Err(error) => Err(recording.abandon(error)),
        }
    }
}

impl CalibrationRunPlan {
    /// Maximum measured time of each mix.
    pub fn mix_time(&self) -> Nanos {
        self.time.unwrap_or(USUAL_MIX_TIME)
    }

    /// The plan with all of it said that depends on the target: reads, and where writing is allowed
    /// also writes and 70%.
    pub fn resolved(&self) -> Self {
        let target = self.target();
        let mut plan = Self { target, ..self.clone() };
        if plan.read_share.is_empty() {
            let shares: &[f64] =
                if plan.target.may_be_written() { &[1.0, 0.0, 0.7] } else { &[1.0] };
            plan.read_share = shares.iter().copied().map(Share).collect();
        }
        plan
    }

    /// Whether a mix writes.
    pub(crate) fn writes(&self) -> bool {
        self.read_share.iter().any(|share| share.0 < 1.0)
    }

    /// Takes transfer, mix and log of a database, and gives the curve where it lives half as much
    /// time again.
    ///
    /// # Errors
    /// When the profile has no reads of a block.
    pub fn for_database(&mut self, database: &DatabaseSource) -> Result<()> {
        let demand = database.demand();
        if demand.reads_mean <= 0.0 {
            return Err(Error::usage(
                format!("the profile {} has no single-block reads", database.profile.name),
                "take a report of a busy hour, or calibrate with --block-size and --read-share",
            ));
        }
        let may_write = self.target().may_be_written();
        self.block_size = database_calibration::block_size(&demand);
        let mixes = database_calibration::mixes(&demand).into_iter();
        let mixes = mixes.filter(|mix| may_write || mix.read_share >= 1.0);
        self.read_share = mixes.map(|mix| Share(mix.read_share)).collect();
        self.curve_time = Nanos(self.mix_time().0 / 2);
        self.append = (may_write && demand.commits_mean > 0.0).then(|| append_of(&demand));
        Ok(())
    }

    fn check_hosts(&self) -> Result<()> {
        let hosts = self.hosts_count();
        if hosts > 1 && self.queue_depth_max < hosts {
            return Err(Error::usage(
                format!("{} outstanding I/Os are too few for {hosts} hosts", self.queue_depth_max),
                "give every host at least one with --queue-depth-max",
            ));
        }
        if hosts > 1 && self.append.is_some() {
            return Err(Error::usage(
                "only one host writes the log of a database, but --hosts lists several",
                "calibrate the log on one host, or pass --read-share and --block-size",
            ));
        }
        Ok(())
    }

    fn hosts_count(&self) -> u32 {
        self.hosts.as_ref().map_or(1, HostNames::count)
    }

    fn method(&self) -> CalibrationPlan {
        let max_latency_ns = real(self.max_latency.0);
        let hosts = self.hosts_count();
        CalibrationPlan {
            limit: LatencyLimit { quantile: self.quantile, service_time_ns: max_latency_ns },
            mixes: self.read_share.iter().map(|share| CalibrationMix::of(share.0)).collect(),
            block_size: self.block_size,
            large_block_size: self.large_block_size,
            time_budget: self.mix_time(),
            curve_time: self.curve_time,
            queue_depth_max: self.queue_depth_max / hosts,
            hosts,
            workers_max: std::thread::available_parallelism()
                .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1)),
            steps: self.steps.clone().map_or_else(Vec::new, |steps| steps.0),
            seed: self.seed,
        }
    }
}

/// Mixes none of which is begun after a criterion certainly fails.
#[derive(Clone, Copy)]
pub(crate) struct JudgedMixes<'a> {
    pub(crate) rules: &'a CriteriaRules,
    /// Time of all loads of the command, s.
    pub(crate) planned_s: f64,
}

/// Calibrates what a recording opened, keeps the result, and says whether the method came to its
/// end.
pub(crate) fn calibrate_recording(
    recording: &mut Recording,
    plan: &CalibrationPlan,
    append: Option<Bytes>,
    target: &TargetPlan,
    judged: Option<JudgedMixes<'_>>,
) -> Result<Finish> {
    let Recording { writer, context, target: opened, .. } = recording;
    let stop = &context.stop;
    let mut failure = None;
    let calibration = match opened {
        OpenTarget::Hosts(hosts) => {
            let (found, cluster) = together(hosts, plan, &mut failure, context)?;
            if let Some(cluster) = cluster {
                writer.put_json(StoredDocument::Cluster, &cluster)?;
            }
            Ok(found)
        }
        OpenTarget::Simulated(_, device) => {
            // In virtual time the whole answer is there at once.
            let progress = context.progress.without_notes();
            let mut bench = SimulatedBench::of(device).with_stop(stop);
            let work = MixWork { plan, append, judged, environment: None };
            let remark = device.missing_bandwidth();
            with_log(&mut bench, &work, &progress)
                .map(|calibration| with_remarks(calibration, remark.as_slice()))
        }
        OpenTarget::Storage(storage) => {
            let plan = &carried(plan, storage, context);
            let bench =
                StorageBench::new(Arc::clone(&storage.targets), target.engine.choice(), stop);
            let mut bench = bench.with_host_busy(host_busy());
            let environment = Some(&storage.environment);
            let work = MixWork { plan, append, judged, environment };
            let calibration = with_log(&mut bench, &work, &context.progress);
            failure = bench.failure().map(str::to_owned);
            let direct_io = storage.targets.iter().all(|target| target.direct);
            calibration.map(|calibration| Calibration {
                direct_io: Some(direct_io),
                ..with_remarks(calibration, &storage.remarks)
            })
        }
    };
    context.progress.clear();
    writer.put_json(StoredDocument::Calibration, &calibration?)?;
    Ok(match failure {
        Some(reason) => Finish::Failed { reason },
        None if stop.load(Ordering::Relaxed) => Finish::Interrupted,
        None => Finish::Complete,
    })
}

/// The plan with large transfers that one command can carry, where commands go past the block
/// layer, which would split them.
fn carried(plan: &CalibrationPlan, storage: &TargetStorage, context: &Context) -> CalibrationPlan {
    let mut plan = plan.clone();
    if let Some((name, most)) =
        transfer_max(&storage.targets).filter(|(_, most)| *most < plan.large_block_size)
    {
        // The largest power of two, which smaller transfers divide.
        plan.large_block_size = Bytes(1 << most.0.ilog2()).max(plan.block_size);
        context.progress.say(&format!(
            "note: large I/Os are {}: a command to {name} transfers at most {most}",
            plan.large_block_size
        ));
    }
    plan
}

/// The calibration of several hosts, and what is said of each of them.
fn together(
    hosts: &mut OpenHosts,
    plan: &CalibrationPlan,
    failure: &mut Option<String>,
    context: &Context,
) -> Result<(Calibration, Option<Cluster>)> {
    let mut bench = ClusterBench::new(hosts, &context.stop);
    let work = MixWork { plan, append: None, judged: None, environment: None };
    let calibration = with_log(&mut bench, &work, &context.progress)?;
    *failure = bench.failure().map(str::to_owned);
    context.progress.show("each host alone", 1.0, None);
    let mixes = count_of(plan.mixes.len());
    Ok((calibration, bench.conclude(Nanos(plan.time_budget.0.saturating_mul(mixes)))?))
}

/// What is calibrated, and by what it may end.
struct MixWork<'a> {
    plan: &'a CalibrationPlan,
    append: Option<Bytes>,
    judged: Option<JudgedMixes<'a>>,
    environment: Option<&'a Environment>,
}

/// I/Os and bytes of all slices.
#[derive(Default)]
struct MeasuredIos {
    ios: Cell<u64>,
    bytes: Cell<u64>,
}

/// The calibration, and the log behind it where one is asked for.
fn with_log(
    bench: &mut dyn Bench,
    work: &MixWork<'_>,
    progress: &ProgressSender,
) -> Result<Calibration> {
    let plan = work.plan;
    let (mut answered, measured) = (0, MeasuredIos::default());
    let mut show = |update: CalibrationUpdate<'_>| match update {
        CalibrationUpdate::Slice(now) => {
            measured.add(&now.slice);
            let (mix, doing) = (&now.mix, now.doing.name());
            let what =
                format!("{mix}: {doing} at {}: {} IOPS", now.queue_depth, show_count(now.iops));
            let left_s = (now.budget_s - now.elapsed_s).max(0.0);
            progress.show(&what, now.elapsed_s / now.budget_s, Some(left_s));
            progress.interval(&now.slice);
        }
        CalibrationUpdate::Mix(answer) => {
            answered += 1;
            if answered < plan.mixes.len() {
                progress.say(&first_answer(answer, &plan.limit));
            }
        }
    };
    let (mut end, mut before_s) = (None, 0.0);
    let mut is_enough = |found: &Calibration| {
        let load_s = found.elapsed_s - before_s;
        before_s = found.elapsed_s;
        end = work.judged.and_then(|judged| {
            let decision = certain_failure(judged.rules, found, work.environment, load_s)?;
            Some(measured.end(decision, found.elapsed_s, judged.planned_s))
        });
        end.is_some()
    };
    let mut calibration = calibrate_until(bench, plan, &mut show, &mut is_enough)?;
    if let Some(end) = end {
        calibration.remarks.push(Remark::of_early_end(&end));
        calibration.early_end = Some(end);
    } else if let Some(append) = work.append {
        calibration.log = calibrate_log(bench, &log_work(append, plan, &calibration))?;
    }
    Ok(calibration)
}

fn log_work(append: Bytes, plan: &CalibrationPlan, calibration: &Calibration) -> LogPlan {
    let mixed =
        plan.mixes.iter().map(|mix| mix.read_share).find(|share| *share > 0.0 && *share < 1.0);
    let share = mixed.unwrap_or(1.0);
    log_plan(append, plan.block_size, share, calibration, plan.seed, plan.time_budget)
}

impl MeasuredIos {
    fn add(&self, slice: &Interval) {
        self.ios.set(self.ios.get() + slice.operations.ios());
        self.bytes.set(self.bytes.get() + slice.operations.bytes());
    }

    /// The end by a criterion that failed.
    fn end(&self, decision: EarlyDecision, look_s: f64, planned_s: f64) -> EarlyEnd {
        let (ios, bytes) = (self.ios.get(), self.bytes.get());
        let decisions = vec![decision];
        EarlyEnd { outcome: Outcome::Fail, look_s, planned_s, ios, bytes, decisions }
    }
}

/// What is known of a mix before the others are measured, in a line.
fn first_answer(answer: &MixCalibration, limit: &LatencyLimit) -> String {
    let shown = |capacity: &Capacity| {
        let rate = &capacity.rate;
        let ends = if rate.is_at_least() {
            format!("at least {}", show_count(rate.low))
        } else {
            format!("{} to {}", show_count(rate.low), show_count(rate.high))
        };
        format!("{} ({ends})", show_count(rate.value))
    };
    let most = format!("{} IOPS at most", shown(&answer.iops_max));
    if !limit.is_asked() {
        return format!("first result, {}: {most}", answer.name);
    }
    let (latency, limited) = (show_time_ns(limit.service_time_ns), limit.quantile);
    let within = match &answer.iops_within_limit {
        Some(within) => format!("{} IOPS with {limited} within {latency}", shown(within)),
        None => format!("{limited} is above {latency} even with one I/O at a time"),
    };
    format!("first result, {}: {within}; {most}", answer.name)
}

fn with_remarks(mut calibration: Calibration, remarks: &[Remark]) -> Calibration {
    calibration.remarks.extend_from_slice(remarks);
    calibration
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::calibration::CapacityBound;

    fn capacity(low: f64, value: f64, high: f64) -> Capacity {
        let rate = Estimate { low, high, ..Estimate::exact(value, 30) };
        Capacity {
            rate,
            burst_rate: None,
            burst_s: None,
            queue_depth: 8,
            bound: CapacityBound::Saturated,
        }
    }

    #[test]
    fn a_first_answer_has_its_interval_and_its_limit() {
        let limit = LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 };
        let of = |within: Option<Capacity>| {
            let iops_max = capacity(58_000.0, 60_000.0, f64::INFINITY);
            let answer = MixCalibration { iops_within_limit: within, iops_max, ..made_up() };
            first_answer(&answer, &limit)
        };
        assert_eq!(
            of(Some(capacity(19_000.0, 20_000.0, 21_000.0))),
            "first result, read: 20,000 (19,000 to 21,000) IOPS with p99 within 1.00 ms; 60,000 \
             (at least 58,000) IOPS at most"
        );
        let unasked = LatencyLimit { service_time_ns: 1e10, ..limit };
        let answer =
            MixCalibration { iops_max: capacity(58_000.0, 60_000.0, f64::INFINITY), ..made_up() };
        assert_eq!(
            first_answer(&answer, &unasked),
            "first result, read: 60,000 (at least 58,000) IOPS at most"
        );
        assert!(of(None).contains("p99 is above 1.00 ms even with one I/O at a time;"));
    }

    fn made_up() -> MixCalibration {
        let plan =
            CalibrationPlan { time_budget: Nanos(5_000_000_000), ..CalibrationPlan::default() };
        let device = assay_engine::device::DeviceSpec::parse("servers?count=8&service=500us");
        let mut bench = SimulatedBench::new(&device.unwrap());
        assay_methods::calibrate(&mut bench, &plan, &mut |_| {}).unwrap().mixes.remove(0)
    }
}
