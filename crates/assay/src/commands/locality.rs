//! `assay locality`: which caches and tiers a target has.

use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::start;
use assay_app::locality::LocalityPlan;
use assay_model::Result;
use clap::Args;

/// Find sizes and latencies of caches and tiers
#[derive(Args)]
#[command(after_help = "Examples:
  assay locality /mnt/data
  assay locality /mnt/data --largest 64GiB --time 10s")]
pub struct LocalityOptions {
    #[command(flatten)]
    plan: LocalityPlan,
    #[command(flatten)]
    run: RunOptions,
}

/// Carries the command out.
pub fn run(options: &LocalityOptions) -> Result<ExitStatus> {
    start::carry_out(&options.plan, &options.run)
}
