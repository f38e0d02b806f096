//! Beside a rung: looks at the sessions, reads of single blocks, and the server's counters at both ends, which give the
//! same profile that any server gets.

use super::counted::Passed;
use super::device_reads::DeviceReads;
use super::{Beside, Database};
use assay_host::root::SysRoot;
use assay_host::watch::task_counters;
use assay_model::counters::{NamedDevice, TaskCounters};
use assay_model::number::{count, count_of, real};
use assay_model::{Estimate, Profile, Result};
use assay_postgres::model::{Bars, Outside, Snapshot, profile};
use assay_postgres::watch::{Canary, Observed, Plan, TaskTimes, Watcher};
use assay_stats::mean::ratio_interval;
use assay_stats::mean_interval;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// Longer than any rung: the end comes from outside.
const NO_END: Duration = Duration::from_secs(365 * 86_400);
/// Mean distance of two looks.
const EVERY: Duration = Duration::from_millis(100);
/// Intervals hold the truth in so many cases of a hundred.
const CONFIDENCE: f64 = 0.95;
/// Fewer observations say nothing about their own doubt.
const OBSERVATIONS_MIN: usize = 5;

/// Who looks at a PostgreSQL server while a rung is measured.
pub struct Watched {
    /// The database that the load is in.
    database: String,
    watcher: Watcher,
    canary: Option<Canary>,
    /// Whether the server's processes are this machine's.
    is_here: bool,
    /// Kernel names of the devices under its data.
    devices: Vec<String>,
}

impl Watched {
    /// Opens the sessions; nothing where the server gives none, because a rung is measured all the same.
    pub(super) fn ready(database: &Database) -> Option<Self> {
        let watcher = Watcher::connect(&database.address).ok()?;
        let canary = Canary::open(&database.address).ok().flatten();
        Some(Self {
            database: database.address.database.clone(),
            watcher,
            canary,
            is_here: database.postmaster.is_some(),
            devices: database.devices.clone(),
        })
    }
}

/// What was seen, and of which database.
pub struct Seen {
    observed: Observed,
    database: String,
}

impl Beside for Watched {
    type Seen = Seen;

    fn watch(mut self, done: &AtomicBool) -> Option<Seen> {
        let root = SysRoot::live();
        let times = |process: u32| -> Option<TaskCounters> { task_counters(&root, process) };
        let times: Option<TaskTimes<'_>> = if self.is_here { Some(&times) } else { None };
        let plan = Plan { length: NO_END, every: EVERY };
        let reads = DeviceReads::begin(&root, &self.devices);
        let mut quiet = |_, _| ();
        let observed = match self.canary.take() {
            Some(canary) => self.watcher.observe_beside(canary, plan, times, done, &mut quiet),
            None => self.watcher.observe(plan, times, done, &mut quiet),
        };
        let mut observed = observed.ok()?;
        match reads {
            Ok(reads) => observed.read_times.extend(reads.read()),
            Err(why) => observed.after.missing.push(format!("times of the device's reads: {why}")),
        }
        Some(Seen { observed, database: self.database })
    }

    /// Looking is no part of the load: neither our CPU time, nor what our sessions did in the database.
    fn take_out(seen: &Seen, passed: &mut Passed) {
        let observed = &seen.observed;
        let own = |snapshot: &Snapshot| {
            let time_s = snapshot.own_time_s.get(&seen.database).copied().unwrap_or(0.0);
            (time_s, snapshot.own_statements.get(&seen.database).copied().unwrap_or(0))
        };
        let ((before_s, before), (after_s, after)) = (own(&observed.before), own(&observed.after));
        let own_ns = count(1e9 * (after_s - before_s));
        passed.client_cpu_s -= observed.own_cpu_s;
        passed.time.database_ns = passed.time.database_ns.saturating_sub(own_ns);
        let commits = after.saturating_sub(before);
        passed.database.commits = passed.database.commits.saturating_sub(commits);
    }

    fn profile(seen: &Seen, passed: &Passed, sessions: u32, is_complete: bool) -> Option<Profile> {
        profile_of(&seen.observed, passed, sessions, is_complete).ok()
    }
}

/// The profile of a rung.
///
/// # Errors
/// When the server was started anew in between.
fn profile_of(
    observed: &Observed,
    passed: &Passed,
    sessions: u32,
    is_complete: bool,
) -> Result<Profile> {
    let device = passed.device.as_ref().map(|device| NamedDevice {
        name: device.name.clone(),
        outstanding_ios: 0,
        counters: device.counters,
    });
    let processors = thread::available_parallelism().ok().map(|all| count_of(all.get()));
    let outside = Outside {
        name: format!("{sessions} sessions"),
        processors: processors.filter(|_| passed.server_cpu_s.is_some()),
        device,
        own_cpu_s: observed.own_cpu_s,
        read_times: observed.read_times.clone(),
        complete: is_complete,
        ..Outside::default()
    };
    profile(&observed.before, &observed.after, &observed.looks, &outside, &Intervals)
}

/// Intervals of what was sampled, by batch means.
pub struct Intervals;

impl Bars for Intervals {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        let enough = observations.len() >= OBSERVATIONS_MIN;
        enough.then(|| mean_interval(observations, CONFIDENCE)).flatten().map(noun)
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        let enough = numerators.len().min(denominators.len()) >= OBSERVATIONS_MIN;
        enough.then(|| ratio_interval(numerators, denominators, CONFIDENCE)).flatten().map(noun)
    }
}

/// The same interval as a noun of the documents; it holds no more observations than are worth one each.
fn noun(estimate: assay_stats::Estimate) -> Estimate {
    Estimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: count(estimate.effective_n.min(real(count_of(estimate.n)))).max(1),
    }
}
