//! The model on the storage that was measured: whether it gives what was measured, and what the database adds to each wait.

use crate::demand::{Demand, Overheads};
use crate::model::{Lean, solve};
use crate::storage::Storage;
use assay_model::projection::{Closure, Population};
use assay_stats::group_commit;

/// What commits waited beyond what the flush explains, seconds; nothing where the flush is not known.
pub(crate) fn commit_overhead_s(demand: &Demand) -> f64 {
    let Some(flush_s) = demand.flush_s.filter(|_| demand.commits_mean > 0.0) else {
        return 0.0;
    };
    let commits_per_s = demand.throughput_per_s * demand.commits_mean;
    let explained_s = group_commit::open(commits_per_s, flush_s, 0.0).wait_s;
    (demand.commit_latency_s - explained_s).max(0.0)
}

/// The model on the calibration of the measured storage. The overhead of a read is what its wait has beyond the curve at the
/// measured rate and beyond the wait for a processor, and is none where the curve alone takes longer.
pub(crate) fn close(demand: &Demand, storage: &Storage) -> (Closure, Overheads) {
    let commit_s = commit_overhead_s(demand);
    let sessions = demand.average_active_sessions();
    let population = Population::Closed { sessions };
    let bare = Overheads { read_s: 0.0, commit_s };
    let solved = solve(demand, storage, bare, population, Lean::CAUTIOUS);
    let error = |of: fn(&crate::model::Solution) -> f64, measured: f64| {
        solved.as_ref().map_or(f64::INFINITY, |solved| of(solved) / measured - 1.0)
    };
    let queue_s = solved.map_or(0.0, |solved| solved.parts.cpu_queue_s);
    let iops = demand.throughput_per_s * demand.small_reads_worth(storage);
    let curve_s = storage.curve.outstanding(iops).map_or(0.0, |outstanding| outstanding / iops);
    let own_s = if demand.reads_mean > 0.0 {
        demand.read_latency_s - queue_s / demand.reads_mean - curve_s
    } else {
        0.0
    };
    let read_s = if curve_s > 0.0 { own_s.max(0.0) } else { 0.0 };
    let closure = Closure {
        name: storage.name.clone(),
        throughput_error: error(|solved| solved.throughput_per_s, demand.throughput_per_s),
        response_error: error(|solved| solved.response_s, demand.response_s),
        read_overhead_s: read_s,
        commit_overhead_s: commit_s,
    };
    (closure, Overheads { read_s, commit_s })
}
