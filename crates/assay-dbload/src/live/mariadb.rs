//! Live MariaDB and MySQL servers.

use super::{HostContext, Live, ObservedServerSpan, Own, Plan, TaskTimes};
use assay_live::Intervals;
use assay_live::watch::observe;
use assay_mariadb::address::Address;
use assay_mariadb::model::profile;
use assay_mariadb::watch::Watcher;
use assay_model::{Profile, Result};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

impl Live for Watcher {
    type Address = Address;
    type Canary = ();

    const NO_CANARY: &'static str = "the canary reads tables of PostgreSQL only";

    fn parse(address: &str) -> Result<Address> {
        Address::parse(address, |name| std::env::var(name).ok())
    }

    fn connect(address: &Address) -> Result<Self> {
        Self::connect(address)
    }

    fn canary(_address: &Address) -> Result<Option<()>> {
        Ok(None)
    }

    fn watch(
        &mut self,
        _canary: Option<()>,
        plan: Plan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<ObservedServerSpan<Self>> {
        observe(self, plan, times, stop, show)
    }

    fn profile(seen: &ObservedServerSpan<Self>, host: &HostContext) -> Result<Profile> {
        profile(&seen.before, &seen.after, &seen.samples, host, &Intervals)
    }

    fn own(seen: &ObservedServerSpan<Self>, _database: &str) -> Own {
        let (before, after) = (&seen.before, &seen.after);
        Own {
            time_s: after.own_time_s - before.own_time_s,
            transactions: after.own_transactions.saturating_sub(before.own_transactions),
        }
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
}
