//! What a target can give.

use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan_document::PlanDocument;
use crate::recording::{OpenTarget, Recording, RunRequest, host_busy};
use crate::target_plan::TargetPlan;
use assay_methods::{
    CalibrationPlan, LogPlan, Mix, Progress, SimulatedBench, StorageBench, calibrate,
};
use assay_model::Result;
use assay_model::calibration::{Calibration, LatencyLimit, MixCalibration};
use assay_model::measurement::{Finish, Remark};
use assay_model::number::{count, real};
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, Share, show_count};
use assay_predict::Demand;
use assay_store::Document;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The plan of a calibration; its fields are the options of the verb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationRunPlan {
    /// What is measured, and how it is opened.
    pub target: TargetPlan,
    /// Limit on the quantile of the service time.
    pub max_latency: Nanos,
    /// The quantile that the limit is on, 0..=1.
    pub quantile: f64,
    /// Shares of reads to calibrate.
    pub read_share: Vec<Share>,
    /// Bytes of one small I/O.
    pub transfer: Bytes,
    /// Bytes of one large I/O.
    pub large_transfer: Bytes,
    /// Measured time for each mix at most.
    pub time: Nanos,
    /// Outstanding I/Os at most.
    pub outstanding_max: u32,
    /// Further limits, each answered with the most IOPS within it.
    pub steps: Vec<Nanos>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for CalibrationRunPlan {
    fn default() -> Self {
        Self {
            target: TargetPlan::default(),
            max_latency: Nanos(1_000_000),
            quantile: 0.99,
            read_share: vec![Share(1.0)],
            transfer: Bytes(8 << 10),
            large_transfer: Bytes(1 << 20),
            time: Nanos(60_000_000_000),
            outstanding_max: 1024,
            steps: Vec::new(),
            seed: 1,
        }
    }
}

impl CalibrationRunPlan {
    /// Finds the most IOPS within the limit, the most bytes a second, and the curve between.
    pub fn run(&self, criteria: Option<&CriteriaSource>, context: &Context) -> Result<FinishedRun> {
        let method = self.method();
        method.check()?;
        let document = PlanDocument::new(self)?;
        let request = RunRequest {
            target: &self.target,
            write: self.read_share.iter().any(|share| share.0 < 1.0),
            direct: true,
            workload: None,
            study: None,
            document: Some(&document),
        };
        let mut recording = Recording::begin(RunKind::Calibrate, &request, context)?;
        match calibrate_recording(&mut recording, &method, &self.target) {
            // Test files go before the answer is given.
            Ok(finish) => finish_run(recording.end(), &finish, criteria),
            Err(error) => Err(recording.abandon(error)),
        }
    }

    fn method(&self) -> CalibrationPlan {
        let max_latency_ns = real(self.max_latency.0);
        CalibrationPlan {
            limit: LatencyLimit { quantile: self.quantile, service_time_ns: max_latency_ns },
            mixes: self.read_share.iter().map(|share| Mix::of(share.0)).collect(),
            transfer: self.transfer,
            large_transfer: self.large_transfer,
            time_budget: self.time,
            outstanding_max: self.outstanding_max,
            workers_max: std::thread::available_parallelism()
                .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1)),
            steps: self.steps.clone(),
            seed: self.seed,
        }
    }
}

/// Calibrates what a recording opened, keeps the result, and says whether the method came to its end.
pub(crate) fn calibrate_recording(
    recording: &mut Recording,
    plan: &CalibrationPlan,
    target: &TargetPlan,
) -> Result<Finish> {
    let Recording { writer, context, target: opened, .. } = recording;
    let stop = &context.stop;
    let mut show = |now: &Progress| {
        let what = format!(
            "{}: {} at {}: {} IOPS",
            now.mix,
            now.doing.name(),
            now.outstanding,
            show_count(now.iops)
        );
        context.progress.show(
            &what,
            now.elapsed_s / now.budget_s,
            Some((now.budget_s - now.elapsed_s).max(0.0)),
        );
    };
    let mut failure = None;
    let calibration = match opened {
        OpenTarget::Simulated(_, device) => {
            calibrate(&mut SimulatedBench::of(device).with_stop(stop), plan, &mut show)
        }
        OpenTarget::Storage(storage) => {
            let bench =
                StorageBench::new(Arc::clone(&storage.targets), target.engine.choice(), stop);
            let mut bench = bench.with_host_busy(host_busy());
            let calibration = calibrate(&mut bench, plan, &mut show);
            failure = bench.failure().map(str::to_owned);
            let direct_io = storage.targets.iter().all(|target| target.direct);
            calibration.map(|calibration| Calibration {
                direct_io: Some(direct_io),
                ..with_remarks(calibration, &storage.remarks)
            })
        }
    };
    context.progress.clear();
    writer.put_json(Document::Calibration, &calibration?)?;
    Ok(match failure {
        Some(reason) => Finish::Failed { reason },
        None if stop.load(Ordering::Relaxed) => Finish::Interrupted,
        None => Finish::Complete,
    })
}

/// The log of a database beside none, some and much of its own I/O.
pub(crate) fn log_plan(demand: &Demand, calibration: &Calibration, seed: u64) -> LogPlan {
    let share = demand.read_share();
    let mixes = calibration.mixes.iter();
    let nearest = mixes.min_by(|left, right| {
        let far = |mix: &MixCalibration| (mix.read_share - share).abs();
        far(left).total_cmp(&far(right))
    });
    let most = nearest.map_or(1, |mix| mix.iops_max.outstanding).max(1);
    let mut outstanding = vec![0, most.div_ceil(8), most.div_ceil(3), most];
    outstanding.dedup();
    let appended = demand.redo_bytes / demand.commits_mean.max(1e-9);
    let sectors = count((appended / 512.0).ceil()).clamp(1, 256);
    LogPlan {
        append: Bytes(512 * sectors),
        transfer: crate::predict::transfer(demand),
        read_share: share,
        outstanding,
        time: Nanos(2_000_000_000),
        seed,
    }
}

fn with_remarks(mut calibration: Calibration, remarks: &[Remark]) -> Calibration {
    calibration.remarks.extend_from_slice(remarks);
    calibration
}
