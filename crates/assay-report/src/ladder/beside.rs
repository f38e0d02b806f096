//! The storage alone beside the database on it: most reads a second, and the time of one at a time.

use crate::input::Report;
use assay_model::calibration::MixCalibration;
use assay_model::load::Rung;
use assay_model::units::{show_count, show_time_ns};

/// The storage alone beside the database on it: what it is, raw, with the database, and their ratio. Nothing without
/// both, or with blocks of different sizes.
pub(crate) fn beside(report: &Report) -> Vec<Vec<String>> {
    let Some((load, calibration)) = report.load.as_ref().zip(report.calibration.as_ref()) else {
        return Vec::new();
    };
    let block_bytes = load.server.block_bytes;
    let reads = |mix: &&MixCalibration| mix.read_share >= 1.0 && mix.transfer_bytes == block_bytes;
    // Reads of the page cache are none of the storage, so there is nothing to hold against it.
    if load.is_cached() {
        return Vec::new();
    }
    let best = load.best_by(Rung::reads_per_s);
    let Some((mix, best)) = calibration.mixes.iter().find(reads).zip(best) else {
        return Vec::new();
    };
    let row = |name: &str, raw: f64, database: f64, show: fn(f64) -> String| {
        let ratio = format!("{:.0} %", 100.0 * database / raw.max(1e-9));
        vec![name.to_owned(), show(raw), show(database), ratio]
    };
    let head = ["reads of a block", "raw", "database", "ratio"].map(str::to_owned).to_vec();
    let mut rows =
        vec![head, row("most per second", mix.iops_max.rate.value, best.reads_per_s(), show_count)];
    let first = load.rungs.iter().find(|rung| rung.sessions == 1);
    if let Some(wait_ns) = first.and_then(Rung::read_wait_mean_ns) {
        rows.push(row(
            "mean time, one at a time",
            mix.base_service_time_ns.value,
            wait_ns,
            show_time_ns,
        ));
    }
    rows
}
