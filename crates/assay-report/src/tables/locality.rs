//! The locality curve as a table: a row a working set.

use super::{five, table};
use crate::input::GivenReport;

/// The header line.
const HEADER: &str = "block_size_bytes,working_set_bytes,service_time_mean_ns,\
                      service_time_mean_low_ns,service_time_mean_high_ns,confidence,n";

/// All points of the curve; nothing where there is none.
pub fn locality_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let rows = report.locality.iter().flat_map(|locality| {
        locality.points.iter().map(|point| {
            let sizes = [locality.block_size_bytes, point.working_set_bytes];
            let sizes = sizes.map(|bytes| bytes.to_string()).into_iter();
            sizes.chain(five(Some(&point.service_time_ns))).collect()
        })
    });
    table(HEADER, run_id, rows)
}
