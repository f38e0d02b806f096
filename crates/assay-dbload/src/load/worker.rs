//! One session's thread: step after step, each timed and counted where the step can see it.

use super::database::LoadSchema;
use super::link::ServerLink;
use super::method::{LoadSession, Method, StepResult};
use super::pace::StepArrivals;
use super::slot::{IntervalSlot, SlotTally};
use super::think::{Pause, Thought, wait_until};
use assay_dbserver::{CpuUsage, Interrupter};
use assay_model::Result;
use assay_model::load::OnLoss;
use assay_model::number::narrow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a lost session waits before it tries the server again.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// What all sessions of a step share.
pub(super) struct StepCommon<'a, A> {
    /// Everybody begins together.
    pub(super) start: Barrier,
    /// When that was.
    pub(super) started: OnceLock<Instant>,
    /// Sessions begin one after the other over this time.
    pub(super) ramp: Duration,
    /// Whether there is a load before the measured one.
    pub(super) warms_up: bool,
    /// That load is over.
    pub(super) warmed: AtomicBool,
    /// Sessions that have ended it.
    pub(super) paused: AtomicUsize,
    /// The measured load begins.
    pub(super) resume: Barrier,
    /// The time is over.
    pub(super) done: AtomicBool,
    /// Steps of each session, where work and not time ends the step.
    pub(super) steps: Option<u64>,
    /// Open arrivals.
    pub(super) arrivals: Option<StepArrivals>,
    /// What a session does whose connection is lost.
    pub(super) on_loss: OnLoss,
    /// Where the server is.
    pub(super) address: &'a A,
    pub(super) sessions: u32,
}

/// Where the server of a session is.
type WorkerAddress<S> = <<S as LoadSession>::Link as ServerLink>::Address;

/// A session that is ready to begin.
pub(super) struct SessionWorker<S: LoadSession> {
    connection: S::Link,
    session: S,
    number: u32,
    pub(super) slot: Arc<Mutex<IntervalSlot>>,
    pub(super) interrupter: Arc<Mutex<Option<Interrupter>>>,
    tally: SlotTally,
    pause: Pause,
    /// What its process had used when the measured time began, or when it was opened again.
    used_before: Option<CpuUsage>,
}

/// How a session ended.
pub(super) struct EndedStep {
    /// What its process used from the start together on, where that can be seen.
    pub(super) usage: Option<CpuUsage>,
    /// Bytes that storage gave to its process in its whole life.
    pub(super) storage_read_bytes: Option<u64>,
    /// Number of its process.
    pub(super) process: u32,
    /// When it began what is measured.
    pub(super) began: Instant,
    /// When its last step ended.
    pub(super) at: Instant,
    /// Why it could not go on.
    pub(super) lost: Option<String>,
    /// What became of its steps.
    pub(super) tally: SlotTally,
}

/// When a step was due, began and ended.
#[derive(Clone, Copy)]
struct StepTimesNs {
    due: Option<Instant>,
    started: Instant,
    ended: Instant,
}

impl<S: LoadSession> SessionWorker<S> {
    /// Opens a session and prepares its statements.
    pub(super) fn open<M: Method<Session = S, Link = S::Link>>(
        database: &LoadSchema<S::Link>,
        method: &M,
        number: u32,
        slot: Arc<Mutex<IntervalSlot>>,
    ) -> Result<Self> {
        let mut connection = database.connect()?;
        let mut session = method.session(database, number);
        let prepared = session.prepare(&mut connection);
        prepared.map_err(|failure| failure.of("preparing the statements of a session"))?;
        connection.settle_counts();
        let interrupter = Arc::new(Mutex::new(connection.interrupter().ok()));
        let tally = SlotTally::new(method.kinds().len());
        Ok(Self {
            connection,
            session,
            number,
            slot,
            interrupter,
            tally,
            pause: Pause::default(),
            used_before: None,
        })
    }

    /// Waits for the others, steps until the step is over, and closes the session.
    pub(super) fn work(mut self, common: &StepCommon<'_, WorkerAddress<S>>) -> EndedStep {
        common.start.wait();
        let mut lost = None;
        if common.warms_up {
            self.ramp(common);
            lost = self.steps(common, &common.warmed, u64::MAX);
            self.connection.settle_counts();
            common.paused.fetch_add(1, Ordering::AcqRel);
            common.resume.wait();
        }
        self.used_before = self.connection.usage();
        let began = Instant::now();
        let lost =
            lost.or_else(|| self.steps(common, &common.done, common.steps.unwrap_or(u64::MAX)));
        let at = Instant::now();
        let (process, after) = (self.connection.served_by(), self.connection.usage());
        self.connection.close();
        EndedStep {
            usage: after.zip(self.used_before).map(|(after, before)| after.since(&before)),
            storage_read_bytes: after.and_then(|after| after.storage_read_bytes),
            process,
            began,
            at,
            lost,
            tally: self.tally,
        }
    }

    /// Sessions of higher numbers begin later.
    fn ramp(&self, common: &StepCommon<'_, WorkerAddress<S>>) {
        let share = f64::from(self.number) / f64::from(common.sessions.max(1));
        wait_until(Instant::now() + common.ramp.mul_f64(share), &common.warmed);
    }

    /// Steps; says why it could not go on.
    fn steps(
        &mut self,
        common: &StepCommon<'_, WorkerAddress<S>>,
        over: &AtomicBool,
        steps: u64,
    ) -> Option<String> {
        let mut before = Instant::now();
        let mut left = steps;
        while left > 0 && !over.load(Ordering::Relaxed) {
            left -= 1;
            match self.pause.think(|| self.session.choose(), over)? {
                Thought::Nothing => {}
                Thought::Whole => before = Instant::now(),
                Thought::CutShort => return None,
            }
            let due = common.arrivals.as_ref().map(|arrivals| common.due(arrivals));
            if let Some(due) = due {
                wait_until(due, over);
                if over.load(Ordering::Relaxed) {
                    self.pause.keep_step();
                    return None;
                }
                before = Instant::now();
            }
            let done = self.session.step(&mut self.connection);
            let ended = Instant::now();
            let times = StepTimesNs { due, started: before, ended };
            before = ended;
            if let Some(lost) = self.keep(&done, times, common, over) {
                if !self.reconnect(common, over) {
                    return Some(lost);
                }
                before = Instant::now();
            }
        }
        None
    }

    /// Counts a step; says why the session is lost when it is.
    #[inline]
    fn keep(
        &mut self,
        done: &StepResult,
        times: StepTimesNs,
        common: &StepCommon<'_, WorkerAddress<S>>,
        over: &AtomicBool,
    ) -> Option<String> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        for failure in &done.retried {
            slot.retry(done.kind, failure);
        }
        let failure = match &done.answer {
            Ok(()) => {
                self.tally.acknowledged[done.kind] += 1;
                let service_ns = narrow((times.ended - times.started).as_nanos());
                let response = times
                    .due
                    .map(|due| narrow(times.ended.saturating_duration_since(due).as_nanos()));
                slot.count(done, times.ended, service_ns, response);
                return None;
            }
            Err(failure) => failure,
        };
        if failure.is_lost() {
            self.tally.unknown[done.kind] += 1;
        }
        // What an interrupted session says adds nothing.
        let is_over = over.load(Ordering::Relaxed) || common.done.load(Ordering::Relaxed);
        if is_over && failure.is_lost() {
            return Some(String::new());
        }
        slot.fail(done.kind, failure.to_string());
        failure.is_lost().then(|| failure.to_string())
    }

    /// Opens the session again when that is wanted, as often as it takes.
    fn reconnect(&mut self, common: &StepCommon<'_, WorkerAddress<S>>, over: &AtomicBool) -> bool {
        while common.on_loss == OnLoss::Reconnect && !over.load(Ordering::Relaxed) {
            thread::sleep(RETRY_AFTER);
            let Ok(mut connection) = S::Link::open(common.address) else {
                continue;
            };
            if self.session.prepare(&mut connection).is_ok() {
                *self.interrupter.lock().unwrap_or_else(PoisonError::into_inner) =
                    connection.interrupter().ok();
                // Another process serves it now; what the lost one used is lost with it.
                self.used_before = connection.usage();
                self.connection = connection;
                return true;
            }
        }
        false
    }
}

impl<A> StepCommon<'_, A> {
    /// When the next step of an open arrival is due.
    fn due(&self, arrivals: &StepArrivals) -> Instant {
        let started = self.started.get().copied().unwrap_or_else(Instant::now);
        started + Duration::from_nanos(arrivals.next_ns())
    }
}
