//! The method on PostgreSQL: its statements, and the plans that they must have.

use super::store::{BlockStore, Range, Statements, shared_blocks};
use super::tables::{self, Access, BlockLayout, changed, scan_table};
use crate::load::Database;
use assay_loads::slob::{Redo, Rules, TEXT_BYTES, Work};
use assay_model::failure::Answer;
use assay_model::{Error, Result};
use assay_postgres::connection::{Connection, Prepared};

/// A table is extended by several blocks at once, of which the last may stay empty; nobody meets them, because no entry of
/// the index points there.
/// Source: PostgreSQL 16, `RelationAddBlocks` in src/backend/access/heap/hio.c.
const SPARE_BLOCKS: u64 = 64;

impl BlockStore for Connection {
    type Statement = Prepared;

    /// The plan of a reading statement must be the one that is to be measured.
    fn check_plan(
        database: &mut Database<Connection>,
        access: Access,
        rules: &Rules,
    ) -> Result<()> {
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

    /// Only a tenth of a block may be filled.
    fn block_layout(_block_bytes: u64) -> BlockLayout {
        BlockLayout::Heap
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

#[cfg(test)]
mod tests {
    use super::super::tables::BlockTables;
    use super::*;
    use crate::load::{Origin, TableStore, Tables, encoded};
    use assay_loads::sink::Part;
    use assay_loads::slob::TEXT_COLUMNS;

    #[test]
    fn every_row_is_sent_once_in_the_form_that_copy_takes() {
        let rules = Rules { scale_blocks: 2000, ..Rules::default() };
        let tables = BlockTables { rules: &rules, layout: BlockLayout::Heap };
        let origin = Origin { seed: 1, loaded_us: 0 };
        let table = tables.all()[0];
        let bytes = encoded::<Connection>(|to| tables.make(table, Part::WHOLE, origin, to));
        assert_eq!(bytes.len(), 2000 * (2 + 12 + TEXT_COLUMNS * (4 + TEXT_BYTES)));
        assert_eq!(bytes[..6], [0, 20, 0, 0, 0, 8]);
        assert_eq!(bytes[14..18], [0, 0, 0, 100]);
    }

    #[test]
    fn a_table_has_rows_in_blocks_of_their_own_and_an_index() {
        let rules = Rules::default();
        let tables = BlockTables { rules: &rules, layout: BlockLayout::Heap };
        let layout = tables.layout(tables.all()[0]);
        let create = Connection::begin_rows("s", &layout).concat();
        assert!(create.contains("fillfactor = 10, autovacuum_enabled = off"), "{create}");
        assert_eq!(create.matches(" text NOT NULL").count(), TEXT_COLUMNS);
        let index = Connection::add_index("s", &layout.name, &layout.indexes[0]);
        assert_eq!(index, "CREATE UNIQUE INDEX cf1_custid ON s.cf1 (custid)");
        assert!(Connection::finish_table("s", &layout).is_empty());
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
        assert!(read(&tables::table("s", 0)).contains("s.cf1"));
    }
}
