//! The tables of the method and its statements.

use assay_loads::slob::{Redo, Rules, TEXT_COLUMNS};
use assay_model::number::{count, real};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Content, Layout, Span, SyncPolicy, TransferMix, TransferPart};
use assay_model::{Arrival, Stream, Workload};

/// How rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Through an index, a block at a time: Oracle's "db file sequential read".
    Index,
    /// Through a bitmap of blocks that are read ahead, several at a time: Oracle's "db file parallel read".
    Stream,
}

impl Access {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "sequential read (index scan, one block at a time)",
            Self::Stream => "parallel read (bitmap heap scan, blocks are read ahead)",
        }
    }
}

/// The table that sessions of a number read, from 0.
pub(super) fn table(schema: &str, table: u32) -> String {
    format!("{schema}.cf{}", table + 1)
}

/// The table without an index.
pub(super) fn scan_table(schema: &str) -> String {
    format!("{schema}.scan")
}

/// The columns that a change writes to.
pub(super) fn changed(redo: Redo) -> Vec<usize> {
    let last = 1 + TEXT_COLUMNS;
    match redo {
        Redo::Lite => vec![2, last],
        Redo::Heavy => (2..=last).collect(),
    }
}

/// Reads a whole table.
pub(super) fn scan(name: &str) -> String {
    format!("SELECT count(c2) FROM {name}")
}

/// The rung in the words of workloads: what the store keeps of it before its first interval.
pub fn workload(rules: &Rules, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
    let stream = |name: &str, read_share: f64, blocks: u64| Stream {
        name: name.to_owned(),
        read_share: Share(read_share),
        transfer: TransferMix {
            parts: vec![TransferPart { size: Bytes(blocks * block_bytes), share: Share(1.0) }],
        },
        access: assay_model::Access::Uniform,
        arrival: Arrival::Closed { outstanding: sessions, think_time: Nanos(0) },
        workers: 1,
        sync: SyncPolicy::default(),
        span: Span::default(),
        targets: Vec::new(),
        content: Content::default(),
    };
    let mut streams = Vec::new();
    if rules.update_percent < 100 {
        streams.push(stream("read", 1.0, rules.work_unit));
    }
    if rules.update_percent > 0 {
        streams.push(stream("update", 0.0, rules.update_work_unit));
    }
    if rules.scan_share.0 > 0.0 {
        streams.push(stream("scan", 1.0, rules.scan_blocks));
    }
    Workload {
        format: 1,
        name: format!("slob, {sessions} sessions"),
        description: "Statements of the SLOB method on a database server; an I/O is a statement."
            .to_owned(),
        seed: rules.seed,
        duration,
        warm_up: Nanos(0),
        interval: Nanos(1_000_000_000),
        layout: Layout::Concat,
        direct: true,
        streams,
        criteria: Vec::new(),
    }
}

/// Bytes on storage of so many blocks with their index.
pub fn data_bytes(blocks: u64, block_bytes: u64) -> u64 {
    // An entry of the index takes 20 bytes of pages that are nine tenths full.
    blocks.saturating_mul(block_bytes).saturating_add(count(real(blocks) * 22.3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_is_a_workload_of_the_statements_that_it_has() {
        let names = |rules: &Rules| {
            let workload = workload(rules, 4, Nanos(1), 8192);
            workload.streams.iter().map(|stream| stream.name.clone()).collect::<Vec<_>>()
        };
        let mut rules = Rules::default();
        assert_eq!(names(&rules), ["read"]);
        (rules.update_percent, rules.scan_share) = (25, Share(0.5));
        assert_eq!(names(&rules), ["read", "update", "scan"]);
        rules.update_percent = 100;
        assert_eq!(names(&rules), ["update", "scan"]);
    }
}
