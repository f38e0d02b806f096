//! Tables for other programs: CSV with units in the names of the columns, one header line, no thousands separators.
//!
//! Rows are tidy: one observation a row, run and operation in columns of their own, so that a data frame or a database
//! can group them at once. Numbers that do not exist are empty.

mod curve;
mod histograms;
mod intervals;
mod queries;
mod watch;

pub use curve::curve_csv;
pub use histograms::histograms_csv;
pub use intervals::{INTERVALS_HEADER, intervals_csv};
pub use queries::queries_csv;
pub use watch::{WATCH_HEADER, watch_csv};

/// A number with as many digits as needed to read it back the same.
fn number(value: f64) -> String {
    value.to_string()
}
