//! `assay calibrate`: what a target can give.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use assay_app::finish::{CriteriaSource, finish_run};
use assay_app::recording::{OpenTarget, Recording, RunRequest, host_busy};
use assay_app::target_plan::TargetPlan;
use assay_methods::{CalibrationPlan, Mix, Progress, SimulatedBench, StorageBench, calibrate};
use assay_model::Result;
use assay_model::calibration::{Calibration, LatencyLimit};
use assay_model::measurement::{Finish, Remark};
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, Share, show_count};
use assay_store::Document;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Finds the most IOPS within a latency limit, the most MB/s, and the whole curve between
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Limit on the quantile of the service time
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "1ms")]
    max_latency: Nanos,
    /// The quantile that the limit is on
    #[arg(long, value_name = "QUANTILE", default_value_t = 0.99)]
    quantile: f64,
    /// Shares of reads to calibrate, for example `100%,0%,70%`; by default reads, and on what may be written also writes and 70 %
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = quantity::<Share>)]
    read_share: Vec<Share>,
    /// Bytes of one small I/O
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "8KiB")]
    transfer: Bytes,
    /// Bytes of one large I/O
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "1MiB")]
    large_transfer: Bytes,
    /// Measured time for each mix at most
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "60s")]
    time: Nanos,
    /// Outstanding I/Os at most
    #[arg(long, value_name = "N", default_value_t = 1024)]
    outstanding_max: u32,
    /// A table of IOPS within limits FROM:TO:STEP, for example `100us:2ms:100us`
    #[arg(long, value_name = "FROM:TO:STEP", value_parser = steps)]
    steps: Option<Steps>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Criteria to judge by: a file, or oltp-default or dell-2017; without it there is an answer and no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// A series of limits.
#[derive(Clone, Debug)]
struct Steps(Vec<Nanos>);

/// Carries the verb out.
///
/// # Errors
/// What the options, the criteria, the store, the target or the method says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let asked = CriteriaSource::named(options.criteria.as_deref())?;
    let plan = plan(options);
    plan.check()?;
    let target = options.target.plan();
    let wanted = RunRequest {
        target: &target,
        write: plan.mixes.iter().any(|mix| mix.read_share < 1.0),
        direct: true,
        workload: None,
        study: None,
    };
    let context = context(&options.store, &options.output)?;
    let mut recording = Recording::begin(RunKind::Calibrate, &wanted, &context)?;
    let finish = match on_recording(&mut recording, &plan, &target) {
        Ok(finish) => finish,
        Err(error) => return Err(recording.abandon(error)),
    };
    // Test files go before the answer is printed.
    conclude(&finish_run(recording.end(), &finish, asked.as_ref())?, &options.output)
}

fn plan(options: &Options) -> CalibrationPlan {
    let limit =
        LatencyLimit { quantile: options.quantile, service_time_ns: real(options.max_latency.0) };
    CalibrationPlan {
        limit,
        mixes: mixes(options),
        transfer: options.transfer,
        large_transfer: options.large_transfer,
        time_budget: options.time,
        outstanding_max: options.outstanding_max,
        workers_max: std::thread::available_parallelism()
            .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1)),
        steps: options.steps.as_ref().map(|steps| steps.0.clone()).unwrap_or_default(),
        seed: options.seed,
    }
}

/// Reads always; writes only where a test file is made, a device was given up, or nothing is real.
fn mixes(options: &Options) -> Vec<Mix> {
    if !options.read_share.is_empty() {
        return options.read_share.iter().map(|share| Mix::of(share.0)).collect();
    }
    let shares: &[f64] =
        if options.target.plan().may_be_written() { &[1.0, 0.0, 0.7] } else { &[1.0] };
    shares.iter().map(|share| Mix::of(*share)).collect()
}

/// Calibrates what a recording opened, keeps the result, and says whether the method came to its end.
///
/// # Errors
/// What the method or the store says.
pub fn on_recording(
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
            calibration.map(|calibration| with_remarks(calibration, &storage.remarks))
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

fn with_remarks(mut calibration: Calibration, remarks: &[Remark]) -> Calibration {
    calibration.remarks.extend_from_slice(remarks);
    calibration
}

/// Reads `FROM:TO:STEP`.
fn steps(text: &str) -> std::result::Result<Steps, String> {
    let parts: Vec<Nanos> =
        text.split(':').map(quantity::<Nanos>).collect::<std::result::Result<_, _>>()?;
    let [from, to, step] = parts.as_slice() else {
        return Err("write FROM:TO:STEP, for example 100us:2ms:100us".to_owned());
    };
    if step.0 == 0 || from.0 == 0 || to.0 < from.0 || (to.0 - from.0) / step.0 > 200 {
        return Err("use a step above 0, FROM below TO, and at most 200 limits".to_owned());
    }
    let limits = (0..=(to.0 - from.0) / step.0).map(|index| Nanos(from.0 + index * step.0));
    Ok(Steps(limits.collect()))
}
