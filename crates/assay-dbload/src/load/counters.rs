//! Everybody's counters before and after a step: the server's, the device's, the processors'.

use super::database::LoadSchema;
use super::link::ServerUse;
use super::product::Product;
use super::served::ServedSessions;
use assay_dbserver::CpuUsage;
use assay_host::counters::{process_cpu_s, read_counters};
use assay_host::root::SysRoot;
use assay_model::Result;
use assay_model::counters::Counters;
use assay_model::load::{DatabaseCounts, DeviceCounts, Physical, TimeSplit};
use assay_model::number::seconds;

/// All counters at one time.
#[derive(Clone, Debug)]
pub struct CounterSnapshot {
    counts: DatabaseCounts,
    time: TimeSplit,
    host: Counters,
    client_cpu_s: f64,
    server: Option<ServerUse>,
}

/// What they counted between two moments.
pub struct CounterDelta {
    /// The server's.
    pub database: DatabaseCounts,
    /// Where the time of its sessions went.
    pub time: TimeSplit,
    /// The device's.
    pub device: Option<DeviceCounts>,
    /// Processor time of this program, s.
    pub client_cpu_s: f64,
    /// Processor time of the server, s.
    pub server_cpu_s: Option<f64>,
    /// The host's.
    pub host: Counters,
    /// Whether reads reached the storage.
    pub physical: Physical,
}

/// What the processes of a server used between two moments.
pub(crate) struct ProcessUsage {
    /// Those that served the load.
    pub(crate) sessions: Option<CpuUsage>,
    /// CPU time of all, s.
    pub(crate) server_cpu_s: Option<f64>,
    /// Bytes that storage gave to all.
    pub(crate) storage_read_bytes: Option<u64>,
}

impl CounterSnapshot {
    /// Looks; the server's count of a session is complete when the session has ended.
    pub fn take<L: Product>(database: &mut LoadSchema<L>, sessions: &[u32]) -> Result<Self> {
        let counted = database.admin.counted(&database.address, &database.knowledge);
        let (counts, time) =
            counted.map_err(|failure| failure.of("reading the counters of the server"))?;
        Ok(Self {
            counts,
            time,
            host: read_counters(&SysRoot::live(), &database.devices),
            client_cpu_s: process_cpu_s(),
            server: database.first_process.and_then(|process| L::server_use(process, sessions)),
        })
    }

    /// Looks at this machine alone.
    pub(super) fn of_this_host() -> Self {
        Self {
            counts: DatabaseCounts::default(),
            time: TimeSplit::default(),
            host: read_counters(&SysRoot::live(), &[]),
            client_cpu_s: process_cpu_s(),
            server: None,
        }
    }

    /// What was counted since `earlier`, with what the sessions report of themselves.
    pub(super) fn since(&self, earlier: &Self, served: &ServedSessions) -> CounterDelta {
        let sessions = served.usage;
        if let Some(whole) = self.both_looks(earlier, ServerUse::whole_since) {
            let used = ProcessUsage {
                sessions,
                server_cpu_s: Some(seconds(whole.cpu_ns)),
                storage_read_bytes: whole.storage_read_bytes,
            };
            return self.delta(earlier, &used);
        }
        let background = self.background_since(earlier);
        let read = served.storage_read_bytes;
        let of_background = background.and_then(|background| background.storage_read_bytes);
        let used = ProcessUsage {
            sessions,
            server_cpu_s: sessions
                .zip(background)
                .map(|(sessions, others)| seconds(sessions.cpu_ns + others.cpu_ns)),
            storage_read_bytes: read.zip(of_background).map(|(sessions, others)| sessions + others),
        };
        self.delta(earlier, &used)
    }

    fn both_looks(
        &self,
        earlier: &Self,
        since: impl Fn(&ServerUse, &ServerUse) -> Option<CpuUsage>,
    ) -> Option<CpuUsage> {
        since(self.server.as_ref()?, earlier.server.as_ref()?)
    }

    /// What processes used that serve no session.
    pub(crate) fn background_since(&self, earlier: &Self) -> Option<CpuUsage> {
        self.both_looks(earlier, ServerUse::background_since)
    }

    /// What was counted from `earlier` on, where it is known what the processes used.
    pub(crate) fn delta(&self, earlier: &Self, used: &ProcessUsage) -> CounterDelta {
        let counts = counts_since(&self.counts, &earlier.counts);
        let host = self.host.since(&earlier.host);
        let device = host
            .devices
            .first()
            .map(|device| DeviceCounts { name: device.name.clone(), counters: device.counters });
        let device_bytes = device.as_ref().map(|device| device.counters.read_bytes);
        CounterDelta {
            time: time_since(&self.time, &earlier.time, used.sessions),
            physical: Physical::of(counts.read_bytes, used.storage_read_bytes, device_bytes),
            database: counts,
            device,
            client_cpu_s: self.client_cpu_s - earlier.client_cpu_s,
            server_cpu_s: used.server_cpu_s,
            host,
        }
    }
}

/// What was counted after `earlier`; unknown where one side is.
fn counts_since(later: &DatabaseCounts, earlier: &DatabaseCounts) -> DatabaseCounts {
    DatabaseCounts {
        logical_reads: later.logical_reads.saturating_sub(earlier.logical_reads),
        reads: later.reads.saturating_sub(earlier.reads),
        read_bytes: later.read_bytes.saturating_sub(earlier.read_bytes),
        read_wait_ns: both(later.read_wait_ns, earlier.read_wait_ns),
        writes: later.writes.saturating_sub(earlier.writes),
        write_bytes: later.write_bytes.saturating_sub(earlier.write_bytes),
        write_wait_ns: both(later.write_wait_ns, earlier.write_wait_ns),
        log_bytes: later.log_bytes.saturating_sub(earlier.log_bytes),
        log_syncs: both(later.log_syncs, earlier.log_syncs),
        log_sync_wait_ns: both(later.log_sync_wait_ns, earlier.log_sync_wait_ns),
        commits: later.commits.saturating_sub(earlier.commits),
    }
}

/// The same of times, with the processor time of the sessions.
fn time_since(later: &TimeSplit, earlier: &TimeSplit, sessions: Option<CpuUsage>) -> TimeSplit {
    TimeSplit {
        database_ns: later.database_ns.saturating_sub(earlier.database_ns),
        cpu_ns: sessions.map(|sessions| sessions.cpu_ns),
        cpu_queue_ns: sessions.map(|sessions| sessions.queue_ns),
        read_ns: both(later.read_ns, earlier.read_ns),
        write_ns: both(later.write_ns, earlier.write_ns),
        commit_ns: both(later.commit_ns, earlier.commit_ns),
    }
}

fn both(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    Some(later?.saturating_sub(earlier?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_does_not_know_is_not_known() {
        let earlier = DatabaseCounts { reads: 5, log_syncs: Some(1), ..DatabaseCounts::default() };
        let later = DatabaseCounts {
            reads: 9,
            log_syncs: Some(4),
            read_wait_ns: Some(7),
            ..DatabaseCounts::default()
        };
        let delta = counts_since(&later, &earlier);
        assert_eq!((delta.reads, delta.log_syncs, delta.read_wait_ns), (4, Some(3), None));
        let used = CpuUsage { cpu_ns: 3, queue_ns: 2, ..CpuUsage::default() };
        let times = TimeSplit { database_ns: 10, ..TimeSplit::default() };
        let time = time_since(&times, &TimeSplit::default(), Some(used));
        assert_eq!((time.database_ns, time.cpu_ns, time.read_ns), (10, Some(3), None));
    }
}
