//! One step of a ladder: a number of sessions at once, with everybody's counters of the same time.

use super::{
    DeviceCounters, Estimate, Histogram, Measurement, Operation, Precision, Retries, rate, real,
    share,
};
use crate::profile::Profile;
use serde::{Deserialize, Serialize};

/// Reads that never reached the device, as a share, that a physical measurement may have at most.
pub const CACHED_SHARE_MAX: f64 = 0.02;

/// One step of a ladder: a number of sessions at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Sessions.
    pub sessions: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// What the sessions measured. An I/O of this measurement is a statement: its time is the
    /// statement's as the session saw it, its bytes those of the blocks that it touched.
    pub measurement: Measurement,
    /// Statements a second with the interval of their mean; none when too few seconds were
    /// measured to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Estimate>,
    /// Whether `statements` had to be widened to contain its own value: the rate of all time lies
    /// outside the interval of the rates by second.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_widened: bool,
    /// Statements a second in each interval of a second, in their order; the last one may be
    /// shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_rates_per_s: Vec<f64>,
    /// What the server refused and a session tried again with success or until it gave up:
    /// deadlocks and serialisation failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retries>,
    /// Arrivals that were due and had not begun when the time was over; only where arrivals are
    /// open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
    /// Server counters.
    pub database: DatabaseCounts,
    /// Where the time of the sessions went.
    pub time: TimeSplit,
    /// What the kernel counted for the device under the data; none where it is not on this
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCounts>,
    /// CPU time of this program, s.
    pub client_cpu_s: f64,
    /// CPU time of the server's processes, s; none where they are not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// Share of all processors' time that was busy, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// What all clients saw committed against what the server counted, where several hosts have
    /// the sessions and a step is a transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_parity: Option<CommitParity>,
    /// Each database by itself, where the load is on several; everything else is then of all of
    /// them together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<DatabaseRung>,
    /// Whether the reads reached the device.
    pub physical: Physical,
    /// What any server is asked in an interval, with looks at its sessions: events, waits over
    /// time, I/O by function and relation, times of single reads. None where the server gave
    /// no session for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<Profile>>,
}

/// One of several databases in a step of all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatabaseRung {
    /// The directory of its server, or its address.
    pub target: String,
    /// The hosts that had its sessions.
    pub hosts: Vec<String>,
    /// Its sessions.
    pub sessions: u32,
    /// Statements, or transactions, in the time that all hosts measured.
    pub ios: u64,
    /// The same a second.
    pub statements_per_s: f64,
    /// The same with the interval of their mean; none where too few seconds were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Estimate>,
    /// Their times by stream, of those that had any.
    pub streams: Vec<StreamTimes>,
    /// What its server counted.
    pub database: DatabaseCounts,
    /// Where the time of its sessions went.
    #[serde(default)]
    pub time: TimeSplit,
    /// CPU time of its server's processes, s; none where they are not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// What its clients saw committed against what its server counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_parity: Option<CommitParity>,
    /// What any server is asked in an interval, with looks at its sessions; none where it gave no
    /// session for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<Profile>>,
}

/// Times of one stream on one database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamTimes {
    /// The stream.
    pub name: String,
    /// How many there were.
    pub ios: u64,
    /// Half of them were faster, ns, from when they were due on.
    pub p50_ns: u64,
    /// 99 of 100 were faster, ns.
    pub p99_ns: u64,
    /// The slowest, ns.
    pub max_ns: u64,
}

/// Transactions from the opening of the sessions on, the load before the measured one included, as
/// both sides count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommitParity {
    /// Commits that the server acknowledged to the clients of all hosts.
    pub clients: u64,
    /// Commits that the server counted, without those of the observer.
    pub server: u64,
}

impl CommitParity {
    /// How far the two may be apart for a result, a share of what the clients saw.
    pub const TOLERANCE: f64 = 0.005;
    /// Commits that are nobody's transactions: sessions open and end with some, and the server's
    /// own processes have theirs.
    pub const OVERHEAD: u64 = 50;

    /// How far they are apart, a share of what the clients saw; positive where the server counted
    /// more.
    pub fn difference_share(&self) -> f64 {
        let (clients, server) = (real(self.clients), real(self.server));
        (server - clients) / clients.max(1.0)
    }

    /// Whether they agree.
    pub fn holds(&self) -> bool {
        let is_overhead =
            self.clients <= self.server && self.server - self.clients <= Self::OVERHEAD;
        is_overhead || self.difference_share().abs() <= Self::TOLERANCE
    }
}

/// Server counters during a step; statements of the tool's own bookkeeping are part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatabaseCounts {
    /// Blocks asked for, in the server's cache or not.
    pub logical_reads: u64,
    /// Reads that the server asked of the operating system.
    pub reads: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Time that sessions waited for them, ns; none where it was not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_wait_ns: Option<u64>,
    /// Writes to data files by all processes.
    pub writes: u64,
    /// Bytes of them.
    pub write_bytes: u64,
    /// Time that all processes waited for them, ns; none where it was not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_wait_ns: Option<u64>,
    /// Bytes of the log of changes.
    pub log_bytes: u64,
    /// How often the log was synced; none where the version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_syncs: Option<u64>,
    /// Time waited for that, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sync_wait_ns: Option<u64>,
    /// Transactions committed.
    pub commits: u64,
}

/// Where the time of the sessions went, ns. Parts overlap a little, because the kernel's work for a
/// read is both CPU and waiting; what is left over is shown and may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeSplit {
    /// Time that sessions worked on statements, by the server.
    pub database_ns: u64,
    /// On a processor; none where the server is not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Ready to run and waiting for a processor; most of it is the end of a wait, and counted in
    /// that, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_queue_ns: Option<u64>,
    /// Waiting for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
    /// Waiting for writes of data files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ns: Option<u64>,
    /// Waiting for the log to reach storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_ns: Option<u64>,
}

/// The device under the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceCounts {
    /// The kernel's name.
    pub name: String,
    /// What it counted, whoever caused it.
    pub counters: DeviceCounters,
}

/// Database reads, what the page cache gave of them, and what the device gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Physical {
    /// Bytes that the server read from the operating system.
    pub database_bytes: u64,
    /// Bytes of them that storage had to give, by the kernel's account of the server's own
    /// processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_bytes: Option<u64>,
    /// Bytes that the device gave, to whomever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Share of the database's reads that never reached storage, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// What follows.
    pub verdict: PhysicalVerdict,
}

/// Whether reads were reads of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PhysicalVerdict {
    /// They were, but for 2% at most.
    Physical,
    /// More than 2% were given by the page cache.
    Cached,
    /// Not known: there were no reads, or the server is on another machine.
    #[default]
    Unknown,
}

impl PhysicalVerdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Cached => "CACHED",
            Self::Unknown => "unknown",
        }
    }
}

impl Physical {
    /// Judges: by the account of the server's processes where it is known, because others use the
    /// device, too.
    pub fn of(database_bytes: u64, process_bytes: Option<u64>, device_bytes: Option<u64>) -> Self {
        let given = process_bytes.or(device_bytes).filter(|_| database_bytes > 0);
        let cached_share = given.map(|given| 1.0 - share(given, database_bytes).min(1.0));
        let verdict = match cached_share {
            None => PhysicalVerdict::Unknown,
            // Beyond what rounding can make of an exact 2%.
            Some(cached) if cached > CACHED_SHARE_MAX + 1e-12 => PhysicalVerdict::Cached,
            Some(_) => PhysicalVerdict::Physical,
        };
        Self { database_bytes, process_bytes, device_bytes, cached_share, verdict }
    }
}

impl TimeSplit {
    /// What no part explains, ns; negative where parts overlap. None where a part is unknown. The
    /// queue of the processors is not part of the sum: most of it is the end of a wait and lies
    /// in the time of the wait.
    pub fn rest_ns(&self) -> Option<f64> {
        let parts = [self.cpu_ns?, self.read_ns?, self.write_ns?];
        let known: f64 = parts.iter().map(|part| real(*part)).sum();
        Some(real(self.database_ns) - known - real(self.commit_ns.unwrap_or(0)))
    }

    /// The parts that are known, by name, the largest first.
    pub fn parts(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("CPU", self.cpu_ns),
            ("CPU queue", self.cpu_queue_ns),
            ("read", self.read_ns),
            ("write", self.write_ns),
            ("log sync", self.commit_ns),
        ];
        let mut parts: Vec<_> =
            all.into_iter().filter_map(|(name, part)| Some((name, part?))).collect();
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(*part));
        parts
    }

    /// The largest wait. The queue of the processors is none: most of it is the end of a wait and
    /// lies in its time.
    pub fn top_wait(&self) -> Option<(&'static str, u64)> {
        let mut parts = self.parts().into_iter();
        parts.find(|(name, part)| !matches!(*name, "CPU" | "CPU queue") && *part > 0)
    }
}

impl Rung {
    /// Measured time, s.
    pub fn elapsed_s(&self) -> f64 {
        self.measurement.elapsed_s()
    }

    /// Statements a second of all kinds.
    pub fn statements_per_s(&self) -> f64 {
        self.measurement.iops()
    }

    /// Reads of the database a second.
    pub fn reads_per_s(&self) -> f64 {
        rate(self.database.reads, self.elapsed_s())
    }

    /// Reads and writes that the database asked for.
    pub fn database_ios(&self) -> u64 {
        self.database.reads + self.database.writes
    }

    /// Times of the statements of one kind, all streams of it together; empty where there was none.
    pub fn times(&self, operation: Operation) -> Histogram {
        let operations = self.measurement.operations();
        let found = operations.get(operation).map(|result| result.service.clone());
        found.unwrap_or_else(|| Histogram::new(Precision::Fine))
    }

    /// CPU seconds of a thousand of the database's I/Os; none of no I/O.
    pub fn cpu_s_per_thousand(&self, cpu_s: f64) -> Option<f64> {
        let ios = self.database_ios();
        (ios > 0).then(|| cpu_s * 1000.0 / real(ios))
    }

    /// Mean time that a session waited for a read, ns.
    pub fn read_wait_mean_ns(&self) -> Option<f64> {
        let waited = self.database.read_wait_ns.filter(|_| self.database.reads > 0)?;
        Some(share(waited, self.database.reads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_in_a_hundred_from_the_cache_are_flagged() {
        let verdict = |database, process, device| Physical::of(database, process, device).verdict;
        assert_eq!(verdict(1000, None, Some(980)), PhysicalVerdict::Physical);
        assert_eq!(verdict(1000, None, Some(979)), PhysicalVerdict::Cached);
        assert_eq!(verdict(1000, None, Some(5000)), PhysicalVerdict::Physical);
        // Somebody else's traffic does not make ours physical.
        assert_eq!(verdict(1000, Some(2), Some(5000)), PhysicalVerdict::Cached);
        assert_eq!(verdict(0, Some(0), Some(5000)), PhysicalVerdict::Unknown);
        assert_eq!(verdict(1000, None, None), PhysicalVerdict::Unknown);
    }

    #[test]
    fn clients_and_server_agree_but_for_a_share_and_the_commits_of_sessions() {
        let holds = |clients, server| CommitParity { clients, server }.holds();
        assert!(holds(4465, 4500) && holds(100_000, 100_500) && holds(100_000, 99_500));
        assert!(!holds(100_000, 100_501) && !holds(4465, 4516));
        // A server never counts fewer of its own accord.
        assert!(!holds(4465, 4430));
    }

    #[test]
    fn what_is_left_over_is_told_also_when_it_is_negative() {
        let mut time = TimeSplit {
            database_ns: 100,
            cpu_ns: Some(30),
            cpu_queue_ns: Some(20),
            read_ns: Some(80),
            write_ns: Some(0),
            commit_ns: None,
        };
        assert_eq!(time.rest_ns(), Some(-10.0));
        assert_eq!(time.top_wait(), Some(("read", 80)));
        time.read_ns = None;
        assert_eq!(time.rest_ns(), None);
        assert_eq!(time.top_wait(), None);
    }
}
