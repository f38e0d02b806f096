//! Figures of database loads that studies compare, by their names.

use crate::load::LoadKind;
use crate::quantity_name::{NamedStatistic, QuantityName};
use crate::verdict::Unit;

/// Rates that neither a load nor a storage test of Assay has, and results of other programs do,
/// each a second.
const RATES: [&str; 6] =
    ["transactions", "queries", "operations", "executions", "ignored_errors", "reconnects"];

/// Those that no transaction has: of queries, and of what the server and the storage read.
const OTHERS: [(&str, Unit, &str); 6] = [
    ("power_run.time", Unit::Ns, "power run"),
    ("power_run.query_time.geometric_mean", Unit::Ns, "its queries, geometric mean"),
    ("throughput_run.time", Unit::Ns, "throughput run"),
    ("throughput_run.query_time.geometric_mean", Unit::Ns, "its queries, geometric mean"),
    ("database.read_throughput", Unit::BytesPerS, "read by the server"),
    ("storage.read_throughput", Unit::BytesPerS, "read from storage"),
];

/// Name, unit and words of each.
pub fn load_figures() -> impl Iterator<Item = (&'static str, Unit, &'static str)> {
    let of_transactions = LoadKind::all_counted().flat_map(|counted| {
        let [(rate, of_rate), (mean, of_mean), (q99, of_q99)] = counted.figures;
        [(rate, Unit::IosPerS, of_rate), (mean, Unit::Ns, of_mean), (q99, Unit::Ns, of_q99)]
    });
    of_transactions.chain(OTHERS)
}

/// The unit of a figure of a load.
pub fn load_figure_unit(quantity: &str) -> Option<Unit> {
    load_figures().find(|(name, ..)| *name == quantity).map(|(_, unit, _)| unit)
}

/// Whether a number of another program is a time: `read.submission_time.mean`, `connection_time`.
fn is_time(quantity: &str) -> bool {
    quantity.contains("_time.") || quantity.ends_with("_time")
}

/// The unit of any number of a cell, by its name.
pub fn measure_unit(quantity: &str) -> Unit {
    if let Some(unit) = load_figure_unit(quantity) {
        return unit;
    }
    let name = QuantityName::of(quantity);
    match name.statistic {
        Some(NamedStatistic::Iops) => Unit::IosPerS,
        Some(NamedStatistic::Throughput) => Unit::BytesPerS,
        _ if name.time.is_some() || is_time(quantity) => Unit::Ns,
        _ if RATES.contains(&quantity) => Unit::IosPerS,
        _ if quantity.ends_with("cpu_busy") || quantity == "read_share" => Unit::Share,
        _ if quantity == "block_size_mean" => Unit::Bytes,
        _ => Unit::Count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_number_says_its_unit() {
        for (quantity, unit) in [
            ("iops", Unit::IosPerS),
            ("read.throughput", Unit::BytesPerS),
            ("read.service_time.max", Unit::Ns),
            ("service_time.mean", Unit::Ns),
            ("transaction.response_time.stddev", Unit::Ns),
            ("transactions", Unit::IosPerS),
            ("new_orders", Unit::IosPerS),
            ("host.cpu_busy", Unit::Share),
            ("read.submission_time.mean", Unit::Ns),
            ("connection_time", Unit::Ns),
            ("read_share", Unit::Share),
            ("block_size_mean", Unit::Bytes),
            ("integrity.findings", Unit::Count),
            ("failed_transactions", Unit::Count),
        ] {
            assert_eq!(measure_unit(quantity), unit, "{quantity}");
        }
    }
}
