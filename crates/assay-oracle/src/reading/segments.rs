//! Segments by reads, and the buffer cache at other sizes.

use super::ReportReading;
use crate::columns;
use crate::quantity::OracleUnit;
use crate::report::{PoolRow, SegmentRow};
use crate::section::OracleSection;
use crate::table::{OracleTable, ReportRow};

const MEGABYTE: f64 = 1_048_576.0;

impl ReportReading {
    pub(super) fn segments(&mut self, table: &OracleTable) {
        let is_requests = table.section == OracleSection::SegmentsByReadRequests;
        let ends = |end: &'static str| table.column(move |head| head.ends_with(end));
        let reads = ends("requests").filter(|_| is_requests).or_else(|| ends("reads"));
        let (Some(owner), Some(object), Some(_)) = (ends("owner"), ends("object name"), reads)
        else {
            return self.unreadable(table);
        };
        for row in &table.rows {
            self.segment(table, row, owner, object, reads, is_requests);
        }
    }

    /// All statistics stand below each other in a global report: reads are picked by the name of
    /// theirs.
    pub(super) fn segment_statistics(&mut self, table: &OracleTable) {
        let ends = |end: &'static str| table.column(move |head| head.ends_with(end));
        let names = ends("statistic").zip(ends("owner")).zip(ends("object name"));
        let Some(((statistic, owner), object)) = names else { return };
        for row in &table.rows {
            let is_requests = match row.text(statistic).to_ascii_lowercase().as_str() {
                "physical reads" => false,
                "physical read requests" => true,
                _ => continue,
            };
            self.segment(table, row, owner, object, ends("value"), is_requests);
        }
    }

    /// One segment, its reads in the column that is named.
    fn segment(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        owner: usize,
        object: usize,
        reads: Option<usize>,
        is_requests: bool,
    ) {
        if columns::is_number(row.cell(object)) {
            self.unread(
                table.section,
                row.line,
                row.cell(object),
                "it has a number instead of a name",
            );
            return;
        }
        let named = |start: &'static str| table.column(move |head| head.starts_with(start));
        let Some(reads) = self.number(table, row, reads, OracleUnit::Count) else { return };
        let total = table.column(|head| head.contains("total"));
        let share = self.number(table, row, total, OracleUnit::Share);
        self.report.segments.push(SegmentRow {
            owner: row.text(owner),
            tablespace: row.some_text(named("tablespace")),
            object: row.text(object),
            partition: row.some_text(named("subobject")),
            kind: row.some_text(table.column(|head| head.ends_with("type"))),
            is_requests,
            reads,
            share,
        });
    }

    pub(super) fn buffer_pool(&mut self, table: &OracleTable) {
        let with = |words: &'static [&'static str]| {
            table.column(move |head| words.iter().all(|word| head.contains(word)))
        };
        let size = with(&["size for", "est"]);
        let factor = with(&["size", "fact"]).filter(|at| Some(*at) != size);
        let read_factor = with(&["read", "fact"]);
        if factor.is_none() {
            return self.unreadable(table);
        }
        for row in &table.rows {
            let size = size
                .and_then(|at| self.scaled(table.section, row, at, OracleUnit::Bytes, None))
                .map(|size| size.scaled(MEGABYTE, OracleUnit::Bytes));
            let pool = PoolRow {
                pool: pool(table, row),
                size,
                factor: self.number(table, row, factor, OracleUnit::Labelled),
                read_factor: self.number(table, row, read_factor, OracleUnit::Labelled),
            };
            if pool.factor.is_some() {
                self.report.buffer_pool.push(pool);
            }
        }
    }
}

fn pool(table: &OracleTable, row: &ReportRow) -> String {
    row.text(table.named(&["p", "pool"]).unwrap_or(0))
}
