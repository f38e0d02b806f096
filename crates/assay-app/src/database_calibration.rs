//! What is calibrated for a database: the mixes and the transfer of its I/O, and its log.

use assay_methods::{CalibrationMix, LogPlan};
use assay_model::calibration::{Calibration, MixCalibration};
use assay_model::number::count;
use assay_model::units::{Bytes, Nanos};
use assay_predict::PredictedDemand;

/// Reads, writes where the database writes, and its own mix.
pub(crate) fn mixes(demand: &PredictedDemand) -> Vec<CalibrationMix> {
    let share = (100.0 * demand.read_share()).round() / 100.0;
    let mut mixes = vec![CalibrationMix::of(1.0)];
    if demand.all_writes() > 0.0 {
        mixes.push(CalibrationMix::of(0.0));
        mixes.extend((share > 0.0 && share < 1.0).then(|| CalibrationMix::of(share)));
    }
    mixes
}

/// The database's block, as whole sectors.
pub(crate) fn block_size(demand: &PredictedDemand) -> Bytes {
    let sectors = count(demand.read_bytes / 512.0).max(1);
    Bytes(if demand.read_bytes > 0.0 { 512 * sectors } else { 8192 })
}

/// Bytes that one flush of a database's log appends, as whole sectors.
pub(crate) fn append_of(demand: &PredictedDemand) -> Bytes {
    let appended = demand.redo_bytes / demand.commits_mean.max(1e-9);
    Bytes(512 * count((appended / 512.0).ceil()).clamp(1, 256))
}

/// Of the I/Os that give the most, this many times as many wait before storage that cannot keep up:
/// a log waits behind them.
const DEEP: u32 = 3;

/// The log of a database during none, some, much and too much of its own I/O, each for a fifteenth
/// of what a mix is given: slow storage needs hundreds of appends, too.
pub(crate) fn log_plan(
    append: Bytes,
    block_size: Bytes,
    read_share: f64,
    calibration: &Calibration,
    seed: u64,
    mix_time: Nanos,
) -> LogPlan {
    let mixes = calibration.mixes.iter();
    let nearest = mixes.min_by(|left, right| {
        let far = |mix: &MixCalibration| (mix.read_share - read_share).abs();
        far(left).total_cmp(&far(right))
    });
    let most = nearest.map_or(1, |mix| mix.iops_max.queue_depth).max(1);
    let mut queue_depth = vec![0, most.div_ceil(8), most.div_ceil(3), most, DEEP * most];
    queue_depth.dedup();
    let time = Nanos((mix_time.0 / 15).clamp(2_000_000_000, 20_000_000_000));
    LogPlan { append, block_size, read_share, queue_depth, time, seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_only_reads_needs_no_writes() {
        let reading =
            PredictedDemand { reads_mean: 3.0, read_bytes: 16384.0, ..PredictedDemand::default() };
        assert_eq!(mixes(&reading), [CalibrationMix::of(1.0)]);
        assert_eq!(block_size(&reading), Bytes(16384));
        let writing = PredictedDemand { writes_mean: 1.0, ..reading };
        assert_eq!(
            mixes(&writing),
            [CalibrationMix::of(1.0), CalibrationMix::of(0.0), CalibrationMix::of(0.75)]
        );
    }
}
