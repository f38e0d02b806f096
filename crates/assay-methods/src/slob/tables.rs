//! The tables of the method and its statements.

use assay_loads::slob::{Redo, Rules, TEXT_BYTES, TEXT_COLUMNS};
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

    /// Settings of a session, so that the planner has no choice.
    pub(super) const fn settings(self) -> &'static str {
        match self {
            Self::Index => {
                "SET enable_bitmapscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
            }
            Self::Stream => {
                "SET enable_indexscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
            }
        }
    }

    /// What the plan of a reading statement must contain.
    pub(super) const fn plan_word(self) -> &'static str {
        match self {
            Self::Index => "Index Scan using",
            Self::Stream => "Bitmap Heap Scan",
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

/// Creates a table of which every row has a block of its own: only a tenth of a block may be filled.
pub(super) fn create(name: &str) -> String {
    let columns: Vec<String> =
        (2..2 + TEXT_COLUMNS).map(|column| format!("c{column} text NOT NULL")).collect();
    format!(
        "CREATE TABLE {name} (custid bigint NOT NULL, {}) WITH (fillfactor = 10, autovacuum_enabled = off)",
        columns.join(", ")
    )
}

/// Takes rows in binary form; a table that was made in the same transaction is not logged where that is allowed, and
/// its rows need no second visit.
pub(super) fn copy(name: &str) -> String {
    format!("COPY {name} FROM STDIN (FORMAT binary, FREEZE)")
}

/// The index that leads to a row.
pub(super) fn index(name: &str) -> String {
    format!("CREATE UNIQUE INDEX ON {name} (custid)")
}

/// Reads a range: the second column, so that each block is met and hardly any work is done in it.
pub(super) fn read(name: &str) -> String {
    format!("SELECT count(c2) FROM {name} WHERE custid BETWEEN $1 AND $2")
}

/// Changes a range; no column has an index, and the new row fits into the old one's block.
pub(super) fn update(name: &str, redo: Redo) -> String {
    let last = 1 + TEXT_COLUMNS;
    let columns: Vec<usize> = match redo {
        Redo::Lite => vec![2, last],
        Redo::Heavy => (2..=last).collect(),
    };
    let sets: Vec<String> = columns.iter().map(|column| format!("c{column} = $3")).collect();
    format!("UPDATE {name} SET {} WHERE custid BETWEEN $1 AND $2", sets.join(", "))
}

/// Reads a whole table.
pub(super) fn scan(name: &str) -> String {
    format!("SELECT count(c2) FROM {name}")
}

/// Lengths of the parameters of a reading and of a changing statement, bytes.
pub(super) const READ_PARAMETERS: [usize; 2] = [8, 8];
/// The same of a changing one.
pub(super) const UPDATE_PARAMETERS: [usize; 3] = [8, 8, TEXT_BYTES];

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
    fn statements_touch_what_the_method_says() {
        assert_eq!(
            update("s.cf1", Redo::Lite),
            "UPDATE s.cf1 SET c2 = $3, c20 = $3 WHERE custid BETWEEN $1 AND $2"
        );
        assert_eq!(update("s.cf1", Redo::Heavy).matches("= $3").count(), TEXT_COLUMNS);
        assert_eq!(create("t").matches(" text ").count(), TEXT_COLUMNS);
        assert!(read(&table("s", 0)).contains("s.cf1"));
    }

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
