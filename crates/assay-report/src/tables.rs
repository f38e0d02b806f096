//! Tables for other programs: CSV with units in the names of the columns, one header line, no
//! thousands separators.
//!
//! Rows are tidy: one observation a row, the id of the run and what was observed in columns of
//! their own, so that a data frame or a database can group and join them at once. Numbers that do
//! not exist are empty.

mod cells;
mod comparison;
mod curve;
mod cuts;
mod factors;
mod histograms;
mod hosts;
mod intervals;
mod json_lines;
mod ladder;
mod levels;
mod locality;
mod published;
mod queries;
mod transactions;
mod watch;

use crate::render::csv::csv;
use assay_model::Estimate;
use assay_model::verdict::Unit;
pub use cells::cells_csv;
pub use comparison::comparison_csv;
pub use curve::curve_csv;
pub use cuts::cuts_csv;
pub use factors::factors_csv;
pub use histograms::histograms_csv;
pub use hosts::{host_rates_csv, hosts_csv};
pub use intervals::{INTERVALS_HEADER, intervals_csv};
pub use json_lines::json_lines;
pub use ladder::ladder_csv;
pub use levels::levels_csv;
pub use locality::locality_csv;
pub use published::published_csv;
pub use queries::queries_csv;
pub use transactions::transactions_csv;
pub use watch::{WATCH_HEADER, watch_csv};

/// The header and the rows, each behind the id of its run; nothing where there is no row.
fn table(
    header: &str,
    run_id: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Option<String> {
    let with_id = |mut row: Vec<String>| {
        row.insert(0, run_id.to_owned());
        row
    };
    let rows = csv(rows.into_iter().map(with_id));
    (!rows.is_empty()).then(|| format!("run_id,{header}\n{rows}"))
}

/// A number with as many digits as needed to read it back the same; the upper end of an interval
/// that has none is empty.
fn number(value: f64) -> String {
    if value.is_infinite() { String::new() } else { value.to_string() }
}

/// What is known as a cell, else an empty one.
fn known(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

/// A number with the ends of its interval; empty where it is not known.
fn three(estimate: Option<&Estimate>) -> [String; 3] {
    let ends = |estimate: &Estimate| {
        let known = estimate.has_interval();
        [estimate.low, estimate.high].map(|end| if known { number(end) } else { String::new() })
    };
    estimate.map_or_else(Default::default, |estimate| {
        let [low, high] = ends(estimate);
        [number(estimate.value), low, high]
    })
}

/// The same with its confidence and the number of independent observations behind it.
fn five(estimate: Option<&Estimate>) -> Vec<String> {
    let more = estimate.map_or_else(Default::default, |estimate| {
        let confidence = Some(estimate.confidence).filter(|_| estimate.has_interval());
        [known(confidence), estimate.n.to_string()]
    });
    three(estimate).into_iter().chain(more).collect()
}

/// The unit of a column of values of several quantities.
const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "ns",
        Unit::IosPerS => "1/s",
        Unit::PerMinute => "1/min",
        Unit::PerHour => "1/h",
        Unit::BytesPerS => "bytes/s",
        Unit::Bytes => "bytes",
        Unit::Share => "share",
        Unit::Count => "count",
    }
}
