//! Cell after cell: what was measured is kept before the next one begins, and a cell that fails does not end the study.

use super::{around, place, plan};
use crate::dossier::read_cell;
use crate::session::Session;
use assay_methods::soak::{SoakRecorder, SoakRule};
use assay_methods::study::{share_used, within, workload_of};
use assay_model::measurement::{Finish, Interval, Measurement};
use assay_model::number::{real, real_len};
use assay_model::soak::{Soak, SoakPlan};
use assay_model::study::{Cell, CellResult, CellState, Setting, Study, StudyResult, cells};
use assay_model::units::Nanos;
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Result};
use assay_store::Document;
use std::sync::atomic::Ordering;

/// Shorter cells are not looked at over time, s.
const COURSE_MIN_S: f64 = 600.0;

/// Keeps the study as it was scaled, so that it can be taken up again.
///
/// # Errors
/// What the store says.
pub fn keep(session: &Session, study: &Study) -> Result<()> {
    let text = toml::to_string(study).map_err(|error| {
        Error::environment(format!("writing the study: {error}"), "report this as a bug")
    })?;
    session.writer.put(Document::Study, &text)
}

/// What a broken limit leaves out: higher values of the last factor at the same other settings.
struct Breach {
    others: Vec<Setting>,
    at: usize,
    reason: String,
}

/// Measures every cell that has no result yet.
///
/// # Errors
/// What the store says; what a cell says is in its result.
pub fn conduct(session: &mut Session, study: &Study, result: &mut StudyResult) -> Result<Finish> {
    let (all, begun_s) = (cells(study), session.now_s());
    let mut breaches: Vec<Breach> = Vec::new();
    for cell in &all {
        if result.cells.iter().any(|done| done.cell.number == cell.number) {
            continue;
        }
        let spent_s = session.now_s() - begun_s;
        let reason = left_out(study, cell, &breaches, spent_s);
        let done = if let Some(reason) = reason {
            plain(cell, CellState::LeftOut { reason })
        } else {
            announce(session, study, cell, all.len());
            match measured(session, study, cell) {
                Ok(Some((done, breach))) => {
                    breaches.extend(breach);
                    done
                }
                Ok(None) => return Ok(Finish::Interrupted),
                Err(error) => {
                    session.progress.say(&format!(
                        "note: cell {} failed: {}",
                        cell.number,
                        error.message()
                    ));
                    let reason = error.message().to_owned();
                    plain(cell, CellState::Failed { reason })
                }
            }
        };
        result.cells.push(done);
        session.writer.put_json(Document::Results, result)?;
        if session.stop.load(Ordering::Relaxed) {
            return Ok(Finish::Interrupted);
        }
    }
    Ok(Finish::Complete)
}

/// One line a cell, with the time left.
fn announce(session: &mut Session, study: &Study, cell: &Cell, all: usize) {
    let left = real_len(all - place(cell.number)) * study.cell_s();
    let words = format!(
        "cell {} of {all}, repeat {}: {} ({} left)",
        cell.number,
        cell.repeat,
        plan::settings(cell),
        plan::length(left)
    );
    session.progress.say(&words);
}

fn plain(cell: &Cell, state: CellState) -> CellResult {
    CellResult {
        cell: cell.clone(),
        state,
        directory: String::new(),
        elapsed_s: 0.0,
        measures: Vec::new(),
        course: None,
        hooks: Vec::new(),
    }
}

/// Which stop rule leaves a cell out.
fn left_out(study: &Study, cell: &Cell, breaches: &[Breach], spent_s: f64) -> Option<String> {
    if let Some(time) = study.stop.time.filter(|time| spent_s > time.seconds()) {
        return Some(format!("the time of the study, {time}, is over"));
    }
    let (at, others) = ladder(study, cell)?;
    let broken = |breach: &&Breach| breach.others == others && at > breach.at;
    breaches.iter().find(broken).map(|breach| breach.reason.clone())
}

/// The place of the last factor's value, and the settings of the others.
fn ladder(study: &Study, cell: &Cell) -> Option<(usize, Vec<Setting>)> {
    let (last, others) = cell.settings.split_last()?;
    let values = &study.factors.last()?.values;
    let at = values.iter().position(|value| *value == last.value)?;
    Some((at, others.to_vec()))
}

/// All of one cell; nothing when a person stopped it.
fn measured(
    session: &mut Session,
    study: &Study,
    cell: &Cell,
) -> Result<Option<(CellResult, Option<Breach>)>> {
    let used = share_used(study, around::length_bytes(session))?;
    let workload = within(workload_of(study, cell)?, used);
    let run = session.writer.path().display().to_string();
    let mut hooks = Vec::new();
    if cell.restored && around::restore(session, study, cell)? != Finish::Complete {
        return Ok(None);
    }
    hooks.extend(around::hook(study, study.hooks.before.as_ref(), cell, &run)?);
    if around::settle(session, &workload, study.phases.settle)? == Finish::Interrupted {
        return Ok(None);
    }
    let directory = directory(session, cell)?;
    let mut recorder = SoakRecorder::new();
    let mut watch = |interval: &Interval| -> Option<String> {
        recorder.add(0, 0.0, interval);
        None
    };
    let measurement = session.measure_watched(&directory, &workload, &mut watch)?;
    if measurement.finish == Finish::Interrupted {
        return Ok(None);
    }
    if let Finish::Failed { reason } = &measurement.finish {
        return Err(Error::environment(reason, "look after the target"));
    }
    hooks.extend(around::hook(study, study.hooks.after.as_ref(), cell, &run)?);
    let measures = measures(session, &directory)?;
    session.rest("rest behind the cell", study.phases.rest);
    let done = CellResult {
        directory,
        elapsed_s: measurement.elapsed_s(),
        measures,
        course: course(&recorder, study, &workload.name, measurement.elapsed_s()),
        hooks,
        ..plain(cell, CellState::Measured)
    };
    let breach = breach(study, cell, &measurement);
    Ok(Some((done, breach)))
}

/// How a long cell went over time; a short one has no course worth telling.
fn course(recorder: &SoakRecorder, study: &Study, name: &str, elapsed_s: f64) -> Option<Soak> {
    let plan = SoakPlan {
        work: study.phases.measure,
        rest: study.phases.rest,
        cycles: 1,
        final_rest: Nanos(0),
    };
    (elapsed_s >= COURSE_MIN_S).then(|| recorder.finish(name, plan, &SoakRule::default()))
}

/// A directory that the run does not have yet: a cell that was cut off keeps its own.
fn directory(session: &Session, cell: &Cell) -> Result<String> {
    let reader = session.writer.reader()?;
    let base = format!("{:05}-{}", cell.number, plan::settings(cell));
    let tries = (1..).map(|again: u32| match again {
        1 => base.clone(),
        more => format!("{:05}-again-{more}", cell.number),
    });
    Ok(tries.take(1000).find(|name| reader.cell(name).is_err()).unwrap_or(base))
}

fn measures(session: &Session, directory: &str) -> Result<Vec<NamedEstimate>> {
    let reader = session.writer.reader()?;
    let (report, _) = read_cell(&reader.cell(directory)?, &[])?;
    Ok(report.estimates)
}

/// Whether a limit of the study is broken.
fn breach(study: &Study, cell: &Cell, measurement: &Measurement) -> Option<Breach> {
    let (at, others) = ladder(study, cell)?;
    let whole = measurement.operations();
    let p99_ns = whole.iter().map(|(_, result)| result.response().quantile_ns(0.99)).max();
    let slow = study.stop.latency.filter(|limit| p99_ns.is_some_and(|time_ns| time_ns > limit.0));
    let busy = measurement.conduct.host_busy_share;
    let full = study.stop.cpu.filter(|limit| busy.is_some_and(|busy| busy > limit.0));
    let reason = match (slow, full) {
        (Some(limit), _) => format!(
            "p99 was {} at a lower value, more than {limit}",
            assay_model::units::show_time_ns(real(p99_ns.unwrap_or_default()))
        ),
        (None, Some(limit)) => {
            format!("the host was busier than {:.0} % at a lower value", limit.0 * 100.0)
        }
        (None, None) => return None,
    };
    Some(Breach { others, at, reason })
}
