//! A study of a load on a real database: every cell is a load, kept as a run of its own in the same
//! store.

use super::executor::{CellOutcome, CellRunner};
use super::load_cell::load_of;
use super::metrics::{failed, measures};
use super::phases;
use super::shared_data::Data;
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::load::load_options::LoadOptions;
use crate::progress::ProgressSender;
use assay_dbserver::redacted;
use assay_model::Result;
use assay_model::cluster::Cluster;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::quantity_name::QuantityName;
use assay_model::study::{Cell, CellResult, CellState, Study, StudyResult};
use assay_model::units::Nanos;
use assay_store::{RunWriter, StoredDocument};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a rest looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Where loads run and are kept.
pub struct LoadCells<'a> {
    /// The directory, or the server.
    pub target: &'a str,
    /// What the caller gave.
    pub context: &'a Context,
    /// The progress of the cell.
    pub progress: ProgressSender,
    /// The run of the study.
    pub writer: &'a RunWriter,
    /// When the study began or went on.
    pub began: Instant,
    /// The data that cells share, where they are made by the study.
    pub data: Option<Data>,
}

impl CellRunner for LoadCells<'_> {
    fn now_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn begin(&mut self, number: u32, count: u32, left_after_s: f64) {
        self.progress = self.context.progress.part(number, count, left_after_s);
    }

    fn say(&mut self, words: &str) {
        self.context.progress.say(words);
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    fn keep(&self, result: &StudyResult) -> Result<()> {
        self.writer.put_json(StoredDocument::Results, result)
    }

    fn measured(&mut self, study: &Study, cell: &Cell) -> Result<Option<CellOutcome>> {
        let run = self.writer.path().display().to_string();
        let done = measured(study, cell, self, &run)?;
        Ok(done.map(|done| {
            let broken = broken(study, &done);
            (done, broken)
        }))
    }
}

/// Whether the limit on times is broken; a load says itself how busy its host was.
fn broken(study: &Study, done: &CellResult) -> Option<String> {
    let limit = study.stop.latency?;
    let slowest = done
        .measures
        .iter()
        .filter(|named| named.subject.is_none() && QuantityName::of(&named.quantity).is_q99())
        .map(|named| named.estimate.value)
        .fold(0.0, f64::max);
    (slowest > real(limit.0)).then(|| {
        let shown = assay_model::units::show_time_ns(slowest);
        format!("p99 was {shown} at a lower value, more than {limit}")
    })
}

/// Carries one cell out; nothing when a person stopped it.
fn measured(
    study: &Study,
    cell: &Cell,
    place: &mut LoadCells<'_>,
    run: &str,
) -> Result<Option<CellResult>> {
    let mut load = load_of(study, cell, place.target)?;
    if let Some(data) = &mut place.data {
        data.arrange(study, cell, &mut load)?;
    }
    let mut hooks = Vec::new();
    hooks.extend(phases::hook(study, study.hooks.before.as_ref(), cell, run, place.context)?);
    let begun = Instant::now();
    let finished = run_load(&load, place.context, &place.progress);
    if let Some(data) = &mut place.data {
        data.look()?;
    }
    let Some(finished) = finished? else {
        return Ok(None);
    };
    hooks.extend(phases::hook(study, study.hooks.after.as_ref(), cell, run, place.context)?);
    rest(study.phases.rest, &place.context.stop);
    Ok(Some(CellResult {
        run: finished.run.manifest().id.clone(),
        elapsed_s: begun.elapsed().as_secs_f64(),
        measures: measures(&finished.run)?,
        doubt: finished.loaded.report.cluster.as_ref().and_then(Cluster::doubt),
        hooks,
        ..CellResult::new(cell.clone(), CellState::Measured)
    }))
}

/// Carries the load out; nothing when it was stopped. What a load judges of itself is in its own
/// run.
fn run_load(
    load: &LoadOptions,
    context: &Context,
    progress: &ProgressSender,
) -> Result<Option<FinishedRun>> {
    let program = context.command.iter().take(1).cloned();
    let command = program.chain(load.words().iter().map(|word| redacted(word))).collect();
    let programs = context.server_programs.clone();
    let mut plan = load.plan()?;
    let server = plan.load_mut().parts().server;
    server.bindir = server.bindir.take().or(programs);
    let progress = progress.without_notes();
    // The name is the study's.
    let store = context.store.clone().labelled(None)?;
    let context = Context { store, progress, command, ..context.clone() };
    let finished = plan.run(&context);
    if context.is_stopped() {
        return Ok(None);
    }
    let finished = finished.map_err(|error| error.context("the load"))?;
    match &finished.finish {
        Finish::Complete => Ok(Some(finished)),
        Finish::Interrupted | Finish::Unfinished => Ok(None),
        Finish::Failed { reason } => Err(failed(reason)),
    }
}

fn rest(time: Nanos, stop: &AtomicBool) {
    let end = Instant::now() + Duration::from_nanos(time.0);
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}
