//! The table that `rac_stats.sh` makes from global reports (EMC 2014, figures 25 and 26).

use super::row::{ListingRow, OracleListing};
use super::spool::parsed;
use crate::row::RAC_STATS_HEADER;
use assay_model::study::FactorValue;

const MILLISECOND_NS: f64 = 1e6;
const MEBIBYTE: f64 = 1_048_576.0;

/// The rows under the header; the total is their sum, and is not kept.
pub(super) fn read(text: &[u8]) -> Option<OracleListing> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| *line == RAC_STATS_HEADER)?;
    let rows = lines.filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [file, _, reads, latency, writes, redo, ..] = cells.as_slice() else { return None };
        let mut row = ListingRow::of("file", FactorValue::Text((*file).to_owned()));
        row.measure("read.iops", parsed(reads));
        row.measure("read.service_time.mean", parsed(latency).map(|time| time * MILLISECOND_NS));
        row.measure("write.iops", parsed(writes));
        row.measure("redo.throughput", parsed(redo).map(|redo| redo * MEBIBYTE));
        (!row.measures.is_empty()).then_some(row)
    });
    Some(OracleListing { source: "rac_stats.sh", rows: rows.collect(), has_rates: true })
}
