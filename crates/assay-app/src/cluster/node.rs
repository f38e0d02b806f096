//! A node: it opens storage and measures as a driver says, and ends by itself when it hears nothing
//! more.

use super::keeper::{Keeper, forget, kept};
use super::watchdog::Watchdog;
use super::watcher::HostsWatcher;
use crate::load::LoadPlan;
use crate::load::load_member::{LoadMember, RungHost};
use crate::plan_document::PlanDocument;
use crate::recording::{StorageWork, on_storage};
use crate::target_plan::TargetPlan;
use assay_cluster::protocol::{
    self, Began, DatabaseOpening, MeasuredPart, NodeAnswer, NodeGreeting, NodeOpening, NodeOrder,
    NodeSession, Opened, RungPart, RungRecord, WatchOrder,
};
use assay_cluster::schedule::NOTICE_NS;
use assay_dbload::load::RungResult;
use assay_engine::{BackendChoice, monotonic_ns};
use assay_host::environment::{capture_environment, read_host};
use assay_host::live_database::live_database;
use assay_host::root::{Survey, SysRoot};
use assay_methods::target::{
    AccessOptions, TargetFilling, TargetStorage, Targets, admitted, parse_targets,
};
use assay_model::measurement::{Interval, Window};
use assay_model::number::{narrow, real, share};
use assay_model::units::show_bytes;
use assay_model::{Error, ErrorKind, Result, Workload};
use std::cell::RefCell;
use std::io::{BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often a node that waits looks whether it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Before a moment it is waited for without sleeping, ns.
const SPIN_NS: u64 = 300_000;
/// How long it waits for its last words to be read.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves one driver until it closes the session, goes, or is silent for longer than the lease;
/// `stop` ends it, too.
///
/// # Errors
/// An environment error when no thread can be started; the driver hears of refusals.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    token: &str,
    stop: &Arc<AtomicBool>,
) -> Result<()> {
    let (speaker, words) = channel();
    let (sender, orders) = channel();
    let (finished, has_finished) = channel::<()>();
    let watchdog = Arc::new(Watchdog::new(Arc::clone(stop)));
    begin("speak", move || {
        speak(output, &words);
        drop(finished);
    })?;
    let (dog, voice) = (Arc::clone(&watchdog), speaker.clone());
    begin("listen", move || listen(input, &dog, &voice, &sender))?;
    let (dog, voice) = (Arc::clone(&watchdog), speaker.clone());
    begin("watchdog", move || dog.watch(|ns| drop(voice.send(NodeAnswer::StoodStill(ns)))))?;
    let dog = Arc::clone(&watchdog);
    let mut node = Node {
        orders,
        speaker,
        watchdog,
        host: String::new(),
        admitted: None,
        opened: None,
        keeper: RefCell::default(),
    };
    node.serve(token);
    drop(node);
    // Nobody may be there any more to read them.
    let farewell = if dog.is_alone() { Duration::ZERO } else { FAREWELL };
    let _ = has_finished.recv_timeout(farewell);
    Ok(())
}

fn begin(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| {
        Error::environment(format!("starting a thread: {error}"), "raise the limit on processes")
    })
}

/// Writes words down; whoever speaks never waits for a driver that does not read.
fn speak(mut output: impl Write, words: &Receiver<NodeAnswer>) {
    for word in words {
        let written = protocol::line(&word).and_then(|line| output.write_all(&line));
        if written.and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

/// Answers beats at once, and passes everything else on. What ends a workload takes effect here, in
/// the order in which it was said: a word that begins the next one must not be overtaken by it.
fn listen(
    input: impl Read,
    watchdog: &Watchdog,
    speaker: &Sender<NodeAnswer>,
    orders: &Sender<NodeOrder>,
) {
    let mut input = BufReader::new(input);
    while let Ok(Some(word)) = protocol::next::<NodeOrder>(&mut input) {
        let now_ns = monotonic_ns();
        watchdog.heard(now_ns);
        let passed_on = match word {
            NodeOrder::Beat(number) => {
                drop(speaker.send(NodeAnswer::Beat(number, now_ns)));
                continue;
            }
            NodeOrder::Stop => {
                watchdog.halt();
                continue;
            }
            NodeOrder::Hello(session) => {
                watchdog.begin(session.period_ns, now_ns);
                NodeOrder::Hello(session)
            }
            other @ (NodeOrder::Measure(_)
            | NodeOrder::MeasureSlice(_)
            | NodeOrder::Watch(_)
            | NodeOrder::Climb(_)) => {
                watchdog.arm();
                other
            }
            other => other,
        };
        if orders.send(passed_on).is_err() {
            break;
        }
    }
    watchdog.end();
}

/// A session with a driver.
struct Node {
    orders: Receiver<NodeOrder>,
    speaker: Sender<NodeAnswer>,
    watchdog: Arc<Watchdog>,
    /// As the driver calls it.
    host: String,
    admitted: Option<NodeAccess>,
    opened: Option<TargetStorage>,
    /// Keeps what is measured on the disk of this host.
    keeper: RefCell<Option<Keeper>>,
}

/// What was admitted, and how it is opened.
struct NodeAccess {
    paths: Vec<PathBuf>,
    options: AccessOptions,
    backend: BackendChoice,
}

impl Node {
    fn serve(&mut self, token: &str) {
        let mut is_open = false;
        while let Some(order) = self.next_order() {
            let done = match order {
                NodeOrder::Hello(session) => {
                    let greeted = greet(&session, token);
                    is_open = greeted.is_ok();
                    self.host = session.host;
                    greeted
                }
                _ if !is_open => Err(Error::environment("no session is open", "say hello first")),
                NodeOrder::Survey(paths) => survey(&paths),
                NodeOrder::Admit(opening) => self.admit(&opening),
                NodeOrder::Open => self.open(),
                NodeOrder::Measure(workload) => self.measure(&workload, true),
                NodeOrder::MeasureSlice(workload) => self.measure(&workload, false),
                NodeOrder::Watch(order) => self.watch(&order),
                NodeOrder::Connect(opening) => self.load(&opening),
                NodeOrder::Climb(_) => Err(out_of_turn("climb")),
                NodeOrder::Keep(run) => {
                    self.keep(&run);
                    continue;
                }
                NodeOrder::Collect(run) => {
                    kept(&run, &self.host).map(|record| NodeAnswer::Kept(Box::new(record)))
                }
                NodeOrder::Forget(run) => forget(&run, &self.host).map(|()| NodeAnswer::Forgotten),
                NodeOrder::Close => {
                    self.write_down(|keeper| keeper.take().map_or(Ok(()), Keeper::forget));
                    return;
                }
                // A start that nobody waits for came too late for its workload.
                NodeOrder::Start(_) | NodeOrder::Beat(_) | NodeOrder::Stop => continue,
            };
            self.say(done.unwrap_or_else(|error| NodeAnswer::Refused((&error).into())));
            if !is_open {
                return;
            }
        }
    }

    fn keep(&self, run: &str) {
        self.write_down(|keeper| {
            *keeper = Some(Keeper::begin(run, &self.host)?);
            Ok(())
        });
    }

    /// Writes something down on this host; a measurement goes on without it.
    fn write_down(&self, write: impl FnOnce(&mut Option<Keeper>) -> Result<()>) {
        let mut keeper = self.keeper.borrow_mut();
        if let Err(error) = write(&mut keeper) {
            *keeper = None;
            let lost = "its measurements are not kept on this host";
            self.say(NodeAnswer::Note(format!("{lost}: {}", error.message())));
        }
    }

    fn say(&self, word: NodeAnswer) {
        // A driver that has gone hears nothing; the watchdog ends the node.
        drop(self.speaker.send(word));
    }

    /// The next order; nothing when the node is to end.
    fn next_order(&self) -> Option<NodeOrder> {
        loop {
            match self.orders.recv_timeout(POLL_INTERVAL) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Timeout) if !self.watchdog.has_ended() => {}
                Err(_) => return None,
            }
        }
    }

    fn admit(&mut self, opening: &NodeOpening) -> Result<NodeAnswer> {
        let access = NodeAccess::of(opening)?;
        if !opening.in_use {
            check_unused(&access.paths)?;
        }
        let places = admitted(&access.paths, &access.options)?;
        self.admitted = Some(access);
        Ok(NodeAnswer::Admitted(places))
    }

    fn open(&mut self) -> Result<NodeAnswer> {
        let access = self.admitted.as_ref().ok_or_else(|| out_of_turn("open"))?;
        let mut show = |filling: TargetFilling<'_>| match filling {
            TargetFilling::Begins(note) => self.say(NodeAnswer::Note(note.to_owned())),
            TargetFilling::Written { bytes, total_bytes } => {
                let what = format!("filling the test file: {}", show_bytes(real(bytes)));
                self.say(NodeAnswer::Doing(what, share(bytes, total_bytes)));
            }
        };
        let stop = self.watchdog.stop();
        let storage = TargetStorage::open(&access.paths, &access.options, stop, &mut show)?;
        let opened = Opened {
            environment: storage.environment.clone(),
            length_bytes: storage.targets.iter().map(|target| target.length_bytes).sum(),
            notes: storage.notes.clone(),
        };
        self.opened = Some(storage);
        Ok(NodeAnswer::Opened(Box::new(opened)))
    }

    fn measure(&self, workload: &Workload, with_ceiling: bool) -> Result<NodeAnswer> {
        let (Some(storage), Some(access)) = (&self.opened, &self.admitted) else {
            return Err(out_of_turn("measure"));
        };
        // Slices are over too soon to be worth it.
        let keep = |write: &dyn Fn(&mut Keeper) -> Result<()>| {
            let of_keeper = |keeper: &mut Option<Keeper>| keeper.as_mut().map_or(Ok(()), write);
            if with_ceiling {
                self.write_down(of_keeper);
            }
        };
        let mut observe = |interval: &Interval, joint: &Window| {
            let part = part_of(interval, joint);
            keep(&|keeper| keeper.interval(&part));
            self.say(NodeAnswer::Interval(Box::new(part)));
            ControlFlow::Continue(())
        };
        let backend = access.backend;
        let work = StorageWork { storage, backend, verifier: None, workload, with_ceiling };
        let mut starter = || {
            let at_ns = self.start(true)?;
            keep(&|keeper| keeper.begun(at_ns));
            Ok(at_ns)
        };
        let started = on_storage(&work, &mut starter, self.watchdog.stop(), &mut observe)?;
        let (measurement, began) = (started.measurement, started.began_ns);
        let began = began.map(|began| Began { first_ns: *began.start(), last_ns: *began.end() });
        keep(&|keeper| keeper.ended(&measurement, began));
        Ok(NodeAnswer::Finished { measurement: Box::new(measurement), began, rung: None })
    }

    /// Watches the machine; nothing need be open for it.
    fn watch(&self, order: &WatchOrder) -> Result<NodeAnswer> {
        let watcher = HostsWatcher::new(order)?;
        let at_ns = self.start(true)?;
        let mut say = |part| self.say(NodeAnswer::Interval(Box::new(part)));
        Ok(watcher.watch(at_ns, self.watchdog.stop(), &mut say))
    }

    /// Has sessions on a database until the driver closes it.
    fn load(&self, opening: &DatabaseOpening) -> Result<NodeAnswer> {
        let plan: LoadPlan = PlanDocument::parse(&opening.load)?;
        let mut sessions = MemberSessions { node: self, meetings: 0 };
        let mut member = LoadMember {
            address: opening.address.clone(),
            secret: opening.secret.clone().map(|secret| secret.0),
            schema: opening.schema.clone(),
            stop: self.watchdog.stop(),
            host: &mut sessions,
        };
        plan.load().take_part(&mut member)?;
        Err(Error::environment("the connection to the database was closed", "start again")
            .of_kind(ErrorKind::Stopped))
    }

    /// Waits for the moment of the start; a moment that has come too near is refused, and another
    /// one awaited.
    fn start(&self, is_strict: bool) -> Result<u64> {
        self.say(NodeAnswer::Ready);
        while !self.watchdog.stop().load(Ordering::Relaxed) {
            match self.orders.recv_timeout(POLL_INTERVAL) {
                Ok(NodeOrder::Start(at_ns)) => {
                    let soonest_ns = monotonic_ns() + NOTICE_NS;
                    if soonest_ns <= at_ns || !is_strict {
                        return Ok(at_ns);
                    }
                    self.say(NodeAnswer::Late(soonest_ns - at_ns));
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let error = Error::environment("the start was canceled", "start again");
        Err(error.of_kind(ErrorKind::Stopped))
    }
}

/// A node as the sessions of a load see it.
struct MemberSessions<'a> {
    node: &'a Node,
    /// How often sessions of the step have met those of other hosts.
    meetings: u32,
}

impl RungHost for MemberSessions<'_> {
    fn connected(&mut self) {
        self.node.say(NodeAnswer::Connected);
    }

    fn next_part(&mut self) -> Option<RungPart> {
        self.meetings = 0;
        loop {
            match self.node.next_order()? {
                NodeOrder::Climb(part) => return Some(*part),
                NodeOrder::Close => return None,
                // A start that nobody waits for came too late for its step.
                _ => {}
            }
        }
    }

    /// Only the measured load must begin on time; one that warms up may begin late.
    fn meet(&mut self, is_measured: bool) -> Result<()> {
        let at_ns = self.node.start(is_measured)?;
        loop {
            let left_ns = at_ns.saturating_sub(monotonic_ns());
            match left_ns {
                0 => return Ok(()),
                near if near < SPIN_NS => std::hint::spin_loop(),
                far => thread::sleep(Duration::from_nanos(far - SPIN_NS)),
            }
        }
    }

    fn observe(&mut self, interval: &Interval, joint: &Window) {
        self.node.say(NodeAnswer::Interval(Box::new(part_of(interval, joint))));
    }

    fn finish(&mut self, measured: Result<RungResult>) {
        self.node.say(match measured {
            Ok(measured) => finished(measured),
            Err(error) => NodeAnswer::Refused((&error).into()),
        });
    }
}

fn part_of(interval: &Interval, joint: &Window) -> MeasuredPart {
    MeasuredPart {
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        queue_depth_mean: interval.queue_depth_mean,
        joint: joint.clone(),
        moment: None,
    }
}

fn finished(measured: RungResult) -> NodeAnswer {
    let RungResult { rung, tally, served, began } = measured;
    let now_ns = monotonic_ns();
    let ago_ns = |at: Instant| now_ns.saturating_sub(narrow(at.elapsed().as_nanos()));
    let began = began.map(|(first, last)| Began { first_ns: ago_ns(first), last_ns: ago_ns(last) });
    let record = RungRecord {
        retries: rung.retries,
        backlog: rung.backlog,
        acknowledged: tally.acknowledged,
        unknown: tally.unknown,
        client_cpu_s: rung.client_cpu_s,
        processes: served.processes,
        served_ns: served.usage.map(|usage| (usage.cpu_ns, usage.queue_ns)),
        storage_read_bytes: served.storage_read_bytes,
    };
    NodeAnswer::Finished {
        measurement: Box::new(rung.measurement),
        began,
        rung: Some(Box::new(record)),
    }
}

impl NodeAccess {
    fn of(opening: &NodeOpening) -> Result<Self> {
        let unread = |error| {
            Error::environment(format!("reading the plan: {error}"), "report this as a bug")
        };
        let mut plan: TargetPlan =
            serde_json::from_value(opening.target.clone()).map_err(unread)?;
        plan.destroy.clone_from(&opening.destroy);
        plan.wipe.clone_from(&opening.wipe);
        plan.check()?;
        let Targets::Paths(paths) = parse_targets(&plan.targets)? else {
            return Err(Error::usage(
                "a simulated device exists in one process and cannot be shared by hosts",
                "specify a directory, a file or a block device, or leave --hosts out",
            ));
        };
        let options = plan.opening(opening.write, opening.direct, opening.grows);
        Ok(Self { paths, options, backend: plan.engine.choice() })
    }
}

/// Refuses storage that a running database of this host has its files on.
fn check_unused(paths: &[PathBuf]) -> Result<()> {
    let directory = |path: &PathBuf| {
        if path.is_file() { path.parent().map(Path::to_owned) } else { Some(path.clone()) }
    };
    let found = paths.iter().filter_map(directory);
    let found = found.into_iter().find_map(|path| live_database(&path, Path::new("/proc")));
    let Some(found) = found else { return Ok(()) };
    Err(Error::usage(
        format!(
            "{} is running on {} (process {}): this saturates the disk under it",
            found.product,
            found.directory.display(),
            found.process
        ),
        "specify another directory or stop the server; --yes continues anyway",
    ))
}

fn greet(session: &NodeSession, token: &str) -> Result<NodeAnswer> {
    let version = env!("CARGO_PKG_VERSION");
    session.check(version, token)?;
    Ok(NodeAnswer::Hello(NodeGreeting {
        format: protocol::FORMAT,
        version: version.to_owned(),
        host_name: read_host(&Survey::new(&SysRoot::live())).name,
    }))
}

fn survey(paths: &[String]) -> Result<NodeAnswer> {
    /// More paths keep a node from hearing that its line was closed.
    const PATHS_MAX: usize = 1024;
    if paths.len() > PATHS_MAX {
        return Err(Error::usage(
            format!("{} paths are too many for one request", paths.len()),
            format!("specify {PATHS_MAX} at most"),
        ));
    }
    let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
    let environment = capture_environment(&SysRoot::live(), &paths, &[])?;
    Ok(NodeAnswer::Surveyed(Box::new(environment)))
}

fn out_of_turn(what: &str) -> Error {
    Error::environment(format!("the command to {what} arrived too early"), "report this as a bug")
}
