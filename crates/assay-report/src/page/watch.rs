//! The machine meanwhile: an independent witness of the processors, the devices and the network.

use super::figure::Figures;
use super::table::{Cell, Pair, Table, pairs};
use crate::chart::scene::Size;
use crate::chart::watch::{device, processors};
use crate::facts::{watched_devices, watched_host};
use crate::format::Formatter;
use crate::input::Report;
use crate::markup::{Markup, tag};

/// Devices with a chart of their own; the table holds the rest.
const CHARTS_MAX: usize = 6;

/// The whole section; empty where nothing was watched, and where figures are to be hidden.
pub(crate) fn body(report: &Report, format: &Formatter, figures: &mut Figures) -> Markup {
    let Some(watch) = report.watch.as_ref().filter(|_| !format.is_relative()) else {
        return Markup::new();
    };
    let host = watched_host(&watch.summary);
    let list = pairs(host.into_iter().map(|(name, value)| Pair::new(name, value)));
    let mut charts = Markup::new();
    if watch.columns.len() > 1 {
        let caption = "Time of all processors together: 100 % is all of them busy.";
        let draw = |size| processors(&watch.columns, format, size);
        charts.push(figures.figure(Size::Full, caption, draw));
        let busy = watch.summary.total.counters.devices.iter();
        let busy = busy.filter(|one| one.counters.read_ios + one.counters.write_ios > 0);
        for one in busy.take(CHARTS_MAX) {
            let caption = format!(
                "{}: mean time of an I/O, its wait in the kernel's queue included.",
                one.name
            );
            let draw = |size| device(&watch.columns, &one.name, format, size);
            charts.push(figures.figure(Size::Half, &caption, draw));
        }
    }
    let charts = tag("div").class("charts").body(charts);
    list.and(devices(report)).and(charts)
}

/// Every device of the stack; empty where none was watched.
fn devices(report: &Report) -> Markup {
    let rows = report.watch.as_ref().map(|watch| watched_devices(&watch.summary));
    let rows = rows.unwrap_or_default();
    let Some((head, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return Markup::new();
    };
    let mut table = Table::new("Devices meanwhile").slim().words("Device");
    for name in &head[1..] {
        table = table.numbers(name.clone());
    }
    for row in rows {
        let cells = row.iter().enumerate().map(|(place, cell)| match place {
            0 => Cell::Text(cell.clone()),
            _ => Cell::Number(cell.clone()),
        });
        table.row(cells.collect());
    }
    table.markup()
}
