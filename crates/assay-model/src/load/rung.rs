//! Results of one load step, with client, server, host and device counters of the same period.

use super::{
    DeviceCounters, Estimate, Histogram, Measurement, Operation, Precision, Retries, rate, real,
    share,
};
use crate::profile::Profile;
use serde::{Deserialize, Serialize};

/// Maximum share of reads that a physical measurement may serve from caches.
pub const CACHED_SHARE_MAX: f64 = 0.02;

/// Results of one load step, defined by its number of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Number of sessions.
    pub sessions: u32,
    /// Repeat number, starting at 1.
    pub repeat: u32,
    /// Measurement by the sessions. Each I/O is a statement: its time is the statement latency of
    /// the session, its bytes are the blocks that the statement accessed.
    pub measurement: Measurement,
    /// Statements per second with the interval of the mean; absent if too few seconds were
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Estimate>,
    /// Whether the interval of `statements` was widened to include its value, because the overall
    /// rate is outside the interval of the per-second rates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_widened: bool,
    /// Statements per second in each one-second interval, in time order; the last interval may be
    /// shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_rates_per_s: Vec<f64>,
    /// Deadlocks and serialization failures that sessions retried, successful or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retries>,
    /// Arrivals due but not started at the end of the measurement; absent if arrivals are not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
    /// Server counters.
    pub database: DatabaseCounts,
    /// Time components of the sessions.
    pub time: TimeSplit,
    /// Kernel counters of the data device; absent if the server is on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCounts>,
    /// CPU time of Assay, s.
    pub client_cpu_s: f64,
    /// CPU time of the server processes, s; absent if the server is on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// CPU utilization of the host, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Commits seen by all clients and by the server, for transactions from several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_parity: Option<CommitParity>,
    /// Results of each database, for a load on several; all other fields are totals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<DatabaseRung>,
    /// Whether reads reached the device.
    pub physical: Physical,
    /// Server profile with session samples: events, waits over time, I/O by function and relation,
    /// read times. Absent if the server granted no session for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<Profile>>,
}

/// Results of one of several databases in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatabaseRung {
    /// Directory or address of the server.
    pub target: String,
    /// Hosts that ran the sessions.
    pub hosts: Vec<String>,
    /// Number of sessions.
    pub sessions: u32,
    /// Statements or transactions in the common measurement window of all hosts.
    pub ios: u64,
    /// Statements or transactions per second.
    pub statements_per_s: f64,
    /// Statements or transactions per second with the interval of the mean; absent if too few
    /// seconds were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Estimate>,
    /// Latencies by stream, without empty streams.
    pub streams: Vec<StreamTimes>,
    /// Server counters.
    pub database: DatabaseCounts,
    /// Time components of the sessions.
    #[serde(default)]
    pub time: TimeSplit,
    /// CPU time of the server processes, s; absent if the server is on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// Commits seen by the clients and by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_parity: Option<CommitParity>,
    /// Server profile with session samples; absent if the server granted no session for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<Profile>>,
}

/// Latencies of one stream on one database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamTimes {
    /// Name of the stream.
    pub name: String,
    /// Number of statements or transactions.
    pub ios: u64,
    /// Median response time (p50), ns, from the intended start.
    pub p50_ns: u64,
    /// p99 response time, ns, from the intended start.
    pub p99_ns: u64,
    /// Maximum response time, ns, from the intended start.
    pub max_ns: u64,
}

/// Commits since the sessions opened, including the load before the measurement, as counted by
/// clients and server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommitParity {
    /// Commits acknowledged to the clients of all hosts.
    pub clients: u64,
    /// Commits counted by the server, excluding those of the observer.
    pub server: u64,
}

impl CommitParity {
    /// Maximum difference of a valid result, as a share of the clients' count.
    pub const TOLERANCE: f64 = 0.005;
    /// Commits that belong to no client transaction: those of opening and closing sessions and of
    /// server processes.
    pub const OVERHEAD: u64 = 50;

    /// Difference as a share of the clients' count; positive if the server counted more.
    pub fn difference_share(&self) -> f64 {
        let (clients, server) = (real(self.clients), real(self.server));
        (server - clients) / clients.max(1.0)
    }

    /// Whether both counts agree.
    pub fn holds(&self) -> bool {
        let is_overhead =
            self.clients <= self.server && self.server - self.clients <= Self::OVERHEAD;
        is_overhead || self.difference_share().abs() <= Self::TOLERANCE
    }
}

/// Server counters of a step, including statements of Assay's own bookkeeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DatabaseCounts {
    /// Logical reads: blocks requested, cached or not.
    pub logical_reads: u64,
    /// Read requests of the server to the operating system.
    pub reads: u64,
    /// Bytes read from the operating system.
    pub read_bytes: u64,
    /// Read wait time of sessions, ns; absent if the server does not time reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_wait_ns: Option<u64>,
    /// Data file writes of all processes.
    pub writes: u64,
    /// Bytes written to data files.
    pub write_bytes: u64,
    /// Write wait time of all processes, ns; absent if the server does not time writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_wait_ns: Option<u64>,
    /// Bytes of write-ahead log or redo log.
    pub log_bytes: u64,
    /// Log syncs; absent if the server version does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_syncs: Option<u64>,
    /// Log sync wait time, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sync_wait_ns: Option<u64>,
    /// Transactions committed.
    pub commits: u64,
}

/// Time components of the sessions, ns. Components overlap slightly, because kernel work for a read
/// is both CPU time and wait time; the unexplained rest may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeSplit {
    /// Time spent on statements according to the server, ns.
    pub database_ns: u64,
    /// CPU time, ns; absent if the server is on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// CPU queue time (runnable but not running), ns; most of it follows a wait and is also counted
    /// in that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_queue_ns: Option<u64>,
    /// Read wait time, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
    /// Data file write wait time, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ns: Option<u64>,
    /// Log write wait time, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_ns: Option<u64>,
}

/// Counters of the data device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceCounts {
    /// Kernel name of the device.
    pub name: String,
    /// Device counters, for I/O from all sources.
    pub counters: DeviceCounters,
}

/// Database reads, and those of them that reached the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Physical {
    /// Bytes read by the server from the operating system.
    pub database_bytes: u64,
    /// Bytes of those read from storage, by the kernel's accounting of the server processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_bytes: Option<u64>,
    /// Bytes read from the device by all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Share of database reads that did not reach storage, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// Cache verdict.
    pub verdict: PhysicalVerdict,
}

/// Whether database reads reached storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PhysicalVerdict {
    /// At most 2% of reads came from the page cache.
    Physical,
    /// More than 2% of reads came from the page cache.
    Cached,
    /// Unknown: there were no reads, or the server is on another host.
    #[default]
    Unknown,
}

impl PhysicalVerdict {
    /// Name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Cached => "CACHED",
            Self::Unknown => "unknown",
        }
    }
}

impl Physical {
    /// Computes the verdict, from the process accounting if known, because other processes may also
    /// use the device.
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
