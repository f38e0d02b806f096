//! What stands in a schema of ours about itself, so that a half loaded one is known as such.
//!
//! A table is noted down when it is made and filled: what is noted is whole.

use super::Database;
use super::owner::Standing;
use super::store::{Look, Store};
use assay_model::{Error, Result};
use std::collections::BTreeMap;

/// What a schema says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// What its tables were made with, for example `warehouses`.
    pub knobs: BTreeMap<String, String>,
    /// Tables that are whole.
    pub whole: Vec<String>,
    /// Whether functions and statistics are there, too.
    pub is_complete: bool,
}

/// What was found under the name of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// Something that is not ours, and why that is known: it is never touched.
    Foreign(String),
    /// Ours, and whole.
    Whole(Manifest),
    /// Ours, and its loading was broken off.
    Half(Manifest),
}

impl State {
    /// Looks for a schema.
    ///
    /// # Errors
    /// What the server says.
    pub fn of<L: Store>(database: &mut Database<L>) -> Result<Self> {
        match database.standing()? {
            Standing::Absent => return Ok(Self::Absent),
            Standing::Foreign(why) => return Ok(Self::Foreign(why)),
            Standing::Ours(_) => {}
        }
        let schema = database.schema.clone();
        let look = database.admin.look_for(&schema);
        let look = look.map_err(|failure| failure.of("looking for tables of an earlier run"))?;
        let Look::Ours(notes) = look else {
            // It was broken off before the first note.
            return Ok(Self::Half(Manifest::default()));
        };
        let mut manifest = Manifest::default();
        for (name, value) in &notes {
            manifest.take(name, value);
        }
        Ok(if manifest.is_complete { Self::Whole(manifest) } else { Self::Half(manifest) })
    }
}

impl Manifest {
    /// What a schema says that was made with these, when nothing is loaded yet.
    pub fn of(knobs: &[(&str, String)]) -> Self {
        let knobs = knobs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Self { knobs, ..Self::default() }
    }

    fn take(&mut self, name: &str, value: &str) {
        if name == "complete" {
            self.is_complete = value == "yes";
        } else if let Some(table) = name.strip_prefix("table:") {
            self.whole.push(table.to_owned());
        } else {
            self.knobs.insert(name.to_owned(), value.to_owned());
        }
    }

    /// What it was made with; nothing where it does not tell.
    pub fn knob(&self, name: &str) -> &str {
        self.knobs.get(name).map_or("", String::as_str)
    }

    /// Whether a table is whole.
    pub fn has(&self, table: &str) -> bool {
        self.whole.iter().any(|name| name == table)
    }

    /// Refuses tables that were made otherwise than is wanted now.
    ///
    /// # Errors
    /// A usage error with both sides.
    pub fn check(&self, schema: &str, wanted: &[(&str, String)]) -> Result<()> {
        if self.knobs.is_empty() {
            return Err(Error::usage(
                format!(
                    "schema {schema} was hardly begun: it does not say what its tables are to be"
                ),
                "begin again with --left drop, or name another --schema",
            ));
        }
        for (what, wanted) in wanted {
            let is = self.knob(what);
            if is != wanted {
                return Err(Error::usage(
                    format!("schema {schema} has {is} {what}, and {wanted} are asked for"),
                    format!(
                        "ask for --{what} {is}, name another --schema, or drop it with --left drop"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Writes down what the schema is made with.
    pub(super) fn begin(&self, schema: &str) -> String {
        let values = self.knobs.iter().map(|(name, value)| format!("('{name}', '{value}')"));
        let values = values.collect::<Vec<_>>().join(", ");
        format!("INSERT INTO {schema}.assay_manifest VALUES {values}")
    }

    /// Notes that a table is whole.
    pub(super) fn note(schema: &str, table: &str) -> String {
        format!("INSERT INTO {schema}.assay_manifest VALUES ('table:{table}', 'whole')")
    }

    /// Notes something of a schema that may have been noted otherwise, on MariaDB and MySQL.
    pub(super) fn note_again(schema: &str, name: &str, value: &str) -> String {
        format!("REPLACE INTO {schema}.assay_manifest VALUES ('{name}', '{value}')")
    }

    /// Notes that everything is there.
    pub(super) fn note_complete(schema: &str) -> String {
        format!("INSERT INTO {schema}.assay_manifest VALUES ('complete', 'yes')")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_tells_what_is_whole_and_what_is_asked_otherwise() {
        let knobs = [("warehouses", "3".to_owned()), ("seed", "7".to_owned())];
        let mut manifest = Manifest::of(&knobs);
        manifest.take("table:stock", "whole");
        manifest.take("partitions", "2");
        assert!(manifest.has("stock") && !manifest.has("item"));
        let same = [("warehouses", "3".to_owned()), ("partitions", "2".to_owned())];
        assert!(manifest.check("s", &same).is_ok() && !manifest.is_complete);
        let error = manifest.check("s", &[("warehouses", "4".to_owned())]).unwrap_err();
        assert!(error.message().contains("3 warehouses, and 4"), "{}", error.message());
        manifest.take("complete", "yes");
        assert!(manifest.is_complete && manifest.begin("s").contains("('seed', '7')"));
    }
}
