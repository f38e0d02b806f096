//! Loads the tables of the method, and sees to it that every row came to lie in a block of its own.

use super::statements::layout;
use super::tables::{BlockTables, check_blocks};
use crate::load::{LoadSchema, ManifestState, Product, TableFill, fill as load, in_the_way};
use assay_loads::slob::SlobRules;
use assay_model::load::Filled;
use assay_model::{Error, Result};
use std::sync::atomic::AtomicBool;

/// The tables as this product keeps them.
fn tables<'a, L: Product>(database: &LoadSchema<L>, rules: &'a SlobRules) -> BlockTables<'a> {
    BlockTables { rules, layout: layout(L::DIALECT, database.facts.block_bytes) }
}

/// Creates our schema and loads its tables; `progress` is given the rows with a key so far and in
/// all.
///
/// # Errors
/// What the server says, that loading was stopped, or that rows share blocks.
pub fn fill<L: Product>(
    database: &mut LoadSchema<L>,
    rules: &SlobRules,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Filled> {
    let tables = tables(database, rules);
    let each = tables.rows_a_block();
    let doing = TableFill {
        tables: &tables,
        seed: rules.seed,
        found: None,
        loaders: 0,
        stop,
        progress: &mut |rows, all| progress(rows / each, all / each),
    };
    let filled = load(database, doing)?;
    let rows = tables.rows();
    check_blocks(tables.layout, rows, filled.table_bytes, database.facts.block_bytes)?;
    Ok(Filled { rows, ..filled })
}

/// Whether the tables are there already.
///
/// # Errors
/// A usage error when the schema holds others, and what the server says.
pub fn is_filled<L: Product>(database: &mut LoadSchema<L>, rules: &SlobRules) -> Result<bool> {
    use crate::load::LoadTables as _;
    let wanted = tables(database, rules).knobs();
    let other = match ManifestState::of(database)? {
        ManifestState::Absent => return Ok(false),
        ManifestState::Foreign(why) => {
            return Err(in_the_way("the schema", &database.schema, &why));
        }
        ManifestState::Half(_) => "it does not have complete tables of this load".to_owned(),
        ManifestState::Whole(manifest) => match manifest.difference(&wanted) {
            None => return Ok(true),
            Some((what, is, wanted)) => format!("its {what} is {is}, but {wanted} is required"),
        },
    };
    Err(Error::usage(
        format!("the schema {} contains other tables: {other}", database.schema),
        "use the same --scale, --tables, --scan-share, --compressible and --seed, or drop them \
         with --partial-data drop",
    ))
}
