//! What happens while a step runs: looks at the sessions, reads of single blocks, and the server's
//! counters at both ends, which give the same profile that any server gets.

use super::counters::CounterDelta;
use super::database::LoadSchema;
use super::product::Product;
use assay_host::root::SysRoot;
use assay_host::watch::task_counters;
use assay_live::HostContext;
use assay_live::watch::{ObservedServer, ObservedServerSpan, TaskTimes, WatchPlan};
use assay_model::Profile;
use assay_model::counters::{NamedDevice, TaskCounters};
use assay_model::number::{count, count_of};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// Longer than any step: the end comes from outside.
const NO_END: Duration = Duration::from_secs(365 * 86_400);
/// Mean distance of two samples.
const EVERY: Duration = Duration::from_millis(100);

/// Who looks at a server while a step is measured.
pub struct ServerObserver<W: ObservedServer> {
    /// The database that the load is in.
    database: String,
    watcher: W,
    canary: Option<W::Canary>,
    /// Whether the server's processes are this machine's.
    is_here: bool,
}

impl<W: ObservedServer> ServerObserver<W> {
    /// Opens the sessions; nothing where the server gives none, because a step is
    /// measured all the same.
    pub(super) fn ready<L: Product<Watcher = W, Address = W::Address>>(
        database: &LoadSchema<L>,
    ) -> Option<Self> {
        let watcher = W::connect_warm(&database.address).ok()?;
        let canary = W::canary(&database.address).ok().flatten();
        Some(Self {
            database: L::database_of(&database.address, &database.schema).to_owned(),
            watcher,
            canary,
            is_here: database.first_process.is_some(),
        })
    }
}

/// What was seen, and of which database.
pub struct ObservedRung<W: ObservedServer> {
    observed: ObservedServerSpan<W>,
    database: String,
}

impl<W: ObservedServer> ServerObserver<W> {
    /// Samples until the sessions have ended; a server that went away gives nothing.
    pub(super) fn watch(mut self, done: &AtomicBool) -> Option<ObservedRung<W>> {
        let root = SysRoot::live();
        let times = |process: u32| -> Option<TaskCounters> { task_counters(&root, process) };
        let times: Option<TaskTimes<'_>> = if self.is_here { Some(&times) } else { None };
        let plan = WatchPlan { length: NO_END, every: EVERY };
        let observed = self.watcher.watch(self.canary, plan, times, done, &mut |_, _| ()).ok()?;
        Some(ObservedRung { observed, database: self.database })
    }
}

impl<W: ObservedServer> ObservedRung<W> {
    /// Takes what looking cost out of what was counted: it is not part of the load, neither our CPU
    /// time, nor what our sessions did in the database.
    pub(super) fn take_out(&self, delta: &mut CounterDelta) {
        let own = W::own(&self.observed, &self.database);
        delta.client_cpu_s -= self.observed.own_cpu_s;
        let own_ns = count(1e9 * own.time_s);
        delta.time.database_ns = delta.time.database_ns.saturating_sub(own_ns);
        delta.database.commits = delta.database.commits.saturating_sub(own.transactions);
    }

    /// The profile of the step.
    pub(super) fn profile(
        &self,
        delta: &CounterDelta,
        sessions: u32,
        is_complete: bool,
    ) -> Option<Profile> {
        let observed = &self.observed;
        let device = delta.device.as_ref().map(|device| NamedDevice {
            name: device.name.clone(),
            outstanding_ios: 0,
            counters: device.counters,
        });
        let processors = thread::available_parallelism().ok().map(|all| count_of(all.get()));
        let host = HostContext {
            name: format!("{sessions} sessions"),
            processors: processors.filter(|_| delta.server_cpu_s.is_some()),
            device,
            own_cpu_s: observed.own_cpu_s,
            read_times: observed.read_times.clone(),
            process_io: observed.process_io.clone(),
            io_by_second: observed.io_by_second.clone(),
            complete: is_complete,
            ..HostContext::default()
        };
        W::profile(observed, &host).ok()
    }
}
