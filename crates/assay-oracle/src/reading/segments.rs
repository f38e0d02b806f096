//! Segments by reads, and the buffer cache at other sizes.

use super::Reading;
use crate::quantity::Unit;
use crate::report::{PoolRow, SegmentRow};
use crate::section::Section;
use crate::table::{Row, Table};

const MEGABYTE: f64 = 1_048_576.0;

impl Reading {
    pub(super) fn segments(&mut self, table: &Table) {
        let is_requests = table.section == Section::SegmentsByReadRequests;
        let ends = |end: &'static str| table.column(move |head| head.ends_with(end));
        let reads = ends("requests").filter(|_| is_requests).or_else(|| ends("reads"));
        let (Some(owner), Some(object)) = (ends("owner"), ends("object name")) else {
            return;
        };
        let share = table.column(|head| head.contains("total"));
        for row in &table.rows {
            let Some(reads) = self.number(table, row, reads, Unit::Count) else { continue };
            let share = self.number(table, row, share, Unit::Share);
            self.report.segments.push(SegmentRow {
                owner: row.text(owner),
                tablespace: row.some_text(ends("name").filter(|at| *at != object)),
                object: row.text(object),
                partition: row.some_text(table.column(|head| head.starts_with("subobject"))),
                kind: row.some_text(ends("type")),
                is_requests,
                reads,
                share,
            });
        }
    }

    pub(super) fn buffer_pool(&mut self, table: &Table) {
        let with = |words: &'static [&'static str]| {
            table.column(move |head| words.iter().all(|word| head.contains(word)))
        };
        let size = with(&["size for", "est"]);
        let factor = with(&["size", "fact"]).filter(|at| Some(*at) != size);
        let read_factor = with(&["read", "fact"]);
        for row in &table.rows {
            let size = size
                .and_then(|at| self.scaled(table.section, row, at, Unit::Bytes, None))
                .map(|size| size.scaled(MEGABYTE, Unit::Bytes));
            let pool = PoolRow {
                pool: pool(table, row),
                size,
                factor: self.number(table, row, factor, Unit::Labelled),
                read_factor: self.number(table, row, read_factor, Unit::Labelled),
            };
            if pool.factor.is_some() {
                self.report.buffer_pool.push(pool);
            }
        }
    }
}

fn pool(table: &Table, row: &Row) -> String {
    row.text(table.named(&["p", "pool"]).unwrap_or(0))
}
