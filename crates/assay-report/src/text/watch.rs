//! The machine meanwhile, as text.

use super::layout::Text;
use crate::clock::show_length;
use crate::facts::{watched_devices, watched_host};
use crate::format::Formatter;
use crate::input::Report;

/// The host in names and values, the devices in a table.
pub(super) fn watch(text: &mut Text, report: &Report, format: &Formatter) {
    let Some(watch) = report.watch.as_ref().filter(|_| !format.is_relative()) else {
        return;
    };
    let length = show_length(watch.summary.elapsed_s());
    text.heading(&format!("The machine meanwhile, {length}"));
    let host = watched_host(&watch.summary).into_iter();
    let rows: Vec<(String, String)> = host.map(|(name, value)| (name.to_owned(), value)).collect();
    text.pairs(&rows);
    let devices = watched_devices(&watch.summary);
    if devices.len() > 1 {
        text.table(&devices);
    }
}
