//! Results of two streams by the queue depths of both, a table for each number that ORION prints.

use crate::format::Formatter;
use crate::view::{CellLook, HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::study::{DepthMatrix, MatrixQuantity, StudyResult};
use assay_model::verdict::Unit;

/// Rate and mean time of the stream across, and throughput of the stream down; none of a study
/// with other factors.
pub(super) fn section<'a>(study: &StudyResult, format: &Formatter) -> Option<ViewSection<'a>> {
    let matrix = DepthMatrix::of(study)?;
    let (down, across) = (&matrix.row_stream, &matrix.column_stream);
    let shown = [
        (format!("IOPS of {across}"), MatrixQuantity::Iops, Unit::IosPerS, false),
        (format!("Mean latency of {across}"), MatrixQuantity::MeanTime, Unit::Ns, false),
        (format!("Throughput of {down}"), MatrixQuantity::Throughput, Unit::BytesPerS, true),
    ];
    let tables = shown.into_iter().map(|(title, quantity, unit, of_rows)| {
        let show = |row: u64, column: u64| {
            let value = matrix.value(quantity, of_rows, row, column);
            value.map_or_else(|| "–".to_owned(), |value| format.value(unit, value))
        };
        let caption = format!("{title} by queue depth: {down} down, {across} across");
        ViewBlock::captioned(HeadingLevel::Detail, table(&matrix, caption, show))
    });
    let (id, title) = ("matrix", "Matrix of queue depths".to_owned());
    Some(ViewSection { id, title, blocks: tables.collect() })
}

fn table(
    matrix: &DepthMatrix<'_>,
    caption: String,
    show: impl Fn(u64, u64) -> String,
) -> ViewTable {
    let empty = ViewTable::new(caption).look(CellLook::Slim).words("");
    let columns = matrix.columns.iter();
    let table = columns.fold(empty, |table, column| table.numbers(column.to_string()));
    table.with(matrix.rows.iter().map(|row| {
        let cells = matrix.columns.iter().map(|column| show(*row, *column));
        [row.to_string()].into_iter().chain(cells).collect()
    }))
}
