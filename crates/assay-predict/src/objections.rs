//! When there is no answer, or only bounds, or one to be taken with care: what was found, and what
//! would lift it.

use crate::closure::MISS_MAX;
use crate::demand::PredictedDemand;
use crate::storage::PredictedStorage;
use assay_model::Profile;
use assay_model::calibration::CapacityBound;
use assay_model::profile::{Bottleneck, CheckOutcome, ReportScope, WaitSeries};
use assay_model::projection::{
    Closure, Effect, Objection, ObjectionKind, Population, ProjectedState, TargetOrigin,
};

/// Unaccounted shares of DB time from which only bounds are given, and no answer.
const UNACCOUNTED: (f64, f64) = (0.10, 0.20);
/// Shares of DB time in waits for pages that no event shows, from which they are said, leave only
/// bounds, and explain nothing any more. The second one parts moves of which 92% were predicted
/// within 15% from others of which 67% were (docs/methods/prediction.md).
const PAGE_WAITS: (f64, f64, f64) = (0.10, 0.20, 0.40);
/// Waits for other sessions above this share of DB time may or may not shrink with the rest.
const CONTENTION_MAX: f64 = 0.20;
/// Error of the model where it was measured, from which it is doubted.
const CLOSURE_DOUBTED: f64 = 0.05;
/// Share of reads that memory answered, beyond which they say nothing of storage.
const CACHED_MAX: f64 = 0.02;
/// Below this share of DB time it barely matters where reads come from.
const READS_MATTER: f64 = 0.05;
/// From this share of busy processors on, others may have slowed a calibration.
const BUSY_MAX: f64 = 0.5;
/// How far the calibrated transfer may be from the database's block.
const TRANSFER_MAX: f64 = 0.25;
/// How far the calibrated share of reads may be from the database's.
const MIX_MAX: f64 = 0.15;
/// Above this share of DB time commits need a log that was measured.
const COMMIT_MIN: f64 = 0.01;
/// Above this share of DB time writes came too late.
pub(crate) const BEHIND_MIN: f64 = 0.05;
/// From this share of writes on they may be the limit of other storage though they are none of the
/// present one.
const WRITES_MATTER: f64 = 0.20;
/// From this share of the sustained writes on they are the limit.
const WRITES_NEAR: f64 = 0.80;
/// From this share on processors are the limit.
const CPU_BOUND: f64 = 0.90;
/// Sessions active in one part of the interval over those in another, from which it is uneven.
const UNEVEN: f64 = 2.0;

fn objection(kind: ObjectionKind, effect: Effect, finding: String, remedy: &str) -> Objection {
    Objection { kind, effect, finding, remedy: remedy.to_owned() }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// What stands against any answer for this profile.
pub(crate) fn of_profile(
    profile: &Profile,
    demand: &PredictedDemand,
    cached_share: Option<f64>,
) -> Vec<Objection> {
    let found = [
        no_time_model(profile, demand),
        contradiction(profile, demand),
        unaccounted(demand),
        page_waits(demand),
        contention(demand),
        cached(profile, demand, cached_share),
        scope(profile),
        uneven(profile),
        no_processors(profile),
    ];
    found.into_iter().flatten().collect()
}

fn no_time_model(profile: &Profile, demand: &PredictedDemand) -> Option<Objection> {
    let invalid = profile.report.as_ref().and_then(|report| report.invalid.clone());
    let is_idle = profile.verdict.bottleneck == Bottleneck::Idle;
    let what = if let Some(why) = invalid {
        format!("the report states: {why}")
    } else if is_idle {
        "almost no session was active".to_owned()
    } else if demand.throughput_per_s <= 0.0 {
        "no transaction, statement or read was counted".to_owned()
    } else if demand.response_s <= 0.0 {
        "DB time is unknown".to_owned()
    } else if profile.time.db_cpu_s.is_none() {
        "DB CPU is unknown".to_owned()
    } else {
        return None;
    };
    let remedy = "take a report of a busy hour that has the sections Load Profile and Time Model \
                  (AWR, Statspack from level 5), or profile the live server";
    Some(objection(ObjectionKind::NoTimeModel, Effect::Refused, what, remedy))
}

fn contradiction(profile: &Profile, demand: &PredictedDemand) -> Option<Objection> {
    let kind = ObjectionKind::Contradiction;
    let remedy = "take another report of the same database; see `assay profile` for the sections \
                  that disagree";
    let known_s = demand.cpu_s + demand.reads_s() + demand.commit_s();
    if demand.cpu_s > 1.05 * demand.response_s && demand.response_s > 0.0 {
        let what = format!("DB CPU is {} of DB time", percent(demand.share(demand.cpu_s)));
        return Some(objection(kind, Effect::Refused, what, remedy));
    }
    if known_s > 1.25 * demand.response_s && demand.response_s > 0.0 {
        let what = format!(
            "CPU, reads and commits together are {} of DB time",
            percent(demand.share(known_s))
        );
        return Some(objection(kind, Effect::Refused, what, remedy));
    }
    let wrong = profile.checks.iter().find(|check| check.outcome == CheckOutcome::Contradicts)?;
    let what = format!("two sections contradict each other: {}", wrong.what);
    Some(objection(kind, Effect::Doubt, what, remedy))
}

fn unaccounted(demand: &PredictedDemand) -> Option<Objection> {
    let share = demand.share(demand.unaccounted_s).abs();
    let effect = match share {
        share if share > UNACCOUNTED.1 => Effect::Refused,
        share if share > UNACCOUNTED.0 => Effect::Bounds,
        _ => return None,
    };
    let what = format!("{} of DB time is neither in an event nor on a CPU", percent(share));
    let remedy = "find out what sessions did: use a longer interval, or samples of the live server";
    Some(objection(ObjectionKind::Unaccounted, effect, what, remedy))
}

/// Waits for pages that no event shows: they last as long as I/O, so an answer can be given; too
/// many of them explain nothing.
fn page_waits(demand: &PredictedDemand) -> Option<Objection> {
    let share = demand.share(demand.page_waits_s);
    let effect = match share {
        share if share > PAGE_WAITS.2 => Effect::Refused,
        share if share > PAGE_WAITS.1 => Effect::Bounds,
        share if share > PAGE_WAITS.0 => Effect::Doubt,
        _ => return None,
    };
    let what = format!(
        "{} of DB time is not in any event: it is treated as waits for pages that others read or \
         write, which scale with I/O latency",
        percent(share)
    );
    let remedy = "use a larger buffer pool, so that sessions collide less often on the same pages";
    Some(objection(ObjectionKind::Unaccounted, effect, what, remedy))
}

fn contention(demand: &PredictedDemand) -> Option<Objection> {
    let share = demand.share(demand.contention_s + demand.cluster_s);
    let what = format!("sessions waited for each other for {} of DB time", percent(share));
    let remedy = "faster storage shortens only locks held across reads and commits: identify them, \
                  or remove the contention";
    (share > CONTENTION_MAX)
        .then(|| objection(ObjectionKind::Contention, Effect::Bounds, what, remedy))
}

/// Share of the reads that the page cache answered, where a run or the server knows it.
pub(crate) fn known_cached_share(profile: &Profile, cached_share: Option<f64>) -> Option<f64> {
    let levels = profile.server.as_ref().and_then(|server| server.reads.as_ref());
    cached_share.or_else(|| levels?.page_cache_share)
}

/// Whether the reads of the profile were reads of storage.
fn cached(
    profile: &Profile,
    demand: &PredictedDemand,
    cached_share: Option<f64>,
) -> Option<Objection> {
    if demand.reads_mean + demand.large_reads_mean <= 0.0 {
        return None;
    }
    let server = profile.server.as_ref();
    let known = known_cached_share(profile, cached_share);
    let kind = ObjectionKind::ProfileCached;
    let remedy = "profile the server on its own host, with direct I/O (PostgreSQL: \
                  debug_io_direct=data; MariaDB: innodb_flush_method=O_DIRECT) or far more data \
                  than memory";
    match known {
        Some(share) if share > CACHED_MAX => {
            let what = format!("{} of the reads came from the page cache", percent(share));
            Some(objection(kind, Effect::Refused, what, remedy))
        }
        None if server.is_some() => {
            let what = "it is unknown whether its reads reached the storage".to_owned();
            Some(objection(kind, Effect::Refused, what, remedy))
        }
        _ => None,
    }
}

fn scope(profile: &Profile) -> Option<Objection> {
    let remedy = "predict for the whole system, because its other parts use the same CPUs and \
                  storage";
    match profile.report.as_ref()?.scope {
        ReportScope::Database => None,
        ReportScope::Instance => Some(objection(
            ObjectionKind::Cluster,
            Effect::Doubt,
            "the report is of one instance of a cluster: the others use the same storage"
                .to_owned(),
            remedy,
        )),
        ReportScope::PluggableDatabase => Some(objection(
            ObjectionKind::PluggableDatabase,
            Effect::Doubt,
            "the report is of one pluggable database of a container".to_owned(),
            remedy,
        )),
    }
}

/// Queues are convex: the mean of two loads waits less than the two of them.
fn uneven(profile: &Profile) -> Option<Objection> {
    let ratio = unevenness(profile.server.as_ref()?.over_time.as_ref()?)?;
    let what = format!(
        "sessions were {ratio:.1} times as active in one fifth of the interval as in another"
    );
    let remedy = "predict for a part of the interval in which the load stays the same";
    (ratio > UNEVEN).then(|| objection(ObjectionKind::Uneven, Effect::Doubt, what, remedy))
}

/// The most active fifth over the least active one.
fn unevenness(series: &WaitSeries) -> Option<f64> {
    let steps = series.samples.len();
    let active: Vec<f64> = (0..steps)
        .filter(|step| series.samples[*step] > 0)
        .map(|step| series.active_mean(step))
        .collect();
    let part = active.len() / 5;
    let means: Vec<f64> = (part > 0)
        .then(|| active.chunks_exact(part))?
        .map(|chunk| chunk.iter().sum::<f64>() / assay_model::number::real_len(part))
        .collect();
    let (low, high) = means
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), mean| (low.min(*mean), high.max(*mean)));
    (low > 0.0).then(|| high / low)
}

fn no_processors(profile: &Profile) -> Option<Objection> {
    let what = "the number of CPUs is unknown: no CPU limit is assumed".to_owned();
    let remedy = "specify it with --cpus";
    profile
        .time
        .cpus
        .is_none()
        .then(|| objection(ObjectionKind::OtherHost, Effect::Doubt, what, remedy))
}

/// What the model's own answer for the measured storage says.
pub(crate) fn of_closure(
    closure: Option<&Closure>,
    present: Option<&PredictedStorage>,
    demand: &PredictedDemand,
    reads_may_be_cached: bool,
) -> Vec<Objection> {
    let kind = ObjectionKind::Closure;
    let Some(closure) = closure else {
        return vec![no_closure(reads_may_be_cached)];
    };
    let remedy = if present.is_some_and(|present| fits(demand, present)) {
        "take the profile and the calibration on a quiet host, at the same time of day"
    } else {
        "calibrate the present storage with the database's own block size and mix (assay calibrate \
         DIR --for PROFILE), at the same time of day"
    };
    let error = closure.throughput_error.abs().max(closure.response_error.abs());
    let busy = present.and_then(|present| present.host_busy_share);
    let busy = busy.filter(|busy| *busy > BUSY_MAX).map_or_else(String::new, |busy| {
        format!("; the host was {} busy during the calibration", percent(busy))
    });
    let what = format!(
        "on the present storage the model differs by {} from the measurement{busy}",
        percent(error)
    );
    if error > MISS_MAX || error.is_nan() {
        vec![objection(kind, Effect::Refused, what, remedy)]
    } else if error > CLOSURE_DOUBTED {
        vec![objection(kind, Effect::Doubt, what, remedy)]
    } else {
        Vec::new()
    }
}

/// Whether a calibration has the database's block and mix.
fn fits(demand: &PredictedDemand, storage: &PredictedStorage) -> bool {
    block_size(demand, storage).is_none() && mix(demand, storage).is_none()
}

/// Without the present storage nobody knows which of the reads were answered by a cache before they
/// reached it.
fn no_closure(reads_may_be_cached: bool) -> Objection {
    let (effect, what) = if reads_may_be_cached {
        (
            Effect::AtLeast,
            "the model was not checked on the present storage: all reads are assumed to reach it; \
             if a cache served some of them, throughput will be higher",
        )
    } else {
        (
            Effect::Doubt,
            "the model was not checked on the present storage: the database's own time per read \
             is assumed to be 0",
        )
    };
    let remedy = "pass its calibration with --from";
    objection(ObjectionKind::NoClosure, effect, what.to_owned(), remedy)
}

/// Whether a cache between the database and its storage may have answered many of its reads:
/// nothing says that none did, and reads are a part of DB time that matters.
pub(crate) fn reads_may_be_cached(demand: &PredictedDemand, cached_share: Option<f64>) -> bool {
    let reads_s = demand.reads_s() + demand.large_reads_s;
    cached_share.is_none() && demand.share(reads_s) > READS_MATTER
}

/// Whether the model's doubt is to be doubled.
pub(crate) fn is_doubted(closure: Option<&Closure>) -> bool {
    let far = |error: f64| error.abs() > CLOSURE_DOUBTED;
    closure.is_some_and(|closure| far(closure.throughput_error) || far(closure.response_error))
}

/// What stands against a target, before anything is solved on it.
pub(crate) fn of_target(demand: &PredictedDemand, storage: &PredictedStorage) -> Vec<Objection> {
    let found = [
        calibration_cached(storage),
        block_size(demand, storage),
        mix(demand, storage),
        no_log(demand, storage),
        writes(demand, storage),
        burst(storage),
        data_sheet(storage),
    ];
    found.into_iter().flatten().collect()
}

fn calibration_cached(storage: &PredictedStorage) -> Option<Objection> {
    let what = "the calibration read through the page cache".to_owned();
    let remedy = "calibrate on a file system with direct I/O, or the block device";
    storage
        .is_cached
        .then(|| objection(ObjectionKind::CalibrationCached, Effect::Refused, what, remedy))
}

fn block_size(demand: &PredictedDemand, storage: &PredictedStorage) -> Option<Objection> {
    if demand.reads_mean <= 0.0 {
        return None;
    }
    let apart = (demand.read_bytes / storage.block_size_bytes - 1.0).abs();
    let what = format!(
        "the database reads {:.0} bytes at a time, but the calibration {:.0}",
        demand.read_bytes, storage.block_size_bytes
    );
    let remedy = "calibrate with the database's block size (--block-size), or with --for PROFILE";
    (apart > TRANSFER_MAX)
        .then(|| objection(ObjectionKind::BlockSize, Effect::Refused, what, remedy))
}

fn mix(demand: &PredictedDemand, storage: &PredictedStorage) -> Option<Objection> {
    let what = format!(
        "{} of the database's I/Os are reads, but {} of the nearest calibrated mix",
        percent(demand.read_share()),
        percent(storage.read_share)
    );
    let remedy = "calibrate with the database's --read-share, or with --for PROFILE";
    let is_far = (demand.read_share() - storage.read_share).abs() > MIX_MAX;
    is_far.then(|| objection(ObjectionKind::Mix, Effect::Doubt, what, remedy))
}

fn no_log(demand: &PredictedDemand, storage: &PredictedStorage) -> Option<Objection> {
    let share = demand.share(demand.commit_s());
    if share <= COMMIT_MIN {
        return None;
    }
    let remedy = "calibrate the log: assay calibrate DIR --for PROFILE";
    let kind = ObjectionKind::NoLog;
    if let Some(log) = storage.flush.as_ref().filter(|log| log.is_measured) {
        let what = "reads were not measured during flushes of the log, which may delay them";
        let may_delay = demand.reads_mean > 0.0 && !storage.has_separate_log;
        let is_unknown = may_delay && !log.has_read_delays();
        return is_unknown.then(|| objection(kind, Effect::Doubt, what.to_owned(), remedy));
    }
    Some(if storage.flush.is_some() {
        let what = format!(
            "commits are {} of DB time, and the log was not calibrated: the flush time is assumed \
             to be between that of a write alone and that of one under load",
            percent(share)
        );
        objection(kind, Effect::Doubt, what, remedy)
    } else {
        let what = format!(
            "commits are {} of DB time, and the writes of the target are unknown: they are \
             assumed to wait as before",
            percent(share)
        );
        objection(kind, Effect::Bounds, what, remedy)
    })
}

fn writes(demand: &PredictedDemand, storage: &PredictedStorage) -> Option<Objection> {
    let behind = demand.share(demand.write_behind_s);
    if storage.writes_most_per_s.is_some() || demand.all_writes() <= 0.0 {
        return None;
    }
    let kind = ObjectionKind::NoWrites;
    let remedy = "calibrate the target with writes: --read-share 0% and the mix of the database, \
                  long enough for the sustained rate";
    let writes = 1.0 - demand.read_share();
    Some(if behind > BEHIND_MIN {
        let what = format!(
            "sessions waited for late writes for {} of DB time, and the sustained write rate of \
             the target is unknown",
            percent(behind)
        );
        objection(kind, Effect::Refused, what, remedy)
    } else if writes > WRITES_MATTER {
        let what = format!(
            "{} of the database's I/Os are writes, but the sustained write rate of the target is \
             unknown",
            percent(writes)
        );
        objection(kind, Effect::Refused, what, remedy)
    } else {
        let what =
            "the write rate of the target is unknown: writes are assumed to keep up".to_owned();
        objection(kind, Effect::Doubt, what, remedy)
    })
}

fn burst(storage: &PredictedStorage) -> Option<Objection> {
    let ratio = storage.burst_ratio?;
    let what = format!(
        "the target started at {ratio:.2} times its sustained rate: the sustained rate is used"
    );
    Some(objection(
        ObjectionKind::Burst,
        Effect::Doubt,
        what,
        "run assay soak to see how long the initial rate lasts",
    ))
}

fn data_sheet(storage: &PredictedStorage) -> Option<Objection> {
    let what = "the figures of the target are from a data sheet".to_owned();
    (storage.origin == TargetOrigin::DataSheet).then(|| {
        objection(ObjectionKind::DataSheet, Effect::Doubt, what, "calibrate the target itself")
    })
}

/// What stands against the states that were solved on a target.
pub(crate) fn of_states(
    demand: &PredictedDemand,
    storage: &PredictedStorage,
    states: &[ProjectedState],
) -> Vec<Objection> {
    let closed = states.iter().find(|state| matches!(state.population, Population::Closed { .. }));
    let Some(state) = closed.or_else(|| states.first()) else {
        return Vec::new();
    };
    let busiest = |of: fn(&ProjectedState) -> f64| states.iter().map(of).fold(0.0, f64::max);
    let cpu = busiest(|state| state.cpu_busy_share.unwrap_or(0.0));
    let queue_depth = busiest(|state| state.read_queue_depth);
    let found =
        [cpu_bound(cpu), extrapolation(queue_depth, storage), write_bound(demand, storage, state)];
    found.into_iter().flatten().collect()
}

fn cpu_bound(busy: f64) -> Option<Objection> {
    let what =
        format!("the CPUs would be {} busy: they are the limit, not the storage", percent(busy));
    let remedy = "faster storage would not help further; more CPUs (--cpus) would";
    (busy > CPU_BOUND).then(|| objection(ObjectionKind::CpuBound, Effect::Doubt, what, remedy))
}

/// Whether an answer lies near the end of a curve that was not shown to be the storage's.
pub(crate) fn is_beyond(queue_depth: f64, storage: &PredictedStorage) -> bool {
    storage.may_give_more() && queue_depth >= 0.8 * storage.curve.reach()
}

fn extrapolation(queue_depth: f64, storage: &PredictedStorage) -> Option<Objection> {
    let reach = storage.curve.reach();
    if !is_beyond(queue_depth, storage) {
        return None;
    }
    let (kind, why) = match storage.end {
        CapacityBound::Host => {
            (ObjectionKind::HostLimited, "the host that calibrated was the limit")
        }
        _ => (ObjectionKind::Extrapolation, "the storage may deliver more"),
    };
    let what = format!(
        "the queue depth would be {queue_depth:.0}, but the curve ends at {reach:.0}, and {why}"
    );
    let remedy = "calibrate with more time and --queue-depth-max, on a host with enough CPUs";
    Some(objection(kind, Effect::AtLeast, what, remedy))
}

fn write_bound(
    demand: &PredictedDemand,
    storage: &PredictedStorage,
    state: &ProjectedState,
) -> Option<Objection> {
    let most = storage.writes_most_per_s.filter(|_| demand.all_writes() > 0.0)?;
    let asked = state.throughput_per_s.value * storage.writes_of(demand);
    let what = format!("its writes would be {} of what the target sustains", percent(asked / most));
    let remedy = "measure sustained writes of the target for hours: assay soak";
    (asked > WRITES_NEAR * most)
        .then(|| objection(ObjectionKind::WriteBound, Effect::Doubt, what, remedy))
}
