//! The class of I/O behind each stream of a plan: rate, mean time, and share of DB time.

use super::demand::PlannedDemand;
use assay_model::profile::{Figure, IoPurpose, Profile};

/// A class of a database's I/O as a plan demands it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDemand {
    /// The name of its stream.
    pub name: String,
    /// I/Os per second.
    pub rate_iops: f64,
    /// Mean time of one now, seconds, where the profile has it.
    pub now_s: Option<f64>,
    /// The least that it may be, where only the waits of commits are known and `now_s` is the
    /// most.
    pub now_least_s: Option<f64>,
    /// Share of DB time that sessions wait for it, where that is known.
    pub db_time_share: Option<f64>,
    /// Share of these I/Os that never reach the storage: the page cache of the server's host
    /// answers them.
    pub cached_share: f64,
}

/// The classes of a plan, in the order of its streams.
pub(super) fn planned(profile: &Profile, demands: &[PlannedDemand]) -> Vec<ClassDemand> {
    let class = |demand: &PlannedDemand| {
        let timed = demand.latency.as_ref().or_else(|| sync_latency(profile, demand));
        let timed_s = positive(timed);
        let waits = if timed_s.is_none() { commit_waits(profile, demand) } else { None };
        ClassDemand {
            name: demand.name.to_owned(),
            rate_iops: demand.rate.value,
            now_s: timed_s.or_else(|| waits.map(|waits| waits.most_s)),
            now_least_s: waits.map(|waits| waits.least_s),
            db_time_share: db_time_share(profile, demand),
            cached_share: cached_share(profile, demand),
        }
    };
    demands.iter().map(class).collect()
}

/// Sessions wait for their reads, for large I/O past the cache, and for commits; data files are
/// written in the background, and are waited for only where that comes too late.
fn db_time_share(profile: &Profile, demand: &PlannedDemand) -> Option<f64> {
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

/// Of a log whose writes have no time, that of its commits, where they were timed.
fn sync_latency<'a>(profile: &'a Profile, demand: &PlannedDemand) -> Option<&'a Figure> {
    profile.redo.sync_latency_s.as_ref().filter(|_| demand.purpose == IoPurpose::LogWrite)
}

/// Bounds on the time of a log write that nobody timed, as in MariaDB from 10.8 on.
#[derive(Clone, Copy)]
struct CommitWaits {
    least_s: f64,
    most_s: f64,
}

/// A commit waits for its own flush and at most for one that is under way, so that a flush takes
/// half of a commit's wait or more. Each transaction commits once at most, and each write of the
/// log serves one commit at least.
fn commit_waits(profile: &Profile, demand: &PlannedDemand) -> Option<CommitWaits> {
    if demand.purpose != IoPurpose::LogWrite {
        return None;
    }
    let waiting = profile.verdict.commit_share? * active_sessions(profile)?;
    let per_s = profile.work.transactions_per_s.as_ref().map_or(0.0, |rate| rate.value);
    let is_known = waiting > 0.0 && demand.rate.value > 0.0;
    is_known.then(|| CommitWaits {
        least_s: waiting / (2.0 * per_s.max(demand.rate.value)),
        most_s: waiting / demand.rate.value,
    })
}

fn active_sessions(profile: &Profile) -> Option<f64> {
    let time = &profile.time;
    let active = positive(time.average_active_sessions.as_ref());
    active.or_else(|| {
        Some(positive(time.db_time_s.as_ref())? / positive(profile.elapsed_s.as_ref())?)
    })
}

fn positive(figure: Option<&Figure>) -> Option<f64> {
    figure.map(|figure| figure.value).filter(|value| *value > 0.0)
}

/// Little's law: the sessions that wait on average for a class, of those that are active.
fn waited(profile: &Profile, demand: &PlannedDemand) -> Option<f64> {
    let active = active_sessions(profile)?;
    let class = profile.class(demand.purpose)?;
    let waiting = positive(class.queue_depth.as_ref()).or_else(|| {
        Some(positive(class.rate_iops.as_ref())? * positive(class.latency_s.as_ref())?)
    })?;
    Some(waiting / active)
}

fn cached_share(profile: &Profile, demand: &PlannedDemand) -> f64 {
    let reads = profile.server.as_ref().and_then(|server| server.reads.as_ref());
    let share = reads.and_then(|reads| reads.page_cache_share).unwrap_or(0.0);
    if demand.read_share >= 1.0 { share.clamp(0.0, 1.0) } else { 0.0 }
}
