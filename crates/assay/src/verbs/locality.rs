//! `assay locality`: which caches and tiers a target has.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use assay_app::locality::LocalityPlan;
use assay_model::Result;
use assay_model::units::{Bytes, Nanos};
use clap::Args;

/// Finds the sizes and latencies of caches and tiers, and how long they take to follow a hot spot that moves
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// The smallest working set
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "1MiB")]
    smallest: Bytes,
    /// The largest working set; the whole target without it
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    largest: Option<Bytes>,
    /// Bytes of a read
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "8KiB")]
    transfer: Bytes,
    /// Reads of each working set before it is measured; longer than the slowest tier takes to follow
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "2s")]
    settle: Nanos,
    /// Measured time of each working set
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "5s")]
    point: Nanos,
    /// Let a hot spot jump every so often, and time how it is followed
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    follow: Option<Nanos>,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let plan = LocalityPlan {
        target: options.target.plan(),
        smallest: options.smallest,
        largest: options.largest,
        transfer: options.transfer,
        settle: options.settle,
        point: options.point,
        follow: options.follow,
    };
    conclude(&plan.run(&context(&options.store, &options.output)?)?, &options.output)
}
