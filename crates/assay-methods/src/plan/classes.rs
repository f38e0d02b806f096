//! The class of I/O behind each stream of a plan: rate, mean time, and share of DB time.

use super::demand::Demand;
use assay_model::profile::{IoPurpose, Profile};

/// A class of a database's I/O as a plan demands it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDemand {
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
pub(super) fn planned(profile: &Profile, demands: &[Demand]) -> Vec<ClassDemand> {
    let class = |demand: &Demand| ClassDemand {
        name: demand.name.to_owned(),
        rate_iops: demand.rate.value,
        now_s: demand.latency.as_ref().map(|latency| latency.value),
        db_time_share: db_time_share(profile, demand),
        cached_share: cached_share(profile, demand),
    };
    demands.iter().map(class).collect()
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
    let time = &profile.time;
    let value = |figure: &Option<assay_model::profile::Figure>| {
        figure.as_ref().map(|figure| figure.value).filter(|value| *value > 0.0)
    };
    let active = value(&time.average_active_sessions)
        .or_else(|| Some(value(&time.db_time_s)? / value(&profile.elapsed_s)?))?;
    let class = profile.class(demand.purpose)?;
    let waiting = value(&class.outstanding)
        .or_else(|| Some(value(&class.rate_iops)? * value(&class.latency_s)?))?;
    Some(waiting / active)
}

fn cached_share(profile: &Profile, demand: &Demand) -> f64 {
    let reads = profile.server.as_ref().and_then(|server| server.reads.as_ref());
    let share = reads.and_then(|reads| reads.page_cache_share).unwrap_or(0.0);
    if demand.read_share >= 1.0 { share.clamp(0.0, 1.0) } else { 0.0 }
}
