//! What a target can give: most IOPS within a latency limit, most IOPS, most bytes per second, and
//! the curve between.
//!
//! The load is the number of outstanding I/Os of the whole job, kept in a closed loop. It is
//! doubled until more load is shown to give no more; then the limit is searched between the steps.
//! Everything is measured in short slices until its interval is tight or its share of the time
//! budget is used. A rate that falls under one and the same load divides the result into a burst
//! and a sustained part.

use crate::bench::Bench;
use assay_model::calibration::Calibration;
use assay_model::{Error, Result};

mod agree;
mod best;
mod candidates;
mod climb;
mod climbed;
mod confirm;
mod full_load;
mod keep;
mod ladder;
mod large;
mod level;
mod limit;
mod log;
mod meanwhile;
mod meter;
mod mix;
mod noise;
mod pace;
mod peak;
mod plan;
mod progress;
mod reach;
mod refine;
mod remarks;
mod rounds;
mod rung;
mod stalls;
mod warm;

pub use log::{LogPlan, calibrate_log};
pub use plan::{CalibrationMix, CalibrationPlan};
pub use progress::{CalibrationPhase, CalibrationProgress, CalibrationUpdate};

/// Calibrates a target; what was known when it was stopped or when the target failed is the result,
/// with a remark.
///
/// # Errors
/// A usage error when the plan is contradictory; those of the bench; an environment error when
/// nothing at all could be measured.
pub fn calibrate(
    bench: &mut dyn Bench,
    plan: &CalibrationPlan,
    progress: &mut dyn FnMut(CalibrationUpdate<'_>),
) -> Result<Calibration> {
    calibrate_until(bench, plan, progress, &mut |_| false)
}

/// The same, and no mix is begun after `is_enough` holds; it gets the calibration after each mix.
///
/// # Errors
/// As for [`calibrate`].
pub fn calibrate_until(
    bench: &mut dyn Bench,
    plan: &CalibrationPlan,
    progress: &mut dyn FnMut(CalibrationUpdate<'_>),
    is_enough: &mut dyn FnMut(&Calibration) -> bool,
) -> Result<Calibration> {
    plan.check()?;
    let target = bench.target();
    let mut meter = meter::RungMeter::new(bench, plan, progress);
    let mut found = Calibration {
        format: 1,
        target,
        limit: plan.limit,
        mixes: Vec::new(),
        direct_io: None,
        log: None,
        elapsed_s: 0.0,
        early_end: None,
        remarks: Vec::new(),
    };
    for mix in &plan.mixes {
        if meter.is_over() {
            break;
        }
        if let Some(answer) = meter.calibrate_mix(mix)? {
            meter.report(&answer);
            found.mixes.push(answer);
            found.elapsed_s = meter.elapsed_s();
            if is_enough(&found) {
                break;
            }
        }
    }
    let (elapsed_s, mut remarks) = meter.finish();
    if plan.hosts > 1 {
        remarks.push(remarks::several_hosts(plan.hosts));
    }
    if found.mixes.is_empty() {
        let why = remarks.first().map_or("no I/O completed", |remark| remark.what.as_str());
        return Err(Error::environment(
            format!("calibrating {}: nothing was measured: {why}", found.target),
            "increase --time",
        ));
    }
    Ok(Calibration { elapsed_s, remarks, ..found })
}
