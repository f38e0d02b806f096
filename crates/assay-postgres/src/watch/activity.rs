//! What the sessions of a server do at one time, and the canary that runs with them.

use super::PostgresWatcher;
use super::canary::Canary;
use super::columns::id;
use crate::address::PostgresAddress;
use crate::connection::Row;
use crate::model::{PostgresSnapshot, profile};
use crate::processes::{parent, usage, whole_usage};
use assay_dbserver::processes::name;
use assay_dbserver::{CpuUsage, ServerBytes};
use assay_live::watch::{
    IoCounters, Observed, ObservedServer, ObservedServerSpan, OwnCost, ProcessKind, ServerSample,
    TaskTimes, TrackedProcess, WatchPlan, observe,
};
use assay_live::{HostContext, SampleIntervals, SessionState};
use assay_model::{Profile, Result};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Names of its processes: on another host, or in another container, the number of one is somebody
/// else's or nobody's.
const PROCESSES: [&str; 3] = ["postgres", "postmaster", "edb-postgres"];

impl ObservedServer for PostgresWatcher {
    type Snapshot = PostgresSnapshot;
    type Address = PostgresAddress;
    type Canary = Canary;
    const NO_CANARY: &'static str = "this account cannot read any table";

    fn parse(address: &str) -> Result<PostgresAddress> {
        PostgresAddress::parse(address, |name| std::env::var(name).ok())
    }

    fn connect(address: &PostgresAddress) -> Result<Self> {
        Self::connect(address)
    }

    fn canary(address: &PostgresAddress) -> Result<Option<Canary>> {
        Canary::open(address)
    }

    fn watch(
        &mut self,
        canary: Option<Canary>,
        plan: WatchPlan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<ObservedServerSpan<Self>> {
        match canary {
            Some(canary) => self.observe_beside(canary, plan, times, stop, show),
            None => observe(self, plan, times, stop, show),
        }
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

    fn own(seen: &ObservedServerSpan<Self>, database: &str) -> OwnCost {
        let time_s = |one: &PostgresSnapshot| one.own_time_s.get(database).copied().unwrap_or(0.0);
        let statements =
            |one: &PostgresSnapshot| one.own_statements.get(database).copied().unwrap_or(0);
        let (before, after) = (&seen.before, &seen.after);
        OwnCost {
            time_s: time_s(after) - time_s(before),
            transactions: statements(after).saturating_sub(statements(before)),
        }
    }

    fn subject(&self) -> String {
        self.database().to_owned()
    }

    fn is_here(&self) -> bool {
        let is_server = |name: String| PROCESSES.contains(&name.as_str());
        self.is_near() && name(self.process_id()).is_some_and(is_server)
    }

    fn data_directory(&mut self) -> Result<Option<PathBuf>> {
        self.data_directory()
    }

    fn snapshot(&mut self) -> Result<PostgresSnapshot> {
        self.take_snapshot()
    }

    fn sample(&mut self) -> Result<ServerSample> {
        self.activity().map(|rows| sample_of(&rows))
    }

    fn io_counters(&mut self) -> Result<IoCounters> {
        self.take_io_counters()
    }

    fn traffic(&self) -> Option<ServerBytes> {
        let first = parent(self.process_id()).filter(|_| self.is_here())?;
        let own: Vec<CpuUsage> = self.own.iter().filter_map(|process| usage(*process)).collect();
        ServerBytes::new(whole_usage(first), &own, first)
    }

    fn processes(&self, sampled: &ServerSample) -> Vec<TrackedProcess> {
        let own = self.own.iter().map(|id| TrackedProcess {
            id: *id,
            kind: ProcessKind::Own,
            began_s: Some(0.0),
        });
        sampled.processes.iter().copied().chain(own).collect()
    }

    fn at_s(snapshot: &PostgresSnapshot) -> f64 {
        snapshot.at_s
    }

    fn begun(before: &PostgresSnapshot, after: &PostgresSnapshot) -> u64 {
        let sum = |snapshot: &PostgresSnapshot| {
            snapshot.databases.values().map(|one| one.sessions).sum::<u64>()
        };
        sum(after).saturating_sub(sum(before))
    }
}

impl PostgresWatcher {
    /// Watches while a canary reads single blocks; its own time is left out like ours.
    pub fn observe_beside(
        &mut self,
        canary: Canary,
        plan: WatchPlan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<Observed<PostgresSnapshot>> {
        self.look_past(canary.process_id())?;
        let done = AtomicBool::new(false);
        let (observed, seen) = thread::scope(|scope| {
            let reading = scope.spawn(|| canary.read_until(&done));
            let observed = observe(self, plan, times, stop, show);
            done.store(true, Ordering::Relaxed);
            let seen = reading.join();
            (observed, seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let mut observed = observed?;
        let (after, name) = (&mut observed.after, self.database.database.clone());
        *after.own_time_s.entry(name.clone()).or_default() += seen.own_time_s;
        *after.own_statements.entry(name.clone()).or_default() += seen.own_statements;
        let lost = seen.lost.map(|why| format!("some of the canary's reads: {why}"));
        after.missing.extend(lost);
        let table = seen.times.first().map_or("", |times| times.subject.as_str());
        seen.own_reads.leave_out(&mut observed, &name, table);
        observed.own_cpu_s += seen.own_cpu_s;
        observed.read_times = seen.times;
        Ok(observed)
    }

    /// All sessions and processes of the server but our own.
    pub(super) fn activity(&mut self) -> Result<Vec<Row>> {
        self.server.activity()
    }
}

/// The kind that `backend_type` names.
fn kind(backend_type: &str) -> ProcessKind {
    match backend_type {
        "client backend" => ProcessKind::Client,
        "parallel worker" => ProcessKind::Parallel,
        _ => ProcessKind::Background,
    }
}

/// What the rows of a sample say.
fn sample_of(rows: &[Row]) -> ServerSample {
    let mut sampled = ServerSample {
        at_s: rows.first().and_then(|row| row.real(9)).unwrap_or_default(),
        ..ServerSample::default()
    };
    for row in rows {
        let kind = kind(row.text(1));
        let began_s = Some(row.real(8).unwrap_or_default());
        sampled.processes.push(TrackedProcess { id: id(row, 0), kind, began_s });
        sampled.connected += u64::from(kind == ProcessKind::Client);
        if kind == ProcessKind::Client && row.text(2) == "active" {
            *sampled.sessions.entry(SessionState::new(row.text(3), row.text(4))).or_insert(0) += 1;
        }
    }
    sampled
}
