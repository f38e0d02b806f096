//! One ladder of any load from its first rung to its answer; every rung is kept before the next one begins.

use super::prepared_server::{LoadProduct, LoadTarget, PreparedServer, processors};
use crate::cluster::{HostNames, LoadHosts};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::loaded_run::rung_cell;
use crate::plan_document::PlanDocument;
use crate::progress::Progress;
use crate::recording::{give_up, tell_run};
use assay_cluster::protocol::{DatabaseOpening, Secret};
use assay_dbload::load::{
    LadderSearch, Method, Next, Point, Product, RungHooks, RungPlan, RungResult, knee_of, measure,
    measure_elsewhere,
};
use assay_dbserver::{may_hold_password, redacted};
use assay_host::clock::unix_ns;
use assay_model::load::{Length, Load, LoadKind, OnLoss, Rung, ServerFacts, Setting};
use assay_model::measurement::{ClockKind, Conduct, Finish, Interval, Window};
use assay_model::number::seconds;
use assay_model::run::RunKind;
use assay_model::units::{Nanos, show_count};
use assay_model::{Error, Histogram, Result};
use assay_store::{CellStart, CellWriter, Document, Durability, NewRun, RunWriter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be measured.
pub struct LadderPlan {
    /// The target as it was named.
    pub target: String,
    /// Which rungs.
    pub climb: LadderSearch,
    /// A rung; its sessions and repeat are those of the ladder.
    pub rung: RungPlan,
    /// Load before the first rung, which fills the caches of processes and of the server.
    pub warm_up: Option<Nanos>,
    /// How often the ladder is measured.
    pub repeats: u32,
    /// The knobs as they are shown.
    pub plan: Vec<Setting>,
    /// How rows are read, in the words of the server's plan, or how statements travel.
    pub access: String,
    /// The hosts that have the sessions.
    pub hosts: Option<HostNames>,
}

/// The product that a kind of load runs on.
pub type LinkOf<C> = <<C as LoadDriver>::Method as Method>::Link;
/// Where a kind of load runs.
pub type ServerOf<C> = PreparedServer<LinkOf<C>>;

/// What a kind of load adds to a ladder.
pub trait LoadDriver {
    /// What sessions do.
    type Method: Method<Link: LoadProduct>;

    /// What sessions do.
    fn method(&self) -> &Self::Method;

    /// The times that a limit is on.
    fn limited(&self, rung: &Rung) -> Histogram;

    /// The work of an interval in the words of a person who waits.
    fn work(&self, interval: &Interval, _joint: &Window) -> String {
        format!("{} SQL/s", show_count(interval.iops()))
    }

    /// Whether the processors may end a ladder of given numbers of sessions early.
    fn is_of_storage(&self) -> bool {
        true
    }

    /// Before a rung.
    fn before(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }

    /// After a rung, when it is part of the result.
    fn after(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _measured: &RungResult,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }

    /// After the last rung, however the ladder ended.
    fn end(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }
}

/// A ladder that is being climbed.
pub struct LadderRun<'a, C: LoadDriver> {
    /// What is wanted.
    pub ladder: &'a LadderPlan,
    /// What is special about this kind of load.
    pub driver: &'a mut C,
    /// Where it runs.
    pub prepared: &'a mut ServerOf<C>,
    /// Where it is kept.
    pub writer: &'a RunWriter,
    /// What the caller gave.
    pub context: &'a Context,
    /// Those who have the sessions, where this program has none.
    pub hosts: Option<LoadHosts>,
}

/// Carries a ladder out as a run of its own; `prepare` makes its server.
///
/// # Errors
/// What the store, the gate or the server say before anything was measured.
pub fn run_ladder<C: LoadDriver>(
    ladder: &LadderPlan,
    driver: &mut C,
    prepare: impl FnOnce(&LoadTarget, &Context) -> Result<ServerOf<C>>,
    (document, criteria): (&PlanDocument, Option<&CriteriaSource>),
    context: &Context,
) -> Result<FinishedRun> {
    let named = LoadTarget::read(&ladder.target)?;
    let writer = context.store.create(&NewRun {
        kind: RunKind::Load,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: named.command(&ladder.target, &context.command),
        targets: vec![named.shown()],
        created_unix_ns: unix_ns(),
    })?;
    document.keep(&writer)?;
    tell_run(&writer, context);
    let climbed = prepare(&named, context).and_then(|mut prepared| {
        if let Some(environment) = prepared.environment(&named) {
            writer.put_json(Document::Environment, &environment)?;
        }
        let address = <LinkOf<C>>::address_in(&named).map_or_else(
            || <LinkOf<C>>::spelled(&prepared.database.address),
            |_| ladder.target.clone(),
        );
        let hosts = hosts_of(ladder, document, (address, &prepared.database.schema), context);
        let climbed = hosts.and_then(|hosts| {
            let prepared = &mut prepared;
            LadderRun { ladder, driver, prepared, writer: &writer, context, hosts }.climb()
        });
        if let Some(place) = prepared.kept_place() {
            context.progress.say(&format!(
                "note: the server is kept in {}; name that directory to use it again",
                place.display()
            ));
        }
        // Our server goes before the answer is printed, whatever came of it.
        let finished = prepared.finish();
        climbed.and_then(|finish| finished.map(|()| finish))
    });
    context.progress.clear();
    match climbed {
        Ok(finish) => finish_run(writer, &finish, criteria),
        Err(error) => {
            give_up_unless_measured(&context.store, writer);
            Err(error)
        }
    }
}

/// The ladder as a part of another command's run: where no database can be made, the result says why and nothing fails.
pub fn beside<C: LoadDriver>(
    ladder: &LadderPlan,
    driver: &mut C,
    prepare: impl FnOnce(&LoadTarget, &Context) -> Result<ServerOf<C>>,
    writer: &RunWriter,
    context: &Context,
) -> Result<()> {
    let named = LoadTarget::read(&ladder.target)?;
    let kind = driver.method().kind();
    let climbed = prepare(&named, context).and_then(|mut prepared| {
        let prepared_here = &mut prepared;
        let climbing =
            LadderRun { ladder, driver, prepared: prepared_here, writer, context, hosts: None };
        let climbed = climbing.climb();
        prepared.finish().and(climbed)
    });
    context.progress.clear();
    let Err(error) = climbed else {
        return Ok(());
    };
    context.progress.say(&format!(
        "note: the database is skipped: {}; {}",
        error.message(),
        error.hint()
    ));
    writer.put_json(Document::Load, &unmeasured(kind, error.message()))
}

/// The hosts that have the sessions, in the database already; none where this program has them.
fn hosts_of(
    ladder: &LadderPlan,
    document: &PlanDocument,
    (address, schema): (String, &str),
    context: &Context,
) -> Result<Option<LoadHosts>> {
    let Some(names) = &ladder.hosts else { return Ok(None) };
    let (load, schema) = (document.text().to_owned(), schema.to_owned());
    // A host has neither the environment nor the files of this one; the password goes to it by itself.
    let secret = LoadTarget::read(&address)?.secret().map(|secret| Secret(secret.to_owned()));
    let address = if may_hold_password(&address) { redacted(&address) } else { address };
    let opening = DatabaseOpening { load, address, secret, schema };
    LoadHosts::open(names, &opening, context).map(Some)
}

/// What is kept of a ladder of which nothing was measured.
pub fn unmeasured(kind: LoadKind, why: &str) -> Load {
    Load {
        format: Load::FORMAT,
        kind,
        server: ServerFacts::default(),
        plan: Vec::new(),
        filled: None,
        access: String::new(),
        rungs: Vec::new(),
        processors: processors(),
        end: why.to_owned(),
        knee_sessions: None,
        goal: None,
        checks: Vec::new(),
        commits: Vec::new(),
        durability: None,
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

impl<C: LoadDriver> LadderRun<'_, C> {
    /// Measures rung after rung and keeps the result after each; says how it ended.
    ///
    /// # Errors
    /// What the store says, or the server before the first rung was measured.
    pub fn climb(mut self) -> Result<Finish> {
        self.warm_up()?;
        self.prepared.database.begin_to_measure();
        let (mut load, mut points) = (self.result(), Vec::new());
        let finish = self.first_pass(&mut load, &mut points)?;
        let finish = match finish {
            Finish::Complete => self.repeat(&mut load)?,
            early => early,
        };
        load.goal = self.ladder.climb.goal(&points);
        load.knee_sessions = knee_of(&load.rungs);
        let ended = self.driver.end(self.prepared, &mut load, &self.context.stop);
        self.writer.put_json(Document::Load, &load)?;
        ended.map(|()| finish)
    }

    fn first_pass(&mut self, load: &mut Load, points: &mut Vec<Point>) -> Result<Finish> {
        let climb = self.ladder.climb.within(self.prepared.database.room()?);
        loop {
            let sessions = match climb.next(points) {
                Next::Measure(sessions) => sessions,
                Next::End(why) => {
                    load.end = why;
                    return Ok(Finish::Complete);
                }
            };
            if let Some(early) = self.rung(load, sessions, 1)? {
                return Ok(early);
            }
            points.extend(load.rungs.last().map(|rung| self.point(rung)));
        }
    }

    /// What the ladder needs of a rung.
    fn point(&self, rung: &Rung) -> Point {
        let climb = &self.ladder.climb;
        let times = self.driver.limited(rung);
        let point = Point::of(rung, &times, climb.quantile(), f64::from(processors()));
        let is_asked = matches!(climb, LadderSearch::Given(_)) && !self.driver.is_of_storage();
        if is_asked { Point { busy_share: None, ..point } } else { point }
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
        let ready = self.driver.before(self.prepared, load, &self.context.stop);
        let mut measured = match ready.and_then(|()| self.measured(sessions, repeat)) {
            Ok(measured) => measured,
            // What was measured before stands.
            Err(error) if !load.rungs.is_empty() => {
                error.message().clone_into(&mut load.end);
                self.writer.put_json(Document::Load, &*load)?;
                let reason = error.message().to_owned();
                return Ok(Some(Finish::Failed { reason }));
            }
            Err(error) => return Err(error),
        };
        self.add_complaint(&mut measured.rung.measurement.finish);
        let finish = measured.rung.measurement.finish.clone();
        load.rungs.push(measured.rung.clone());
        load.server = self.prepared.database.facts();
        self.driver.after(self.prepared, load, &measured, &self.context.stop)?;
        load.end = match &finish {
            Finish::Complete => String::new(),
            Finish::Failed { reason } => reason.clone(),
            Finish::Interrupted | Finish::Unfinished => "it was stopped".to_owned(),
        };
        self.writer.put_json(Document::Load, &*load)?;
        Ok((finish != Finish::Complete).then_some(finish))
    }

    /// Sessions only see that they were lost; a managed server says in its log why.
    fn add_complaint(&self, finish: &mut Finish) {
        if let (Finish::Failed { reason }, Some(own)) = (finish, &self.prepared.own)
            && let Some(words) = own.complaint()
        {
            *reason = format!("{reason}; the server said: {words}");
        }
    }

    fn measured(&mut self, sessions: u32, repeat: u32) -> Result<RungResult> {
        let ladder = self.ladder;
        let plan = RungPlan { sessions, repeat, ..ladder.rung };
        let step = plan.step(self.driver.method().kind(), &ladder.plan);
        let start = CellStart {
            started_unix_ns: unix_ns(),
            durability: Durability::EveryInterval,
            conduct: Conduct {
                backend: LinkOf::<C>::BACKEND,
                clock: ClockKind::Monotonic,
                ..Conduct::default()
            },
        };
        let mut cell = self.writer.create_cell(&rung_cell(sessions, repeat), &step, &start)?;
        let mut measured = self.watched(&plan, Some(&mut cell))?;
        measured.rung.measurement = cell.finish(measured.rung.measurement)?;
        Ok(measured)
    }

    /// Measures with progress, and with a cell that keeps the intervals where there is one.
    fn watched(
        &mut self,
        plan: &RungPlan,
        mut cell: Option<&mut CellWriter>,
    ) -> Result<RungResult> {
        let (progress, stop) = (self.progress(plan), Arc::clone(&self.context.stop));
        let driver = &*self.driver;
        let cluster_writer = cell.is_some().then_some(self.writer);
        let warm_up = if cell.is_some() { "" } else { "warm-up with " };
        let sessions = match plan.sessions {
            1 => "1 session".to_owned(),
            several => format!("{several} sessions"),
        };
        progress.show(&format!("{warm_up}{sessions}"), 0.0, None);
        let mut observe = |interval: &Interval, joint: &Window| {
            let what = format!("{warm_up}{sessions}: {}", driver.work(interval, joint));
            show(&progress, &what, plan.length, interval);
            progress.interval(interval);
            match cell.as_deref_mut().map(|cell| cell.append_interval(interval, joint)) {
                Some(Err(_)) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let PreparedServer { database, own, .. } = &mut *self.prepared;
        let mut on_tick = || {
            if let Some(own) = own.as_mut().filter(|_| plan.on_loss == OnLoss::Reconnect) {
                // If the server does not come back, the sessions report it.
                let _ = own.revive(&stop);
            }
        };
        let measured = if let Some(hosts) = &mut self.hosts {
            let step = plan.step(driver.method().kind(), &self.ladder.plan);
            let seed = plan.pace.map_or(0, |pace| pace.seed);
            let mut run = |begins: &mut dyn FnMut(bool)| {
                hosts.measure(&step, seed, (begins, &mut observe), cluster_writer)
            };
            measure_elsewhere(database, driver.method(), plan, &mut run)
        } else {
            let (observe, on_tick) = (&mut observe, &mut on_tick);
            let mut hooks = RungHooks { stop: &stop, observe, on_tick, meet: None };
            measure(database, driver.method(), plan, &mut hooks)
        };
        self.context.progress.clear();
        measured
    }

    /// The progress of a rung as a part of the whole ladder, where it is known how many there are.
    fn progress(&self, plan: &RungPlan) -> Progress {
        let progress = &self.context.progress;
        let LadderSearch::Given(all) = &self.ladder.climb else { return progress.clone() };
        let Some(place) = all.iter().position(|sessions| *sessions == plan.sessions) else {
            return progress.clone();
        };
        let whole = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let (length, place) = (whole(all.len()), whole(place));
        // Every second repeat goes down the ladder.
        let place = if plan.repeat.is_multiple_of(2) { length - place } else { place + 1 };
        let number = (plan.repeat.saturating_sub(1)) * length + place;
        let count = length * self.ladder.repeats;
        let time_s = match plan.length {
            Length::Time(time) => time.seconds(),
            Length::Steps(_) => 0.0,
        };
        progress.part(number, count, f64::from(count - number) * time_s)
    }

    /// Not part of the result.
    fn warm_up(&mut self) -> Result<()> {
        let Some(longest) = self.ladder.warm_up else {
            return Ok(());
        };
        let sessions = match self.ladder.climb.next(&[]) {
            Next::Measure(sessions) => sessions,
            Next::End(_) => 1,
        };
        let warm_up = match self.ladder.rung.length {
            Length::Time(time) => Nanos(time.0.min(longest.0)),
            Length::Steps(_) => longest,
        };
        self.watched(&RungPlan::new(sessions, 1, Length::Time(warm_up)), None)?;
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(Error::environment("it was stopped before the first rung", "start again"));
        }
        Ok(())
    }

    fn result(&self) -> Load {
        let database = &self.prepared.database;
        Load {
            format: Load::FORMAT,
            kind: self.driver.method().kind(),
            server: database.facts(),
            plan: self.ladder.plan.clone(),
            filled: self.prepared.filled,
            access: self.ladder.access.clone(),
            rungs: Vec::new(),
            processors: processors(),
            end: String::new(),
            knee_sessions: None,
            goal: None,
            checks: Vec::new(),
            commits: Vec::new(),
            durability: None,
            remarks: database.remarks.clone(),
        }
    }
}

fn show(progress: &Progress, what: &str, length: Length, interval: &Interval) {
    match length {
        Length::Time(time) => {
            let (done_s, all_s) = (seconds(interval.end_ns), time.seconds());
            progress.show(what, done_s / all_s, Some((all_s - done_s).max(0.0)));
        }
        Length::Steps(_) => progress.show(what, 0.0, None),
    }
}
