//! A study of a load on a real database: every cell is one `assay load`, kept as a run of its own in the same store.

use super::executor::{CellRunner, Done};
use super::metrics::{failed, measures};
use super::phases;
use super::shared_data::Data;
use crate::context::Context;
use assay_model::Result;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::study::{Cell, CellResult, CellState, Study, StudyResult};
use assay_model::units::Nanos;
use assay_store::{Document, RunReader, RunWriter};
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a load is looked after.
const LOOK: Duration = Duration::from_millis(100);
/// A load that was asked to end is given this long to put its server away.
const GRACE: Duration = Duration::from_secs(20);

/// Where loads run and are kept.
pub struct LoadCells<'a> {
    /// The directory, or the server.
    pub target: &'a str,
    /// The target without secrets, as runs name it.
    pub shown: &'a str,
    /// What the caller gave.
    pub context: &'a Context,
    /// The run of the study.
    pub writer: &'a RunWriter,
    /// The words of the command that a cell is.
    pub words: &'a dyn Fn(&Study, &Cell) -> Result<Vec<String>>,
    /// When the study began or went on.
    pub began: Instant,
    /// The data that cells share, where they are made by the study.
    pub data: Option<Data>,
}

impl CellRunner for LoadCells<'_> {
    fn now_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn say(&mut self, words: &str) {
        self.context.progress.say(words);
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    fn keep(&self, result: &StudyResult) -> Result<()> {
        self.writer.put_json(Document::Results, result)
    }

    fn measured(&mut self, study: &Study, cell: &Cell) -> Result<Option<Done>> {
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
        .filter(|named| named.subject.is_none() && named.quantity.ends_with("_time.q0.99"))
        .map(|named| named.estimate.value)
        .fold(0.0, f64::max);
    (slowest > real(limit.0)).then(|| {
        let shown = assay_model::units::show_time_ns(slowest);
        format!("p99 was {shown} at a lower value, more than {limit}")
    })
}

/// Carries one cell out; nothing when a person stopped it.
///
/// # Errors
/// What the load, a hook or the store says.
fn measured(
    study: &Study,
    cell: &Cell,
    place: &mut LoadCells<'_>,
    run: &str,
) -> Result<Option<CellResult>> {
    let mut words = (place.words)(study, cell)?;
    if let Some(data) = &mut place.data {
        words = data.arranged(study, cell, &words)?;
    }
    let mut hooks = Vec::new();
    hooks.extend(phases::hook(study, study.hooks.before.as_ref(), cell, run, place.context)?);
    let (begun, begun_unix_ns) = (Instant::now(), assay_host::clock::unix_ns());
    let run_child = run_child(&words, place);
    if let Some(data) = &mut place.data {
        data.look()?;
    }
    if !run_child? {
        return Ok(None);
    }
    let kept = newest(place, begun_unix_ns)?;
    hooks.extend(phases::hook(study, study.hooks.after.as_ref(), cell, run, place.context)?);
    rest(study.phases.rest, &place.context.stop);
    Ok(Some(CellResult {
        cell: cell.clone(),
        state: CellState::Measured,
        directory: String::new(),
        run: kept.manifest().id.clone(),
        elapsed_s: begun.elapsed().as_secs_f64(),
        host_busy_share: None,
        measures: measures(&kept)?,
        course: None,
        hooks,
    }))
}

/// Runs the program itself; false when it was stopped.
fn run_child(words: &[String], place: &LoadCells<'_>) -> Result<bool> {
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut child = std::process::Command::new(program)
        .args(words)
        .arg("--quiet")
        .arg("--store")
        .arg(place.context.store.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let complaints = child.stderr.take().map(|mut stream| {
        std::thread::spawn(move || {
            let mut text = String::new();
            drop(stream.read_to_string(&mut text));
            text
        })
    });
    let code = wait(&mut child, &place.context.stop)?;
    let complaints = complaints.and_then(|reader| reader.join().ok()).unwrap_or_default();
    match code {
        _ if place.context.stop.load(Ordering::Relaxed) => Ok(false),
        // What a load judges of itself is in its own run.
        Some(0 | 1 | 3) => Ok(true),
        Some(130) => Ok(false),
        _ => {
            let line = complaints.lines().find_map(|line| line.strip_prefix("error: "));
            Err(failed(line.unwrap_or("it ended without a word")))
        }
    }
}

/// Waits for the load; one that does not end when it is asked to is ended.
fn wait(child: &mut Child, stop: &AtomicBool) -> Result<Option<i32>> {
    let mut stopped = None;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| failed(&error.to_string()))? {
            return Ok(status.code());
        }
        if stop.load(Ordering::Relaxed) {
            let since: &mut Instant = stopped.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                drop(child.kill());
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn rest(time: Nanos, stop: &AtomicBool) {
    let end = Instant::now() + Duration::from_nanos(time.0);
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// The run that the load left: the newest of its kind and target since it began.
fn newest(place: &LoadCells<'_>, begun_unix_ns: u64) -> Result<RunReader> {
    let store = &place.context.store;
    let is_here = |target: &String| match &place.data {
        Some(data) => data.holds(target),
        None => target == place.shown,
    };
    for listed in store.runs()?.runs {
        let run = store.open(&listed.path.display().to_string())?;
        let manifest = run.manifest();
        let is_it = manifest.kind == RunKind::Load
            && manifest.created_unix_ns >= begun_unix_ns
            && manifest.targets.iter().any(is_here);
        if is_it {
            return Ok(run);
        }
    }
    Err(failed("it kept no run"))
}
