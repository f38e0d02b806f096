//! What our schema says about itself: scale, how far loading came, and which refresh sets were used. By it loaded data is
//! found again, and half loaded data told from whole.

use super::refresh::remove_old;
use crate::load::Database;
use assay_loads::dss::{RefreshSet, Scale, TABLES};
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use assay_postgres::failure::{Answer, Failure};
use std::collections::BTreeMap;

/// The name of our schema: always the same, so that the next run finds it.
pub const SCHEMA: &str = "assay_dss";
/// The form of tables and manifest; another version's data is not this one's.
const FORMAT: &str = "1";

/// What the manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Manifest {
    items: BTreeMap<String, String>,
}

/// What stands where our tables would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Loaded tables.
    Whole(Manifest),
    /// Tables whose loading did not come to its end.
    Half(Manifest),
}

impl Manifest {
    /// The scale of the tables as it was asked for.
    pub fn scale(&self) -> &str {
        self.item("scale")
    }

    /// The last refresh set of which rows were inserted, and of which rows were removed; 0 for none.
    pub fn sets(&self) -> (u32, u32) {
        let number = |item| self.item(item).parse().unwrap_or(0);
        (number("inserted"), number("removed"))
    }

    /// Rows when they were loaded.
    pub fn rows(&self) -> u64 {
        self.item("rows").parse().unwrap_or(0)
    }

    /// The parts into which a table was cut.
    pub(super) fn parts(&self, table: &str) -> Option<i32> {
        self.item(&format!("parts {table}")).parse().ok()
    }

    /// Rows of a part that is loaded.
    pub(super) fn rows_of_part(&self, table: &str, part: i32) -> Option<u64> {
        self.item(&part_item(table, part)).parse().ok()
    }

    fn item(&self, name: &str) -> &str {
        self.items.get(name).map_or("", String::as_str)
    }
}

/// The item that says how many rows a part has.
pub(super) fn part_item(table: &str, part: i32) -> String {
    format!("part {table} {part}")
}

/// Sets an item.
pub(super) fn put(item: &str, value: &str) -> String {
    format!(
        "INSERT INTO {SCHEMA}.assay_manifest VALUES ('{item}', '{value}') \
         ON CONFLICT (item) DO UPDATE SET value = excluded.value"
    )
}

/// Makes the schema with its manifest.
pub(super) fn create(scale: Scale) -> Vec<String> {
    vec![
        format!("CREATE SCHEMA {SCHEMA}"),
        format!(
            "CREATE TABLE {SCHEMA}.assay_manifest (item text PRIMARY KEY, value text NOT NULL)"
        ),
        put("format", FORMAT),
        put("scale", &scale.to_string()),
        put("state", "loading"),
    ]
}

/// Looks what is there, and takes hold of it for as long as this program lives.
///
/// # Errors
/// What the server says, that another program is at it, or that the schema is not ours.
pub fn look(database: &mut Database) -> Result<Found> {
    let told = |failure: Failure| failure.of("looking for loaded tables");
    let held = database.admin.one(&format!("SELECT pg_try_advisory_lock(hashtext('{SCHEMA}'))"));
    if !held.map_err(told)?.is_true(0) {
        return Err(Error::environment(
            "another program loads or measures the tables of this load in this database",
            "wait until it has ended, or name another database",
        ));
    }
    let Some(manifest) = read(&mut database.admin).map_err(told)? else {
        return Ok(Found::Nothing);
    };
    if manifest.item("format") != FORMAT {
        return Err(Error::environment(
            format!("the schema {SCHEMA} has no manifest of this version"),
            "rename or drop it, or name another database",
        ));
    }
    if manifest.item("state") != "loaded" {
        return Ok(Found::Half(manifest));
    }
    let all = database.admin.one(&format!(
        "SELECT count(*) FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace \
         AND relkind = 'r' AND relname = ANY ('{{{}}}')",
        TABLES.map(assay_loads::dss::Table::name).join(",")
    ));
    let all = all.map_err(told)?.count(0);
    Ok(if all == Some(8) { Found::Whole(manifest) } else { Found::Half(manifest) })
}

/// The manifest; empty where there is a schema without one, nothing where there is no schema.
fn read(admin: &mut Connection) -> Answer<Option<Manifest>> {
    let row = admin.one(&format!(
        "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '{SCHEMA}'), \
         to_regclass('{SCHEMA}.assay_manifest') IS NOT NULL"
    ))?;
    if !row.is_true(0) {
        return Ok(None);
    }
    if !row.is_true(1) {
        return Ok(Some(Manifest::default()));
    }
    let rows = admin.query(&format!("SELECT item, value FROM {SCHEMA}.assay_manifest"))?;
    let pairs = rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned()));
    Ok(Some(Manifest { items: pairs.collect() }))
}

/// Removes the orders whose successors are there already, where an earlier run ended between the two refresh
/// functions; gives the number of the next set.
///
/// # Errors
/// What the server says.
pub fn finish_refresh(database: &mut Database, manifest: &Manifest, scale: Scale) -> Result<u32> {
    let (inserted, removed) = manifest.sets();
    if inserted > removed {
        let set = RefreshSet::new(inserted)?;
        remove_old(&mut database.admin, set, inserted, scale)
            .map_err(|failure| failure.of("removing orders that an earlier run left behind"))?;
    }
    Ok(inserted + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_tells_scale_parts_and_sets() {
        let pairs = [
            ("scale", "0.1"),
            ("parts orders", "2"),
            ("part orders 1", "75000"),
            ("inserted", "4"),
        ];
        let items = pairs.map(|(item, value)| (item.to_owned(), value.to_owned())).into();
        let manifest = Manifest { items };
        assert_eq!((manifest.scale(), manifest.sets()), ("0.1", (4, 0)));
        assert_eq!((manifest.parts("orders"), manifest.parts("part")), (Some(2), None));
        assert_eq!(manifest.rows_of_part("orders", 1), Some(75_000));
        assert_eq!(manifest.rows_of_part("orders", 2), None);
    }
}
