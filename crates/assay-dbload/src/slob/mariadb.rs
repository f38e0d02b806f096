//! The tables of the method and its statements on MariaDB and MySQL.
//!
//! The engine keeps a table as a tree by its primary key, so a key that were the primary one would lie in its order on
//! storage. Rows are therefore stored by a number that counts up, and the scattered key has an index of its own: as with
//! other products, a range of keys leads through a small index to as many single pages as it has keys. A page holds two
//! rows at least, whatever their length; so rows without a key, which no statement meets, fill the page of each that has
//! one.

use super::store::{BlockStore, Range, Statements, shared_blocks};
use super::tables::{self, Access, changed, scan_table};
use crate::load::{Database, MariaLink};
use assay_loads::slob::{Redo, Row, Rules, TEXT_BYTES, TEXT_COLUMNS, Work};
use assay_mariadb::connection::Prepared;
use assay_model::failure::Answer;
use assay_model::number::{index_of, real};
use assay_model::{Error, Result};
use std::io::Write;
use std::sync::atomic::AtomicBool;

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

impl BlockStore for MariaLink {
    type Statement = Prepared;

    fn check_plan(database: &mut Database<Self>, _access: Access, rules: &Rules) -> Result<()> {
        let doing = "asking for the plan of the reading statement";
        let read = read(&tables::table(&database.schema, 0));
        let read = read.replacen('?', "1", 1).replacen('?', &rules.work_unit.to_string(), 1);
        // What stands there by itself differs by release.
        let plan = database.admin.one(&format!("EXPLAIN FORMAT = TRADITIONAL {read}"));
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

    fn note(&mut self, schema: &str, contents: &str) -> Answer<()> {
        self.run(&format!(
            "CREATE TABLE {schema}.assay_contents (words VARCHAR(500)) ENGINE = InnoDB; \
             INSERT INTO {schema}.assay_contents VALUES ('{contents}')"
        ))
    }

    fn noted(&mut self, schema: &str) -> Answer<Option<String>> {
        let is_there = self.query(&format!(
            "SELECT TABLE_NAME FROM information_schema.SCHEMATA LEFT JOIN information_schema.TABLES \
             ON TABLE_SCHEMA = SCHEMA_NAME AND TABLE_NAME = 'assay_contents' WHERE SCHEMA_NAME = '{schema}'"
        ))?;
        match is_there.first() {
            None => Ok(None),
            Some(row) if row.text(0).is_empty() => Ok(Some(String::new())),
            Some(_) => {
                let row = self.one(&format!("SELECT words FROM {schema}.assay_contents"))?;
                Ok(Some(row.text(0).to_owned()))
            }
        }
    }

    fn begin(&mut self, name: &str) -> Answer<()> {
        self.run(&create(name))
    }

    fn put(chunk: &mut Vec<u8>, row: &Row, block_bytes: u64) {
        put_text(chunk, row, block_bytes);
    }

    fn send(
        &mut self,
        name: &str,
        chunks: &mut dyn Iterator<Item = Vec<u8>>,
        _stop: &AtomicBool,
    ) -> Answer<()> {
        let mut bulk = self.bulk(name, &columns())?;
        for chunk in chunks {
            bulk.send(&chunk)?;
        }
        bulk.finish().map(drop)
    }

    fn end(&mut self, name: &str, is_indexed: bool) -> Answer<()> {
        if is_indexed {
            self.run(&format!("ALTER TABLE {name} ADD UNIQUE INDEX custid (custid)"))?;
        }
        self.run(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}"))
    }

    fn sizes(&mut self, schema: &str) -> Answer<(u64, u64)> {
        if !self.facts().is_mariadb() {
            self.run("SET SESSION information_schema_stats_expiry = 0")?;
        }
        let sizes = self.one(&format!(
            "SELECT CAST(SUM(DATA_LENGTH) AS UNSIGNED), CAST(SUM(INDEX_LENGTH) AS UNSIGNED) \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'"
        ))?;
        Ok((sizes.count(0).unwrap_or(0), sizes.count(1).unwrap_or(0)))
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
        // Under the usual level a change locks the gaps beside its rows, too, and sessions would wait for each other.
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
        let read = self.prepare(&read(&name))?;
        let update = self.prepare(&update(&name, rules.redo))?;
        let scan = if rules.scan_share.0 > 0.0 {
            Some(self.prepare(&tables::scan(&scan_table(schema)))?)
        } else {
            None
        };
        Ok([Some(read), Some(update), scan])
    }

    #[inline]
    fn meet(&mut self, statement: &mut Prepared, work: Work, range: &Range<'_>) -> Answer<u64> {
        let texts = if work == Work::Update { statement.parameters().saturating_sub(2) } else { 0 };
        let answers = self.execute(statement, |values| {
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

fn create(name: &str) -> String {
    let columns: Vec<String> =
        (2..2 + TEXT_COLUMNS).map(|column| format!("c{column} CHAR({TEXT_BYTES})")).collect();
    format!(
        "CREATE TABLE {name} (place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, custid BIGINT, {}, \
         filler VARBINARY(16000)) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1",
        columns.join(", ")
    )
}

/// The columns that are sent: all but the place, which counts up.
fn columns() -> String {
    let texts: Vec<String> = (2..2 + TEXT_COLUMNS).map(|column| format!("c{column}")).collect();
    format!("(custid, {}, filler)", texts.join(", "))
}

/// Rows that fill a page, and the bytes of each, so that the next row with a key does not fit into it.
fn fillers(page_bytes: u64) -> (u64, usize) {
    let count = if page_bytes < LARGE_PAGE_BYTES { FILLERS } else { FILLERS_OF_LARGE_PAGES };
    // Of a page that rows are added to in order, the engine leaves a sixteenth.
    let taken = page_bytes / 16 + PAGE_OVERHEAD_BYTES + ROW_BYTES;
    let each = page_bytes.saturating_sub(taken) / count;
    (count, index_of(each.saturating_sub(ROW_OVERHEAD_BYTES)))
}

/// A row with its key, and those that fill its page; a backslash and an N are null.
fn put_text(chunk: &mut Vec<u8>, row: &Row, page_bytes: u64) {
    // Writing to memory does not fail.
    let _ = write!(chunk, "{}", row.key);
    for text in row.text.chunks_exact(TEXT_BYTES).take(TEXT_COLUMNS) {
        chunk.push(b'\t');
        chunk.extend(text);
    }
    chunk.extend(b"\t\\N\n");
    let (count, bytes) = fillers(page_bytes);
    for _ in 0..count {
        chunk.extend(b"\\N\t".repeat(1 + TEXT_COLUMNS));
        chunk.resize(chunk.len() + bytes, b'=');
        chunk.push(b'\n');
    }
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
    use super::*;

    #[test]
    fn a_page_takes_one_row_with_a_key_and_what_fills_it() {
        for page_bytes in [8192, 16_384, 32_768, 65_536] {
            let (count, bytes) = fillers(page_bytes);
            let each = bytes as u64 + ROW_OVERHEAD_BYTES;
            let taken = ROW_BYTES + count * each + PAGE_OVERHEAD_BYTES;
            // Together they leave the sixteenth, and the next row does not fit beside it.
            assert!(taken + page_bytes / 16 <= page_bytes, "{page_bytes}");
            assert!(taken + page_bytes / 16 + ROW_BYTES > page_bytes, "{page_bytes}");
            assert!(each < (page_bytes / 2 - 100).min(16_383), "{page_bytes}: {each}");
            assert!(bytes <= 16_000);
        }
    }

    #[test]
    fn rows_have_the_form_that_a_load_takes() {
        let mut chunk = Vec::new();
        let row = Row { key: 42, text: [b'a'; TEXT_COLUMNS * TEXT_BYTES] };
        put_text(&mut chunk, &row, 8192);
        let lines: Vec<&[u8]> = chunk.split(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 4);
        let columns = |line: &[u8]| line.split(|byte| *byte == b'\t').count();
        assert!(lines[..3].iter().all(|line| columns(line) == 2 + TEXT_COLUMNS));
        assert!(lines[0].starts_with(b"42\taaa") && lines[0].ends_with(b"\\N"));
        assert!(lines[1].starts_with(b"\\N\t\\N\t") && lines[1].ends_with(b"==="));
        assert_eq!(super::columns().matches(',').count() + 1, 2 + TEXT_COLUMNS);
    }

    #[test]
    fn statements_touch_what_the_method_says() {
        assert_eq!(
            update("s.cf1", Redo::Lite),
            "UPDATE s.cf1 FORCE INDEX (custid) SET c2 = ?, c20 = ? WHERE custid BETWEEN ? AND ?"
        );
        assert_eq!(update("s.cf1", Redo::Heavy).matches("= ?").count(), TEXT_COLUMNS);
        assert!(MariaLink::check_blocks(1000, 1000 * 8192, 8192).is_ok());
        assert!(MariaLink::check_blocks(1000, 500 * 8192, 8192).is_err());
        assert!(MariaLink::check_blocks(1000, 1000 * 4096, 4096).is_err());
    }
}
