//! The refresh functions: new orders with their lines come in, as many old ones go.

use super::copy::Binary;
use super::manifest::{SCHEMA, put};
use assay_loads::dss::{RefreshSet, Scale, Table, put_rows};
use assay_postgres::connection::Connection;
use assay_postgres::failure::{Answer, Failure};

/// Bytes that travel together; a set of scale 1 has about a megabyte.
const CHUNK_BYTES: usize = 1 << 18;

/// `COPY` in binary form.
pub(super) fn copy(table: Table, option: &str) -> String {
    format!("COPY {SCHEMA}.{} FROM STDIN (FORMAT binary{option})", table.name())
}

/// Inserts the new orders of a set with their lines, in one transaction; gives the rows.
pub(super) fn insert_new(
    connection: &mut Connection,
    set: RefreshSet,
    number: u32,
    scale: Scale,
) -> Answer<u64> {
    whole(connection, |connection| {
        let mut rows = 0;
        for table in [Table::Orders, Table::LineItem] {
            rows += insert(connection, table, set, scale)?;
        }
        connection.run(&put("inserted", &number.to_string()))?;
        Ok(rows)
    })
}

fn insert(connection: &mut Connection, table: Table, set: RefreshSet, scale: Scale) -> Answer<u64> {
    let mut copying = connection.copy_in(&copy(table, ""))?;
    let (mut rows, mut failed): (u64, Option<Failure>) = (0, None);
    let mut give = |bytes: Vec<u8>, more: u64| {
        rows += more;
        failed = copying.send(&bytes).err();
        failed.is_none()
    };
    let mut binary = Binary::new(table.columns().len(), CHUNK_BYTES, &mut give);
    put_rows(table, scale, set.part(), |key| set.rekey(key), &mut binary);
    binary.finish();
    match failed {
        Some(failure) => Err(failure),
        None => copying.finish().map(|()| rows),
    }
}

/// Removes the old orders of a set with their lines, in one transaction; gives the rows.
pub(super) fn remove_old(
    connection: &mut Connection,
    set: RefreshSet,
    number: u32,
    scale: Scale,
) -> Answer<u64> {
    whole(connection, |connection| {
        let mut rows = 0;
        for (table, key) in [(Table::LineItem, "l_orderkey"), (Table::Orders, "o_orderkey")] {
            let condition = set.condition(scale, key);
            let sql = format!("DELETE FROM {SCHEMA}.{} WHERE {condition}", table.name());
            let statement = connection.prepare("", &sql, &[])?;
            rows += connection.execute(&statement)?.count;
        }
        connection.run(&put("removed", &number.to_string()))?;
        Ok(rows)
    })
}

/// All of it or nothing.
fn whole(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Answer<u64>,
) -> Answer<u64> {
    // Half a refresh function is none: it has no limit.
    connection.run("BEGIN; SET LOCAL statement_timeout = 0")?;
    match work(connection) {
        Ok(rows) => connection.run("COMMIT").map(|()| rows),
        Err(failure) => {
            // A session that is lost rolls back by itself.
            let _ = connection.run("ROLLBACK");
            Err(failure)
        }
    }
}
