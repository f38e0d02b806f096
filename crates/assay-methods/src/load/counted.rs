//! Everybody's counters before and after a rung: the server's, the device's, the processors'.

use super::database::Database;
use super::worker::Ended;
use assay_host::counters::{process_cpu_s, read_counters};
use assay_host::root::SysRoot;
use assay_model::Result;
use assay_model::counters::Counters;
use assay_model::load::{DatabaseCounts, DeviceCounts, Physical, TimeSplit};
use assay_model::number::{count, seconds};
use assay_postgres::counters::DatabaseCounters;
use assay_postgres::model::Snapshot;
use assay_postgres::processes::{Usage, background_usage};
use assay_postgres::watch::Observed;
use std::time::Duration;

/// Before version 15 counts travel to a process of their own, twice a second.
const TRAVEL: Duration = Duration::from_millis(1200);

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Sight {
    database: DatabaseCounters,
    host: Counters,
    client_cpu_s: f64,
    background: Option<Usage>,
}

/// What they counted between two moments.
pub(crate) struct Passed {
    pub(crate) database: DatabaseCounts,
    pub(crate) time: TimeSplit,
    pub(crate) device: Option<DeviceCounts>,
    pub(crate) client_cpu_s: f64,
    pub(crate) server_cpu_s: Option<f64>,
    pub(crate) host: Counters,
    pub(crate) physical: Physical,
}

/// What the processes of a server used between two moments.
pub(crate) struct Used {
    /// Those that served the load.
    pub(crate) sessions: Option<Usage>,
    /// CPU time of all, s.
    pub(crate) server_cpu_s: Option<f64>,
    /// Bytes that storage gave to all.
    pub(crate) storage_read_bytes: Option<u64>,
}

impl Sight {
    /// Looks; the server's count of a session is complete when the session has ended.
    ///
    /// # Errors
    /// What the server says.
    pub fn take(database: &mut Database, sessions: &[u32]) -> Result<Self> {
        if database.knowledge.major < 15 {
            std::thread::sleep(TRAVEL);
        }
        let name = database.address.database.clone();
        let counted = database.knowledge.read(&mut database.admin, &name);
        Ok(Self {
            database: counted
                .map_err(|failure| failure.of("reading the counters of the server"))?,
            host: read_counters(&SysRoot::live(), &database.devices),
            client_cpu_s: process_cpu_s(),
            background: database
                .postmaster
                .map(|postmaster| background_usage(postmaster, sessions)),
        })
    }

    /// What was counted from `earlier` on, with what the sessions tell of themselves.
    pub(super) fn since(&self, earlier: &Self, ended: &[Ended]) -> Passed {
        let sessions = sum(ended.iter().map(|one| one.usage));
        let background = self.background_since(earlier);
        let read = ended.iter().map(|one| one.storage_read_bytes).sum::<Option<u64>>();
        let of_background = background.and_then(|background| background.storage_read_bytes);
        let used = Used {
            sessions,
            server_cpu_s: sessions
                .zip(background)
                .map(|(sessions, others)| seconds(sessions.cpu_ns + others.cpu_ns)),
            storage_read_bytes: read.zip(of_background).map(|(sessions, others)| sessions + others),
        };
        self.passed(earlier, &used)
    }

    /// What processes used that serve no session.
    pub(crate) fn background_since(&self, earlier: &Self) -> Option<Usage> {
        let background = self.background.zip(earlier.background);
        background.map(|(after, before)| after.since(&before))
    }

    /// What was counted from `earlier` on, where it is known what the processes used.
    pub(crate) fn passed(&self, earlier: &Self, used: &Used) -> Passed {
        let database = self.database.since(&earlier.database);
        let host = self.host.since(&earlier.host);
        let device = host
            .devices
            .first()
            .map(|device| DeviceCounts { name: device.name.clone(), counters: device.counters });
        let counts = counts(&database);
        let device_bytes = device.as_ref().map(|device| device.counters.read_bytes);
        Passed {
            time: split(&database, used.sessions),
            physical: Physical::of(counts.read_bytes, used.storage_read_bytes, device_bytes),
            database: counts,
            device,
            client_cpu_s: self.client_cpu_s - earlier.client_cpu_s,
            server_cpu_s: used.server_cpu_s,
            host,
        }
    }
}

impl Passed {
    /// Looking is no part of the load: neither our CPU time, nor what our sessions did in the database.
    pub(super) fn without(&mut self, observed: &Observed, database: &str) {
        let own = |snapshot: &Snapshot| {
            let time_s = snapshot.own_time_s.get(database).copied().unwrap_or(0.0);
            (time_s, snapshot.own_statements.get(database).copied().unwrap_or(0))
        };
        let ((before_s, before), (after_s, after)) = (own(&observed.before), own(&observed.after));
        let own_ns = count(1e9 * (after_s - before_s));
        self.client_cpu_s -= observed.own_cpu_s;
        self.time.database_ns = self.time.database_ns.saturating_sub(own_ns);
        self.database.commits = self.database.commits.saturating_sub(after.saturating_sub(before));
    }
}

/// The use of all sessions; unknown where one is.
fn sum(usages: impl Iterator<Item = Option<Usage>>) -> Option<Usage> {
    usages.reduce(|sum, one| Some(sum?.plus(&one?))).flatten()
}

fn counts(database: &DatabaseCounters) -> DatabaseCounts {
    let (sessions, others) = (&database.sessions, &database.background);
    let write_wait_ns = match (sessions.write_ns, others.write_ns) {
        (Some(mine), Some(theirs)) => Some(mine + theirs),
        (known, _) => known,
    };
    DatabaseCounts {
        logical_reads: database.hit_blocks + database.read_blocks,
        reads: sessions.reads + others.reads,
        read_bytes: sessions.read_bytes + others.read_bytes,
        read_wait_ns: sessions.read_ns,
        writes: sessions.writes + others.writes,
        write_bytes: sessions.write_bytes + others.write_bytes,
        write_wait_ns,
        log_bytes: database.wal_bytes,
        log_syncs: database.wal_syncs,
        log_sync_wait_ns: database.wal_sync_ns,
        commits: database.commits,
    }
}

fn split(database: &DatabaseCounters, sessions: Option<Usage>) -> TimeSplit {
    TimeSplit {
        database_ns: database.active_ns,
        cpu_ns: sessions.map(|sessions| sessions.cpu_ns),
        cpu_queue_ns: sessions.map(|sessions| sessions.queue_ns),
        read_ns: database.sessions.read_ns,
        write_ns: database.sessions.write_ns,
        commit_ns: database.wal_sync_ns,
    }
}
