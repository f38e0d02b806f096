//! One ladder of any load from its first step to its answer; every step is kept before the next one
//! begins.

use super::ladder_database::{LadderDatabase, environment_of};
use super::load_driver::LoadDriver;
use super::prepared_server::{PreparedServer, processors};
use crate::cluster::{HostNames, LoadHosts};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan_document::PlanDocument;
use crate::progress::ProgressSender;
use crate::recording::{give_up, tell_run};
use crate::rung_cell::rung_cell;
use assay_cluster::protocol::{DatabaseOpening, Secret};
use assay_dbload::load::{
    DatabaseResult, LadderPoint, LadderSearch, LoadTarget, Method, NextStepSize, ObservedDatabase,
    Product, RungHooks, RungPlan, RungResult, ServerLink, knee_of, measure, measure_elsewhere,
    together,
};
use assay_dbserver::{may_hold_password, redacted};
use assay_host::clock::unix_ns;
use assay_model::load::{Length, Load, LoadKind, LoadStep, OnLoss, Rung, ServerFacts, Setting};
use assay_model::measurement::{ClockKind, Conduct, Finish, Interval, Remark, Window};
use assay_model::number::seconds;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_store::{CellStart, CellWriter, NewRun, RunWriter, StoredDocument, WriteDurability};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is to be measured.
pub struct LadderPlan {
    /// The targets as they were named, a database each.
    pub targets: Vec<String>,
    /// Which steps.
    pub climb: LadderSearch,
    /// A step; its sessions and repeat are those of the ladder.
    pub rung: RungPlan,
    /// Load before the first step, which fills the caches of processes and of the server.
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

impl LadderPlan {
    /// The most sessions that one database gets.
    pub fn sessions_max(&self) -> u32 {
        let databases = u32::try_from(self.targets.len()).unwrap_or(u32::MAX).max(1);
        self.climb.sessions_max().div_ceil(databases)
    }

    /// The targets as they are understood.
    fn named(&self) -> Result<Vec<LoadTarget>> {
        self.targets.iter().map(|target| LoadTarget::read(target)).collect()
    }
}

/// What a step came to: all of it, and each database by itself where there are several.
struct MeasuredRung {
    whole: RungResult,
    each: Vec<DatabaseResult>,
}

/// A ladder that is being climbed.
pub struct LadderRun<'a, M: Method<Link: Product>> {
    /// What is wanted.
    pub ladder: &'a LadderPlan,
    /// Where it runs; several databases have hosts of their own.
    pub databases: &'a mut [LadderDatabase<M>],
    /// Where it is kept.
    pub writer: &'a RunWriter,
    /// What the caller gave.
    pub context: &'a Context,
    /// Those who have the sessions, where this program has none.
    pub hosts: Option<LoadHosts>,
}

/// Carries a ladder out as a run of its own; `driver` makes what is special about the load on a
/// database, `prepare` makes its server.
///
/// # Errors
/// What the store, the gate or a server say before anything was measured.
pub fn run_ladder<M: Method<Link: Product>>(
    ladder: &LadderPlan,
    driver: impl FnMut() -> LoadDriver<M>,
    prepare: impl Fn(&LoadTarget, &Context) -> Result<PreparedServer<M::Link>> + Sync,
    document: &PlanDocument,
    criteria: Option<&CriteriaSource>,
    context: &Context,
) -> Result<FinishedRun> {
    let targets = ladder.named()?;
    let mut command = context.command.clone();
    for (named, target) in targets.iter().zip(&ladder.targets) {
        command = named.command(target, &command);
    }
    let writer = context.store.create(&NewRun {
        kind: RunKind::Bench,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        targets: targets.iter().map(LoadTarget::shown).collect(),
        created_unix_ns: unix_ns(),
    })?;
    document.keep(&writer)?;
    tell_run(&writer, context);
    let climbed = LadderDatabase::with_all(&targets, driver, prepare, context, |mut databases| {
        if let Some(environment) = environment_of(&databases) {
            writer.put_json(StoredDocument::Environment, &environment)?;
        }
        let hosts = hosts_of(ladder, document, &databases, context);
        let climbed = hosts.and_then(|hosts| {
            let databases = &mut databases;
            LadderRun { ladder, databases, writer: &writer, context, hosts }.climb()
        });
        // Our servers go before the answer is printed, whatever came of it.
        let finished = LadderDatabase::finish_all(databases, &context.progress);
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

/// The ladder as a part of another command's run: where no database can be made, the result says
/// why and nothing fails.
pub fn beside<M: Method<Link: Product>>(
    ladder: &LadderPlan,
    driver: impl Fn() -> LoadDriver<M>,
    prepare: impl Fn(&LoadTarget, &Context) -> Result<PreparedServer<M::Link>> + Sync,
    writer: &RunWriter,
    context: &Context,
) -> Result<()> {
    let kind = driver().method().kind();
    let climbed = ladder.named().and_then(|targets| {
        LadderDatabase::with_all(&targets, driver, prepare, context, |mut databases| {
            let climbing =
                LadderRun { ladder, databases: &mut databases, writer, context, hosts: None };
            let climbed = climbing.climb();
            LadderDatabase::finish_all(databases, &context.progress).and(climbed)
        })
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
    writer.put_json(StoredDocument::Load, &unmeasured(kind, error.message()))
}

/// The hosts that have the sessions, each in its database already; none where this program has
/// them.
fn hosts_of<M: Method<Link: Product>>(
    ladder: &LadderPlan,
    document: &PlanDocument,
    databases: &[LadderDatabase<M>],
    context: &Context,
) -> Result<Option<LoadHosts>> {
    let Some(names) = &ladder.hosts else { return Ok(None) };
    let opening = |(one, target): (&LadderDatabase<M>, &String)| {
        let database = &one.prepared.database;
        let address = M::Link::address_in(&one.named)
            .map_or_else(|| M::Link::spelled(&database.address), |_| target.clone());
        let (load, schema) = (document.text().to_owned(), database.schema.clone());
        // A host has neither the environment nor the files of this one; the password goes to it by
        // itself.
        let secret = LoadTarget::read(&address)?.secret().map(|secret| Secret(secret.to_owned()));
        let address = if may_hold_password(&address) { redacted(&address) } else { address };
        Ok(DatabaseOpening { load, address, secret, schema })
    };
    let openings = databases.iter().zip(&ladder.targets).map(opening);
    let openings: Vec<DatabaseOpening> = openings.collect::<Result<_>>()?;
    LoadHosts::open(names, &openings, context).map(Some)
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

/// What is said of an interval that did not contain its own value.
fn widened(rung: &Rung) -> Option<Remark> {
    let estimate = rung.statements.filter(|_| rung.is_widened)?;
    let [rate, low, high] =
        [estimate.value, estimate.low, estimate.high].map(|value| format!("{value:.1}"));
    Some(Remark {
        what: format!(
            "with {} sessions the overall rate, {rate}/s, lies outside the interval of the rates \
             per second",
            rung.sessions
        ),
        why: format!(
            "the interval was widened to {low} to {high}/s to contain it: the load was not steady"
        ),
        remedy: "measure for longer, with --warm-up, until the rate is steady".to_owned(),
    })
}

/// A run without any step is of no use to anybody.
fn give_up_unless_measured(store: &assay_store::Store, writer: RunWriter) {
    let measured =
        writer.reader().is_ok_and(|run| run.cells().is_ok_and(|cells| !cells.is_empty()));
    if !measured {
        give_up(store, writer);
    }
}

impl<M: Method<Link: Product>> LadderRun<'_, M> {
    /// Measures step after step and keeps the result after each; says how it ended.
    ///
    /// # Errors
    /// What the store says, or the server before the first step was measured.
    pub fn climb(mut self) -> Result<Finish> {
        self.warm_up()?;
        self.databases.iter_mut().for_each(|one| one.prepared.database.begin_to_measure());
        let (mut load, mut points) = (self.result(), Vec::new());
        let finish = self.first_pass(&mut load, &mut points)?;
        let finish = match finish {
            Finish::Complete => self.repeat(&mut load)?,
            early => early,
        };
        load.goal = self.ladder.climb.goal(&points);
        load.knee_sessions = knee_of(&load.rungs);
        let stop = Arc::clone(&self.context.stop);
        let ended =
            self.each(&mut load, |one, load| one.driver.end(&mut one.prepared, load, &stop));
        self.writer.put_json(StoredDocument::Load, &load)?;
        ended.map(|()| finish)
    }

    /// Does something for each database, whose name then stands at what it adds to the result,
    /// where there are several.
    fn each(
        &mut self,
        load: &mut Load,
        mut add: impl FnMut(&mut LadderDatabase<M>, &mut Load) -> Result<()>,
    ) -> Result<()> {
        if let [only] = &mut *self.databases {
            return add(only, load);
        }
        self.databases.iter_mut().try_for_each(|one| {
            let (checks, commits) = (load.checks.len(), load.commits.len());
            let added = add(one, load);
            let name = one.named.shown();
            for checks in &mut load.checks[checks..] {
                checks.when = format!("{} in {name}", checks.when);
            }
            for commits in &mut load.commits[commits..] {
                commits.database = Some(name.clone());
            }
            added
        })
    }

    /// Sessions that all databases take together.
    fn room(&mut self) -> Result<u32> {
        let count = self.least_sessions();
        let rooms = self.databases.iter_mut().map(|one| one.prepared.database.room());
        let least = rooms.reduce(|one, other| Ok(one?.min(other?)));
        Ok(least.unwrap_or(Ok(0))?.saturating_mul(count))
    }

    /// The fewest sessions of a step: one on each database.
    fn least_sessions(&self) -> u32 {
        u32::try_from(self.databases.len()).unwrap_or(u32::MAX)
    }

    fn first_pass(&mut self, load: &mut Load, points: &mut Vec<LadderPoint>) -> Result<Finish> {
        let (climb, least) = (self.ladder.climb.within(self.room()?), self.least_sessions());
        loop {
            let sessions = match climb.next(points) {
                NextStepSize::Measure(sessions) => sessions.max(least),
                NextStepSize::End(why) => {
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

    /// What the ladder needs of a step.
    fn point(&self, rung: &Rung) -> LadderPoint {
        let climb = &self.ladder.climb;
        let driver = &self.databases[0].driver;
        let times = driver.limited(rung);
        let point = LadderPoint::of(rung, &times, climb.statistic(), f64::from(processors()));
        let is_asked = matches!(climb, LadderSearch::Given(_)) && !driver.is_of_storage();
        if is_asked { LadderPoint { busy_share: None, ..point } } else { point }
    }

    /// The same steps again, down and up in turn, so that what drifts meets all of them alike.
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

    /// One step; says how it ended early.
    fn rung(&mut self, load: &mut Load, sessions: u32, repeat: u32) -> Result<Option<Finish>> {
        let stop = Arc::clone(&self.context.stop);
        let ready = self.each(load, |one, load| one.driver.before(&mut one.prepared, load, &stop));
        let mut measured = match ready.and_then(|()| self.measured(sessions, repeat)) {
            Ok(measured) => measured,
            // What was measured before stands.
            Err(error) if !load.rungs.is_empty() => {
                error.message().clone_into(&mut load.end);
                self.writer.put_json(StoredDocument::Load, &*load)?;
                let reason = error.message().to_owned();
                return Ok(Some(Finish::Failed { reason }));
            }
            Err(error) => return Err(error),
        };
        self.add_complaint(&mut measured.whole.rung.measurement.finish);
        let finish = measured.whole.rung.measurement.finish.clone();
        load.remarks.extend(widened(&measured.whole.rung));
        load.rungs.push(measured.whole.rung.clone());
        load.server = self.databases[0].prepared.database.facts();
        let mut results = measured.each.iter().map(|one| &one.result);
        self.each(load, |one, load| {
            let result = results.next().unwrap_or(&measured.whole);
            one.driver.after(&mut one.prepared, load, result, &stop);
            Ok(())
        })?;
        load.end = match &finish {
            Finish::Complete => String::new(),
            Finish::Failed { reason } => reason.clone(),
            Finish::Interrupted | Finish::Unfinished => "it was stopped".to_owned(),
        };
        self.writer.put_json(StoredDocument::Load, &*load)?;
        Ok((finish != Finish::Complete).then_some(finish))
    }

    /// Sessions only see that they were lost; a managed server says in its log why.
    fn add_complaint(&self, finish: &mut Finish) {
        let Finish::Failed { reason } = finish else { return };
        for own in self.databases.iter().filter_map(|one| one.prepared.own.as_ref()) {
            if let Some(words) = own.complaint() {
                *reason = format!("{reason}; the server reported: {words}");
            }
        }
    }

    fn measured(&mut self, sessions: u32, repeat: u32) -> Result<MeasuredRung> {
        let ladder = self.ladder;
        let plan = RungPlan { sessions, repeat, ..ladder.rung };
        let step = plan.step(self.kind(), &ladder.plan);
        let start = CellStart {
            started_unix_ns: unix_ns(),
            durability: WriteDurability::EveryInterval,
            conduct: Conduct {
                backend: M::Link::DIALECT.facts().backend,
                clock: ClockKind::Monotonic,
                ..Conduct::default()
            },
        };
        let mut cell = self.writer.create_cell(&rung_cell(sessions, repeat), &step, &start)?;
        let mut measured = self.watched(&plan, Some(&mut cell))?;
        measured.whole.rung.measurement = cell.finish(measured.whole.rung.measurement)?;
        Ok(measured)
    }

    /// Measures with progress, and with a cell that keeps the intervals where there is one.
    fn watched(
        &mut self,
        plan: &RungPlan,
        mut cell: Option<&mut CellWriter>,
    ) -> Result<MeasuredRung> {
        let (progress, stop) = (self.progress(plan), Arc::clone(&self.context.stop));
        let kind = self.kind();
        let (drivers, mut servers) = LadderDatabase::split(self.databases);
        let driver = drivers[0];
        let writer = cell.is_some().then_some(self.writer);
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
        let measured = if let Some(hosts) = &mut self.hosts {
            let step = plan.step(kind, &self.ladder.plan);
            let names: Vec<String> = self.ladder.named()?.iter().map(LoadTarget::shown).collect();
            let mut elsewhere = ElsewhereRung { hosts, plan, step: &step, names: &names, writer };
            elsewhere.measured(&drivers, servers, &mut observe)
        } else {
            let PreparedServer { database, own, .. } = &mut *servers[0];
            let mut on_tick = || {
                if let Some(own) = own.as_mut().filter(|_| plan.on_loss == OnLoss::Reconnect) {
                    // If the server does not come back, the sessions report it.
                    let _ = own.revive(&stop);
                }
            };
            let (observe, on_tick) = (&mut observe, &mut on_tick);
            let mut hooks = RungHooks { stop: &stop, observe, on_tick, meet: None };
            let whole = measure(database, driver.method(), plan, &mut hooks);
            whole.map(|whole| MeasuredRung { whole, each: Vec::new() })
        };
        self.context.progress.clear();
        measured
    }

    /// The progress of a step as a part of the whole ladder, where it is known how many there are.
    fn progress(&self, plan: &RungPlan) -> ProgressSender {
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
            NextStepSize::Measure(sessions) => sessions.max(self.least_sessions()),
            NextStepSize::End(_) => self.least_sessions(),
        };
        let warm_up = match self.ladder.rung.length {
            Length::Time(time) => Nanos(time.0.min(longest.0)),
            Length::Steps(_) => longest,
        };
        self.watched(&RungPlan::new(sessions, 1, Length::Time(warm_up)), None)?;
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(Error::environment("it was stopped before the first step", "start again"));
        }
        Ok(())
    }

    fn kind(&self) -> LoadKind {
        self.databases[0].driver.method().kind()
    }

    fn result(&self) -> Load {
        Load {
            format: Load::FORMAT,
            kind: self.kind(),
            server: self.databases[0].prepared.database.facts(),
            plan: self.ladder.plan.clone(),
            filled: LadderDatabase::filled(self.databases),
            access: self.ladder.access.clone(),
            rungs: Vec::new(),
            processors: processors(),
            end: String::new(),
            knee_sessions: None,
            goal: None,
            checks: Vec::new(),
            commits: Vec::new(),
            durability: None,
            remarks: LadderDatabase::remarks(self.databases),
        }
    }
}

/// A step whose sessions hosts have.
struct ElsewhereRung<'a> {
    hosts: &'a mut LoadHosts,
    plan: &'a RungPlan,
    step: &'a LoadStep,
    /// Names of the databases.
    names: &'a [String],
    writer: Option<&'a RunWriter>,
}

impl ElsewhereRung<'_> {
    fn measured<M: Method<Link: Product>>(
        &mut self,
        drivers: &[&LoadDriver<M>],
        servers: Vec<&mut PreparedServer<M::Link>>,
        observe: &mut dyn FnMut(&Interval, &Window) -> ControlFlow<()>,
    ) -> Result<MeasuredRung> {
        let seed = self.plan.pace.map_or(0, |pace| pace.seed);
        let mut all = None;
        let mut run = |begins: &mut dyn FnMut(bool)| {
            let sessions =
                self.hosts.measure(self.step, seed, (begins, &mut *observe), self.writer)?;
            all = Some(sessions.all);
            Ok(sessions.each)
        };
        let subjects = drivers.iter().zip(servers).map(|(driver, server)| ObservedDatabase {
            database: &mut server.database,
            method: driver.method(),
        });
        let mut results = measure_elsewhere(subjects, self.plan, &mut run)?;
        match (results.pop(), all) {
            (Some(only), _) if results.is_empty() => {
                Ok(MeasuredRung { whole: only, each: Vec::new() })
            }
            (Some(last), Some(all)) => {
                results.push(last);
                let each: Vec<DatabaseResult> = self.named(results);
                Ok(MeasuredRung { whole: together(all, self.plan.sessions, &each), each })
            }
            _ => Err(Error::environment("no session was measured", "report this as a bug")),
        }
    }

    fn named(&self, results: Vec<RungResult>) -> Vec<DatabaseResult> {
        let each = results.into_iter().zip(self.names).enumerate();
        each.map(|(database, (mut result, target))| {
            let sessions = self.hosts.sessions_of(self.plan.sessions, database);
            result.rung.sessions = sessions;
            let hosts = self.hosts.hosts_of(database);
            DatabaseResult { target: target.clone(), hosts, sessions, result }
        })
        .collect()
    }
}

fn show(progress: &ProgressSender, what: &str, length: Length, interval: &Interval) {
    match length {
        Length::Time(time) => {
            let (done_s, all_s) = (seconds(interval.end_ns), time.seconds());
            progress.show(what, done_s / all_s, Some((all_s - done_s).max(0.0)));
        }
        Length::Steps(_) => progress.show(what, 0.0, None),
    }
}
