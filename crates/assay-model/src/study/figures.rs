//! Figures of database loads that studies compare, by their names.

use crate::verdict::Unit;

/// Name, unit and words of each.
pub const LOAD_FIGURES: [(&str, Unit, &str); 12] = [
    ("new_orders", Unit::IosPerS, "new orders"),
    ("new_order.response_time.mean", Unit::Ns, "new order mean"),
    ("new_order.response_time.q0.99", Unit::Ns, "new order p99"),
    ("trade_results", Unit::IosPerS, "trade results"),
    ("trade_result.response_time.mean", Unit::Ns, "trade result mean"),
    ("trade_result.response_time.q0.99", Unit::Ns, "trade result p99"),
    ("power_run.time", Unit::Ns, "power run"),
    ("power_run.query_time.geometric_mean", Unit::Ns, "its queries, geometric mean"),
    ("throughput_run.time", Unit::Ns, "throughput run"),
    ("throughput_run.query_time.geometric_mean", Unit::Ns, "its queries, geometric mean"),
    ("database.read_throughput", Unit::BytesPerS, "read by the server"),
    ("storage.read_throughput", Unit::BytesPerS, "read from storage"),
];

/// The unit of a figure of a load.
pub fn load_figure_unit(quantity: &str) -> Option<Unit> {
    LOAD_FIGURES.iter().find(|(name, ..)| *name == quantity).map(|(_, unit, _)| *unit)
}
