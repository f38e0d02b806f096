//! The tables of the method and its statements on PostgreSQL.

use super::store::{BlockStore, Range, Statements, shared_blocks};
use super::tables::{self, Access, changed, scan_table};
use crate::load::Database;
use assay_loads::slob::{Redo, Row, Rules, TEXT_BYTES, TEXT_COLUMNS, Work};
use assay_model::failure::{Answer, Failure};
use assay_model::{Error, Result};
use assay_postgres::connection::{Connection, Prepared};
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns of a row: the key and the texts.
const COLUMNS: u16 = 20;

/// A table is extended by several blocks at once, of which the last may stay empty; nobody meets them, because no entry of
/// the index points there.
/// Source: PostgreSQL 16, `RelationAddBlocks` in src/backend/access/heap/hio.c.
const SPARE_BLOCKS: u64 = 64;

impl BlockStore for Connection {
    type Statement = Prepared;

    /// The plan of a reading statement must be the one that is to be measured.
    fn check_plan(database: &mut Database, access: Access, rules: &Rules) -> Result<()> {
        let doing = "asking for the plan of the reading statement";
        database.run(doing, settings(access))?;
        let read = read(&tables::table(&database.schema, 0));
        let read = read.replace("$1", "1").replace("$2", &rules.work_unit.to_string());
        let rows = database.admin.query(&format!("EXPLAIN {read}"));
        let rows = rows.map_err(|failure| failure.of(doing))?;
        let plan: Vec<&str> = rows.iter().map(|row| row.text(0).trim()).collect();
        if plan.iter().any(|line| line.contains(plan_word(access))) {
            return Ok(());
        }
        Err(Error::environment(
            format!("the server plans otherwise than asked: {}", plan.join(" ")),
            "check settings of planner methods in its configuration",
        ))
    }

    fn note(&mut self, schema: &str, contents: &str) -> Answer<()> {
        self.run(&format!("COMMENT ON SCHEMA {schema} IS '{contents}'"))
    }

    fn noted(&mut self, schema: &str) -> Answer<Option<String>> {
        let rows = self.query(&format!(
            "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = '{schema}'"
        ))?;
        Ok(rows.first().map(|row| row.text(0).to_owned()))
    }

    fn begin(&mut self, name: &str) -> Answer<()> {
        self.run("BEGIN")?;
        self.run(&create(name))
    }

    fn put(chunk: &mut Vec<u8>, row: &Row, _block_bytes: u64) {
        put_binary(chunk, row);
    }

    fn send(
        &mut self,
        name: &str,
        chunks: &mut dyn Iterator<Item = Vec<u8>>,
        stop: &AtomicBool,
    ) -> Answer<()> {
        let mut copying = self.copy_in(&copy(name))?;
        for chunk in chunks {
            copying.send(&chunk)?;
        }
        if stop.load(Ordering::Relaxed) {
            copying.abort();
            return Err(Failure::Protocol("it was stopped".to_owned()));
        }
        copying.finish()
    }

    fn end(&mut self, name: &str, is_indexed: bool) -> Answer<()> {
        self.run("COMMIT")?;
        if is_indexed { self.run(&index(name)) } else { Ok(()) }
    }

    fn sizes(&mut self, schema: &str) -> Answer<(u64, u64)> {
        let sizes = self.one(&format!(
            "SELECT sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), \
             coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0) \
             FROM pg_class WHERE relnamespace = '{schema}'::regnamespace"
        ))?;
        Ok((sizes.count(0).unwrap_or(0), sizes.count(1).unwrap_or(0)))
    }

    fn check_blocks(rows: u64, table_bytes: u64, block_bytes: u64) -> Result<()> {
        let wanted = rows.saturating_mul(block_bytes);
        if (wanted..=wanted + wanted / 16 + SPARE_BLOCKS * block_bytes).contains(&table_bytes) {
            return Ok(());
        }
        let hint = "use a server with the usual block of 8 KiB";
        Err(shared_blocks(rows, table_bytes, wanted, hint))
    }

    fn ready(&mut self, access: Access) -> Answer<()> {
        self.run("SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0")?;
        self.run(settings(access))?;
        // Only some users may; the result says whether it was timed.
        let _ = self.run("SET track_io_timing = on");
        Ok(())
    }

    fn statements(
        &mut self,
        schema: &str,
        table: u32,
        rules: &Rules,
    ) -> Answer<Statements<Prepared>> {
        let name = tables::table(schema, table);
        let read = self.prepare(&format!("read{table}"), &read(&name), &READ_PARAMETERS)?;
        let update = update(&name, rules.redo);
        let update = self.prepare(&format!("update{table}"), &update, &UPDATE_PARAMETERS)?;
        let scan = if rules.scan_share.0 > 0.0 {
            let scan = tables::scan(&scan_table(schema));
            Some(self.prepare(&format!("scan{table}"), &scan, &[])?)
        } else {
            None
        };
        Ok([Some(read), Some(update), scan])
    }

    #[inline]
    fn meet(&mut self, statement: &mut Prepared, work: Work, range: &Range<'_>) -> Answer<u64> {
        if work != Work::Scan {
            statement.set_integer(0, range.first);
            statement.set_integer(1, range.last);
        }
        if work == Work::Update {
            statement.set(2, range.text);
        }
        Ok(self.execute(statement)?.count)
    }
}

/// Settings of a session, so that the planner has no choice.
const fn settings(access: Access) -> &'static str {
    match access {
        Access::Index => {
            "SET enable_bitmapscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
        }
        Access::Stream => {
            "SET enable_indexscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
        }
    }
}

/// What the plan of a reading statement must contain.
const fn plan_word(access: Access) -> &'static str {
    match access {
        Access::Index => "Index Scan using",
        Access::Stream => "Bitmap Heap Scan",
    }
}

/// Creates a table of which every row has a block of its own: only a tenth of a block may be filled.
fn create(name: &str) -> String {
    let columns: Vec<String> =
        (2..2 + TEXT_COLUMNS).map(|column| format!("c{column} text NOT NULL")).collect();
    format!(
        "CREATE TABLE {name} (custid bigint NOT NULL, {}) WITH (fillfactor = 10, autovacuum_enabled = off)",
        columns.join(", ")
    )
}

/// Takes rows in binary form; a table that was made in the same transaction is not logged where that is allowed, and
/// its rows need no second visit.
fn copy(name: &str) -> String {
    format!("COPY {name} FROM STDIN (FORMAT binary, FREEZE)")
}

/// The index that leads to a row.
fn index(name: &str) -> String {
    format!("CREATE UNIQUE INDEX ON {name} (custid)")
}

/// Reads a range: the second column, so that each block is met and hardly any work is done in it.
fn read(name: &str) -> String {
    format!("SELECT count(c2) FROM {name} WHERE custid BETWEEN $1 AND $2")
}

/// Changes a range; no column has an index, and the new row fits into the old one's block.
fn update(name: &str, redo: Redo) -> String {
    let sets: Vec<String> = changed(redo).iter().map(|column| format!("c{column} = $3")).collect();
    format!("UPDATE {name} SET {} WHERE custid BETWEEN $1 AND $2", sets.join(", "))
}

/// Lengths of the parameters of a reading and of a changing statement, bytes.
const READ_PARAMETERS: [usize; 2] = [8, 8];
/// The same of a changing one.
const UPDATE_PARAMETERS: [usize; 3] = [8, 8, TEXT_BYTES];

/// A row in the binary form of COPY: number of columns, then length and bytes of each.
fn put_binary(chunk: &mut Vec<u8>, row: &Row) {
    const TEXT: [u8; 4] = [0, 0, 0, TEXT_BYTES.to_le_bytes()[0]];
    chunk.extend(COLUMNS.to_be_bytes());
    chunk.extend([0, 0, 0, 8]);
    chunk.extend(row.key.to_be_bytes());
    for text in row.text.chunks_exact(TEXT_BYTES).take(TEXT_COLUMNS) {
        chunk.extend(TEXT);
        chunk.extend(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_form_that_copy_takes() {
        let mut chunk = Vec::new();
        let row = Row { key: 0x0102_0304, ..Row::default() };
        put_binary(&mut chunk, &row);
        assert_eq!(chunk.len(), 2 + 12 + TEXT_COLUMNS * (4 + TEXT_BYTES));
        assert_eq!(chunk[..14], [0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(chunk[14..18], [0, 0, 0, 100]);
        assert_eq!(usize::from(COLUMNS), 1 + TEXT_COLUMNS);
    }

    #[test]
    fn rows_have_blocks_of_their_own_and_some_blocks_may_be_spare() {
        let check =
            |blocks: u64| <Connection as BlockStore>::check_blocks(1024, blocks * 8192, 8192);
        assert!(check(1024).is_ok() && check(1025).is_ok() && check(1024 + 64 + 64).is_ok());
        assert!(check(1023).is_err() && check(512).is_err() && check(2048).is_err());
    }

    #[test]
    fn statements_touch_what_the_method_says() {
        assert_eq!(
            update("s.cf1", Redo::Lite),
            "UPDATE s.cf1 SET c2 = $3, c20 = $3 WHERE custid BETWEEN $1 AND $2"
        );
        assert_eq!(update("s.cf1", Redo::Heavy).matches("= $3").count(), TEXT_COLUMNS);
        assert_eq!(create("t").matches(" text ").count(), TEXT_COLUMNS);
        assert!(read(&tables::table("s", 0)).contains("s.cf1"));
    }
}
