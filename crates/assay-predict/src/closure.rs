//! The model on the storage that was measured: whether it gives what was measured, and what the
//! database adds to each wait.

use crate::demand::{Overheads, PredictedDemand};
use crate::model::{Lean, solve};
use crate::storage::PredictedStorage;
use assay_model::projection::{Closure, Population};
use assay_stats::group_commit;

/// What commits waited beyond what the flush explains, seconds: the one that the server timed, or
/// else that of the calibrated log; nothing where neither is known.
pub(crate) fn commit_overhead_s(
    demand: &PredictedDemand,
    present: Option<&PredictedStorage>,
) -> f64 {
    let calibrated_s = || {
        let queue_depth =
            demand.throughput_per_s * demand.reads_s() / demand.read_share().max(0.05);
        Some(present?.flush.as_ref()?.flush_s(queue_depth))
    };
    let known_s = demand.flush_s.or_else(calibrated_s);
    let Some(flush_s) = known_s.filter(|_| demand.commits_mean > 0.0) else {
        return 0.0;
    };
    let commits_per_s = demand.throughput_per_s * demand.commits_mean;
    let explained_s = group_commit::open(commits_per_s, flush_s, 0.0).wait_s;
    (demand.commit_latency_s - explained_s).max(0.0)
}

/// The model on the calibration of the measured storage. The overhead of a read is what its wait
/// has beyond the curve at the measured number of outstanding reads and beyond the wait for a
/// processor, as far as that is not the curve's own error, and is none where the curve alone takes
/// longer.
pub(crate) fn close(demand: &PredictedDemand, storage: &PredictedStorage) -> (Closure, Overheads) {
    let commit_s = commit_overhead_s(demand, Some(storage));
    let sessions = demand.average_active_sessions();
    let population = Population::Closed { sessions };
    let bare = Overheads { read_s: 0.0, commit_s };
    let solved = solve(demand, storage, bare, population, Lean::CAUTIOUS);
    let error = |of: fn(&crate::model::Solution) -> f64, measured: f64| {
        solved.as_ref().map_or(f64::INFINITY, |solved| of(solved) / measured - 1.0)
    };
    let queue_s = solved.map_or(0.0, |solved| solved.parts.cpu_queue_s);
    let read_s = if demand.reads_mean > 0.0 {
        let wait_s = demand.read_latency_s - queue_s / demand.reads_mean;
        let known_s = curve_s(demand, storage) + flush_delay_s(demand, storage);
        (wait_s - known_s).max(0.0) * credible_share(known_s, storage)
    } else {
        0.0
    };
    let overheads = Overheads { read_s, commit_s };
    let closure = Closure {
        response_factor: response_factor(demand, storage, overheads, population),
        name: storage.name.clone(),
        throughput_error: error(|solved| solved.throughput_per_s, demand.throughput_per_s),
        response_error: error(|solved| solved.response_s, demand.response_s),
        read_overhead_s: read_s,
        commit_overhead_s: commit_s,
    };
    (closure, overheads)
}

/// Of the logarithm of what the model misses where it was measured, the share that it will miss
/// elsewhere, too: as much of it belongs to the load as to the two storages.
const COMMON_SHARE: f64 = 0.5;
/// Error of the model where it was measured, beyond which it gives no answer at all; so no answer
/// is moved farther either.
pub(crate) const MISS_MAX: f64 = 0.10;

/// The response that was measured over the model's with all that the database adds, as far as that
/// will be so elsewhere.
fn response_factor(
    demand: &PredictedDemand,
    storage: &PredictedStorage,
    overheads: Overheads,
    population: Population,
) -> f64 {
    let solved = solve(demand, storage, overheads, population, Lean::MIDDLE);
    let miss = solved.map_or(0.0, |solved| (demand.response_s / solved.response_s).ln());
    let most = MISS_MAX.ln_1p();
    (COMMON_SHARE * miss.clamp(-most, most)).exp()
}

/// What a database adds to a read before anything is known: a system call and a wake-up, and a
/// share of a read alone for another file system or another way to the device.
const OVERHEAD: (f64, f64) = (50e-6, 0.05);
/// How far a curve is off where a queue is long, beyond the noise of its steps, as a share.
const CURVE_ERROR: f64 = 0.05;

/// How much of what a wait has beyond the curve is the database's: the mean of a normal posterior,
/// where the overhead's own spread and the curve's error explain the rest between them. A tenth of
/// a long queue is the curve's.
fn credible_share(known_s: f64, storage: &PredictedStorage) -> f64 {
    let overhead_s = OVERHEAD.0 + OVERHEAD.1 * storage.curve.latency_s(1.0);
    let curve_s = CURVE_ERROR.hypot(storage.curve_deviation) * known_s;
    overhead_s.powi(2) / (overhead_s.powi(2) + curve_s.powi(2))
}

/// Time of a read with as many outstanding as there were. The rate would not do: near the end of a
/// curve almost no of it stands for many that wait.
fn curve_s(demand: &PredictedDemand, storage: &PredictedStorage) -> f64 {
    let queue_depth = demand.throughput_per_s * (demand.reads_s() + demand.large_reads_s);
    storage.curve.latency_s(queue_depth.max(1.0))
}

/// How long flushes of the log hold a read up as it was measured, seconds.
fn flush_delay_s(demand: &PredictedDemand, storage: &PredictedStorage) -> f64 {
    let reads = demand.throughput_per_s * demand.reads_s();
    let queue_depth = reads / demand.read_share().max(0.05);
    let log = storage.flush.as_ref();
    log.map_or(0.0, |log| log.read_delay_s(demand, demand.throughput_per_s, queue_depth))
}
