//! `assay locality`: which caches and tiers a target has.

use crate::conclude::{close_with_page, show};
use crate::dossier::Dossier;
use crate::exit::{Ended, ended};
use crate::options::{OutputOptions, StoreOptions, TargetOptions, quantity};
use crate::session::{Place, Session, Wanted};
use assay_methods::locality::{LocalityPlan, locality};
use assay_methods::{SimulatedBench, StorageBench};
use assay_model::Result;
use assay_model::locality::Locality;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, show_bytes};
use assay_store::Document;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
pub fn run(options: &Options) -> Result<Ended> {
    let wanted = Wanted {
        store: &options.store,
        options: &options.target,
        write: false,
        direct: true,
        workload: None,
        study: None,
        output: &options.output,
    };
    let mut session = Session::begin(RunKind::Locality, &wanted)?;
    let found = match measure(&mut session, options) {
        Ok(found) => found,
        Err(error) => return Err(session.abandon(error)),
    };
    let Session { writer, place, stop, .. } = session;
    // Test files go before the answer is printed.
    drop(place);
    writer.put_json(Document::Locality, &found)?;
    let finish = if stop.load(Ordering::Relaxed) { Finish::Interrupted } else { Finish::Complete };
    let run = close_with_page(writer, finish.clone())?;
    show(&Dossier::read(&run)?, &run, &options.output)?;
    Ok(ended(&finish, assay_model::Outcome::Pass))
}

fn measure(session: &mut Session, options: &Options) -> Result<Locality> {
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
    let Session { progress, stop, place, .. } = session;
    let mut show = |done: f64, bytes: u64| {
        progress.show(&format!("working set {}", show_bytes(real(bytes))), done, None);
    };
    let found = match place {
        Place::Simulated(_, device) => {
            let plan = plan(device.length_bytes());
            let mut bench = SimulatedBench::of(device).with_stop(stop);
            locality(&mut bench, &plan, &mut show)
        }
        Place::Storage(storage) => {
            let length = storage.targets.iter().map(|target| target.length_bytes).sum();
            let choice = options.target.engine.choice();
            let mut bench = StorageBench::new(Arc::clone(&storage.targets), choice, stop);
            locality(&mut bench, &plan(length), &mut show)
        }
    };
    progress.clear();
    found
}
