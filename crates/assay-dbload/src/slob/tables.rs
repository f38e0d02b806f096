//! The tables of the method and its statements.

use crate::load::{IndexLayout, Origin, Statistics, TableLayout, Tables};
use assay_loads::sink::{Part, Sink};
use assay_loads::slob::{Redo, Row, Rows, Rules, TEXT_BYTES, TEXT_COLUMNS};
use assay_model::load::LoadKind;
use assay_model::number::{count, real};

/// Columns of a row on a heap: the key and the texts.
const HEAP_COLUMNS: u16 = 20;
/// The table without an index.
const SCAN: &str = "scan";
/// What fills a page; longer than any page needs.
static FILLER: [u8; 16_000] = [b'='; 16_000];

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

/// How the rows of the method come to lie in blocks of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLayout {
    /// A heap whose blocks are filled to a tenth; columns of text.
    Heap,
    /// A tree by a number that counts up, with rows that fill the page of each row with a key.
    Clustered {
        /// Rows that fill a page.
        fillers: u64,
        /// Bytes of each.
        filler_bytes: usize,
    },
}

/// One table of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTable {
    /// Its number in the rules; tables differ in their content. The one without an index has the last.
    number: u32,
    is_indexed: bool,
    /// Rows with a key.
    rows: u64,
}

/// The tables of the method on a product.
#[derive(Clone, Copy, Debug)]
pub struct BlockTables<'a> {
    /// The knobs.
    pub rules: &'a Rules,
    /// How rows come to lie in blocks of their own.
    pub layout: BlockLayout,
}

impl BlockTables<'_> {
    /// Rows that are sent for each that has a key.
    pub(super) const fn rows_a_block(&self) -> u64 {
        match self.layout {
            BlockLayout::Heap => 1,
            BlockLayout::Clustered { fillers, .. } => 1 + fillers,
        }
    }

    /// Rows with a key in all tables.
    pub(super) fn rows(&self) -> u64 {
        self.all().iter().map(|table| table.rows).sum()
    }

    fn columns(&self) -> String {
        let texts = |kind: &str| text_columns().map(|c| format!("{c} {kind}")).join(", ");
        match self.layout {
            BlockLayout::Heap => format!("custid bigint NOT NULL, {}", texts("text NOT NULL")),
            BlockLayout::Clustered { .. } => {
                let texts = texts(&format!("char({TEXT_BYTES})"));
                format!("place bigint, custid bigint, {texts}, filler varbinary(16000)")
            }
        }
    }
}

impl Tables for BlockTables<'_> {
    type Table = BlockTable;

    fn kind(&self) -> LoadKind {
        LoadKind::Slob
    }

    fn all(&self) -> Vec<BlockTable> {
        let rules = self.rules;
        let indexed = |number| BlockTable { number, is_indexed: true, rows: rules.scale_blocks };
        let mut all: Vec<BlockTable> = (0..rules.tables).map(indexed).collect();
        if rules.scan_share.0 > 0.0 {
            let rows = rules.scan_blocks;
            all.push(BlockTable { number: rules.tables, is_indexed: false, rows });
        }
        all
    }

    fn layout(&self, table: BlockTable) -> TableLayout {
        let name = if table.is_indexed { numbered(table.number) } else { SCAN.to_owned() };
        let is_heap = self.layout == BlockLayout::Heap;
        let index = IndexLayout {
            // On a heap names of indexes are those of the schema, else those of the table.
            name: if is_heap { format!("{name}_custid") } else { "custid".to_owned() },
            columns: "custid",
            is_unique: true,
        };
        let sent = format!("(custid, {}, filler)", text_columns().join(", "));
        TableLayout {
            key: (!is_heap).then_some("place"),
            numbered: (!is_heap).then_some("place"),
            indexes: if table.is_indexed { vec![index] } else { Vec::new() },
            filled_percent: 10,
            options: " ROW_FORMAT = DYNAMIC CHARACTER SET latin1",
            sent: (!is_heap).then_some(sent),
            is_vacuumed: false,
            statistics: if is_heap { Statistics::None } else { Statistics::Table },
            ..TableLayout::new(&name, self.columns(), table.rows * self.rows_a_block())
        }
    }

    fn knobs(&self) -> Vec<(&'static str, String)> {
        let rules = self.rules;
        let scan_blocks = if rules.scan_share.0 > 0.0 { rules.scan_blocks } else { 0 };
        vec![
            ("tables", rules.tables.to_string()),
            ("blocks a table", rules.scale_blocks.to_string()),
            ("blocks without index", scan_blocks.to_string()),
            ("compressible", rules.compressible.0.to_string()),
            ("seed", rules.seed.to_string()),
        ]
    }

    fn make(&self, table: BlockTable, _part: Part, _origin: Origin, to: &mut dyn Sink) {
        // The table without an index is shorter, and its keys are of no interest.
        let part = Rules { scale_blocks: table.rows, ..self.rules.clone() };
        let (mut rows, mut row) = (Rows::of(&part, table.number, 0..table.rows), Row::default());
        while !to.is_full() && rows.next_into(&mut row) {
            self.put(&row, to);
        }
    }
}

impl BlockTables<'_> {
    /// A row with its key, and those that fill its page.
    fn put(&self, row: &Row, to: &mut dyn Sink) {
        let BlockLayout::Clustered { fillers, filler_bytes } = self.layout else {
            put_row(row, HEAP_COLUMNS, to);
            return;
        };
        put_row(row, HEAP_COLUMNS + 1, to);
        to.null();
        for _ in 0..fillers {
            to.row(HEAP_COLUMNS + 1);
            (0..HEAP_COLUMNS).for_each(|_| to.null());
            to.text(&FILLER[..filler_bytes]);
        }
    }
}

/// The key and the texts.
fn put_row(row: &Row, columns: u16, to: &mut dyn Sink) {
    to.row(columns);
    to.long(i64::try_from(row.key).unwrap_or(i64::MAX));
    for text in row.text.chunks_exact(TEXT_BYTES).take(TEXT_COLUMNS) {
        to.text(text);
    }
}

/// Names of the columns of text.
fn text_columns() -> [String; TEXT_COLUMNS] {
    std::array::from_fn(|place| format!("c{}", place + 2))
}

/// The table of a number, from 0.
fn numbered(number: u32) -> String {
    format!("cf{}", number + 1)
}

/// The table that sessions of a number read, from 0.
pub(super) fn table(schema: &str, table: u32) -> String {
    format!("{schema}.{}", numbered(table))
}

/// The table without an index.
pub(super) fn scan_table(schema: &str) -> String {
    format!("{schema}.{SCAN}")
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

/// Bytes on storage of this number of blocks with their index.
pub fn data_bytes(blocks: u64, block_bytes: u64) -> u64 {
    // An entry of the index takes 20 bytes of pages that are nine tenths full.
    blocks.saturating_mul(block_bytes).saturating_add(count(real(blocks) * 22.3))
}
