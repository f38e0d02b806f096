//! Loads the tables of the method, and sees to it that every row came to lie in a block of its own.

use super::tables::{BlockLayout, BlockTables};
use crate::load::{Database, Dialect, Fill, Product, State, fill as load, in_the_way};
use assay_loads::slob::Rules;
use assay_model::load::Filled;
use assay_model::number::real;
use assay_model::{Error, Result};
use std::sync::atomic::AtomicBool;

/// A table of PostgreSQL is extended by several blocks at once, of which the last may stay empty; nobody meets them, because no
/// entry of the index points there.
/// Source: PostgreSQL 16, `RelationAddBlocks` in src/backend/access/heap/hio.c.
const SPARE_BLOCKS: u64 = 64;
/// The smallest page of InnoDB that rows of the method fit into, bytes.
const PAGE_BYTES_MIN: u64 = 8192;
/// Share of the rows that must have a page of their own: InnoDB's count of its pages is of whole extents.
const OWN_PAGE_SHARE_MIN: f64 = 0.98;

/// The tables as this product keeps them.
fn tables<'a, L: Product>(database: &Database<L>, rules: &'a Rules) -> BlockTables<'a> {
    BlockTables { rules, layout: BlockLayout::of(L::DIALECT, database.facts.block_bytes) }
}

/// Creates our schema and loads its tables; `progress` is given the rows with a key so far and in all.
///
/// # Errors
/// What the server says, that loading was stopped, or that rows share blocks.
pub fn fill<L: Product>(
    database: &mut Database<L>,
    rules: &Rules,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Filled> {
    let tables = tables(database, rules);
    let each = tables.rows_a_block();
    let doing = Fill {
        tables: &tables,
        seed: rules.seed,
        found: None,
        loaders: 0,
        stop,
        progress: &mut |rows, all| progress(rows / each, all / each),
    };
    let filled = load(database, doing)?;
    let rows = tables.rows();
    check_blocks(L::DIALECT, rows, filled.table_bytes, database.facts.block_bytes)?;
    Ok(Filled { rows, ..filled })
}

/// Whether the tables are there already.
///
/// # Errors
/// A usage error when the schema holds others, and what the server says.
pub fn is_filled<L: Product>(database: &mut Database<L>, rules: &Rules) -> Result<bool> {
    use crate::load::Tables as _;
    let wanted = tables(database, rules).knobs();
    let other = match State::of(database)? {
        State::Absent => return Ok(false),
        State::Foreign(why) => return Err(in_the_way("the schema", &database.schema, &why)),
        State::Half(_) => "it has no tables of this load that are whole".to_owned(),
        State::Whole(manifest) => match manifest.difference(&wanted) {
            None => return Ok(true),
            Some((what, is, wanted)) => format!("it has {is} as {what}, and {wanted} is wanted"),
        },
    };
    Err(Error::usage(
        format!("the kept server holds other tables: {other}"),
        "ask for the same --scale, --tables, --scan-share, --compressible and --seed, or make a new server",
    ))
}

/// Refuses tables whose rows share blocks.
fn check_blocks(dialect: Dialect, rows: u64, table_bytes: u64, block_bytes: u64) -> Result<()> {
    let wanted = rows.saturating_mul(block_bytes);
    let (are_apart, hint) = match dialect {
        Dialect::Postgres => {
            let most = wanted + wanted / 16 + SPARE_BLOCKS * block_bytes;
            ((wanted..=most).contains(&table_bytes), "use a server with the usual block of 8 KiB")
        }
        Dialect::Mariadb => {
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
            "{rows} rows became {table_bytes} bytes and not {wanted}: not every row has a block of its own"
        ),
        hint,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_blocks_of_their_own_and_some_blocks_may_be_spare() {
        let heap = |blocks: u64| check_blocks(Dialect::Postgres, 1024, blocks * 8192, 8192);
        assert!(heap(1024).is_ok() && heap(1025).is_ok() && heap(1024 + 64 + 64).is_ok());
        assert!(heap(1023).is_err() && heap(512).is_err() && heap(2048).is_err());
        let tree = |rows: u64, page_bytes| {
            check_blocks(Dialect::Mariadb, 1000, rows * page_bytes, page_bytes)
        };
        assert!(tree(1000, 8192).is_ok());
        assert!(tree(500, 8192).is_err() && tree(1000, 4096).is_err());
    }
}
