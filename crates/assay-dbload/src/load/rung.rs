//! One step: sessions that begin simultaneously, a load before the measured one where it is
//! wanted, and everybody's counters of the measured time.

use super::counters::CounterSnapshot;
use super::database::LoadSchema;
use super::method::Method;
use super::observer::{ObservedRung, ServerObserver};
use super::pace::StepArrivals;
use super::plan::{RungHooks, RungPlan};
use super::product::Product;
use super::served::ServedSessions;
use super::session_files::allow_sessions;
use super::slot::{IntervalSlot, SlotTally};
use super::watch::StepWatch;
use super::worker::{EndedStep, SessionWorker, StepCommon};
use assay_dbserver::Interrupter;
use assay_host::clock::unix_ns;
use assay_model::load::{Length, Rung};
use assay_model::measurement::Finish;
use assay_model::number::narrow;
use assay_model::profile::{ReadObserver, ReadTimes};
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How long a session may take for its last statement.
const PATIENCE: Duration = Duration::from_secs(20);
/// Places in which sessions count; further sessions share them, because histograms are large.
const SLOTS_MAX: u32 = 32;

/// Sessions are opened by this number of threads at most.
const OPENERS_MAX: usize = 8;

/// What a step came to.
#[derive(Debug)]
pub struct RungResult {
    /// The measured time.
    pub rung: Rung,
    /// All steps from the first of the warm-up on.
    pub tally: SlotTally,
    /// What the server's processes used for these sessions, as far as it is seen from here.
    pub served: ServedSessions,
    /// When the first and the last session began what is measured.
    pub began: Option<(Instant, Instant)>,
}

/// Measures one step.
///
/// # Errors
/// What the server says before the first statement; later failures are in the measurement.
pub fn measure<M: Method>(
    database: &mut LoadSchema<M::Link>,
    method: &M,
    plan: &RungPlan,
    hooks: &mut RungHooks<'_>,
) -> Result<RungResult> {
    method.check(database)?;
    let is_part = hooks.meet.is_some();
    let slots = slots(plan.sessions, method.kinds().len());
    let workers = open_all(database, method, plan, &slots)?;
    // After the sessions were opened: what that reads and commits belongs to no statement of the
    // load.
    let before = if is_part {
        CounterSnapshot::of_this_host()
    } else {
        CounterSnapshot::take(database, &[])?
    };
    let observer = if is_part { None } else { ServerObserver::ready(database) };
    let started_unix_ns = unix_ns();
    let address = database.address.clone();
    let common = common(plan, &address);
    let mut watch = StepWatch::over(slots, method, plan.sessions);
    let mut running = RunningStep {
        database,
        common: &common,
        plan,
        before,
        started_unix_ns,
        backlog: None,
        observed: None,
        called_off: None,
    };
    let (ended, finish) = running.run(workers, observer, &mut watch, hooks);
    if let Some(error) = running.called_off.take() {
        return Err(error);
    }
    let mut measured = running.measured(&ended, finish, watch, hooks);
    if let Some(stream) = method.single_block_stream() {
        add_statements(&mut measured.rung, stream);
    }
    Ok(measured)
}

/// Opens the sessions in the order of their numbers, several at once: a server takes milliseconds
/// to start one.
fn open_all<M: Method>(
    database: &LoadSchema<M::Link>,
    method: &M,
    plan: &RungPlan,
    slots: &[Arc<Mutex<IntervalSlot>>],
) -> Result<Vec<SessionWorker<M::Session>>> {
    allow_sessions(plan.sessions)?;
    let numbered: Vec<(u32, &Arc<Mutex<IntervalSlot>>)> =
        (0..plan.sessions).zip(slots.iter().cycle()).collect();
    let open = |(number, slot): &(u32, &Arc<Mutex<IntervalSlot>>)| {
        SessionWorker::open(database, method, plan.first_session + number, Arc::clone(slot))
    };
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(OPENERS_MAX);
    thread::scope(|scope| {
        let parts = numbered.chunks(numbered.len().div_ceil(at_once).max(1));
        let openers: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(open).collect::<Result<Vec<_>>>()))
            .collect();
        let opened = openers
            .into_iter()
            .map(|opener| opener.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        opened.collect::<Result<Vec<_>>>().map(|parts| parts.into_iter().flatten().collect())
    })
}

/// The load's own statements are readers of single blocks, too.
pub(super) fn add_statements(rung: &mut Rung, stream: &str) {
    let found = rung.measurement.streams.iter().find(|found| found.name == stream);
    let found = found.and_then(|found| found.operations.read.as_ref());
    let server = rung.profile.as_mut().and_then(|profile| profile.server.as_mut());
    if let Some((result, server)) = found.zip(server) {
        let times = ReadTimes {
            seen_by: ReadObserver::Statement,
            subject: stream.to_owned(),
            error_share: 0.001,
            service: result.service.clone(),
        };
        server.read_times.insert(0, times);
    }
}

/// What the sessions of a step share.
fn common<'a, A>(plan: &RungPlan, address: &'a A) -> StepCommon<'a, A> {
    let all = usize::try_from(plan.sessions).unwrap_or(usize::MAX - 1) + 1;
    StepCommon {
        start: Barrier::new(all),
        started: OnceLock::new(),
        ramp: Duration::from_nanos(plan.ramp.0),
        warms_up: plan.warms_up(),
        warmed: AtomicBool::new(false),
        paused: AtomicUsize::new(0),
        resume: Barrier::new(all),
        done: AtomicBool::new(false),
        steps: match plan.length {
            Length::Steps(steps) => Some(steps),
            Length::Time(_) => None,
        },
        arrivals: plan.pace.map(StepArrivals::of),
        on_loss: plan.on_loss,
        address,
        sessions: plan.sessions,
    }
}

/// Places to count in.
fn slots(sessions: u32, kinds: usize) -> Vec<Arc<Mutex<IntervalSlot>>> {
    (0..sessions.clamp(1, SLOTS_MAX))
        .map(|_| Arc::new(Mutex::new(IntervalSlot::new(kinds))))
        .collect()
}

/// A step that goes on.
struct RunningStep<'a, L: Product> {
    database: &'a mut LoadSchema<L>,
    common: &'a StepCommon<'a, L::Address>,
    plan: &'a RungPlan,
    /// Counters before the measured time.
    before: CounterSnapshot,
    started_unix_ns: u64,
    /// What was due at the end and had not begun.
    backlog: Option<u64>,
    /// What was observed while it ran.
    observed: Option<ObservedRung<L::Watcher>>,
    /// Why it did not begin, where hosts did not meet.
    called_off: Option<Error>,
}

type Threads<'scope> = Vec<ScopedJoinHandle<'scope, EndedStep>>;
type Interrupters = Vec<Arc<Mutex<Option<Interrupter>>>>;

impl<L: Product> RunningStep<'_, L> {
    /// Lets the sessions begin, watches, and waits until all have ended.
    fn run<S: super::LoadSession<Link = L>>(
        &mut self,
        workers: Vec<SessionWorker<S>>,
        observer: Option<ServerObserver<L::Watcher>>,
        watch: &mut StepWatch<'_>,
        hooks: &mut RungHooks<'_>,
    ) -> (Vec<EndedStep>, Finish) {
        let (common, unwatched) = (self.common, AtomicBool::new(false));
        let interrupters: Interrupters =
            workers.iter().map(|worker| Arc::clone(&worker.interrupter)).collect();
        thread::scope(|scope| {
            let threads: Threads<'_> = workers
                .into_iter()
                .map(|worker| scope.spawn(move || worker.work(common)))
                .collect();
            self.meet(hooks);
            common.start.wait();
            let _ = common.started.set(Instant::now());
            if common.warms_up {
                self.warm_up(&interrupters, watch, hooks);
            }
            watch.begin(self.plan.length);
            let looking = observer.map(|observer| scope.spawn(|| observer.watch(&unwatched)));
            let finish = watch.until_over(&threads, hooks);
            common.done.store(true, Ordering::Relaxed);
            self.backlog = self.late();
            wait(&interrupters, || threads.iter().all(ScopedJoinHandle::is_finished));
            let ended: Vec<EndedStep> = threads
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            // The counters are read for the last time when the sessions have reported everything to
            // them.
            unwatched.store(true, Ordering::Relaxed);
            let seen = looking.and_then(|looking| looking.join().ok());
            self.observed = seen.flatten();
            let finish = lost(&ended).map_or(finish, |reason| Finish::Failed { reason });
            (ended, finish)
        })
    }

    /// Waits for the other hosts, where there are any; without them nothing begins.
    fn meet(&mut self, hooks: &mut RungHooks<'_>) {
        let Some(meet) = hooks.meet.as_mut().filter(|_| self.called_off.is_none()) else { return };
        if let Err(error) = meet() {
            self.called_off = Some(error);
            self.common.warmed.store(true, Ordering::Relaxed);
            self.common.done.store(true, Ordering::Relaxed);
        }
    }

    /// Arrivals that are due by now and have not begun.
    fn late(&self) -> Option<u64> {
        let (arrivals, started) = self.common.arrivals.as_ref().zip(self.common.started.get())?;
        Some(arrivals.backlog(narrow(started.elapsed().as_nanos())))
    }

    /// The load before the measured one: its end is waited for, so that counters have a moment
    /// without load.
    fn warm_up(
        &mut self,
        interrupters: &Interrupters,
        watch: &StepWatch<'_>,
        hooks: &mut RungHooks<'_>,
    ) {
        let common = self.common;
        let started = Instant::now();
        let length = Duration::from_nanos(self.plan.ramp.0.saturating_add(self.plan.warm_up.0));
        let is_over = || hooks.stop.load(Ordering::Relaxed) || self.called_off.is_some();
        while started.elapsed() < length && !is_over() {
            (hooks.on_tick)();
            thread::sleep(super::watch::LOOK);
        }
        common.warmed.store(true, Ordering::Relaxed);
        wait(interrupters, || common.paused.load(Ordering::Acquire) >= interrupters.len());
        if hooks.meet.is_some() {
            self.meet(hooks);
            self.before = CounterSnapshot::of_this_host();
        } else if let Ok(snapshot) = CounterSnapshot::take(self.database, &[]) {
            self.before = snapshot;
        }
        self.started_unix_ns = unix_ns();
        if let Some((arrivals, started)) = common.arrivals.as_ref().zip(common.started.get()) {
            arrivals.restart(narrow(started.elapsed().as_nanos()));
        }
        watch.forget();
        common.resume.wait();
    }

    fn measured(
        self,
        ended: &[EndedStep],
        finish: Finish,
        watch: StepWatch<'_>,
        hooks: &mut RungHooks<'_>,
    ) -> RungResult {
        let served = ServedSessions::of(ended);
        let after = match hooks.meet {
            Some(_) => Ok(CounterSnapshot::of_this_host()),
            None => CounterSnapshot::take(self.database, &served.processes),
        };
        let mut delta = match &after {
            Ok(after) => after.since(&self.before, &served),
            // A server that is gone reports nothing more; what the sessions measured stands.
            Err(_) => self.before.since(&self.before, &served),
        };
        let observed = self.observed.as_ref();
        if let Some(observed) = observed {
            observed.take_out(&mut delta);
        }
        let is_complete = finish == Finish::Complete;
        let profile =
            observed.and_then(|observed| observed.profile(&delta, self.plan.sessions, is_complete));
        let mut tally = SlotTally::default();
        for one in ended {
            tally.add(&one.tally);
        }
        let mut rung = watch.rung(self.plan, finish, delta, ended, hooks);
        rung.measurement.started_unix_ns = self.started_unix_ns;
        rung.backlog = self.backlog;
        rung.profile = profile.map(Box::new);
        let begins = || ended.iter().map(|one| one.began);
        let began = begins().min().zip(begins().max());
        RungResult { rung, tally, served, began }
    }
}

/// Why the sessions could not go on, when that ended all of them.
fn lost(ended: &[EndedStep]) -> Option<String> {
    let reasons = ended.iter().map(|one| one.lost.as_deref().filter(|words| !words.is_empty()));
    let reasons: Option<Vec<&str>> = reasons.collect();
    let reason = reasons?.first().map(|reason| (*reason).to_owned());
    reason.map(|reason| format!("all sessions were lost: {reason}"))
}

/// Waits for the last statements; who takes too long is cut off.
fn wait(interrupters: &Interrupters, is_over: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_over() {
        if started.elapsed() > PATIENCE {
            for interrupter in interrupters {
                let held = interrupter.lock().unwrap_or_else(PoisonError::into_inner);
                held.iter().for_each(Interrupter::interrupt);
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}
