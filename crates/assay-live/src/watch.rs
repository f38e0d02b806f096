//! Looks at a server again and again, at moments that no rhythm of its load can hide from.

mod by_second;
mod tracking;

pub use by_second::IoCounters;
pub use tracking::{ProcessKind, TaskTimes, TrackedProcess};

use crate::{HostContext, SessionSample, SessionSamples, SessionState, Tasks};
use assay_dbserver::ServerBytes;
use assay_model::number::{nanoseconds, real, seconds};
use assay_model::profile::{IoSample, ProcessIo, ReadTimes};
use assay_model::{Profile, Result};
use assay_stats::random::Random;
use by_second::BySecond;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tracking::Tracker;

/// How often CPU times are read: each of them is a file to open.
const TASKS_EVERY: Duration = Duration::from_secs(1);
/// A sample that is later than this share of its period was held up.
const LATE_SHARE: f64 = 0.2;
/// Longer intervals have samples enough with one a second.
const LONG: Duration = Duration::from_secs(3600);
/// How long a wait may last before the caller is asked whether to go on.
const NAP: Duration = Duration::from_millis(100);

/// How long and how often to sample.
#[derive(Clone, Copy, Debug)]
pub struct WatchPlan {
    /// Length of the interval.
    pub length: Duration,
    /// Mean distance of two samples.
    pub every: Duration,
}

impl WatchPlan {
    /// Ten samples per second, in more than an hour one.
    pub fn of(length: Duration) -> Self {
        let every = if length > LONG { 1000 } else { 100 };
        Self { length, every: Duration::from_millis(every) }
    }
}

/// What looking cost a server in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnCost {
    /// Time that our sessions were active, seconds.
    pub time_s: f64,
    /// Transactions of our sessions.
    pub transactions: u64,
}

/// What two snapshots and the samples between them are called.
pub type ObservedServerSpan<W> = Observed<<W as ObservedServer>::Snapshot>;

/// A live server of a product, as our sessions on it see it.
pub trait ObservedServer: Send + Sized {
    /// Where a server is, and who asks.
    type Address: Display;
    /// Its counters at one time.
    type Snapshot: Send;
    /// A session that reads single blocks while the load runs.
    type Canary: Send;

    /// Why there is no canary, where none is opened.
    const NO_CANARY: &'static str;

    /// Reads an address, with what the environment adds to it.
    ///
    /// # Errors
    /// A usage error where it is none.
    fn parse(address: &str) -> Result<Self::Address>;

    /// Opens the session that samples.
    ///
    /// # Errors
    /// An environment error when the server refuses, is too old, or goes away.
    fn connect(address: &Self::Address) -> Result<Self>;

    /// Opens the session and takes a first snapshot: what the server reads of its catalogue for
    /// that, and the statements of it, lie before everything that is counted.
    ///
    /// # Errors
    /// Those of [`Self::connect`].
    fn connect_warm(address: &Self::Address) -> Result<Self> {
        let mut server = Self::connect(address)?;
        server.snapshot()?;
        Ok(server)
    }

    /// Opens a canary; `None` where this account cannot read any table, or the product has none.
    fn canary(_address: &Self::Address) -> Result<Option<Self::Canary>> {
        Ok(None)
    }

    /// Watches for an interval, with a canary where there is one.
    fn watch(
        &mut self,
        _canary: Option<Self::Canary>,
        plan: WatchPlan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<ObservedServerSpan<Self>> {
        observe(self, plan, times, stop, show)
    }

    /// The profile of what was seen.
    ///
    /// # Errors
    /// When the server was restarted in between.
    fn profile(seen: &ObservedServerSpan<Self>, host: &HostContext) -> Result<Profile>;

    /// What looking cost, in a database where sessions are counted by it.
    fn own(seen: &ObservedServerSpan<Self>, database: &str) -> OwnCost;

    /// The name of the profile, for people.
    fn subject(&self) -> String;

    /// Whether its processes are this host's.
    fn is_here(&self) -> bool;

    /// Where the server keeps its data, if this account may know.
    fn data_directory(&mut self) -> Result<Option<PathBuf>>;

    /// All counters at this moment.
    fn snapshot(&mut self) -> Result<Self::Snapshot>;

    /// What its sessions do at this moment.
    fn sample(&mut self) -> Result<ServerSample>;

    /// The server's own counters of I/O at this moment; cheap enough to be asked every second.
    fn io_counters(&mut self) -> Result<IoCounters>;

    /// What its processes have moved from and to storage so far; nothing of a server on another
    /// host, or where this account may not know.
    fn traffic(&self) -> Option<ServerBytes>;

    /// The processes or threads of a sample, ours among them.
    fn processes(&self, sampled: &ServerSample) -> Vec<TrackedProcess>;

    /// When a snapshot was taken, seconds since 1970 by the server's clock.
    fn at_s(snapshot: &Self::Snapshot) -> f64;

    /// Sessions, or the threads that serve them, that the server counted as begun between two
    /// snapshots.
    fn begun(before: &Self::Snapshot, after: &Self::Snapshot) -> u64;
}

/// What the sessions of a server did at one time.
#[derive(Clone, Debug, Default)]
pub struct ServerSample {
    /// Active client sessions by what they did.
    pub sessions: BTreeMap<SessionState, u64>,
    /// Client sessions connected, active or not.
    pub connected: u64,
    /// Processes or threads that the server listed.
    pub processes: Vec<TrackedProcess>,
    /// The server's clock, seconds since 1970.
    pub at_s: f64,
}

/// Two snapshots and the samples between them.
#[derive(Debug)]
pub struct Observed<S> {
    /// At the start.
    pub before: S,
    /// At the end.
    pub after: S,
    /// In between.
    pub samples: SessionSamples,
    /// CPU time of the threads that watched, seconds.
    pub own_cpu_s: f64,
    /// What was seen of single reads meanwhile.
    pub read_times: Vec<ReadTimes>,
    /// What the server's processes moved from and to storage.
    pub process_io: Option<ProcessIo>,
    /// The server's own I/O, second after second.
    pub io_by_second: Vec<IoSample>,
    /// Whether the interval went to its end.
    pub complete: bool,
}

/// Watches for an interval. `times` gives CPU times of the server's processes where it runs on this
/// host; `show` hears after each sample how many seconds have passed and how many sessions were
/// active.
pub fn observe<W: ObservedServer>(
    server: &mut W,
    plan: WatchPlan,
    times: Option<TaskTimes<'_>>,
    stop: &AtomicBool,
    show: &mut dyn FnMut(f64, u64),
) -> Result<Observed<W::Snapshot>> {
    let own_cpu_s = thread_cpu_s();
    let before = server.snapshot()?;
    let traffic = server.traffic();
    let begun = Instant::now();
    let mut by_second = BySecond::new(server.io_counters()?);
    let mut tracker = Tracker::default();
    let mut samples = Vec::new();
    let mut random = Random::new(u64::from(std::process::id()) ^ nanoseconds(W::at_s(&before)));
    let (mut due, mut tasks_due) = (begun, begun);
    while begun.elapsed() < plan.length && !stop.load(Ordering::Relaxed) {
        let sampled = server.sample()?;
        let late = is_late(due, plan.every);
        if let Some(times) = times.filter(|_| Instant::now() >= tasks_due) {
            tracker.read(&server.processes(&sampled), sampled.at_s, times);
            tasks_due += TASKS_EVERY;
        }
        if by_second.is_due(begun.elapsed()) {
            by_second.add(begun.elapsed(), server.io_counters()?);
        }
        samples.push(sample(sampled, begun.elapsed().as_secs_f64(), late));
        show(begun.elapsed().as_secs_f64(), samples.last().map_or(0, SessionSample::active));
        due = spread(due, plan.every, &mut random);
        rest(due.min(begun + plan.length), stop);
    }
    if let Some(times) = times {
        let sampled = server.sample()?;
        tracker.read(&server.processes(&sampled), sampled.at_s, times);
    }
    by_second.finish(begun.elapsed(), server.io_counters()?);
    let elapsed_s = begun.elapsed().as_secs_f64();
    let after = server.snapshot()?;
    let process_io = moved(traffic, server.traffic(), elapsed_s);
    let missed_sessions = W::begun(&before, &after).saturating_sub(tracker.begun());
    let tasks = tracker.sums().map(|tasks| Tasks { missed_sessions, ..tasks });
    Ok(Observed {
        complete: elapsed_s >= 0.99 * plan.length.as_secs_f64(),
        own_cpu_s: thread_cpu_s() - own_cpu_s,
        read_times: Vec::new(),
        process_io,
        io_by_second: by_second.seconds,
        before,
        after,
        samples: SessionSamples { taken: samples, elapsed_s, tasks },
    })
}

/// What was moved between two readings of one account.
fn moved(
    before: Option<ServerBytes>,
    after: Option<ServerBytes>,
    elapsed_s: f64,
) -> Option<ProcessIo> {
    let (before, after) = before.zip(after).filter(|(one, other)| one.source == other.source)?;
    let per_s = |now: u64, then: u64| real(now.saturating_sub(then)) / elapsed_s;
    Some(ProcessIo {
        read_bytes_per_s: per_s(after.read_bytes, before.read_bytes),
        write_bytes_per_s: per_s(after.write_bytes, before.write_bytes),
        source: after.source.to_owned(),
    })
}

fn sample(sampled: ServerSample, at_s: f64, is_late: bool) -> SessionSample {
    SessionSample { at_s, is_late, sessions: sampled.sessions, connected: sampled.connected }
}

/// CPU time of this thread so far, seconds.
pub fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = u64::try_from(time.tv_sec).unwrap_or(0);
    let part = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds(whole * 1_000_000_000 + part)
}

fn is_late(due: Instant, every: Duration) -> bool {
    let late = Instant::now().saturating_duration_since(due);
    late > every.mul_f64(LATE_SHARE)
}

/// A distance between half and one and a half of the mean, so that samples do not fall into step
/// with the load; what was missed is not made up for.
pub fn spread(due: Instant, every: Duration, random: &mut Random) -> Instant {
    let next = due + every.mul_f64(0.5 + random.unit());
    next.max(Instant::now())
}

/// Waits, but not longer than until it is stopped.
pub fn rest(until: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(NAP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::counters::TaskCounters;

    /// A server that counts its snapshots and has one session, which reads.
    #[derive(Default)]
    struct Pretended {
        snapshots: u64,
    }

    impl ObservedServer for Pretended {
        type Address = String;
        type Snapshot = u64;
        type Canary = ();

        const NO_CANARY: &'static str = "it has no blocks";

        fn parse(address: &str) -> Result<String> {
            Ok(address.to_owned())
        }

        fn connect(_address: &String) -> Result<Self> {
            Ok(Self::default())
        }

        fn profile(_seen: &Observed<u64>, _host: &HostContext) -> Result<Profile> {
            Err(assay_model::Error::environment("it is only pretended", "ask another"))
        }

        fn own(_seen: &Observed<u64>, _database: &str) -> OwnCost {
            OwnCost::default()
        }

        fn subject(&self) -> String {
            "pretended".to_owned()
        }

        fn is_here(&self) -> bool {
            false
        }

        fn data_directory(&mut self) -> Result<Option<PathBuf>> {
            Ok(None)
        }

        fn snapshot(&mut self) -> Result<u64> {
            self.snapshots += 1;
            Ok(self.snapshots)
        }

        fn sample(&mut self) -> Result<ServerSample> {
            let sessions = BTreeMap::from([(SessionState::new("IO", "read"), 1)]);
            Ok(ServerSample { sessions, connected: 2, ..ServerSample::default() })
        }

        fn io_counters(&mut self) -> Result<IoCounters> {
            Ok(IoCounters::default())
        }

        fn traffic(&self) -> Option<ServerBytes> {
            None
        }

        fn processes(&self, _sampled: &ServerSample) -> Vec<TrackedProcess> {
            vec![TrackedProcess { id: 7, kind: ProcessKind::Client, began_s: None }]
        }

        fn at_s(_snapshot: &u64) -> f64 {
            1000.0
        }

        fn begun(before: &u64, after: &u64) -> u64 {
            3 * (after - before)
        }
    }

    #[test]
    fn an_interval_has_a_snapshot_at_each_end_and_looks_between() {
        let plan = WatchPlan { length: Duration::from_millis(20), every: Duration::from_millis(2) };
        let times = |_| Some(TaskCounters { on_cpu_ns: 5, queued_ns: 1 });
        let mut shown = 0;
        let observed = observe(
            &mut Pretended::default(),
            plan,
            Some(&times),
            &AtomicBool::new(false),
            &mut |_, active| shown += active,
        )
        .unwrap();
        assert_eq!((observed.before, observed.after), (1, 2));
        assert!(observed.complete && observed.samples.elapsed_s >= 0.02);
        let samples = observed.samples.taken.len();
        assert!(samples > 0 && shown == observed.samples.seen());
        let tasks = observed.samples.tasks.unwrap();
        assert_eq!((tasks.clients.on_cpu_ns, tasks.missed_sessions), (0, 3));
    }

    #[test]
    fn who_is_stopped_at_once_keeps_both_ends() {
        let plan = WatchPlan::of(Duration::from_secs(60));
        let stopped = AtomicBool::new(true);
        let observed =
            observe(&mut Pretended::default(), plan, None, &stopped, &mut |_, _| ()).unwrap();
        assert!(!observed.complete && observed.samples.taken.is_empty());
        assert_eq!((observed.before, observed.after, observed.samples.tasks), (1, 2, None));
        assert_eq!(WatchPlan::of(Duration::from_secs(7200)).every, Duration::from_secs(1));
    }
}
