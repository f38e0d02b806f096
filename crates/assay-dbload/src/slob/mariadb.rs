//! The tables of the method and its statements on MariaDB and MySQL.
//!
//! The engine keeps a table as a tree by its primary key, so a key that were the primary one would lie in its order on
//! storage. Rows are therefore stored by a number that counts up, and the scattered key has an index of its own: as with
//! other products, a range of keys leads through a small index to as many single pages as it has keys. A page holds two
//! rows at least, whatever their length; so rows without a key, which no statement meets, fill the page of each that has
//! one.

use super::store::{BlockStore, Range, Statements, shared_blocks};
use super::tables::{self, Access, BlockLayout, changed, scan_table};
use crate::load::{Database, Link, MariadbLink};
use assay_loads::slob::{Redo, Rules, Work};
use assay_mariadb::connection::Prepared;
use assay_model::failure::Answer;
use assay_model::number::{index_of, real};
use assay_model::{Error, Result};

/// How rows are read, in words.
pub const MARIADB_ACCESS: &str =
    "single pages of the clustered index (by an index on the key, one page at a time)";
/// Bytes of a row with a key, with what the engine adds to it.
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
/// The smallest page that such rows fit into, bytes.
const PAGE_BYTES_MIN: u64 = 8192;
/// Share of the rows that must have a page of their own: the engine's count of its pages is of whole extents.
const OWN_PAGE_SHARE_MIN: f64 = 0.98;

impl BlockStore for MariadbLink {
    type Statement = Prepared;

    fn check_plan(database: &mut Database<Self>, _access: Access, rules: &Rules) -> Result<()> {
        let doing = "asking for the plan of the reading statement";
        let read = read(&tables::table(&database.schema, 0));
        let read = read.replacen('?', "1", 1).replacen('?', &rules.work_unit.to_string(), 1);
        // What stands there by itself differs by release.
        let plan = database.admin.connection.one(&format!("EXPLAIN FORMAT = TRADITIONAL {read}"));
        let plan = plan.map_err(|failure| failure.of(doing))?;
        let words: Vec<&str> = plan.0.iter().flatten().map(String::as_str).collect();
        let is_range = words.iter().any(|word| ["range", "const"].contains(word));
        if is_range && words.contains(&"custid") {
            return Ok(());
        }
        Err(Error::environment(
            format!("the server plans otherwise than asked: {}", words.join(" ")),
            "check optimizer_switch in its configuration",
        ))
    }

    fn block_layout(block_bytes: u64) -> BlockLayout {
        let (fillers, filler_bytes) = fillers(block_bytes);
        BlockLayout::Clustered { fillers, filler_bytes }
    }

    fn check_blocks(rows: u64, table_bytes: u64, block_bytes: u64) -> Result<()> {
        let wanted = rows.saturating_mul(block_bytes);
        if real(table_bytes) >= OWN_PAGE_SHARE_MIN * real(wanted) && block_bytes >= PAGE_BYTES_MIN {
            return Ok(());
        }
        let hint =
            "use a server with pages of 8 KiB or more (innodb_page_size), without compression";
        Err(shared_blocks(rows, table_bytes, wanted, hint))
    }

    fn ready(&mut self, _access: Access) -> Answer<()> {
        // Under the usual level a change also locks the gaps next to its rows, and sessions would wait for each other.
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        self.run("SET SESSION optimizer_switch = 'mrr=off'")
    }

    fn statements(
        &mut self,
        schema: &str,
        table: u32,
        rules: &Rules,
    ) -> Answer<Statements<Prepared>> {
        let name = tables::table(schema, table);
        let read = self.connection.prepare(&read(&name))?;
        let update = self.connection.prepare(&update(&name, rules.redo))?;
        let scan = if rules.scan_share.0 > 0.0 {
            Some(self.connection.prepare(&tables::scan(&scan_table(schema)))?)
        } else {
            None
        };
        Ok([Some(read), Some(update), scan])
    }

    #[inline]
    fn meet(&mut self, statement: &mut Prepared, work: Work, range: &Range<'_>) -> Answer<u64> {
        let texts = if work == Work::Update { statement.parameters().saturating_sub(2) } else { 0 };
        let answers = self.connection.execute(statement, |values| {
            for _ in 0..texts {
                values.text(range.text);
            }
            if work != Work::Scan {
                values.integer(range.first).integer(range.last);
            }
        })?;
        Ok(answers.count())
    }
}

/// Rows that fill a page, and the bytes of each, so that the next row with a key does not fit into it.
fn fillers(page_bytes: u64) -> (u64, usize) {
    let count = if page_bytes < LARGE_PAGE_BYTES { FILLERS } else { FILLERS_OF_LARGE_PAGES };
    // Of a page that rows are added to in order, the engine leaves a sixteenth.
    let taken = page_bytes / 16 + PAGE_OVERHEAD_BYTES + ROW_BYTES;
    let each = page_bytes.saturating_sub(taken) / count;
    (count, index_of(each.saturating_sub(ROW_OVERHEAD_BYTES)))
}

/// Reads a range: the first text, so that each page is met and hardly any work is done in it.
fn read(name: &str) -> String {
    format!("SELECT COUNT(c2) FROM {name} FORCE INDEX (custid) WHERE custid BETWEEN ? AND ?")
}

/// Changes a range; no column that is changed has an index, and a text keeps its length.
fn update(name: &str, redo: Redo) -> String {
    let sets: Vec<String> = changed(redo).iter().map(|column| format!("c{column} = ?")).collect();
    format!(
        "UPDATE {name} FORCE INDEX (custid) SET {} WHERE custid BETWEEN ? AND ?",
        sets.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::tables::BlockTables;
    use super::*;
    use crate::load::{Origin, TableStore, Tables, encoded};
    use assay_loads::sink::Part;
    use assay_loads::slob::TEXT_COLUMNS;

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
        let rules = Rules { scale_blocks: 3, ..Rules::default() };
        let tables = BlockTables { rules: &rules, layout: MariadbLink::block_layout(8192) };
        let (table, origin) = (tables.all()[0], Origin { seed: 1, loaded_us: 0 });
        let bytes = encoded::<MariadbLink>(|to| tables.make(table, Part::WHOLE, origin, to));
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
    fn statements_touch_what_the_method_says() {
        assert_eq!(
            update("s.cf1", Redo::Lite),
            "UPDATE s.cf1 FORCE INDEX (custid) SET c2 = ?, c20 = ? WHERE custid BETWEEN ? AND ?"
        );
        assert_eq!(update("s.cf1", Redo::Heavy).matches("= ?").count(), TEXT_COLUMNS);
        assert!(MariadbLink::check_blocks(1000, 1000 * 8192, 8192).is_ok());
        assert!(MariadbLink::check_blocks(1000, 500 * 8192, 8192).is_err());
        assert!(MariadbLink::check_blocks(1000, 1000 * 4096, 4096).is_err());
    }
}
