//! The host during a run: an independent witness of the processors, the devices and the network.

use super::watch_facts::{watched_devices, watched_host};
use crate::chart::scene::Size;
use crate::chart::watch::{device, processors};
use crate::format::Formatter;
use crate::input::Report;
use crate::phrases::file_name;
use crate::view::{Block, Chart};
use crate::watch::Watch;

/// Devices with a chart of their own; the table holds the rest.
const CHARTS_MAX: usize = 6;

/// The whole section; nothing where nothing was watched, and where figures are to be hidden.
pub(super) fn blocks(report: &Report, format: Formatter) -> Vec<Block<'_>> {
    let Some(watch) = report.watch.as_ref().filter(|_| !format.is_relative()) else {
        return Vec::new();
    };
    vec![
        Block::facts(watched_host(&watch.summary)),
        Block::Table(watched_devices(&watch.summary)),
        Block::SideBySide(charts(watch, format).into_iter().map(Block::Chart).collect()),
    ]
}

fn charts(watch: &Watch, format: Formatter) -> Vec<Chart<'_>> {
    if watch.columns.len() < 2 {
        return Vec::new();
    }
    let caption = "CPU utilization: 100% means that all CPUs are busy.";
    let draw = move |size| processors(&watch.columns, &format, size);
    let mut charts = vec![Chart::new("processors", Size::Full, caption, draw)];
    let total = &watch.summary.total.counters;
    let busy = total.devices.iter();
    let busy = busy.filter(|one| one.rates(total.time_ns).iops() > 0.0);
    charts.extend(busy.take(CHARTS_MAX).map(|one| {
        let caption = format!("{}: mean I/O time, including the kernel's queue.", one.name);
        let draw = move |size| device(&watch.columns, &one.name, &format, size);
        Chart::new(format!("device-{}", file_name(&one.name)), Size::Half, caption, draw)
    }));
    charts
}
