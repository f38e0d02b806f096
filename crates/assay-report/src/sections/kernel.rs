//! The kernel's own counters next to the tool's: an independent witness of what the devices did.

use crate::view::{CellLook, ViewBlock, ViewCell, ViewTable};
use assay_model::counters::{Counters, NamedDevice};
use assay_model::number::rate;
use assay_model::verdict::Unit;

/// A table of the devices of the stack; nothing where none is known. `passthrough` are the targets
/// of which it counts nothing.
pub(super) fn kernel<'a>(counters: &Counters, passthrough: &[String]) -> ViewBlock<'a> {
    let title = "The kernel's counters of the devices";
    let names = ["Device", "Reads", "Mean", "Writes", "Mean", "Flushes", "Busy"];
    let mut table = ViewTable::of_numbers(title, &names).look(CellLook::Slim);
    table.rows.extend(counters.devices.iter().map(|device| row(device, counters)));
    let note = (!table.is_empty()).then(|| ViewBlock::Note(note(passthrough)));
    let content = [ViewBlock::Table(table)].into_iter().chain(note).collect();
    ViewBlock::detail("The kernel's own counters", content)
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
fn row(device: &NamedDevice, all: &Counters) -> Vec<ViewCell> {
    let counters = &device.counters;
    let pace = |ios: u64| ViewCell::Number(Unit::IosPerS.show(rate(ios, all.elapsed_s())));
    let time = |mean_ns: Option<f64>| {
        mean_ns.map_or(ViewCell::Unknown, |mean_ns| ViewCell::Number(Unit::Ns.show(mean_ns)))
    };
    vec![
        ViewCell::Words(device.name.clone()),
        pace(counters.read_ios),
        time(counters.read_time_mean_ns()),
        pace(counters.write_ios),
        time(counters.write_time_mean_ns()),
        pace(counters.flush_ios),
        ViewCell::Number(Unit::Share.show(counters.busy_share(all.time_ns).min(1.0))),
    ]
}
