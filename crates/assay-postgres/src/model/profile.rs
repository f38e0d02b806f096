//! The profile: the same document that a report gives.

use super::delta::Delta;
use super::looks::Looks;
use super::over_time::over_time;
use super::snapshot::Snapshot;
use super::{events, io, load, statements, time, verdict};
use assay_model::counters::NamedDevice;
use assay_model::number::{count_of, real};
use assay_model::profile::{
    self, CheckOutcome, CrossCheck, Figure, Profile, ProfileSource, ReadTimes, Sampling,
    ServerActivity, Work,
};
use assay_model::run::Utc;
use assay_model::{Estimate, Result};

/// Intervals of what was sampled; neighbouring looks may resemble one another, and allowing for that is the task of
/// whoever implements this. `None` where there is too little to say.
pub trait Bars {
    /// The mean of equally long observations.
    fn mean(&self, observations: &[f64]) -> Option<Estimate>;
    /// The sum of the numerators over the sum of the denominators.
    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate>;
}

/// What the server does not know itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outside {
    /// The name of the profile, for people.
    pub name: String,
    /// The host, where it is known.
    pub host: Option<String>,
    /// Times of reads that were seen beside the server.
    pub read_times: Vec<ReadTimes>,
    /// Processors of the host, where it is this one.
    pub processors: Option<u64>,
    /// What the devices under the data directory did in the interval, where they are this host's.
    pub device: Option<NamedDevice>,
    /// CPU time that this program took, seconds.
    pub own_cpu_s: f64,
    /// Whether the interval went to its end.
    pub complete: bool,
}

/// The profile of an interval.
///
/// # Errors
/// When the server was started anew in between.
pub fn profile(
    before: &Snapshot,
    after: &Snapshot,
    looks: &Looks,
    outside: &Outside,
    bars: &dyn Bars,
) -> Result<Profile> {
    let delta = Delta::of(before, after, looks.elapsed_s)?;
    let executed = statements::executed(&delta);
    let db_time = time::db_time(&delta, looks);
    let events = events::events(&delta, looks, bars, db_time.value);
    let time = time::model(&delta, looks, outside, &events, db_time);
    let relations = io::relations(&delta);
    let active = bars.mean(&looks.active());
    let mut doubts = delta.doubts();
    doubts.extend(time::doubts(&delta, &time));
    doubts.extend(executed.iter().flat_map(|executed| executed.doubts.iter().cloned()));
    doubts.extend(doubts_of_looks(looks));
    doubts.extend(doubts_of_version(&delta));
    Ok(Profile {
        format: profile::FORMAT,
        name: outside.name.clone(),
        source: source(&delta, outside),
        elapsed_s: Some(Figure::new(looks.elapsed_s, "monotonic clock of this program")),
        work: Work::default(),
        sessions: looks
            .looks
            .first()
            .map(|look| Figure::new(real(look.connected), "client sessions at the first look")),
        block_bytes: Some(Figure::new(real(after.settings.block_bytes), "block_size")),
        rates: io::rates(&delta, outside),
        classes: io::classes(&delta, outside),
        verdict: verdict::verdict(&time),
        redo: verdict::redo(&delta, &time),
        outliers: Vec::new(),
        tiering: io::tiering(&delta, &relations),
        checks: vec![active_sessions(&time, active.as_ref())],
        server: Some(ServerActivity {
            load: load::load(&delta, outside, &time, executed.as_ref()),
            events,
            functions: io::functions(&delta),
            tablespaces: io::tablespaces(&relations),
            over_time: over_time(looks),
            relations: io::first(relations),
            statements: executed
                .as_ref()
                .map_or_else(Vec::new, |executed| statements::top(&delta, executed)),
            checkpoints: load::checkpoints(&delta),
            wal: load::wal(&delta),
            reads: Some(io::levels(&delta, outside)),
            read_times: outside.read_times.clone(),
            sampling: Some(sampling(&delta, looks, outside, active)),
        }),
        time,
        doubts,
        missing: missing(before, after),
    })
}

fn source(delta: &Delta<'_>, outside: &Outside) -> ProfileSource {
    let at = |snapshot: &Snapshot| {
        Some(Utc::of(assay_model::number::nanoseconds(snapshot.at_s)).to_string())
    };
    ProfileSource {
        product: "postgresql".to_owned(),
        kind: "live".to_owned(),
        release: Some(delta.after.version.to_string()),
        host: outside.host.clone(),
        snapshots: None,
        begin: at(delta.before),
        begin_clock_s: i64::try_from(assay_model::number::count(delta.before.at_s)).ok(),
        end: at(delta.after),
        complete: outside.complete,
    }
}

/// Active sessions by counters and by looks: they say the same unless counters came late, or looks did.
fn active_sessions(time: &profile::TimeModel, seen: Option<&Estimate>) -> CrossCheck {
    let counted = time.average_active_sessions.clone();
    let right = seen.map(|seen| {
        let source = format!("looks at the sessions, {:.3} to {:.3}", seen.low, seen.high);
        Figure::new(seen.value, source)
    });
    let outcome = match (&counted, seen) {
        (Some(counted), Some(seen)) => {
            // A tenth of a session, or of them, is what statements at the ends can make.
            let room = 0.1_f64.max(0.1 * counted.value);
            let agrees = counted.value >= seen.low - room && counted.value <= seen.high + room;
            if agrees { CheckOutcome::Agrees } else { CheckOutcome::Contradicts }
        }
        _ => CheckOutcome::NotPossible,
    };
    CrossCheck {
        what: "active sessions by counters and by looks".to_owned(),
        left: counted,
        right,
        outcome,
    }
}

fn sampling(
    delta: &Delta<'_>,
    looks: &Looks,
    outside: &Outside,
    active: Option<Estimate>,
) -> Sampling {
    let own = |snapshot: &Snapshot| snapshot.own_time_s.values().sum::<f64>();
    Sampling {
        looks: count_of(looks.looks.len()),
        late_looks: late(looks),
        period_s: looks.period_s(),
        average_active_sessions: active,
        own_time_s: own(delta.after) - own(delta.before),
        own_cpu_s: load::own_cpu_s(outside, looks),
    }
}

fn late(looks: &Looks) -> u64 {
    count_of(looks.looks.iter().filter(|look| look.is_late).count())
}

fn doubts_of_looks(looks: &Looks) -> Vec<String> {
    let mut doubts = Vec::new();
    let (late, all) = (late(looks), count_of(looks.looks.len()));
    if all > 0 && 5 * late > all {
        doubts.push(format!(
            "{late} of {all} looks at the sessions came late: the machine had no CPU for them, and a busy machine is seen too rarely"
        ));
    }
    let missed = looks.tasks.map_or(0, |tasks| tasks.missed_sessions);
    if missed > 0 {
        doubts.push(format!(
            "{missed} sessions came and went between two looks: their CPU time is not in DB CPU"
        ));
    }
    if looks.tasks.is_none() {
        doubts.push("the server is on another host, or its processes cannot be seen: CPU time is estimated, and its queue not known".to_owned());
    }
    doubts
}

/// What the counters of this release do not mean, although it looks as if they did.
fn doubts_of_version(delta: &Delta<'_>) -> Vec<String> {
    let version = delta.after.version;
    let mut doubts = Vec::new();
    if version.major() == 17 {
        doubts.push("release 17 counts a combined read of several blocks as several reads: the time of one is a share of it".to_owned());
    }
    if version.counts_requests() {
        doubts.push("times of I/O are what sessions waited: with asynchronous I/O several are in flight, so they are no device's latency".to_owned());
    }
    if !version.has_io() {
        doubts.push("before release 16 I/O is not counted by process: times include those of background processes".to_owned());
    }
    if !version.has_log_io() && delta.is_log_timed() {
        doubts.push("up to release 17 the log is timed for all processes together: class Commit may hold time of the log writer".to_owned());
    }
    if delta.is_io_timed() {
        doubts.push("times of reads include those that the page cache served".to_owned());
    }
    doubts
}

fn missing(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut missing = after.missing.clone();
    missing.extend(before.missing.iter().filter(|one| !after.missing.contains(one)).cloned());
    missing.push("histogram of its reads: the server keeps none".to_owned());
    missing
}
