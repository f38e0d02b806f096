//! What the sessions of a server do at one time, and which of its threads serve them.

use super::{MariadbWatcher, failed, queries};
use crate::address::MariadbAddress;
use crate::connection::Row;
use crate::model::{MariadbSnapshot, profile, seen};
use assay_dbserver::processes::{threads, usage_at};
use assay_dbserver::{CpuUsage, ServerBytes};
use assay_live::watch::{
    IoCounters, ObservedServer, ObservedServerSpan, OwnCost, ProcessKind, ServerSample,
    TrackedProcess,
};
use assay_live::{HostContext, SampleIntervals, SessionState};
use assay_model::{Profile, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl ObservedServer for MariadbWatcher {
    type Snapshot = MariadbSnapshot;
    type Address = MariadbAddress;
    type Canary = ();
    const NO_CANARY: &'static str = "the canary reads tables of PostgreSQL only";

    fn parse(address: &str) -> Result<MariadbAddress> {
        MariadbAddress::parse(address, |name| std::env::var(name).ok())
    }

    fn connect(address: &MariadbAddress) -> Result<Self> {
        Self::connect(address)
    }

    fn profile(seen: &ObservedServerSpan<Self>, host: &HostContext) -> Result<Profile> {
        profile(
            &seen.before,
            &seen.after,
            &seen.samples,
            host,
            &SampleIntervals::new(&seen.samples),
        )
    }

    /// Its session ends no transaction: all that it counts is time.
    fn own(seen: &ObservedServerSpan<Self>, _database: &str) -> OwnCost {
        OwnCost { time_s: seen.after.own_time_s - seen.before.own_time_s, transactions: 0 }
    }

    fn subject(&self) -> String {
        self.subject().to_owned()
    }

    fn is_here(&self) -> bool {
        self.process_id().is_some()
    }

    fn data_directory(&mut self) -> Result<Option<PathBuf>> {
        self.data_directory()
    }

    fn snapshot(&mut self) -> Result<MariadbSnapshot> {
        self.take_snapshot().map_err(failed)
    }

    fn sample(&mut self) -> Result<ServerSample> {
        let rows = self.connection.query(&self.question).map_err(failed)?;
        Ok(sample_of(&rows, self.tells_waits))
    }

    fn io_counters(&mut self) -> Result<IoCounters> {
        self.take_io_counters().map_err(failed)
    }

    fn traffic(&self) -> Option<ServerBytes> {
        let process = self.process?;
        let own: Vec<CpuUsage> = self
            .own
            .iter()
            .filter_map(|own| usage_at(&format!("/proc/{process}/task/{}", own.thread?)))
            .collect();
        ServerBytes::new(usage_at(&format!("/proc/{process}")), &own, process)
    }

    /// All threads of the server: those that serve a session now, ours, and the rest.
    fn processes(&self, sampled: &ServerSample) -> Vec<TrackedProcess> {
        // A thread that serves many sessions in turn is of no single one, and rests between them.
        let Some(server) = self.process.filter(|_| self.has_own_threads) else {
            return Vec::new();
        };
        let clients: BTreeMap<u32, ProcessKind> =
            sampled.processes.iter().map(|process| (process.id, process.kind)).collect();
        let is_own = |id: u32| self.own.iter().any(|own| own.thread == Some(id));
        let kind = |id: u32| {
            if is_own(id) {
                return ProcessKind::Own;
            }
            clients.get(&id).copied().unwrap_or(ProcessKind::Background)
        };
        threads(server).map(|id| TrackedProcess { id, kind: kind(id), began_s: None }).collect()
    }

    fn at_s(snapshot: &MariadbSnapshot) -> f64 {
        snapshot.at_s
    }

    fn begun(before: &MariadbSnapshot, after: &MariadbSnapshot) -> u64 {
        let created = |snapshot: &MariadbSnapshot| {
            snapshot.status.get("THREADS_CREATED").copied().unwrap_or(0)
        };
        created(after).saturating_sub(created(before))
    }
}

impl MariadbWatcher {
    /// Decides what every sample asks.
    pub(super) fn choose_question(&mut self, tells_waits: bool) {
        let is_mariadb = self.connection.facts().is_mariadb();
        self.tells_waits = tells_waits;
        self.question = queries::activity(self.access.schema, tells_waits, is_mariadb, &self.own);
    }
}

/// What the rows of a sample say. A session with several waits at once has several rows, of which
/// the last counts.
fn sample_of(rows: &[Row], tells_waits: bool) -> ServerSample {
    let mut sessions: BTreeMap<u64, Option<SessionState>> = BTreeMap::new();
    let mut processes = Vec::new();
    for row in rows {
        let is_active = row.count(2) == Some(1);
        let seen = is_active.then(|| seen(row.text(4), row.text(3), tells_waits));
        sessions.insert(row.count(0).unwrap_or(0), seen);
        let thread = row.count(1).and_then(|thread| u32::try_from(thread).ok());
        let client = |id| TrackedProcess { id, kind: ProcessKind::Client, began_s: None };
        processes.extend(thread.filter(|thread| *thread > 0).map(client));
    }
    let mut sampled = ServerSample {
        connected: assay_model::number::count_of(sessions.len()),
        at_s: rows.first().and_then(|row| row.real(5)).unwrap_or_default(),
        processes,
        ..ServerSample::default()
    };
    for seen in sessions.into_values().flatten() {
        *sampled.sessions.entry(seen).or_insert(0) += 1;
    }
    sampled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: [&str; 6]) -> Row {
        Row(columns.iter().map(|text| Some((*text).to_owned())).collect())
    }

    #[test]
    fn sessions_are_counted_once_and_by_what_they_do() {
        let file = "wait/io/file/innodb/innodb_data_file";
        let rows = [
            row(["5", "50", "1", "Sending data", "wait/lock/table/sql/handler", "9.5"]),
            row(["5", "50", "1", "Sending data", file, "9.5"]),
            row(["6", "60", "1", "Commit", "", "9.5"]),
            row(["7", "0", "0", "", "", "9.5"]),
            row(["8", "80", "1", "Updating", "", "9.5"]),
        ];
        let sampled = sample_of(&rows, true);
        assert_eq!((sampled.connected, sampled.sessions.values().sum::<u64>()), (4, 3));
        assert_eq!(sampled.sessions.get(&SessionState::new("wait", file)), Some(&1));
        assert_eq!(sampled.sessions.get(&SessionState::new("state", "commit")), Some(&1));
        assert_eq!(sampled.sessions.get(&SessionState::default()), Some(&1));
        let threads: Vec<u32> = sampled.processes.iter().map(|process| process.id).collect();
        assert_eq!((threads, sampled.at_s), (vec![50, 50, 60, 80], 9.5));
        // Where waits are not reported, a statement is only known to run.
        let sampled = sample_of(&rows[3..], false);
        assert_eq!(sampled.sessions.get(&SessionState::new("state", "executing")), Some(&1));
    }
}
