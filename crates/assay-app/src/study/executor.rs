//! Cell after cell: what was measured is kept before the next one begins, and a cell that fails
//! does not end the study.

use super::labels::settings;
use super::{outline, phases};
use crate::loaded_run::read_cell;
use crate::progress::ProgressSender;
use crate::recording::{OpenTarget, RecordedWork, Recording};
use assay_judge::{stream_totals, totals};
use assay_methods::sessions::{sessions_of, storage_view};
use assay_methods::soak::{SoakRecorder, SoakRule};
use assay_methods::study::cells;
use assay_methods::study::{timed, within, workload_of};
use assay_model::array::SessionLoad;
use assay_model::integrity::Integrity;
use assay_model::measurement::{Finish, Interval, Measurement};
use assay_model::number::{index_of, real, real_len};
use assay_model::soak::{Soak, SoakCycles};
use assay_model::study::{Cell, CellResult, CellState, Study, StudyResult, StudySetting};
use assay_model::units::Nanos;
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Estimate, Result, Workload};
use assay_store::{RunWriter, StoredDocument};
use std::sync::atomic::Ordering;

/// Shorter cells are not looked at over time, s.
const COURSE_MIN_S: f64 = 600.0;

/// Keeps the study as it was scaled, so that it can be taken up again.
pub fn keep(writer: &RunWriter, study: &Study) -> Result<()> {
    let text = toml::to_string(study).map_err(|error| {
        Error::environment(format!("writing the study: {error}"), "report this as a bug")
    })?;
    writer.put(StoredDocument::Study, &text)
}

/// What a broken limit leaves out: higher values of the last factor at the same other settings.
struct Breach {
    others: Vec<StudySetting>,
    at: usize,
    reason: String,
}

/// A cell that was measured, and why higher values of the last factor are left out, if they are.
pub type CellOutcome = (CellResult, Option<String>);

/// Where cells are measured.
pub trait CellRunner {
    /// Time since the study began or went on, s.
    fn now_s(&self) -> f64;
    /// Takes what is shown until the next call for the progress of this cell of `count`, after
    /// which the others take `left_after_s` more seconds.
    fn begin(&mut self, number: u32, count: u32, left_after_s: f64);
    /// Shows a message to a person.
    fn say(&mut self, words: &str);
    /// Whether a person wants to stop.
    fn is_stopped(&self) -> bool;
    /// Keeps the result so far.
    fn keep(&self, result: &StudyResult) -> Result<()>;
    /// All of one cell; nothing when a person stopped it.
    fn measured(&mut self, study: &Study, cell: &Cell) -> Result<Option<CellOutcome>>;
}

/// Measures every cell that has no result yet.
///
/// # Errors
/// What the store says; what a cell says is in its result.
pub fn run_cells(
    runner: &mut dyn CellRunner,
    study: &Study,
    result: &mut StudyResult,
) -> Result<Finish> {
    let (all, begun_s) = (cells(study), runner.now_s());
    let mut breaches: Vec<Breach> = Vec::new();
    for cell in &all {
        if result.cells.iter().any(|done| done.cell.number == cell.number) {
            continue;
        }
        let spent_s = runner.now_s() - begun_s;
        let done = if let Some(reason) = left_out(study, cell, &breaches, spent_s) {
            plain(cell, CellState::LeftOut { reason })
        } else {
            announce(runner, study, cell, all.len());
            let Some((done, reason)) = run_cell(runner, study, cell) else {
                return Ok(Finish::Interrupted);
            };
            breaches.extend(breach(study, cell, reason));
            done
        };
        result.cells.push(done);
        runner.keep(result)?;
        if runner.is_stopped() {
            return Ok(Finish::Interrupted);
        }
    }
    Ok(Finish::Complete)
}

/// A cell that fails does not end the study: why it failed is in its result.
fn run_cell(runner: &mut dyn CellRunner, study: &Study, cell: &Cell) -> Option<CellOutcome> {
    match runner.measured(study, cell) {
        Ok(done) => done,
        // What a person stopped has not failed: it is measured when the study is taken up again.
        Err(_) if runner.is_stopped() => None,
        Err(error) => {
            runner.say(&format!("note: cell {} failed: {}", cell.number, error.message()));
            runner.say(&format!("hint: {}", error.hint()));
            let reason = error.message().to_owned();
            Some((plain(cell, CellState::Failed { reason }), None))
        }
    }
}

/// One line a cell, with the time left.
fn announce(runner: &mut dyn CellRunner, study: &Study, cell: &Cell, all: usize) {
    let left = real_len(all - place(cell.number)) * study.cell_s();
    let count = u32::try_from(all).unwrap_or(u32::MAX);
    runner.begin(cell.number, count, left - study.cell_s());
    let words = format!(
        "cell {} of {all}, repeat {}: {} ({} left)",
        cell.number,
        cell.repeat,
        settings(cell),
        outline::length(left)
    );
    runner.say(&words);
}

/// The place of a number in a list.
fn place(number: u32) -> usize {
    index_of(u64::from(number.saturating_sub(1)))
}

/// Storage or a simulated device, and all cells together over time where they are cycles of one
/// load.
pub struct OnStorage {
    /// What measures.
    pub recording: Recording,
    /// The progress of the whole study.
    whole: ProgressSender,
    cycles: Option<SoakRecorder>,
    last: u32,
}

impl OnStorage {
    /// For a study from its first cell on; what goes on has lost sight of its earlier cycles.
    pub fn new(recording: Recording, study: &Study, is_fresh: bool) -> Self {
        let is_cycles = is_fresh && study.factors.is_empty() && study.repeats > 1;
        let last = outline::study_last(study);
        let whole = recording.context.progress.clone();
        Self { recording, whole, cycles: is_cycles.then(SoakRecorder::new), last }
    }

    /// How all cycles together went.
    pub fn course(&self, study: &Study) -> Option<Soak> {
        let phases = &study.phases;
        let final_cycles = u32::from(phases.final_rest.0 > 0);
        let plan = SoakCycles {
            work: phases.measure,
            rest: phases.rest,
            cycles: self.last - final_cycles,
            final_rest: phases.final_rest,
        };
        Some(self.cycles.as_ref()?.finish(&study.name, plan, &SoakRule::default()))
    }
}

impl CellRunner for OnStorage {
    fn now_s(&self) -> f64 {
        self.recording.now_s()
    }

    fn begin(&mut self, number: u32, count: u32, left_after_s: f64) {
        self.recording.context.progress = self.whole.part(number, count, left_after_s);
    }

    fn say(&mut self, words: &str) {
        self.recording.context.progress.say(words);
    }

    fn is_stopped(&self) -> bool {
        self.recording.context.stop.load(Ordering::Relaxed)
    }

    fn keep(&self, result: &StudyResult) -> Result<()> {
        self.recording.writer.put_json(StoredDocument::Results, result)
    }

    fn measured(&mut self, study: &Study, cell: &Cell) -> Result<Option<CellOutcome>> {
        if cell.number == self.last {
            self.recording.rest("rest before the last cell", study.phases.final_rest);
        }
        measured(&mut self.recording, self.cycles.as_mut(), study, cell)
    }
}

fn plain(cell: &Cell, state: CellState) -> CellResult {
    CellResult::new(cell.clone(), state)
}

/// Which stop rule leaves a cell out.
fn left_out(study: &Study, cell: &Cell, breaches: &[Breach], spent_s: f64) -> Option<String> {
    if let Some(time) = study.stop.time.filter(|time| spent_s > time.seconds()) {
        return Some(format!("the time limit of the study, {time}, has passed"));
    }
    let (at, others) = ladder(study, cell)?;
    let broken = |breach: &&Breach| breach.others == others && at > breach.at;
    breaches.iter().find(broken).map(|breach| breach.reason.clone())
}

/// The place of the last factor's value, and the settings of the others.
fn ladder(study: &Study, cell: &Cell) -> Option<(usize, Vec<StudySetting>)> {
    let (last, others) = cell.settings.split_last()?;
    let values = &study.factors.last()?.values;
    let at = values.iter().position(|value| *value == last.value)?;
    Some((at, others.to_vec()))
}

/// All of one cell; nothing when a person stopped it.
fn measured(
    recording: &mut Recording,
    mut cycles: Option<&mut SoakRecorder>,
    study: &Study,
    cell: &Cell,
) -> Result<Option<CellOutcome>> {
    let shaped = recording.shape_array(cell)?;
    let (workload, sessions) = work_of(recording, study, &shaped)?;
    let run = recording.writer.path().display().to_string();
    let mut hooks = Vec::new();
    if cell.restored && phases::restore(recording, study, cell)? != Finish::Complete {
        return Ok(None);
    }
    hooks.extend(phases::hook(study, study.hooks.before.as_ref(), cell, &run, &recording.context)?);
    let settles = sessions.is_none();
    if settles && phases::settle(recording, &workload, study.phases.settle)? == Finish::Interrupted
    {
        return Ok(None);
    }
    let directory = directory(recording, cell)?;
    let (mut recorder, begin_s) = (SoakRecorder::new(), recording.now_s());
    let mut watch = |interval: &Interval| -> Option<String> {
        recorder.add(0, 0.0, interval);
        if let Some(cycles) = &mut cycles {
            cycles.add(cell.number - 1, begin_s, interval);
        }
        None
    };
    let work = RecordedWork { workload: &workload, sessions: sessions.as_ref() };
    if let Some(share) = study.verify {
        recording.verify(&workload, share)?;
    }
    let measurement = recording.measure_watched(&directory, work, &mut watch)?;
    let found = recording.sweep_verified(&measurement.finish, None)?;
    if measurement.finish == Finish::Interrupted {
        return Ok(None);
    }
    if let Finish::Failed { reason } = &measurement.finish {
        return Err(Error::environment(reason, "check the target"));
    }
    hooks.extend(phases::hook(study, study.hooks.after.as_ref(), cell, &run, &recording.context)?);
    let mut measures = measures(recording, &directory)?;
    measures.extend(found.map(|found| findings(&found)));
    recording.rest("rest after the cell", study.phases.rest);
    let done = CellResult {
        directory,
        elapsed_s: measurement.elapsed_s(),
        host_busy_share: measurement.conduct.host_busy_share,
        sessions: measurement.conduct.sessions,
        measures,
        course: course(&recorder, study, &workload.name, measurement.elapsed_s()),
        doubt: recording.doubt_of_hosts().map(str::to_owned),
        hooks,
        ..plain(cell, CellState::Measured)
    };
    Ok(Some((done, broken(study, &measurement))))
}

/// What is run: the workload of a cell, or the sessions and what their storage sees.
fn work_of(
    recording: &Recording,
    study: &Study,
    cell: &Cell,
) -> Result<(Workload, Option<SessionLoad>)> {
    if let Some(load) = sessions_here(recording, study, cell)? {
        let mut times = timed(study, cell)?;
        times.warm_up.0 += study.phases.settle.0;
        return Ok((storage_view(&load, &times), Some(load)));
    }
    let used = phases::used(recording, study, Some(cell))?;
    Ok((within(workload_of(study, cell)?, used), None))
}

/// The sessions of a simulated database, where the study has them and the target is an array.
fn sessions_here(recording: &Recording, study: &Study, cell: &Cell) -> Result<Option<SessionLoad>> {
    match &recording.target {
        OpenTarget::Simulated(_, device) if device.is_array() => sessions_of(study, cell),
        _ => Ok(None),
    }
}

/// How a long cell went over time; a short one has no course worth telling.
fn course(recorder: &SoakRecorder, study: &Study, name: &str, elapsed_s: f64) -> Option<Soak> {
    let plan = SoakCycles {
        work: study.phases.measure,
        rest: study.phases.rest,
        cycles: 1,
        final_rest: Nanos(0),
    };
    (elapsed_s >= COURSE_MIN_S).then(|| recorder.finish(name, plan, &SoakRule::default()))
}

/// A directory that the run does not have yet: a cell that was cut off keeps its own.
fn directory(recording: &Recording, cell: &Cell) -> Result<String> {
    let reader = recording.writer.reader()?;
    let base = format!("{:05}-{}", cell.number, settings(cell));
    let tries = (1..).map(|again: u32| match again {
        1 => base.clone(),
        more => format!("{:05}-again-{more}", cell.number),
    });
    Ok(tries.take(1000).find(|name| reader.cell(name).is_err()).unwrap_or(base))
}

fn measures(recording: &Recording, directory: &str) -> Result<Vec<NamedEstimate>> {
    let reader = recording.writer.reader()?;
    let (report, _) = read_cell(&reader.cell(directory)?, &[])?;
    let mut estimates = report.estimates;
    // What fell has no interval, but it has done what it has done.
    let streams = stream_totals(&report.measurement);
    for total in totals(&report.measurement).into_iter().chain(streams) {
        let is_known = |known: &NamedEstimate| {
            known.subject == total.subject && known.quantity == total.quantity
        };
        if !estimates.iter().any(is_known) {
            estimates.push(total);
        }
    }
    Ok(estimates)
}

/// Blocks of a cell that do not hold what was written to them.
fn findings(found: &Integrity) -> NamedEstimate {
    let estimate = Estimate::exact(real(found.found_blocks()), found.coverage.verified_blocks);
    NamedEstimate { quantity: "integrity.findings".to_owned(), subject: None, estimate }
}

/// What a broken limit means for the cells that follow.
fn breach(study: &Study, cell: &Cell, reason: Option<String>) -> Option<Breach> {
    let (at, others) = ladder(study, cell)?;
    Some(Breach { others, at, reason: reason? })
}

/// Which limit of the study is broken, if one is.
fn broken(study: &Study, measurement: &Measurement) -> Option<String> {
    let whole = measurement.operations();
    let p99_ns = whole.iter().map(|(_, result)| result.response().quantile_ns(0.99)).max();
    let slow = study.stop.latency.filter(|limit| p99_ns.is_some_and(|time_ns| time_ns > limit.0));
    let busy = measurement.conduct.host_busy_share;
    let full = study.stop.cpu.filter(|limit| busy.is_some_and(|busy| busy > limit.0));
    match (slow, full) {
        (Some(limit), _) => Some(format!(
            "p99 was {} at a lower value, more than {limit}",
            assay_model::units::show_time_ns(real(p99_ns.unwrap_or_default()))
        )),
        (None, Some(limit)) => {
            Some(format!("the host was busier than {:.0}% at a lower value", limit.0 * 100.0))
        }
        (None, None) => None,
    }
}
