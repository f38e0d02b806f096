//! Numbers of a report as figures of a profile, each with its place.

use crate::quantity::OracleQuantity;
use crate::report::OracleReport;
use assay_model::profile::Figure;

/// A number of the report as a figure of the profile.
pub(super) fn figure(quantity: &OracleQuantity) -> Figure {
    Figure::new(quantity.value, quantity.place())
}

/// A figure that also names its row.
pub(super) fn named(quantity: &OracleQuantity, row: &str) -> Figure {
    Figure::new(quantity.value, format!("{}: {row}", quantity.place()))
}

/// Length of the interval, seconds; none where the report has none.
pub(super) fn elapsed_s(report: &OracleReport) -> Option<f64> {
    let elapsed = report.header.elapsed.map(|elapsed| elapsed.value);
    elapsed.filter(|elapsed| *elapsed > 0.0)
}
