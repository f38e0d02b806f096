//! The tables of the method and its statements.

use assay_loads::slob::{Redo, TEXT_COLUMNS};
use assay_model::number::{count, real};

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

/// Bytes on storage of so many blocks with their index.
pub fn data_bytes(blocks: u64, block_bytes: u64) -> u64 {
    // An entry of the index takes 20 bytes of pages that are nine tenths full.
    blocks.saturating_mul(block_bytes).saturating_add(count(real(blocks) * 22.3))
}
