//! What happens around the measuring of a cell: filling, preconditioning, settling, hooks.

use super::labels::settings;
use crate::context::Context;
use crate::recording::{OpenTarget, Recording};
use assay_host::hook::{HookPurpose, HookRun, run_hook};
use assay_methods::study::{capacity_of, fill_of, filling, share_used};
use assay_methods::transfer_max;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::study::{Cell, Study};
use assay_model::units::Nanos;
use assay_model::{Error, Result, Workload};
use std::time::Duration;

/// Without any progress in this many steps, filling is given up.
const IDLE_STEPS_MAX: u32 = 60;

/// The part of the target that a cell works on; an array whose capacity is varied is as large as
/// the cell wants it.
///
/// # Errors
/// A usage error when the target is smaller.
pub fn used(recording: &Recording, study: &Study, cell: Option<&Cell>) -> Result<f64> {
    let is_array =
        matches!(&recording.target, OpenTarget::Simulated(_, device) if device.is_array());
    if is_array && study.factors.iter().any(|factor| factor.name == "capacity") {
        return Ok(1.0);
    }
    let capacity = cell.map_or(study.capacity, |cell| capacity_of(study, cell));
    share_used(capacity, recording.length_bytes())
}

/// Fills and preconditions the data as the cell wants them.
///
/// # Errors
/// What the engine says, or a target that takes no writes.
pub fn restore(recording: &mut Recording, study: &Study, cell: &Cell) -> Result<Finish> {
    // A modelled array begins as its document says, filled or as new; only where that is varied it
    // is filled here.
    let is_given = recording.renew_array() && !varies_fill(cell);
    let length = recording.length_bytes();
    let used = used(recording, study, Some(cell))?;
    let fill = fill_of(study, cell).filter(|_| !is_given).map_or(0.0, |fill| fill.0);
    let passes = (0..study.phases.precondition_passes).map(|_| 1.0);
    for share in [fill].into_iter().chain(passes).filter(|share| *share > 0.0) {
        let finish = write_once(recording, used * share, length)?;
        if finish != Finish::Complete {
            return Ok(finish);
        }
    }
    Ok(Finish::Complete)
}

fn varies_fill(cell: &Cell) -> bool {
    cell.settings.iter().any(|setting| setting.factor == "fill")
}

/// Writes the beginning of the target once, step by step, each behind the last.
fn write_once(recording: &mut Recording, to: f64, length: u64) -> Result<Finish> {
    let (mut from, mut idle) = (0.0, 0);
    let (times, most) = match &recording.target {
        OpenTarget::Simulated(_, device) => (device.hasten().0, None),
        OpenTarget::Storage(storage) => (1, transfer_max(&storage.targets).map(|(_, most)| most)),
        OpenTarget::Hosts(_) => (1, None),
    };
    // What is shorter than one transfer is not worth a step.
    let least = 2.0 * real(1 << 20) / real(length);
    while to - from > least {
        let measurement = recording.measure_unkept(&filling(from, to, times, most))?;
        if measurement.finish != Finish::Complete {
            return Ok(measurement.finish);
        }
        let written = real(measurement.operations().bytes()) * real(times) / real(length);
        idle = if written > 0.0 { 0 } else { idle + 1 };
        if idle == IDLE_STEPS_MAX {
            return Err(Error::environment(
                "filling: the target completed no write for a minute",
                "check the target, then continue the study with --resume",
            ));
        }
        from += written;
        let share = (from / to).min(1.0);
        recording.context.progress.show("filling and preconditioning", share, None);
    }
    recording.context.progress.clear();
    Ok(Finish::Complete)
}

/// Runs the cell's own workload without keeping anything of it.
pub fn settle(recording: &mut Recording, workload: &Workload, time: Nanos) -> Result<Finish> {
    if time.0 == 0 {
        return Ok(Finish::Complete);
    }
    let settling = Workload { duration: time, warm_up: Nanos(0), ..workload.clone() };
    Ok(recording.measure_unkept(&settling)?.finish)
}

/// Runs a hook of the study, if there is one, and gives what it printed.
///
/// # Errors
/// When it cannot be started, fails, hangs or is stopped.
pub fn hook(
    study: &Study,
    command: Option<&String>,
    cell: &Cell,
    run: &str,
    context: &Context,
) -> Result<Option<String>> {
    let Some(command) = command else {
        return Ok(None);
    };
    let number = cell.number.to_string();
    let settings = settings(cell);
    let variables = [
        ("ASSAY_RUN", run),
        ("ASSAY_STUDY", &study.name),
        ("ASSAY_CELL", &number),
        ("ASSAY_SETTINGS", &settings),
    ];
    let limit = Duration::from_nanos(study.hooks.time_limit.0);
    let run = HookRun {
        purpose: HookPurpose::Study,
        guard: &context.guards.hook,
        variables: &variables,
        limit,
        stop: &context.stop,
    };
    run_hook(command, &run).map(Some)
}
