//! The refresh functions: new orders with their lines come in, as many old ones go.

use super::tables::{INSERTED, REMOVED, layout, refresh_sets};
use crate::load::{Destination, LoadSchema, Manifest, Product, note, transfer};
use assay_loads::dss::{DssScale, DssTable, RefreshSet, put_rows};
use assay_loads::sink::RowSink;
use assay_model::Result;
use assay_model::failure::Answer;

/// One refresh of the data, in one transaction each way.
#[derive(Clone, Copy)]
pub(super) struct Refresh<'a> {
    /// The schema of the tables.
    pub(super) schema: &'a str,
    /// Its orders.
    pub(super) set: RefreshSet,
    /// The number of the set.
    pub(super) number: u32,
    /// How large the tables are.
    pub(super) scale: DssScale,
}

impl Refresh<'_> {
    /// Inserts the new orders with their lines; gives the rows.
    pub(super) fn insert_new<L: Product>(self, connection: &mut L) -> Answer<u64> {
        let Self { schema, set, number, scale } = self;
        whole(connection, |connection| {
            let mut rows = 0;
            for table in [DssTable::Orders, DssTable::LineItem] {
                let make = |to: &mut dyn RowSink| {
                    put_rows(table, scale, set.part(), |key| set.rekey(key), to);
                };
                let layout = &layout(table, scale);
                let destination = Destination { schema, layout, is_new: false };
                rows += transfer(connection, &destination, make, |_| true)?;
            }
            connection.run(&L::put_notes(schema, &[note(INSERTED, number)]))?;
            Ok(rows)
        })
    }

    /// Removes the old orders with their lines; gives the rows.
    pub(super) fn remove_old<L: Product>(self, connection: &mut L) -> Answer<u64> {
        let Self { schema, set, number, scale } = self;
        whole(connection, |connection| {
            let mut rows = 0;
            for (table, key) in
                [(DssTable::LineItem, "l_orderkey"), (DssTable::Orders, "o_orderkey")]
            {
                let condition = set.condition(scale, key);
                rows += connection
                    .change(&format!("DELETE FROM {schema}.{} WHERE {condition}", table.name()))?;
            }
            connection.run(&L::put_notes(schema, &[note(REMOVED, number)]))?;
            Ok(rows)
        })
    }
}

/// Removes the orders whose successors are there already, where an earlier run ended between the
/// two refresh functions; gives the number of the next set.
pub fn finish_refresh<L: Product>(
    database: &mut LoadSchema<L>,
    manifest: &Manifest,
    scale: DssScale,
) -> Result<u32> {
    let (inserted, removed) = refresh_sets(manifest);
    if inserted > removed {
        let schema = &database.schema;
        let refresh = Refresh { schema, set: RefreshSet::new(inserted)?, number: inserted, scale };
        refresh
            .remove_old(&mut database.admin)
            .map_err(|failure| failure.of("removing orders that an earlier run left behind"))?;
    }
    Ok(inserted + 1)
}

/// All of it or nothing.
fn whole<L: Product>(connection: &mut L, work: impl FnOnce(&mut L) -> Answer<u64>) -> Answer<u64> {
    // Half a refresh function is none: it has no limit.
    connection.run(L::BEGIN)?;
    match work(connection) {
        Ok(rows) => connection.run("COMMIT").map(|()| rows),
        Err(failure) => {
            // A session that is lost rolls back by itself.
            let _ = connection.run("ROLLBACK");
            Err(failure)
        }
    }
}
