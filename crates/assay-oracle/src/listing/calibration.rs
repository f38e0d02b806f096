//! The table in which a database keeps its last calibration, and copies of it with a row for each.

use super::row::{ListingRow, OracleListing};
use super::spool::SpoolTable;
use assay_model::study::FactorValue;

const MEGABYTE: f64 = 1e6;
const MILLISECOND_NS: f64 = 1e6;

/// Rows of `DBA_RSRC_IO_CALIBRATE`, of whatever columns were selected.
pub(super) fn read(tables: &[SpoolTable]) -> Option<OracleListing> {
    let table = tables.iter().find(|table| table.has(&["max_iops", "max_mbps"]))?;
    let rows = (1..).zip(table.rows()).filter_map(|(number, row)| {
        let iops = row.number(&["max_iops"])?;
        let mut calibration = ListingRow::of("run", FactorValue::Whole(number));
        if let Some(disks) = row.number(&["num_physical_disks"]) {
            let disks = assay_model::number::count(disks);
            calibration.set("disks", FactorValue::Whole(disks));
        }
        let scaled = |name: &str, unit: f64| row.number(&[name]).map(|number| number * unit);
        calibration.measure("iops", Some(iops));
        calibration.measure("read.service_time.mean", scaled("latency", MILLISECOND_NS));
        calibration.measure("throughput", scaled("max_mbps", MEGABYTE));
        calibration.measure("process.throughput", scaled("max_pmbps", MEGABYTE));
        Some(calibration)
    });
    Some(OracleListing { source: "DBA_RSRC_IO_CALIBRATE", rows: rows.collect(), has_rates: true })
}
