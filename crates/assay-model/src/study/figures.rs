//! Figures of database loads that studies compare, by their names.

use crate::load::LoadKind;
use crate::verdict::Unit;

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
