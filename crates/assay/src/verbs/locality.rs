//! `assay locality`: which caches and tiers a target has.

use crate::exit::ExitStatus;
use crate::options::MeasurementOptions;
use crate::start;
use assay_app::locality::LocalityPlan;
use assay_model::Result;
use assay_model::units::{Bytes, Nanos};
use clap::Args;

/// Find sizes and latencies of caches and tiers
#[derive(Args)]
#[command(after_help = "Examples:
  assay locality /mnt/data
  assay locality /mnt/data --largest 64GiB --time 10s")]
pub struct Options {
    /// Smallest working set
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    smallest: Bytes,
    /// Largest working set; by default the whole target
    #[arg(long, value_name = "SIZE")]
    largest: Option<Bytes>,
    /// Size of a read
    #[arg(long, aliases = ["block", "block-size", "bs"], value_name = "SIZE", default_value = "8KiB")]
    transfer: Bytes,
    /// Time under load before each working set is measured; choose more than the slowest tier takes to adapt
    #[arg(long, aliases = ["warmup", "ramp-time"], value_name = "TIME", default_value = "2s")]
    warm_up: Nanos,
    /// Measured time of each working set
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "5s")]
    time: Nanos,
    /// Move a hot spot each time this has passed, and time how long the target takes to adapt
    #[arg(long, value_name = "TIME")]
    follow: Option<Nanos>,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// Carries the command out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let plan = LocalityPlan {
        target: options.shared.target.plan.clone(),
        smallest: options.smallest,
        largest: options.largest,
        transfer: options.transfer,
        settle: options.warm_up,
        point: options.time,
        follow: options.follow,
    };
    let (shared, target) = (&options.shared, &plan.target);
    start::carry_out(shared, target, || plan.summary(), |context| plan.run(context))
}
