//! What a server says of itself at one time. Times are in seconds; what a setting or a right does
//! not give is absent.

use assay_model::load::DatabaseProduct;
use std::collections::BTreeMap;

/// Settings that decide what the counters mean.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the server's own")]
pub struct MariadbSettings {
    /// MariaDB or MySQL.
    pub product: DatabaseProduct,
    /// The release, for example `10.11.19`.
    pub version: String,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Whether it takes no writes, as replicas do.
    pub is_read_only: bool,
    /// Whether each session has a thread of its own.
    pub has_own_threads: bool,
    /// Whether data files are read past the page cache.
    pub is_direct: bool,
    /// Whether a wait for a row lock is counted in whole milliseconds only.
    pub cuts_lock_times: bool,
    /// What is counted and timed.
    pub instruments: Instruments,
}

/// What the performance schema counts, as far as it is on and may be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the server's own")]
pub struct Instruments {
    /// Statements.
    pub statements: bool,
    /// I/O on data files of the engine.
    pub files: bool,
    /// I/O on the log of changes (MySQL, and MariaDB before 10.8).
    pub log: bool,
    /// The stage of a statement in which it commits.
    pub commits: bool,
    /// What each session waits for now.
    pub current_waits: bool,
}

/// How often something happened, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventTally {
    /// How often.
    pub count: u64,
    /// Time of all, seconds.
    pub time_s: f64,
}

/// Operations on files; times of writes are of asking the kernel, where that writes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileCounts {
    /// Reads.
    pub reads: u64,
    /// Time in reads, seconds.
    pub read_time_s: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Time in writes, seconds.
    pub write_time_s: f64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Flushes, opening, closing and whatever else moves no bytes.
    pub others: u64,
    /// Time in these, seconds.
    pub other_time_s: f64,
}

/// Everything at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MariadbSnapshot {
    /// What decides the meaning of the rest.
    pub settings: MariadbSettings,
    /// The server's clock, seconds since 1970.
    pub at_s: f64,
    /// The server's status, names in capitals, without what Assay's session did.
    pub status: BTreeMap<String, u64>,
    /// Time of statements that have ended, of client sessions without our own; where statements
    /// are timed.
    pub statement_time_s: Option<f64>,
    /// Time that statements of client sessions have been running, without our own; where that may
    /// be seen.
    pub running_time_s: Option<f64>,
    /// Time of Assay's statements that have ended.
    pub own_time_s: f64,
    /// Waits of client sessions by the name of the event, without our own.
    pub waits: BTreeMap<String, EventTally>,
    /// The stage in which statements of client sessions commit.
    pub commits: EventTally,
    /// I/O of all threads by the name of the event.
    pub files: BTreeMap<String, FileCounts>,
    /// The same by the name of the event and of the file.
    pub instances: BTreeMap<(String, String), FileCounts>,
    /// Bytes of each file of the engine, by its tablespace, for example `shop/items`.
    pub sizes: BTreeMap<String, u64>,
    /// Sessions whose waits and statements the server is configured not to count.
    pub uncounted_sessions: u64,
    /// What could not be asked, with the reason.
    pub missing: Vec<String>,
}

impl MariadbSnapshot {
    /// A value of the status.
    pub(super) fn status(&self, name: &str) -> Option<u64> {
        self.status.get(name).copied()
    }
}

impl EventTally {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { count: self.count + other.count, time_s: self.time_s + other.time_s }
    }

    /// What was counted after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count.saturating_sub(earlier.count),
            time_s: (self.time_s - earlier.time_s).max(0.0),
        }
    }
}

impl FileCounts {
    /// What was counted after `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_time_s: (self.read_time_s - earlier.read_time_s).max(0.0),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            writes: self.writes.saturating_sub(earlier.writes),
            write_time_s: (self.write_time_s - earlier.write_time_s).max(0.0),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            others: self.others.saturating_sub(earlier.others),
            other_time_s: (self.other_time_s - earlier.other_time_s).max(0.0),
        }
    }

    /// Both together.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            read_time_s: self.read_time_s + other.read_time_s,
            read_bytes: self.read_bytes + other.read_bytes,
            writes: self.writes + other.writes,
            write_time_s: self.write_time_s + other.write_time_s,
            write_bytes: self.write_bytes + other.write_bytes,
            others: self.others + other.others,
            other_time_s: self.other_time_s + other.other_time_s,
        }
    }

    /// Whether nothing was done.
    pub(super) const fn is_idle(&self) -> bool {
        self.reads == 0 && self.writes == 0 && self.others == 0
    }
}
