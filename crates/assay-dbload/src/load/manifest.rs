//! What an Assay schema records about itself: what its tables were made with, which parts of them
//! are loaded, and whether everything is there. With it, loaded data is found again, and partly
//! loaded data is told apart from complete data.

use super::LoadSchema;
use super::owner::Ownership;
use super::product::Product;
use assay_model::failure::Answer;
use assay_model::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Names and values that a schema notes about itself.
pub type Notes = Vec<(String, String)>;

/// The table of notes.
const TABLE: &str = "assay_manifest";
/// Notes that everything is there.
const COMPLETE: (&str, &str) = ("complete", "yes");
/// What earlier releases noted in its place for the load of decision support.
const COMPLETE_BEFORE: (&str, &str) = ("state", "loaded");
/// What earlier releases noted of a table with its rows and indexes.
const WHOLE_BEFORE: &str = "table:";

/// What a schema notes about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    notes: BTreeMap<String, String>,
}

/// What was found under the name of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestState {
    /// Nothing.
    Absent,
    /// Something that is not ours, and why that is known: it is never touched.
    Foreign(String),
    /// Ours, and whole.
    Whole(Manifest),
    /// Ours, and its loading was broken off.
    Half(Manifest),
}

impl ManifestState {
    /// Looks for a schema.
    pub fn of<L: Product>(database: &mut LoadSchema<L>) -> Result<Self> {
        match database.standing()? {
            Ownership::Absent => return Ok(Self::Absent),
            Ownership::Foreign(why) => return Ok(Self::Foreign(why)),
            Ownership::Ours(_) => {}
        }
        let schema = database.schema.clone();
        let read = Manifest::read(&mut database.admin, &schema);
        let manifest =
            read.map_err(|failure| failure.of("looking for tables of an earlier run"))?;
        Ok(if manifest.is_complete() { Self::Whole(manifest) } else { Self::Half(manifest) })
    }
}

impl Manifest {
    /// The notes of a schema that is made with these, when nothing is loaded yet.
    pub fn of(knobs: &[(&str, String)]) -> Self {
        knobs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// Reads the notes of a schema; empty where it has none yet.
    pub(crate) fn read<L: Product>(link: &mut L, schema: &str) -> Answer<Self> {
        if !tables_in(link, schema)?.iter().any(|name| name == TABLE) {
            return Ok(Self::default());
        }
        // By place: the first column has had two names.
        let rows = link.query(&format!("SELECT * FROM {schema}.{TABLE}"))?;
        Ok(rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned())).collect())
    }

    /// The value of a note; empty where there is none.
    pub fn note(&self, name: &str) -> &str {
        self.notes.get(name).map_or("", String::as_str)
    }

    /// Sets a note.
    pub(super) fn set(&mut self, name: &str, value: impl Display) {
        self.notes.insert(name.to_owned(), value.to_string());
    }

    /// All notes.
    pub(super) fn notes(&self) -> Notes {
        self.notes.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether everything is there.
    pub fn is_complete(&self) -> bool {
        [COMPLETE, COMPLETE_BEFORE].iter().any(|(name, value)| self.note(name) == *value)
    }

    /// Into how many parts a table was cut; 1 where that is not noted.
    pub(super) fn parts(&self, table: &str) -> i32 {
        self.note(&format!("parts {table}")).parse().unwrap_or(1)
    }

    /// Rows of a part that is loaded.
    pub(super) fn rows_of_part(&self, table: &str, part: i32) -> Option<u64> {
        self.note(&part_note(table, part)).parse().ok()
    }

    /// Whether an earlier release noted that a table is there with its rows and indexes.
    pub(super) fn was_whole(&self, table: &str) -> bool {
        self.notes.contains_key(&format!("{WHOLE_BEFORE}{table}"))
    }

    /// Rows of all parts that are loaded.
    pub fn rows(&self) -> u64 {
        let parts = self.notes.iter().filter(|(name, _)| name.starts_with("part "));
        parts.filter_map(|(_, rows)| rows.parse::<u64>().ok()).sum()
    }

    /// Names of tables of which all rows are loaded.
    pub fn loaded_tables(&self) -> Vec<&str> {
        let names = || self.notes.keys();
        let cut = names().filter_map(|name| name.strip_prefix("part ")?.strip_suffix(" 1"));
        let is_loaded =
            |table: &&str| (1..=self.parts(table)).all(|n| self.rows_of_part(table, n).is_some());
        let before = names().filter_map(|name| name.strip_prefix(WHOLE_BEFORE));
        before.chain(cut.filter(is_loaded)).collect()
    }

    /// The first note that is not what is wanted: its name, what it is, and what is wanted.
    pub fn difference<'a>(
        &'a self,
        wanted: &'a [(&'static str, String)],
    ) -> Option<(&'static str, &'a str, &'a str)> {
        let found = wanted.iter().find(|(name, value)| self.note(name) != value);
        found.map(|(name, value)| (*name, self.note(name), value.as_str()))
    }

    /// Refuses tables that were made otherwise than is wanted now.
    ///
    /// # Errors
    /// A usage error with both sides.
    pub fn check(&self, schema: &str, wanted: &[(&'static str, String)]) -> Result<()> {
        if self.notes.is_empty() {
            return Err(Error::usage(
                format!("schema {schema} is incomplete: the description of its tables is missing"),
                "start over with --partial-data drop, or specify another --schema",
            ));
        }
        let Some((what, is, wanted)) = self.difference(wanted) else {
            return Ok(());
        };
        Err(Error::usage(
            format!("schema {schema} has {is} {what}, but {wanted} are required"),
            format!(
                "use --{what} {is}, specify another --schema, or drop it with --partial-data drop"
            ),
        ))
    }
}

impl FromIterator<(String, String)> for Manifest {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(notes: I) -> Self {
        Self { notes: notes.into_iter().collect() }
    }
}

/// A note with its value.
pub(crate) fn note(name: &str, value: impl Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// The note that everything is there.
pub(super) fn complete() -> (String, String) {
    note(COMPLETE.0, COMPLETE.1)
}

/// The name of the note that says how many rows a part has.
pub(super) fn part_note(table: &str, part: i32) -> String {
    format!("part {table} {part}")
}

/// Names of the tables in a schema.
pub(crate) fn tables_in<L: Product>(link: &mut L, schema: &str) -> Answer<Vec<String>> {
    let rows = link.query(&format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}' AND \
         table_type = 'BASE TABLE'"
    ))?;
    Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
}

/// Bytes of tables and of indexes of a schema on storage.
pub(crate) fn sizes_of<L: Product>(database: &mut LoadSchema<L>) -> Result<(u64, u64)> {
    let sql = L::table_sizes(&database.schema);
    let rows = database.admin.query(&sql);
    let rows = rows.map_err(|failure| failure.of("checking the tables"))?;
    let bytes = |column| rows.first().and_then(|row| row.count(column)).unwrap_or(0);
    Ok((bytes(0), bytes(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(notes: &[(&str, &str)]) -> Manifest {
        notes.iter().map(|(name, value)| note(name, value)).collect()
    }

    #[test]
    fn a_manifest_says_what_is_loaded_and_what_is_asked_otherwise() {
        let manifest = manifest(&[
            ("warehouses", "3"),
            ("part stock 1", "300000"),
            ("parts orders", "2"),
            ("part orders 1", "75000"),
        ]);
        assert_eq!(manifest.loaded_tables(), ["stock"]);
        assert_eq!((manifest.parts("orders"), manifest.parts("item")), (2, 1));
        assert_eq!(manifest.rows_of_part("orders", 1), Some(75_000));
        assert_eq!((manifest.rows_of_part("orders", 2), manifest.rows()), (None, 375_000));
        assert!(manifest.check("s", &[("warehouses", "3".to_owned())]).is_ok());
        let error = manifest.check("s", &[("warehouses", "4".to_owned())]).unwrap_err();
        assert!(error.message().contains("3 warehouses, but 4"), "{}", error.message());
        assert!(Manifest::default().check("s", &[]).unwrap_err().message().contains("incomplete"));
    }

    #[test]
    fn notes_of_earlier_releases_are_known() {
        let before = manifest(&[("table:stock", "whole"), ("complete", "yes")]);
        assert!(before.is_complete() && before.was_whole("stock") && !before.was_whole("item"));
        assert_eq!(before.loaded_tables(), ["stock"]);
        assert!(manifest(&[("state", "loaded")]).is_complete());
        assert!(!manifest(&[("state", "loading")]).is_complete());
    }
}
