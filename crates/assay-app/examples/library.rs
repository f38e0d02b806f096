//! Measures without the command line: a calibration of a simulated device, and a load on a
//! database.
#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use assay_app::calibrate::CalibrationRunPlan;
use assay_app::load::LoadPlan;
use assay_app::load::oltp::OltpPlan;
use assay_app::load::transactions::TransactionPlan;
use assay_app::target_plan::TargetPlan;
use assay_app::{CommandPlan, Context, Guards, ProgressSender, ProgressUpdate};
use assay_model::units::{Nanos, Share};
use assay_model::{Error, Result};
use assay_store::Store;
use std::path::Path;

/// Calibrates a device of two servers that need 500 µs for each I/O; gives the most IOPS within 5
/// ms.
pub(crate) fn calibrate(context: &Context) -> Result<f64> {
    let plan = CalibrationRunPlan {
        target: TargetPlan {
            targets: vec!["sim:servers?count=2&service=500us".to_owned()],
            ..TargetPlan::default()
        },
        read_share: vec![Share(1.0)],
        max_latency: Nanos(5_000_000),
        time: Some(Nanos(10_000_000_000)),
        ..CalibrationRunPlan::default()
    };
    let finished = plan.run(context)?;
    let calibration = finished.loaded.report.calibration.as_ref();
    let reads = calibration.and_then(|calibration| calibration.mixes.first());
    let within = reads.and_then(|reads| reads.iops_within_limit.as_ref());
    within
        .map(|capacity| capacity.rate.value)
        .ok_or_else(|| Error::environment("no rate was found within the limit", "increase --time"))
}

/// The plan of an order-entry load of four users on a target: a directory, or the address of a
/// server.
pub(crate) fn order_entry(target: &str) -> LoadPlan {
    LoadPlan::Oltp(OltpPlan {
        warehouses: 1,
        shared: TransactionPlan {
            target: target.to_owned(),
            sessions: Some(vec![4]),
            time: Nanos(2_000_000_000),
            warm_up: Nanos(0),
            ..TransactionPlan::default()
        },
        ..OltpPlan::default()
    })
}

/// Runs it; gives the run's id and the transactions a second of its last rung.
pub(crate) fn load(plan: &LoadPlan, context: &Context) -> Result<(String, f64)> {
    let finished = plan.run(context)?;
    let rung = finished.loaded.report.load.as_ref().and_then(|load| load.rungs.last());
    let per_s = rung.map_or(0.0, |rung| rung.measurement.iops());
    Ok((finished.run.manifest().id.clone(), per_s))
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let store = words.next().unwrap_or_else(|| "assay-runs".to_owned());
    let context = Context {
        // Notes go to whoever reads; a program with a window would show `Doing`, too.
        progress: ProgressSender::new(|update| {
            if let ProgressUpdate::Note(text) = update {
                println!("{text}");
            }
        }),
        // A server that a load makes ends with this program: `assay` stands between the two.
        guards: Guards::of(Path::new("/usr/local/bin/assay")),
        ..Context::new(Store::at(Path::new(&store)))
    };
    println!("{:.0} IOPS within 5 ms", calibrate(&context)?);
    // Plans are checked without touching anything.
    let plan = order_entry(&words.next().unwrap_or_else(|| ".".to_owned()));
    plan.load().check()?;
    println!("about {} bytes of data", plan.load().data_bytes()?);
    if let Some("run") = words.next().as_deref() {
        let (id, per_s) = load(&plan, &context)?;
        println!("{id}: {per_s:.0} transactions/s");
    }
    Ok(())
}
