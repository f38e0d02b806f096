//! The tables of the method.
//!
//! InnoDB keeps a table as a tree by its primary key, so a key that were the primary one would lie
//! in its order on storage. Rows are therefore stored by a number that counts up, and the scattered
//! key has an index of its own: as with other products, a range of keys leads through a small index
//! to as many single pages as it has keys. A page holds two rows at least, whatever their length;
//! so rows without a key, which no statement meets, fill the page of each that has one.

use crate::load::{IndexLayout, LoadTables, RowOrigin, Statistics, TableLayout};
use assay_loads::sink::{RowSink, TablePart};
use assay_loads::slob::{Redo, SlobRow, SlobRows, SlobRules, TEXT_BYTES, TEXT_COLUMNS};
use assay_model::load::LoadKind;
use assay_model::number::{count, index_of, real};
use assay_model::{Error, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Columns of a row on a heap: the key and the texts.
const HEAP_COLUMNS: u16 = 20;
/// The table without an index.
const SCAN: &str = "scan";
/// Bytes of a row with a key in InnoDB, with what it adds to it.
const ROW_BYTES: u64 = 1990;
/// What it adds to a row that only fills.
const ROW_OVERHEAD_BYTES: u64 = 40;
/// What it keeps of a page for itself: header, trailer, directory.
const PAGE_OVERHEAD_BYTES: u64 = 160;
/// Rows that fill a page must be shorter than half of it, and than 16 KiB.
const FILLERS: u64 = 2;
const FILLERS_OF_LARGE_PAGES: u64 = 4;
/// From this page on the limit is that of the row and not of the page, bytes.
const LARGE_PAGE_BYTES: u64 = 65_536;
/// A table of PostgreSQL is extended by several blocks at once, of which the last may stay empty;
/// nobody meets them, because no entry of the index points there.
/// Source: PostgreSQL 16, `RelationAddBlocks` in src/backend/access/heap/hio.c.
const SPARE_BLOCKS: u64 = 64;
/// The smallest page of InnoDB that rows of the method fit into, bytes.
const PAGE_BYTES_MIN: u64 = 8192;
/// Share of the rows that must have a page of their own: InnoDB's count of its pages is of whole
/// extents.
const OWN_PAGE_SHARE_MIN: f64 = 0.98;
/// What fills a page; longer than any page needs.
static FILLER: [u8; 16_000] = [b'='; 16_000];

/// How rows are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowAccess {
    // Oracle's "db file sequential read".
    /// An index scan, one block at a time ("sequential read")
    #[default]
    Index,
    // Oracle's "db file parallel read".
    /// A bitmap scan that reads ahead ("parallel read")
    Stream,
}

impl RowAccess {
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

impl BlockLayout {
    /// A tree with pages of this length.
    pub(super) fn clustered(page_bytes: u64) -> Self {
        let (fillers, filler_bytes) = fillers(page_bytes);
        Self::Clustered { fillers, filler_bytes }
    }
}

/// Rows that fill a page, and the bytes of each, so that the next row with a key does not fit into
/// it.
fn fillers(page_bytes: u64) -> (u64, usize) {
    let count = if page_bytes < LARGE_PAGE_BYTES { FILLERS } else { FILLERS_OF_LARGE_PAGES };
    // Of a page that rows are added to in order, InnoDB leaves a sixteenth.
    let taken = page_bytes / 16 + PAGE_OVERHEAD_BYTES + ROW_BYTES;
    let each = page_bytes.saturating_sub(taken) / count;
    (count, index_of(each.saturating_sub(ROW_OVERHEAD_BYTES)))
}

/// Refuses tables whose rows share blocks.
pub(super) fn check_blocks(
    layout: BlockLayout,
    rows: u64,
    table_bytes: u64,
    block_bytes: u64,
) -> Result<()> {
    let wanted = rows.saturating_mul(block_bytes);
    let (are_apart, hint) = match layout {
        BlockLayout::Heap => {
            let most = wanted + wanted / 16 + SPARE_BLOCKS * block_bytes;
            (
                (wanted..=most).contains(&table_bytes),
                "use a server with the default block size of 8 KiB",
            )
        }
        BlockLayout::Clustered { .. } => {
            let least = OWN_PAGE_SHARE_MIN * real(wanted);
            (
                real(table_bytes) >= least && block_bytes >= PAGE_BYTES_MIN,
                "use a server with pages of 8 KiB or more (innodb_page_size), without compression",
            )
        }
    };
    if are_apart {
        return Ok(());
    }
    Err(Error::environment(
        format!(
            "{rows} rows take {table_bytes} bytes instead of {wanted}: some rows share a block"
        ),
        hint,
    ))
}

/// One table of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTable {
    /// Its number in the rules; tables differ in their content. The one without an index has the
    /// last.
    number: u32,
    is_indexed: bool,
    /// Rows with a key.
    rows: u64,
}

/// The tables of the method on a product.
#[derive(Clone, Copy, Debug)]
pub struct BlockTables<'a> {
    /// The knobs.
    pub rules: &'a SlobRules,
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

impl LoadTables for BlockTables<'_> {
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
            options: " ROW_FORMAT = DYNAMIC",
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

    fn make(&self, table: BlockTable, _part: TablePart, _origin: RowOrigin, to: &mut dyn RowSink) {
        // The table without an index is shorter, and its keys are of no interest.
        let part = SlobRules { scale_blocks: table.rows, ..self.rules.clone() };
        let (mut rows, mut row) =
            (SlobRows::of(&part, table.number, 0..table.rows), SlobRow::default());
        while !to.is_full() && rows.next_into(&mut row) {
            self.put(&row, to);
        }
    }
}

impl BlockTables<'_> {
    /// A row with its key, and those that fill its page.
    fn put(&self, row: &SlobRow, to: &mut dyn RowSink) {
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
fn put_row(row: &SlobRow, columns: u16, to: &mut dyn RowSink) {
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

/// Bytes on storage of this number of blocks with their index.
pub fn data_bytes(blocks: u64, block_bytes: u64) -> u64 {
    // An entry of the index takes 20 bytes of pages that are 90% full.
    blocks.saturating_mul(block_bytes).saturating_add(count(real(blocks) * 22.3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{MariadbLink, Product, encoded};
    use assay_postgres::connection::PostgresConnection;

    #[test]
    fn every_row_is_sent_once_in_the_form_that_copy_takes() {
        let rules = SlobRules { scale_blocks: 2000, ..SlobRules::default() };
        let tables = BlockTables { rules: &rules, layout: BlockLayout::Heap };
        let origin = RowOrigin { seed: 1, loaded_us: 0 };
        let table = tables.all()[0];
        let bytes =
            encoded::<PostgresConnection>(|to| tables.make(table, TablePart::WHOLE, origin, to));
        assert_eq!(bytes.len(), 2000 * (2 + 12 + TEXT_COLUMNS * (4 + TEXT_BYTES)));
        assert_eq!(bytes[..6], [0, 20, 0, 0, 0, 8]);
        assert_eq!(bytes[14..18], [0, 0, 0, 100]);
    }

    #[test]
    fn a_table_has_rows_in_blocks_of_their_own_and_an_index() {
        let rules = SlobRules::default();
        let tables = BlockTables { rules: &rules, layout: BlockLayout::Heap };
        let layout = tables.layout(tables.all()[0]);
        let create = PostgresConnection::begin_rows("s", &layout).concat();
        assert!(create.contains("fillfactor = 10, autovacuum_enabled = off"), "{create}");
        assert_eq!(create.matches(" text NOT NULL").count(), TEXT_COLUMNS);
        let index = PostgresConnection::add_index("s", &layout.name, &layout.indexes[0]);
        assert_eq!(index, "CREATE UNIQUE INDEX cf1_custid ON s.cf1 (custid)");
        assert!(PostgresConnection::finish_table("s", &layout).is_empty());
    }

    #[test]
    fn a_page_takes_one_row_with_a_key_and_what_fills_it() {
        for page_bytes in [8192, 16_384, 32_768, 65_536] {
            let (count, bytes) = fillers(page_bytes);
            let each = bytes as u64 + ROW_OVERHEAD_BYTES;
            let taken = ROW_BYTES + count * each + PAGE_OVERHEAD_BYTES;
            // Together they leave the sixteenth, and the next row does not fit next to it.
            assert!(taken + page_bytes / 16 <= page_bytes, "{page_bytes}");
            assert!(taken + page_bytes / 16 + ROW_BYTES > page_bytes, "{page_bytes}");
            assert!(each < (page_bytes / 2 - 100).min(16_383), "{page_bytes}: {each}");
            assert!(bytes <= 16_000);
        }
    }

    #[test]
    fn rows_have_the_form_that_a_load_takes() {
        let rules = SlobRules { scale_blocks: 3, ..SlobRules::default() };
        let tables = BlockTables { rules: &rules, layout: BlockLayout::clustered(8192) };
        let (table, origin) = (tables.all()[0], RowOrigin { seed: 1, loaded_us: 0 });
        let bytes = encoded::<MariadbLink>(|to| tables.make(table, TablePart::WHOLE, origin, to));
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 10);
        let columns = |line: &[u8]| line.split(|byte| *byte == b'\t').count();
        assert!(lines[..9].iter().all(|line| columns(line) == 2 + TEXT_COLUMNS));
        assert!(lines[0].ends_with(b"\t\\N") && !lines[0].starts_with(b"\\N"));
        assert!(lines[1].starts_with(b"\\N\t\\N\t") && lines[1].ends_with(b"==="));
        let layout = tables.layout(table);
        let sent = layout.sent.as_deref().unwrap();
        assert_eq!(sent.matches(',').count() + 1, 2 + TEXT_COLUMNS);
        let create = MariadbLink::begin_rows("s", &layout).concat();
        assert!(create.contains("(place bigint AUTO_INCREMENT, custid bigint, c2 char(100)"));
        assert!(create.contains("PRIMARY KEY (place)) ENGINE = InnoDB ROW_FORMAT = DYNAMIC"));
        let index = MariadbLink::add_index("s", "cf1", &layout.indexes[0]);
        assert_eq!(index, "ALTER TABLE s.cf1 ADD UNIQUE INDEX custid (custid)");
    }

    #[test]
    fn rows_have_blocks_of_their_own_and_some_blocks_may_be_spare() {
        let heap = |blocks: u64| check_blocks(BlockLayout::Heap, 1024, blocks * 8192, 8192);
        assert!(heap(1024).is_ok() && heap(1025).is_ok() && heap(1024 + 64 + 64).is_ok());
        assert!(heap(1023).is_err() && heap(512).is_err() && heap(2048).is_err());
        let tree = |rows: u64, page_bytes| {
            check_blocks(BlockLayout::clustered(page_bytes), 1000, rows * page_bytes, page_bytes)
        };
        assert!(tree(1000, 8192).is_ok());
        assert!(tree(500, 8192).is_err() && tree(1000, 4096).is_err());
    }
}
