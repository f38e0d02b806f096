//! The kernel's own counters next to the tool's: an independent witness of what the devices did.

use crate::view::{Block, Cell, Look, Table};
use assay_model::counters::{Counters, NamedDevice};
use assay_model::number::rate;
use assay_model::verdict::Unit;

/// A table of the devices of the stack; nothing where none is known. `passthrough` are the targets
/// of which it counts nothing.
pub(super) fn kernel<'a>(counters: &Counters, passthrough: &[String]) -> Block<'a> {
    let title = "The kernel's counters of the devices";
    let names = ["Device", "Reads", "Mean", "Writes", "Mean", "Flushes", "Busy"];
    let mut table = Table::of_numbers(title, &names).look(Look::Slim);
    table.rows.extend(counters.devices.iter().map(|device| row(device, counters)));
    let note = (!table.is_empty()).then(|| Block::Note(note(passthrough)));
    let content = [Block::Table(table)].into_iter().chain(note).collect();
    Block::detail("The kernel's own counters", content)
}

fn note(passthrough: &[String]) -> String {
    let counted =
        "Counted by the kernel's block layer, warm-up included; times include the kernel's queue.";
    if passthrough.is_empty() {
        return counted.to_owned();
    }
    let names = passthrough.join(", ");
    format!(
        "{counted} I/Os of this run to {names} bypassed the block layer, so the kernel counts \
         none of them unless queue/iostats_passthrough is 1: these counters show other programs."
    )
}

/// One device.
fn row(device: &NamedDevice, all: &Counters) -> Vec<Cell> {
    let counters = &device.counters;
    let pace = |ios: u64| Cell::Number(Unit::IosPerS.show(rate(ios, all.elapsed_s())));
    let time = |mean_ns: Option<f64>| {
        mean_ns.map_or(Cell::Unknown, |mean_ns| Cell::Number(Unit::Ns.show(mean_ns)))
    };
    vec![
        Cell::Words(device.name.clone()),
        pace(counters.read_ios),
        time(counters.read_time_mean_ns()),
        pace(counters.write_ios),
        time(counters.write_time_mean_ns()),
        pace(counters.flush_ios),
        Cell::Number(Unit::Share.show(counters.busy_share(all.time_ns).min(1.0))),
    ]
}
