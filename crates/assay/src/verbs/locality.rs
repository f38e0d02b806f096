//! `assay locality`: which caches and tiers a target has.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, TargetOptions, context, quantity};
use assay_app::finish::finish_with_page;
use assay_app::recording::{OpenTarget, Recording, RunRequest};
use assay_methods::locality::{LocalityPlan, locality};
use assay_methods::{SimulatedBench, StorageBench};
use assay_model::locality::Locality;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, show_bytes};
use assay_model::{Outcome, Result};
use assay_store::Document;
use clap::Args;
use std::sync::Arc;

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
///
/// # Errors
/// What the options, the store, the target or the engine says.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let target = options.target.plan();
    let wanted =
        RunRequest { target: &target, write: false, direct: true, workload: None, study: None };
    let context = context(&options.store, &options.output)?;
    let mut recording = Recording::begin(RunKind::Locality, &wanted, &context)?;
    let found = match measure(&mut recording, options) {
        Ok(found) => found,
        Err(error) => return Err(recording.abandon(error)),
    };
    // Test files go before the answer is printed.
    let writer = recording.end();
    writer.put_json(Document::Locality, &found)?;
    let finish = if context.is_stopped() { Finish::Interrupted } else { Finish::Complete };
    conclude(&finish_with_page(writer, &finish, Outcome::Pass)?, &options.output)
}

fn measure(recording: &mut Recording, options: &Options) -> Result<Locality> {
    let plan = |length_bytes: u64| LocalityPlan {
        length_bytes,
        smallest: options.smallest,
        largest: options.largest,
        transfer: options.transfer,
        settle: options.settle,
        point: options.point,
        follow: options.follow,
        seed: 1,
    };
    let Recording { context, target, .. } = recording;
    let (progress, stop) = (&context.progress, &context.stop);
    let mut show = |done: f64, bytes: u64| {
        progress.show(&format!("working set {}", show_bytes(real(bytes))), done, None);
    };
    let found = match target {
        OpenTarget::Simulated(_, device) => {
            let plan = plan(device.length_bytes());
            let mut bench = SimulatedBench::of(device).with_stop(stop);
            locality(&mut bench, &plan, &mut show)
        }
        OpenTarget::Storage(storage) => {
            let length = storage.targets.iter().map(|target| target.length_bytes).sum();
            let choice = options.target.plan().engine.choice();
            let mut bench = StorageBench::new(Arc::clone(&storage.targets), choice, stop);
            locality(&mut bench, &plan(length), &mut show)
        }
    };
    progress.clear();
    found
}
