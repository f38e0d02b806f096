//! Runs a workload on real storage: a thread a worker, a common start, a collector that never waits
//! for a stuck one.

use crate::backend::{
    IoBackend, NullBackend, PassthroughBackend, PosixBackend, UringBackend, UringOptions,
    uring_denied,
};
use crate::cache_line::OwnLines;
use crate::collector::{IntervalCollector, Observer, later};
use crate::errno::meaning;
use crate::plan::{SubmissionBatch, WorkerPlan, check_alignment, check_transfer_max, plan_workers};
use crate::probe::{Probed, probe};
use crate::sys::{monotonic_ns, sharpen_timers};
use crate::target::{OpenFile, TargetBounds, has_passthrough};
use crate::verify::Verifier;
use crate::worker::{EngineWorker, Message, NextStep, PhaseTimes};
use assay_model::measurement::{BackendKind, ClockKind, Conduct, Finish, Measurement, Submission};
use assay_model::workload::Workload;
use assay_model::{Error, Result};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a stopped run waits for its workers; with the workers' tick it stays below 200 ms.
const STOP_GRACE: Duration = Duration::from_millis(120);
/// How long a finished run waits for the last I/Os, so that the next one meets an idle device.
const DRAIN_GRACE: Duration = Duration::from_secs(10);
/// How often the collector looks at the stop flag.
const POLL: Duration = Duration::from_millis(10);
/// Between the last worker being ready and the common start.
const LEAD_NS: u64 = 1_000_000;
/// I/Os handed over in one entry at most: an eighth of an entry costs less than 2% of a cached
/// read.
const ENTRY_IOS_MAX: u32 = 8;

/// The clock of all stamps.
const CLOCK: ClockKind = ClockKind::Monotonic;

/// Who carries out the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// `io_uring` where the kernel allows it, else blocking calls.
    Auto(UringOptions),
    /// `io_uring`, or an error.
    Uring(UringOptions),
    /// Blocking calls by a thread for each outstanding I/O.
    Posix,
    /// Nobody: the cost of the tool itself.
    Null,
}

impl BackendChoice {
    /// What a result will say of who carries out its I/Os.
    ///
    /// # Errors
    /// An environment error when the kernel denies what was asked for.
    pub fn conduct(self) -> Result<Conduct> {
        let chosen = choose(self)?;
        Ok(Conduct {
            backend: chosen.kind(),
            backend_reason: chosen.reason,
            clock: CLOCK,
            ..Conduct::default()
        })
    }
}

/// One run to do.
#[derive(Debug)]
pub struct EngineJob<'a> {
    /// What to issue.
    pub workload: &'a Workload,
    /// What to issue it on.
    pub targets: Arc<[OpenFile]>,
    /// Who carries it out.
    pub backend: BackendChoice,
    /// Times that each stream passes over its space before it is done; `None` runs for the
    /// duration.
    pub passes: Option<u64>,
}

/// When the load begins. It is asked once all workers are ready, and gives the moment on
/// `CLOCK_MONOTONIC`, ns; an error calls the run off.
pub type Starter<'a> = &'a mut dyn FnMut() -> Result<u64>;

/// A measurement that began at a given moment, and how well it met it.
#[derive(Clone, Debug)]
pub struct Started {
    /// What was measured.
    pub measurement: Measurement,
    /// When the load was to begin, ns on the monotonic clock.
    pub start_ns: u64,
    /// When the first and the last of the workers that ended began, ns on the same clock; `None`
    /// when none ended.
    pub began_ns: Option<RangeInclusive<u64>>,
}

/// What all threads of a run share: workers read it, and nobody writes to it while they work, but
/// for the flag.
struct RunShared {
    targets: Arc<[OpenFile]>,
    stop: OwnLines<AtomicBool>,
    times: Mutex<Option<PhaseTimes>>,
    started: Condvar,
    backend: BackendChoice,
}

/// The backend that was chosen, and why it is not the one asked for.
struct Chosen {
    backend: BackendChoice,
    reason: Option<String>,
}

impl Chosen {
    const fn kind(&self) -> BackendKind {
        match self.backend {
            BackendChoice::Auto(_) | BackendChoice::Uring(_) => BackendKind::Uring,
            BackendChoice::Posix => BackendKind::Posix,
            BackendChoice::Null => BackendKind::Null,
        }
    }
}

/// Runs a job until its time is over, `stop` is set, or it cannot go on. What was measured until
/// then is the result.
///
/// # Errors
/// A usage error when the workload does not fit the targets; an environment error when no backend
/// can be set up.
pub fn run(
    job: &EngineJob<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measurement> {
    run_verified(job, None, stop, observer)
}

/// The same, and what is read is compared with what was written where there is a verifier for it.
///
/// # Errors
/// As [`run`]; a usage error, too, when nobody carries the I/Os out.
pub fn run_verified(
    job: &EngineJob<'_>,
    verifier: Option<&Arc<Verifier>>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measurement> {
    // Filling write buffers comes after the start is known: leave time for it.
    let mut at_once = || Ok(monotonic_ns() + LEAD_NS);
    run_from(job, verifier, &mut at_once, stop, observer).map(|started| started.measurement)
}

/// The same, from a moment that somebody else chooses once everything is ready, so that several
/// hosts begin together.
///
/// # Errors
/// As [`run_verified`], and what `starter` says.
pub fn run_from(
    job: &EngineJob<'_>,
    verifier: Option<&Arc<Verifier>>,
    starter: Starter<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Started> {
    check(job)?;
    let chosen = choose(job.backend)?;
    check_passthrough(&chosen, &job.targets)?;
    if verifier.is_some() && chosen.backend == BackendChoice::Null {
        return Err(Error::usage(
            "the null backend stores no data to verify",
            "omit --backend null or --verify",
        ));
    }
    let mut plans = plans(job)?;
    let probed = probe_first(&chosen, job, stop);
    for plan in &mut plans {
        plan.verifier = verifier.cloned();
        plan.batching = batching(chosen.backend, probed);
    }
    let shared = Arc::new(RunShared {
        targets: Arc::clone(&job.targets),
        stop: OwnLines(AtomicBool::new(false)),
        times: Mutex::new(None),
        started: Condvar::new(),
        backend: chosen.backend,
    });
    let (sender, receiver) = channel();
    let workers = plans.len();
    let threads = spawn(plans, &shared, &sender)?;
    drop(sender);
    await_ready(&receiver, workers, &shared)?;
    let times = start(job.workload, starter, &shared)?;
    let started_unix_ns = unix_ns(times.measure_ns);
    let mut collector = collector(job, workers, times.measure_ns);
    let finish = collect(&receiver, &shared, stop, &mut collector, observer);
    collector.flush(observer);
    if drain(&receiver, workers, &finish) {
        for thread in threads {
            drop(thread.join());
        }
    }
    let began_ns = collector.began_ns();
    let mut measurement = collector.finish(finish, started_unix_ns);
    complete_conduct(&mut measurement, &chosen, job, probed.submission);
    Ok(Started { measurement, start_ns: times.start_ns, began_ns })
}

/// What can be refused before anything is set up; a device of no work takes everything.
fn check(job: &EngineJob<'_>) -> Result<()> {
    let real = job.backend != BackendChoice::Null;
    for target in job.targets.iter().filter(|_| real) {
        check_alignment(job.workload, target)?;
        check_transfer_max(job.workload, target)?;
        check_leave(job.workload, target)?;
    }
    Ok(())
}

fn plans(job: &EngineJob<'_>) -> Result<Vec<WorkerPlan>> {
    let bounds: Arc<[TargetBounds]> = job.targets.iter().map(OpenFile::bounds).collect();
    plan_workers(job.workload, &bounds, job.passes)
}

/// The kernel holds an entry back until all of it is prepared. Where the device works meanwhile,
/// that takes time from its I/Os; where the kernel carries them out itself, an entry for each would
/// cost half as much again.
fn batching(backend: BackendChoice, probed: Probed) -> SubmissionBatch {
    let BackendChoice::Uring(options) = backend else { return SubmissionBatch::AllDue };
    match (options.submit_batch, probed.submission) {
        (Some(most), _) => SubmissionBatch::UpTo(most.max(1)),
        (None, Submission::Asynchronous | Submission::Punted) => SubmissionBatch::ByServiceTime {
            most: ENTRY_IOS_MAX,
            preparation_ns: probed.preparation_ns,
        },
        (None, _) => SubmissionBatch::UpTo(ENTRY_IOS_MAX),
    }
}

fn collector<'a>(job: &EngineJob<'a>, workers: usize, origin_ns: u64) -> IntervalCollector<'a> {
    let names = job.targets.iter().map(|target| target.name.clone());
    IntervalCollector::new(job.workload, names.collect(), workers, origin_ns)
}

/// Writing needs the safety gate's leave; asked for here so that the answer comes before the first
/// I/O.
fn check_leave(workload: &Workload, target: &OpenFile) -> Result<()> {
    if target.writable || !workload.writes() {
        return Ok(());
    }
    Err(Error::environment(
        format!("the workload writes, but {} is open only for reading", target.name),
        "use a directory as target, in which Assay creates a test file, or a device with --destroy",
    ))
}

/// Commands past the block layer need a ring, and polling for them a driver that polls.
fn check_passthrough(chosen: &Chosen, targets: &[OpenFile]) -> Result<()> {
    let mut through =
        targets.iter().filter_map(|target| Some((target, target.passthrough.as_ref()?)));
    match chosen.backend {
        BackendChoice::Null => Ok(()),
        BackendChoice::Posix => through.next().map_or(Ok(()), |(target, _)| {
            let why = chosen.reason.as_deref().unwrap_or("blocking calls cannot send commands");
            Err(Error::environment(
                format!("{} works only with io_uring: {why}", target.name),
                "allow io_uring, or specify the block device of the namespace, such as /dev/nvme0n1",
            ))
        }),
        BackendChoice::Auto(options) | BackendChoice::Uring(options) => {
            let silent = through.find(|(_, passthrough)| options.polled && !passthrough.polls());
            silent.map_or(Ok(()), |(target, _)| {
                Err(Error::environment(
                    format!("--polled: the driver of {} has no poll queues", target.name),
                    "omit --polled, or load the driver with nvme.poll_queues=N",
                ))
            })
        }
    }
}

fn choose(wanted: BackendChoice) -> Result<Chosen> {
    let denied = match wanted {
        BackendChoice::Auto(_) | BackendChoice::Uring(_) => uring_denied(),
        BackendChoice::Posix | BackendChoice::Null => None,
    };
    match (wanted, denied) {
        (BackendChoice::Auto(options), None) => {
            Ok(Chosen { backend: BackendChoice::Uring(options), reason: None })
        }
        (BackendChoice::Auto(_), reason) => Ok(Chosen { backend: BackendChoice::Posix, reason }),
        (BackendChoice::Uring(_), Some(reason)) => {
            Err(Error::environment(reason, "use --backend posix"))
        }
        (backend, _) => Ok(Chosen { backend, reason: None }),
    }
}

fn probe_first(chosen: &Chosen, job: &EngineJob<'_>, stop: &AtomicBool) -> Probed {
    match chosen.backend {
        BackendChoice::Uring(options) => probe(&job.targets, options, stop),
        _ => Probed::NOTHING,
    }
}

fn spawn(
    plans: Vec<WorkerPlan>,
    shared: &Arc<RunShared>,
    sender: &Sender<Message>,
) -> Result<Vec<JoinHandle<()>>> {
    let start = |plan: WorkerPlan| {
        let (shared, sender) = (Arc::clone(shared), sender.clone());
        let name = format!("worker-{}", plan.worker);
        let spawned =
            std::thread::Builder::new().name(name).spawn(move || work(plan, &shared, &sender));
        spawned.map_err(|error| {
            Error::environment(format!("starting a worker: {error}"), "use fewer workers")
        })
    };
    plans.into_iter().map(start).collect()
}

/// A worker's thread: set up the backend, report, wait for the common start, turn until the end.
fn work(plan: WorkerPlan, shared: &RunShared, sender: &Sender<Message>) {
    sharpen_timers();
    let (slots, bytes) = (plan.slots as usize, plan.slot_bytes);
    match shared.backend {
        BackendChoice::Auto(options) | BackendChoice::Uring(options) => {
            let targets = Arc::clone(&shared.targets);
            if has_passthrough(&targets) {
                let backend = PassthroughBackend::new(targets, slots, bytes, options);
                serve(backend, plan, shared, sender);
            } else {
                let backend = UringBackend::new(targets, slots, bytes, options);
                serve(backend, plan, shared, sender);
            }
        }
        BackendChoice::Posix => {
            serve(PosixBackend::new(&shared.targets, slots, bytes), plan, shared, sender);
        }
        BackendChoice::Null => serve(NullBackend::new(slots, bytes), plan, shared, sender),
    }
}

fn serve<B: IoBackend>(
    backend: Result<B>,
    plan: WorkerPlan,
    shared: &RunShared,
    sender: &Sender<Message>,
) {
    let backend = match backend {
        Ok(backend) => backend,
        Err(error) => return drop(sender.send(Message::Ready(Err(error)))),
    };
    drop(sender.send(Message::Ready(Ok(()))));
    let Some(times) = await_start(shared) else {
        return;
    };
    let mut worker = EngineWorker::new(backend, plan, times, sender.clone());
    sleep_until(times.start_ns);
    let mut has_yielded = false;
    loop {
        match worker.turn(shared.stop.load(Ordering::Relaxed)) {
            NextStep::Finished => break,
            NextStep::Enter(wait) => {
                if let Err(error) = worker.backend().enter(wait) {
                    return drop(sender.send(Message::Broken(error)));
                }
            }
        }
        if !has_yielded {
            // Workers of many nodes on one CPU begin before the first of them fills its queue.
            std::thread::yield_now();
            has_yielded = true;
        }
    }
    drop(sender.send(Message::Drained));
}

fn sleep_until(start_ns: u64) {
    std::thread::sleep(Duration::from_nanos(start_ns.saturating_sub(monotonic_ns())));
}

/// Blocks until the times are known; `None` when the run was called off.
fn await_start(shared: &RunShared) -> Option<PhaseTimes> {
    let mut times = shared.times.lock().unwrap_or_else(PoisonError::into_inner);
    while times.is_none() && !shared.stop.load(Ordering::Relaxed) {
        times = shared.started.wait(times).unwrap_or_else(PoisonError::into_inner);
    }
    *times
}

fn await_ready(receiver: &Receiver<Message>, workers: usize, shared: &RunShared) -> Result<()> {
    for _ in 0..workers {
        if let Ok(Message::Ready(Err(error))) = receiver.recv() {
            call_off(shared);
            return Err(error);
        }
    }
    Ok(())
}

/// Sends workers home that wait for the start. The flag is set while none of them is between
/// looking at it and waiting.
fn call_off(shared: &RunShared) {
    let times = shared.times.lock().unwrap_or_else(PoisonError::into_inner);
    shared.stop.store(true, Ordering::Relaxed);
    shared.started.notify_all();
    drop(times);
}

fn start(workload: &Workload, starter: Starter<'_>, shared: &RunShared) -> Result<PhaseTimes> {
    let start_ns = starter().inspect_err(|_| call_off(shared))?;
    let measure_ns = later(start_ns, workload.warm_up.0);
    let end_ns = later(measure_ns, workload.duration.0);
    let times = PhaseTimes { start_ns, measure_ns, end_ns, interval_ns: workload.interval.0 };
    *shared.times.lock().unwrap_or_else(PoisonError::into_inner) = Some(times);
    shared.started.notify_all();
    Ok(times)
}

/// The time of day at a reading of the monotonic clock.
fn unix_ns(at_ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let (now_ns, monotonic) = (assay_model::number::narrow(now), monotonic_ns());
    if at_ns > monotonic { now_ns + (at_ns - monotonic) } else { now_ns - (monotonic - at_ns) }
}

/// Takes messages until all workers have ended or waiting longer makes no sense.
fn collect(
    receiver: &Receiver<Message>,
    shared: &RunShared,
    stop: &AtomicBool,
    collector: &mut IntervalCollector<'_>,
    observer: &mut dyn Observer,
) -> Finish {
    let mut finish = Finish::Complete;
    let mut stopped_ns = None;
    loop {
        if stopped_ns.is_none()
            && (stop.load(Ordering::Relaxed)
                || collector.broken_off()
                || finish != Finish::Complete)
        {
            if finish == Finish::Complete {
                finish = Finish::Interrupted;
            }
            shared.stop.store(true, Ordering::Relaxed);
            stopped_ns = Some(monotonic_ns());
        }
        let given_up = stopped_ns
            .is_some_and(|since_ns| u128::from(monotonic_ns() - since_ns) > STOP_GRACE.as_nanos());
        if collector.all_ended() || given_up {
            return finish;
        }
        match receiver.recv_timeout(POLL) {
            Ok(message) => handle(message, shared, collector, observer, &mut finish),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return finish,
        }
    }
}

fn handle(
    message: Message,
    shared: &RunShared,
    collector: &mut IntervalCollector<'_>,
    observer: &mut dyn Observer,
    finish: &mut Finish,
) {
    match message {
        Message::Interval(part) => collector.add(&part, observer),
        Message::Ended(ended) => collector.end(*ended),
        Message::Fatal { operation, target, errno } => {
            let name =
                shared.targets.get(target as usize).map_or("", |target| target.name.as_str());
            *finish = Finish::Failed {
                reason: format!("{} on {name}: {}", operation.name(), meaning(errno)),
            };
        }
        Message::Broken(error) => *finish = Finish::Failed { reason: error.message().to_owned() },
        Message::Ready(_) | Message::Measuring | Message::Drained => {}
    }
}

/// Waits for what is in flight; whether all of it came back.
fn drain(receiver: &Receiver<Message>, workers: usize, finish: &Finish) -> bool {
    let grace = if *finish == Finish::Complete { DRAIN_GRACE } else { Duration::from_millis(30) };
    let until_ns = monotonic_ns() + assay_model::number::narrow(grace.as_nanos());
    let mut drained = 0;
    while drained < workers && monotonic_ns() < until_ns {
        match receiver.recv_timeout(POLL) {
            Ok(Message::Drained) => drained += 1,
            Ok(_) | Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return true,
        }
    }
    drained == workers
}

fn complete_conduct(
    measurement: &mut Measurement,
    chosen: &Chosen,
    job: &EngineJob<'_>,
    submission: Submission,
) {
    let conduct = &mut measurement.conduct;
    conduct.backend = chosen.kind();
    conduct.backend_reason.clone_from(&chosen.reason);
    conduct.clock = CLOCK;
    conduct.submission = submission;
    if chosen.backend != BackendChoice::Null {
        conduct.direct_io = Some(job.targets.iter().all(|target| target.direct));
        let through = job.targets.iter().filter(|target| target.passthrough.is_some());
        conduct.passthrough = through.map(|target| target.name.clone()).collect();
    }
}
