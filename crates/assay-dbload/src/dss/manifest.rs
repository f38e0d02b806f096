//! What our schema says about itself: scale, how far loading came, and which refresh sets were used. By it loaded data is
//! found again, and half loaded data told from whole.

use super::store::DssStore;
use crate::load::{Database, Standing, in_the_way};
use assay_loads::dss::{Scale, TABLES, Table};
use assay_model::failure::{Answer, Failure};
use assay_model::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::Display;

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

    /// Rows of all parts that are loaded.
    pub(super) fn rows_of_parts(&self) -> u64 {
        let parts = self.items.iter().filter(|(item, _)| item.starts_with("part "));
        parts.filter_map(|(_, rows)| rows.parse::<u64>().ok()).sum()
    }

    fn item(&self, name: &str) -> &str {
        self.items.get(name).map_or("", String::as_str)
    }
}

/// The item that says how many rows a part has.
pub(super) fn part_item(table: &str, part: i32) -> String {
    format!("part {table} {part}")
}

/// An item with its value.
pub(super) fn note(item: &str, value: impl Display) -> (String, String) {
    (item.to_owned(), value.to_string())
}

/// Sets an item.
pub(super) fn put<L: DssStore, V: Display>(item: &str, value: V) -> String {
    L::put(&[note(item, value)])
}

/// What a manifest says before the first row.
pub(super) fn first_notes(scale: Scale) -> Vec<(String, String)> {
    vec![note("format", FORMAT), note("scale", scale), note("state", "loading")]
}

/// Looks what is there, and takes hold of it for as long as this program lives.
///
/// # Errors
/// What the server says, that another program is at it, or that the schema is not ours.
pub fn look<L: DssStore>(database: &mut Database<L>) -> Result<Found> {
    let told = |failure: Failure| failure.of("looking for loaded tables");
    if !database.admin.take_hold().map_err(told)? {
        return Err(Error::environment(
            "another program loads or measures the tables of this load in this database",
            "wait until it has ended, or name another database",
        ));
    }
    match database.standing()? {
        Standing::Absent => return Ok(Found::Nothing),
        Standing::Foreign(why) => return Err(in_the_way("the schema", SCHEMA, &why)),
        Standing::Ours(_) => {}
    }
    let manifest = read(&mut database.admin).map_err(told)?;
    if manifest.item("format") != FORMAT {
        // Broken off before its first note, or another version's.
        return Ok(Found::Half(manifest));
    }
    if manifest.item("state") != "loaded" {
        return Ok(Found::Half(manifest));
    }
    let there = tables(&mut database.admin).map_err(told)?;
    let is_there = |table: Table| there.iter().any(|name| name == table.name());
    let all = TABLES.into_iter().all(is_there);
    Ok(if all { Found::Whole(manifest) } else { Found::Half(manifest) })
}

/// Names of the tables in our schema.
fn tables<L: DssStore>(admin: &mut L) -> Answer<Vec<String>> {
    let rows = admin.ask(&format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = '{SCHEMA}' AND table_type = 'BASE TABLE'"
    ))?;
    Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
}

/// The manifest; empty where there is none yet.
pub(super) fn read<L: DssStore>(admin: &mut L) -> Answer<Manifest> {
    let tables = tables(admin)?;
    let has_manifest = tables.iter().any(|name| name == "assay_manifest");
    let items = if has_manifest { items(admin)? } else { BTreeMap::new() };
    Ok(Manifest { items })
}

fn items<L: DssStore>(admin: &mut L) -> Answer<BTreeMap<String, String>> {
    let rows = admin.ask(&format!("SELECT item, value FROM {SCHEMA}.assay_manifest"))?;
    Ok(rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned())).collect())
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
        assert_eq!(manifest.rows_of_parts(), 75_000);
    }
}
