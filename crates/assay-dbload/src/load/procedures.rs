//! Procedures of a server that sessions of a load call: made once, and again when this program
//! writes them otherwise.

use super::LoadSchema;
use super::manifest::{Manifest, note};
use super::product::Product;
use super::tables::LoadTables;
use assay_model::Result;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The note that records from which text the procedures of a schema were created.
const PROCEDURES: &str = "procedures";

/// Makes procedures that sessions call, where the product has such, unless they are there as this
/// program writes them. They come before the tables, so that a user who may not make any does not
/// wait for rows first.
pub fn ensure_procedures<T: LoadTables, L: Product>(
    database: &mut LoadSchema<L>,
    tables: &T,
    found: &Manifest,
) -> Result<()> {
    let wanted = tables.procedures(&database.schema);
    let mut hasher = DefaultHasher::new();
    wanted.hash(&mut hasher);
    let mark = format!("{:x}", hasher.finish());
    if wanted.is_empty() || found.note(PROCEDURES) == mark {
        return Ok(());
    }
    let put = L::put_notes(&database.schema, &[note(PROCEDURES, &mark)]);
    database.admin.make_procedures(&database.schema, &wanted, &put)
}
