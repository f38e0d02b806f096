//! What dialects say differently of the method: how rows lie, statements, settings of sessions, and
//! the plans that they must have.

use super::tables::{BlockLayout, RowAccess, changed, scan_table, table};
use crate::load::{Dialect, LoadSchema, Product, ServerLink, StatementValue};
use assay_loads::slob::{Redo, SlobRules, TEXT_BYTES};
use assay_model::failure::Answer;
use assay_model::{Error, Result};

/// How servers of a dialect read rows, in words; none where they have no such way.
pub const fn access_words(dialect: Dialect, access: RowAccess) -> Option<&'static str> {
    match (dialect, access) {
        (Dialect::Postgres, _) => Some(access.name()),
        (Dialect::Mariadb, RowAccess::Index) => {
            Some("single pages of the clustered index (by an index on the key, one page at a time)")
        }
        (Dialect::Mariadb, RowAccess::Stream) => None,
    }
}

/// How rows come to lie in blocks of this length, each in its own.
pub(super) fn layout(dialect: Dialect, block_bytes: u64) -> BlockLayout {
    match dialect {
        Dialect::Postgres => BlockLayout::Heap,
        Dialect::Mariadb => BlockLayout::clustered(block_bytes),
    }
}

/// Statements of one table: reading, changing, scanning.
pub(super) type SlobStatements<P> = [Option<P>; 3];

/// The first and the last key of a range, and the text that a change writes.
pub(super) fn values(first: i64, last: i64, text: &[u8; TEXT_BYTES]) -> [StatementValue<'_>; 3] {
    // Texts are letters.
    let text = std::str::from_utf8(text).unwrap_or_default();
    [StatementValue::Number(first), StatementValue::Number(last), StatementValue::Text(text)]
}

/// The statements of a table, and of the one without an index where it is scanned.
pub(super) fn prepare<L: ServerLink>(
    link: &mut L,
    schema: &str,
    number: u32,
    rules: &SlobRules,
) -> Answer<SlobStatements<L::Prepared>> {
    let name = table(schema, number);
    let like = values(0, 0, &[b' '; TEXT_BYTES]);
    let mut of = |kind: &str, sql: &str| link.prepare(&format!("{kind}{number}"), sql, &like);
    let read = of("read", &read(L::DIALECT, &name))?;
    let update = of("update", &update(L::DIALECT, &name, rules.redo))?;
    let is_scanned = rules.scan_share.0 > 0.0;
    let scan = is_scanned.then(|| of("scan", &scan(&scan_table(schema)))).transpose()?;
    Ok([Some(read), Some(update), scan])
}

/// Settings of a session.
pub(super) fn make_ready<L: ServerLink>(link: &mut L, access: RowAccess) -> Answer<()> {
    match L::DIALECT {
        Dialect::Postgres => {
            link.run(
                "SET plan_cache_mode = force_generic_plan; SET jit = off; SET \
                 max_parallel_workers_per_gather = 0",
            )?;
            link.run(planner(access))?;
            // Only some users may; the result says whether it was timed.
            let _ = link.run("SET track_io_timing = on");
            Ok(())
        }
        Dialect::Mariadb => {
            // Under the usual level a change also locks the gaps next to its rows, and sessions
            // would wait for each other.
            link.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
            link.run("SET SESSION optimizer_switch = 'mrr=off'")
        }
    }
}

/// Refuses a server that would read otherwise than asked: the plan of a reading statement must be
/// the one that is to be measured.
pub(super) fn check_plan<L: Product>(
    database: &mut LoadSchema<L>,
    access: RowAccess,
    rules: &SlobRules,
) -> Result<()> {
    let doing = "reading the plan of the reading statement";
    let (explain, hint) = match L::DIALECT {
        Dialect::Postgres => {
            database.run(doing, planner(access))?;
            ("EXPLAIN", "check the planner method settings in its configuration")
        }
        // What stands there by itself differs by release.
        Dialect::Mariadb => {
            ("EXPLAIN FORMAT = TRADITIONAL", "check optimizer_switch in its configuration")
        }
    };
    let read = read(L::DIALECT, &table(&database.schema, 0));
    let read = read.replace("#1", "1").replace("#2", &rules.work_unit.to_string());
    let rows = database.admin.query(&format!("{explain} {read}"));
    let rows = rows.map_err(|failure| failure.of(doing))?;
    let plan: Vec<&str> =
        rows.iter().flat_map(|row| row.0.iter().flatten()).map(|cell| cell.trim()).collect();
    if is_as_asked(L::DIALECT, &plan, access) {
        return Ok(());
    }
    Err(Error::environment(format!("the server chose a different plan: {}", plan.join(" ")), hint))
}

/// Whether a plan, cell by cell, is the one that is to be measured.
fn is_as_asked(dialect: Dialect, plan: &[&str], access: RowAccess) -> bool {
    match dialect {
        Dialect::Postgres => {
            let word = match access {
                RowAccess::Index => "Index Scan using",
                RowAccess::Stream => "Bitmap Heap Scan",
            };
            plan.iter().any(|line| line.contains(word))
        }
        Dialect::Mariadb => {
            plan.iter().any(|cell| ["range", "const"].contains(cell)) && plan.contains(&"custid")
        }
    }
}

/// Settings of a session of PostgreSQL, so that its planner has no choice.
const fn planner(access: RowAccess) -> &'static str {
    match access {
        RowAccess::Index => {
            "SET enable_bitmapscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
        }
        RowAccess::Stream => {
            "SET enable_indexscan = off; SET enable_seqscan = off; SET enable_indexonlyscan = off"
        }
    }
}

/// The way to rows by their key, where it must be said.
const fn by_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "",
        Dialect::Mariadb => " FORCE INDEX (custid)",
    }
}

/// Reads a range: the first text, so that each block is met and almost no work is done in it.
fn read(dialect: Dialect, name: &str) -> String {
    format!("SELECT count(c2) FROM {name}{} WHERE custid BETWEEN #1 AND #2", by_key(dialect))
}

/// Changes a range; no column that is changed has an index, and a text keeps its length, so that
/// the new row fits into the old one's block.
fn update(dialect: Dialect, name: &str, redo: Redo) -> String {
    let sets: Vec<String> = changed(redo).iter().map(|column| format!("c{column} = @3")).collect();
    let (way, sets) = (by_key(dialect), sets.join(", "));
    format!("UPDATE {name}{way} SET {sets} WHERE custid BETWEEN #1 AND #2")
}

/// Reads a whole table.
fn scan(name: &str) -> String {
    format!("SELECT count(c2) FROM {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_loads::slob::TEXT_COLUMNS;

    #[test]
    fn statements_touch_what_the_method_says() {
        assert_eq!(
            update(Dialect::Postgres, "s.cf1", Redo::Lite),
            "UPDATE s.cf1 SET c2 = @3, c20 = @3 WHERE custid BETWEEN #1 AND #2"
        );
        assert_eq!(
            update(Dialect::Mariadb, "s.cf1", Redo::Lite),
            "UPDATE s.cf1 FORCE INDEX (custid) SET c2 = @3, c20 = @3 WHERE custid BETWEEN #1 AND \
             #2"
        );
        for dialect in Dialect::ALL {
            assert_eq!(update(dialect, "s.cf1", Redo::Heavy).matches("= @3").count(), TEXT_COLUMNS);
            assert!(read(dialect, &table("s", 0)).contains("s.cf1"));
        }
    }

    #[test]
    fn a_plan_is_the_one_that_was_asked_for_or_it_is_refused() {
        let (index, bitmap) =
            (["Aggregate", "-> Index Scan using cf1_custid"], ["Bitmap Heap Scan"]);
        assert!(is_as_asked(Dialect::Postgres, &index, RowAccess::Index));
        assert!(!is_as_asked(Dialect::Postgres, &index, RowAccess::Stream));
        assert!(is_as_asked(Dialect::Postgres, &bitmap, RowAccess::Stream));
        assert!(is_as_asked(
            Dialect::Mariadb,
            &["1", "SIMPLE", "range", "custid"],
            RowAccess::Index
        ));
        assert!(!is_as_asked(
            Dialect::Mariadb,
            &["1", "SIMPLE", "ALL", "custid"],
            RowAccess::Index
        ));
        assert!(!is_as_asked(Dialect::Mariadb, &["range", "PRIMARY"], RowAccess::Index));
    }
}
