//! `assay calibrate`: what a target can give.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use assay_app::calibrate::CalibrationRunPlan;
use assay_app::finish::CriteriaSource;
use assay_app::target_plan::TargetPlan;
use assay_model::Result;
use assay_model::units::{Bytes, Nanos, Share};
use clap::Args;
use std::path::PathBuf;

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
pub fn run(options: &Options) -> Result<ExitStatus> {
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let context = context(&options.store, &options.output)?;
    conclude(&options.plan().run(criteria.as_ref(), &context)?, &options.output)
}

impl Options {
    fn plan(&self) -> CalibrationRunPlan {
        let target = self.target.plan();
        CalibrationRunPlan {
            max_latency: self.max_latency,
            quantile: self.quantile,
            read_share: self.read_share(&target),
            transfer: self.transfer,
            large_transfer: self.large_transfer,
            time: self.time,
            outstanding_max: self.outstanding_max,
            steps: self.steps.as_ref().map(|steps| steps.0.clone()).unwrap_or_default(),
            seed: self.seed,
            target,
        }
    }

    /// Reads always; writes only where a test file is made, a device was given up, or nothing is real.
    fn read_share(&self, target: &TargetPlan) -> Vec<Share> {
        if !self.read_share.is_empty() {
            return self.read_share.clone();
        }
        let shares: &[f64] = if target.may_be_written() { &[1.0, 0.0, 0.7] } else { &[1.0] };
        shares.iter().map(|share| Share(*share)).collect()
    }
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
