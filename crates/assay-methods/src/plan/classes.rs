//! What each stream of a plan stands for: how often, how long it took, and how much of DB time sessions waited for it.

use super::demand::Demand;
use assay_model::profile::{Figure, IoPurpose, Profile};

/// A class of a database's I/O as a plan demands it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedClass {
    /// The name of its stream.
    pub name: String,
    /// I/Os per second.
    pub rate_iops: f64,
    /// Mean time of one now, seconds, where the profile has it.
    pub now_s: Option<f64>,
    /// Share of DB time that sessions wait for it, where that is known.
    pub db_time_share: Option<f64>,
    /// Share of these I/Os that never reach the storage: the page cache of the server's host answers them.
    pub cached_share: f64,
}

/// The classes of a plan, in the order of its streams.
pub(super) fn planned(profile: &Profile, demands: &[Demand]) -> Vec<PlannedClass> {
    let class = |demand: &Demand| PlannedClass {
        name: demand.name.to_owned(),
        rate_iops: demand.rate.value,
        now_s: now_s(profile, demand),
        db_time_share: db_time_share(profile, demand),
        cached_share: cached_share(profile, demand),
    };
    demands.iter().map(class).collect()
}

/// A log write that serves more commits than this, on average, has a time of its own that no commit shows.
const COMMITS_PER_LOG_WRITE_MAX: f64 = 2.0;

/// Mean time of one; of a log that the server does not time, that of a commit.
fn now_s(profile: &Profile, demand: &Demand) -> Option<f64> {
    let timed = demand.latency.as_ref().map(|latency| latency.value);
    timed.or_else(|| (demand.purpose == IoPurpose::LogWrite).then(|| commit_s(profile, demand))?)
}

/// Mean time of a commit: measured, else by Little's law from the share of sessions that wait for one. MariaDB from 10.8 on
/// times nothing else of its log. Commits without a log write wait for nothing and would make it too short.
fn commit_s(profile: &Profile, demand: &Demand) -> Option<f64> {
    if let Some(measured) = value(profile.redo.sync_latency_s.as_ref()) {
        return Some(measured);
    }
    let waiting = db_time_share(profile, demand)? * active_sessions(profile)?;
    let commits_per_s = value(profile.work.transactions_per_s.as_ref())?;
    let is_each_written = commits_per_s <= COMMITS_PER_LOG_WRITE_MAX * demand.rate.value;
    (waiting > 0.0 && is_each_written).then(|| waiting / commits_per_s)
}

/// Sessions wait for their reads, for large I/O past the cache, and for commits; data files are written in the background, and
/// are waited for only where that comes too late.
fn db_time_share(profile: &Profile, demand: &Demand) -> Option<f64> {
    let verdict = &profile.verdict;
    match demand.purpose {
        IoPurpose::LogWrite => verdict.commit_share.or(profile.redo.sync_share),
        IoPurpose::DataFileWrite | IoPurpose::Backup => {
            Some(verdict.write_behind_share.unwrap_or(0.0))
        }
        // What no purpose explains has no time of its own.
        IoPurpose::All => None,
        _ => waited(profile, demand),
    }
    .map(|share| share.clamp(0.0, 1.0))
}

/// Little's law: the sessions that wait on average for a class, of those that are active.
fn waited(profile: &Profile, demand: &Demand) -> Option<f64> {
    let class = profile.class(demand.purpose)?;
    let waiting = value(class.outstanding.as_ref())
        .or_else(|| Some(value(class.rate_iops.as_ref())? * value(class.latency_s.as_ref())?))?;
    Some(waiting / active_sessions(profile)?)
}

fn active_sessions(profile: &Profile) -> Option<f64> {
    let time = &profile.time;
    value(time.average_active_sessions.as_ref())
        .or_else(|| Some(value(time.db_time_s.as_ref())? / value(profile.elapsed_s.as_ref())?))
}

fn value(figure: Option<&Figure>) -> Option<f64> {
    figure.map(|figure| figure.value).filter(|value| *value > 0.0)
}

fn cached_share(profile: &Profile, demand: &Demand) -> f64 {
    let reads = profile.server.as_ref().and_then(|server| server.reads.as_ref());
    let share = reads.and_then(|reads| reads.page_cache_share).unwrap_or(0.0);
    if demand.read_share >= 1.0 { share.clamp(0.0, 1.0) } else { 0.0 }
}
