//! What no answer can exceed: processors, IOPS, sustained writes, bandwidth and log, each by
//! itself.

use crate::demand::PredictedDemand;
use crate::storage::PredictedStorage;
use assay_model::projection::{ThroughputBound, ThroughputLimit};

/// All bounds of which something is known, the lowest first.
pub(crate) fn bounds(demand: &PredictedDemand, storage: &PredictedStorage) -> Vec<ThroughputBound> {
    let bound = |limit, has: Option<f64>, asked: f64, at_least| {
        let most_per_s = has.filter(|_| asked > 0.0)? / asked;
        Some(ThroughputBound { limit, most_per_s, at_least })
    };
    let reads_iops = storage.curve.most_iops();
    let rising = storage.may_give_more();
    // A database that writes no data is not bound by its log alone: commits wait for that.
    let writes = if demand.all_writes() > 0.0 { storage.writes_of(demand) } else { 0.0 };
    let found = [
        bound(ThroughputLimit::Cpu, Some(demand.processors_mean), demand.cpu_s, false),
        bound(ThroughputLimit::Iops, Some(reads_iops), demand.small_reads_worth(storage), rising),
        bound(ThroughputLimit::Writes, storage.writes_most_per_s, writes, rising),
        bound(ThroughputLimit::Bandwidth, storage.bandwidth_bytes_per_s, demand.io_bytes, false),
        bound(ThroughputLimit::Log, storage.log_bytes_per_s, demand.redo_bytes, false),
    ];
    let mut bounds: Vec<ThroughputBound> = found.into_iter().flatten().collect();
    bounds.sort_by(|left, right| left.most_per_s.total_cmp(&right.most_per_s));
    bounds
}

/// The lowest bound of those that no station of the network stands for: writes, bandwidth and log;
/// infinite without any.
pub(crate) fn outside_per_s(demand: &PredictedDemand, storage: &PredictedStorage) -> f64 {
    let outside = bounds(demand, storage)
        .into_iter()
        .filter(|bound| !matches!(bound.limit, ThroughputLimit::Cpu | ThroughputLimit::Iops));
    outside.map(|bound| bound.most_per_s).fold(f64::INFINITY, f64::min)
}

impl PredictedDemand {
    /// Time that one unit asks of storage that nobody else uses, seconds.
    pub(crate) fn storage_s(&self, storage: &PredictedStorage) -> f64 {
        let large_s = if self.large_reads_mean > 0.0 {
            self.large_reads_mean * storage.large_read_s(self.large_read_bytes)
        } else {
            0.0
        };
        let writes_s = storage.write_s.map_or(0.0, |one_s| self.foreground_writes_mean * one_s);
        self.reads_mean * storage.curve.latency_s(1.0) + large_s + writes_s
    }

    /// The same in small reads.
    pub(crate) fn small_reads_worth(&self, storage: &PredictedStorage) -> f64 {
        self.storage_s(storage) / storage.curve.latency_s(1.0)
    }
}
