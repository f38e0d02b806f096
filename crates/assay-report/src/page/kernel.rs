//! The kernel's own counters beside the tool's: an independent witness of what the devices did.

use super::table::{Cell, Table};
use crate::markup::{Markup, tag};
use assay_model::counters::{Counters, NamedDevice};
use assay_model::number::rate;
use assay_model::verdict::Unit;

/// A table of the devices of the stack; empty where none is known.
pub(crate) fn kernel(counters: &Counters) -> Markup {
    if counters.devices.is_empty() {
        return Markup::new();
    }
    let table = Table::new("The kernel's counters of the devices").slim().words("Device");
    let table = table.numbers("Reads").numbers("Mean").numbers("Writes").numbers("Mean");
    let mut table = table.numbers("Flushes").numbers("Busy");
    for device in &counters.devices {
        table.row(row(device, counters));
    }
    let note = "Counted by the kernel below everything, warm-up included; times are those of the kernel's own queue.";
    let title = tag("h4").text("The kernel's own counters");
    title.and(table.markup()).and(tag("p").class("note").text(note))
}

/// One device.
fn row(device: &NamedDevice, all: &Counters) -> Vec<Cell> {
    let counters = &device.counters;
    let pace = |ios: u64| Cell::Number(Unit::IosPerS.show(rate(ios, all.elapsed_s())));
    let time = |mean_ns: Option<f64>| {
        Cell::Number(mean_ns.map_or_else(|| "–".to_owned(), |mean_ns| Unit::Ns.show(mean_ns)))
    };
    vec![
        Cell::Text(device.name.clone()),
        pace(counters.read_ios),
        time(counters.read_time_mean_ns()),
        pace(counters.write_ios),
        time(counters.write_time_mean_ns()),
        pace(counters.flush_ios),
        Cell::Number(Unit::Share.show(counters.busy_share(all.time_ns).min(1.0))),
    ]
}
