//! Live PostgreSQL servers.

use super::{HostContext, Live, ObservedServerSpan, Own, Plan, TaskTimes};
use assay_dbserver::processes::name;
use assay_live::Intervals;
use assay_live::watch::observe;
use assay_model::{Profile, Result};
use assay_postgres::address::Address;
use assay_postgres::model::{Snapshot, profile};
use assay_postgres::watch::{Canary, Watcher};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Names of its processes: on another host, or in another container, the number of one is somebody else's or nobody's.
const PROCESSES: [&str; 3] = ["postgres", "postmaster", "edb-postgres"];

impl Live for Watcher {
    type Address = Address;
    type Canary = Canary;

    const NO_CANARY: &'static str = "this account may read no table";

    fn parse(address: &str) -> Result<Address> {
        Address::parse(address, |name| std::env::var(name).ok())
    }

    fn connect(address: &Address) -> Result<Self> {
        Self::connect(address)
    }

    fn canary(address: &Address) -> Result<Option<Canary>> {
        Canary::open(address)
    }

    fn watch(
        &mut self,
        canary: Option<Canary>,
        plan: Plan,
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
        profile(&seen.before, &seen.after, &seen.samples, host, &Intervals)
    }

    fn own(seen: &ObservedServerSpan<Self>, database: &str) -> Own {
        let time_s = |one: &Snapshot| one.own_time_s.get(database).copied().unwrap_or(0.0);
        let statements = |one: &Snapshot| one.own_statements.get(database).copied().unwrap_or(0);
        let (before, after) = (&seen.before, &seen.after);
        Own {
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
}
