//! One ladder from its first rung to its answer; every rung is kept before the next one begins.

use super::ServerOptions;
use super::ground::{Ground, Named, Wanted};
use crate::conclude::conclude_load;
use crate::dossier::rung_cell;
use crate::exit::Ended;
use crate::options::{OutputOptions, StoreOptions};
use crate::progress::Progress;
use crate::session::{give_up, unix_ns};
use crate::signals::stop_flag;
use assay_loads::slob::Rules;
use assay_methods::slob::{
    Access, Climb, Length, Next, Point, RungPlan, knee_of, measure, workload,
};
use assay_model::load::{Load, Rung, ServerFacts, Setting};
use assay_model::measurement::{Conduct, Finish, Interval, Joint};
use assay_model::number::seconds;
use assay_model::run::RunKind;
use assay_model::units::{Nanos, show_count};
use assay_model::{Error, Result};
use assay_store::{CellStart, CellWriter, Document, Durability, NewRun, RunWriter};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The load before the first rung, which fills the caches of processes and of the server.
const WARM_UP: Nanos = Nanos(2_000_000_000);

/// What is to be measured.
pub struct Ladder {
    /// The target as it was named.
    pub target: String,
    /// Which rungs.
    pub climb: Climb,
    /// What ends each.
    pub length: Length,
    /// How often the ladder is measured.
    pub repeats: u32,
    /// How rows are read.
    pub access: Access,
    /// The knobs as they are shown.
    pub plan: Vec<Setting>,
    /// The knobs.
    pub rules: Rules,
}

/// A ladder that is being climbed.
pub struct Climbing<'a> {
    /// What is wanted.
    pub ladder: &'a Ladder,
    /// Where it runs.
    pub ground: &'a mut Ground,
    /// Where it is kept.
    pub writer: &'a RunWriter,
    /// What a person sees meanwhile.
    pub progress: &'a mut Progress,
    /// Set when the program is asked to end.
    pub stop: &'a Arc<AtomicBool>,
}

/// Carries a ladder out as a run of its own.
///
/// # Errors
/// What the store, the gate or the server say before anything was measured.
pub fn carry_out(
    ladder: &Ladder,
    server: &ServerOptions,
    store: &StoreOptions,
    output: &OutputOptions,
) -> Result<Ended> {
    let named = Named::read(&ladder.target)?;
    let (stop, mut progress) = (stop_flag()?, Progress::new(output));
    let store = store.open();
    let writer = store.create(&NewRun {
        kind: RunKind::Load,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: named.command(&ladder.target),
        targets: vec![named.shown()],
        created_unix_ns: unix_ns(),
    })?;
    let wanted = Wanted {
        rules: &ladder.rules,
        sessions_max: ladder.climb.sessions_max(),
        server,
        stop: &stop,
    };
    let climbed = Ground::prepare(&named, &wanted, &mut progress).and_then(|mut ground| {
        if let Some(environment) = ground.environment(&named) {
            writer.put_json(Document::Environment, &environment)?;
        }
        let climbed = Climbing {
            ladder,
            ground: &mut ground,
            writer: &writer,
            progress: &mut progress,
            stop: &stop,
        }
        .climb();
        // Our server goes before the answer is printed, whatever came of it.
        let finished = ground.finish();
        climbed.and_then(|finish| finished.map(|()| finish))
    });
    progress.clear();
    match climbed {
        Ok(finish) => conclude_load(writer, &finish, output),
        Err(error) => {
            give_up_unless_measured(&store, writer);
            Err(error)
        }
    }
}

/// The ladder as a part of another command's run: where no database can be made, the result says why and nothing fails.
///
/// # Errors
/// What the store says.
pub fn beside(
    ladder: &Ladder,
    bindir: Option<&Path>,
    writer: &RunWriter,
    progress: &mut Progress,
    stop: &Arc<AtomicBool>,
) -> Result<()> {
    let server = ServerOptions::of(bindir);
    let named = Named::read(&ladder.target)?;
    let wanted = Wanted {
        rules: &ladder.rules,
        sessions_max: ladder.climb.sessions_max(),
        server: &server,
        stop,
    };
    let climbed = Ground::prepare(&named, &wanted, progress).and_then(|mut ground| {
        let climbing = Climbing { ladder, ground: &mut ground, writer, progress, stop };
        let climbed = climbing.climb();
        ground.finish().and(climbed)
    });
    progress.clear();
    let Err(error) = climbed else {
        return Ok(());
    };
    progress.say(&format!("note: the database is skipped: {}; {}", error.message(), error.hint()));
    writer.put_json(Document::Load, &skipped(error.message()))
}

/// What is kept of a ladder that could not be climbed.
fn skipped(why: &str) -> Load {
    Load {
        format: 1,
        method: "slob".to_owned(),
        server: ServerFacts::default(),
        plan: Vec::new(),
        filled: None,
        access: String::new(),
        rungs: Vec::new(),
        processors: processors(),
        end: why.to_owned(),
        knee_sessions: None,
        goal: None,
        remarks: Vec::new(),
    }
}

/// A run without any rung is of no use to anybody.
fn give_up_unless_measured(store: &assay_store::Store, writer: RunWriter) {
    let measured =
        writer.reader().is_ok_and(|run| run.cells().is_ok_and(|cells| !cells.is_empty()));
    if !measured {
        give_up(store, writer);
    }
}

impl Climbing<'_> {
    /// Measures rung after rung and keeps the result after each; says how it ended.
    ///
    /// # Errors
    /// What the store says, or the server before the first rung was measured.
    pub fn climb(mut self) -> Result<Finish> {
        self.warm_up()?;
        let (mut load, mut points) = (self.result(), Vec::new());
        let finish = self.first_pass(&mut load, &mut points)?;
        let finish = match finish {
            Finish::Complete => self.repeat(&mut load)?,
            early => early,
        };
        load.goal = self.ladder.climb.goal(&points);
        load.knee_sessions = knee_of(&load.rungs);
        self.writer.put_json(Document::Load, &load)?;
        Ok(finish)
    }

    fn first_pass(&mut self, load: &mut Load, points: &mut Vec<Point>) -> Result<Finish> {
        loop {
            let sessions = match self.ladder.climb.next(points) {
                Next::Measure(sessions) => sessions,
                Next::End(why) => {
                    load.end = why;
                    return Ok(Finish::Complete);
                }
            };
            if let Some(early) = self.rung(load, sessions, 1)? {
                return Ok(early);
            }
            let quantile = self.ladder.climb.quantile();
            points.extend(
                load.rungs.last().map(|rung| Point::of(rung, quantile, f64::from(processors()))),
            );
        }
    }

    /// The same rungs again, down and up in turn, so that what drifts meets all of them alike.
    fn repeat(&mut self, load: &mut Load) -> Result<Finish> {
        let first: Vec<u32> = load.rungs.iter().map(|rung| rung.sessions).collect();
        for repeat in 2..=self.ladder.repeats {
            let mut order = first.clone();
            if repeat % 2 == 0 {
                order.reverse();
            }
            for sessions in order {
                if let Some(early) = self.rung(load, sessions, repeat)? {
                    return Ok(early);
                }
            }
        }
        Ok(Finish::Complete)
    }

    /// One rung; says how it ended early.
    fn rung(&mut self, load: &mut Load, sessions: u32, repeat: u32) -> Result<Option<Finish>> {
        let rung = match self.measured(sessions, repeat) {
            Ok(rung) => rung,
            // What was measured before stands.
            Err(error) if !load.rungs.is_empty() => {
                error.message().clone_into(&mut load.end);
                self.writer.put_json(Document::Load, &*load)?;
                let reason = error.message().to_owned();
                return Ok(Some(Finish::Failed { reason }));
            }
            Err(error) => return Err(error),
        };
        let finish = rung.measurement.finish.clone();
        load.rungs.push(rung);
        load.end = match &finish {
            Finish::Complete => String::new(),
            Finish::Failed { reason } => reason.clone(),
            Finish::Interrupted | Finish::Unfinished => "it was stopped".to_owned(),
        };
        self.writer.put_json(Document::Load, &*load)?;
        Ok((finish != Finish::Complete).then_some(finish))
    }

    fn measured(&mut self, sessions: u32, repeat: u32) -> Result<Rung> {
        let ladder = self.ladder;
        let block_bytes = self.ground.database.knowledge.block_bytes;
        let duration = match ladder.length {
            Length::Time(time) => time,
            // How long it will take is the question; the store only plans its windows by it.
            Length::Steps(_) => Nanos(60_000_000_000),
        };
        let described = workload(&ladder.rules, sessions, duration, block_bytes);
        let start = CellStart {
            started_unix_ns: unix_ns(),
            durability: Durability::EveryInterval,
            conduct: Conduct {
                backend: "postgresql".to_owned(),
                clock: "monotonic".to_owned(),
                ..Conduct::default()
            },
        };
        let mut cell = self.writer.create_cell(&rung_cell(sessions, repeat), &described, &start)?;
        let rung = self.watched(sessions, repeat, ladder.length, Some(&mut cell))?;
        let measurement = cell.finish(rung.measurement)?;
        Ok(Rung { measurement, ..rung })
    }

    /// Measures with progress, and with a cell that keeps the intervals where there is one.
    fn watched(
        &mut self,
        sessions: u32,
        repeat: u32,
        length: Length,
        mut cell: Option<&mut CellWriter>,
    ) -> Result<Rung> {
        let plan = RungPlan { sessions, repeat, length, access: self.ladder.access };
        let (progress, stop) = (&mut *self.progress, Arc::clone(self.stop));
        let mut observe = |interval: &Interval, joint: &Joint| {
            show(progress, sessions, length, interval);
            match cell.as_deref_mut().map(|cell| cell.append_interval(interval, joint)) {
                Some(Err(_)) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let rung =
            measure(&mut self.ground.database, &self.ladder.rules, &plan, &stop, &mut observe);
        self.progress.clear();
        rung
    }

    /// Not part of the result.
    fn warm_up(&mut self) -> Result<()> {
        let sessions = match self.ladder.climb.next(&[]) {
            Next::Measure(sessions) => sessions,
            Next::End(_) => 1,
        };
        let warm_up = match self.ladder.length {
            Length::Time(time) => Nanos(time.0.min(WARM_UP.0)),
            Length::Steps(_) => WARM_UP,
        };
        self.watched(sessions, 1, Length::Time(warm_up), None)?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::environment("it was stopped before the first rung", "start again"));
        }
        Ok(())
    }

    fn result(&self) -> Load {
        let database = &self.ground.database;
        Load {
            format: 1,
            method: "slob".to_owned(),
            server: database.facts.clone(),
            plan: self.ladder.plan.clone(),
            filled: Some(self.ground.filled),
            access: self.ladder.access.name().to_owned(),
            rungs: Vec::new(),
            processors: processors(),
            end: String::new(),
            knee_sessions: None,
            goal: None,
            remarks: database.remarks.clone(),
        }
    }
}

/// Processors of this machine.
fn processors() -> u32 {
    let all = std::thread::available_parallelism();
    all.map_or(1, |all| u32::try_from(all.get()).unwrap_or(u32::MAX))
}

fn show(progress: &mut Progress, sessions: u32, length: Length, interval: &Interval) {
    let what = format!("{sessions} sessions: {} SQL/s", show_count(interval.iops()));
    match length {
        Length::Time(time) => {
            let (done_s, all_s) = (seconds(interval.end_ns), time.seconds());
            progress.show(&what, done_s / all_s, Some((all_s - done_s).max(0.0)));
        }
        Length::Steps(_) => progress.show(&what, 0.0, None),
    }
}
