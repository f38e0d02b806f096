//! The host during a run: an independent witness of the processors, the devices and the network.

use super::watch_facts::{watched_devices, watched_host};
use crate::chart::scene::SceneSize;
use crate::chart::watch::{device, processors};
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::phrases::file_name;
use crate::view::{Chart, ViewBlock};
use crate::watch::WatchReport;

/// Devices with a chart of their own; the table holds the rest.
const CHARTS_MAX: usize = 6;

/// The whole section; nothing where nothing was watched, and where figures are to be hidden.
pub(super) fn blocks(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'_>> {
    let Some(watch) = report.watch.as_ref().filter(|_| !format.is_relative()) else {
        return Vec::new();
    };
    vec![
        ViewBlock::facts(watched_host(&watch.summary)),
        ViewBlock::Table(watched_devices(&watch.summary)),
        ViewBlock::SideBySide(charts(watch, format).into_iter().map(ViewBlock::Chart).collect()),
    ]
}

fn charts(watch: &WatchReport, format: Formatter) -> Vec<Chart<'_>> {
    if watch.columns.len() < 2 {
        return Vec::new();
    }
    let caption = "CPU utilization: 100% means that all CPUs are busy.";
    let draw = move |size| processors(&watch.columns, &format, size);
    let mut charts = vec![Chart::new("processors", SceneSize::Full, caption, draw)];
    let total = &watch.summary.total.counters;
    let busy = total.devices.iter();
    let busy = busy.filter(|one| one.rates(total.time_ns).iops() > 0.0);
    charts.extend(busy.take(CHARTS_MAX).map(|one| {
        let caption = format!("{}: mean I/O time, including the kernel's queue.", one.name);
        let draw = move |size| device(&watch.columns, &one.name, &format, size);
        Chart::new(format!("device-{}", file_name(&one.name)), SceneSize::Half, caption, draw)
    }));
    charts
}
