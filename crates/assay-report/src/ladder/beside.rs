//! The storage alone next to the database on it: most reads per second, and the time of one at a
//! time.

use crate::input::GivenReport;
use crate::view::{CellLook, ViewTable};
use assay_model::calibration::MixCalibration;
use assay_model::load::Rung;
use assay_model::units::{show_count, show_time_ns};

/// The storage alone next to the database on it: what it is, raw, with the database, and their
/// ratio. Nothing without both, or with blocks of different sizes.
pub(crate) fn beside(report: &GivenReport) -> ViewTable {
    let title = "The storage alone, and the database on it";
    let names = ["reads of a block", "raw", "database", "ratio"];
    ViewTable::of_numbers(title, &names).look(CellLook::Slim).with(rows(report).unwrap_or_default())
}

fn rows(report: &GivenReport) -> Option<Vec<Vec<String>>> {
    let (load, calibration) = report.load.as_ref().zip(report.calibration.as_ref())?;
    let block_bytes = load.server.block_bytes;
    let reads =
        |mix: &&MixCalibration| mix.read_share >= 1.0 && mix.block_size_bytes == block_bytes;
    // Reads of the page cache are none of the storage, so there is nothing to hold against it.
    if load.is_cached() {
        return None;
    }
    let mix = calibration.mixes.iter().find(reads)?;
    let best = load.best_by(Rung::reads_per_s)?;
    let row = |name: &str, raw: f64, database: f64, show: fn(f64) -> String| {
        let ratio = format!("{:.0}%", 100.0 * database / raw.max(1e-9));
        vec![name.to_owned(), show(raw), show(database), ratio]
    };
    let most = row("maximum per second", mix.iops_max.rate.value, best.reads_per_s(), show_count);
    let first = load.rungs.iter().find(|rung| rung.sessions == 1);
    let alone_ns = mix.base_service_time_ns.value;
    let waited = first
        .and_then(Rung::read_wait_mean_ns)
        .map(|wait_ns| row("mean latency at queue depth 1", alone_ns, wait_ns, show_time_ns));
    Some(std::iter::once(most).chain(waited).collect())
}
