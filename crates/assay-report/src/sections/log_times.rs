//! The log of a database on the target: how long an append takes, alone and during I/O of data, and
//! what it does to reads.

use crate::format::Formatter;
use crate::phrases::size;
use crate::view::{CellLook, ViewBlock, ViewCell, ViewTable};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, LogPoint};
use assay_model::verdict::Unit;

/// A table with a row for each number of outstanding I/Os; nothing where no log was measured.
pub(super) fn block<'a>(calibration: &Calibration, format: &Formatter) -> Option<ViewBlock<'a>> {
    let log = calibration.log.as_ref()?;
    let table = ViewTable::new("Log appends during I/O of data").look(CellLook::Slim);
    let table = table.numbers("Queue depth of data").numbers("Append, mean");
    let mut table = table.numbers("Mean read, at the same time").numbers("Appends");
    for point in &log.points {
        table.row(row(point, format));
    }
    let text = format!(
        "Appends of {}, one after the other, each durable before the next, as a database writes \
         its log. Commits wait for them; on some storage, reads do too.",
        size(log.block_size_bytes)
    );
    let blocks = vec![ViewBlock::Paragraph(text), ViewBlock::Table(table)];
    Some(ViewBlock::part("The log", blocks))
}

fn row(point: &LogPoint, format: &Formatter) -> Vec<ViewCell> {
    let time = |time_ns: &Estimate| ViewCell::Estimate(format.estimated(Unit::Ns, time_ns));
    let reads = point.reads.as_ref().map(|reads| time(&reads.service_time_ns));
    vec![
        ViewCell::Number(point.queue_depth.to_string()),
        time(&point.service_time_ns),
        reads.unwrap_or(ViewCell::Unknown),
        ViewCell::Number(format.count(point.appends)),
    ]
}
