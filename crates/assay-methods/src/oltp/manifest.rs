//! What stands in a schema of ours about itself, so that a half loaded one is known as such.
//!
//! Each table is made, filled and noted down in one transaction: what is noted is whole.

use super::Shape;
use crate::load::Database;
use assay_loads::oltp::{Rules, Table};
use assay_model::{Error, Result};
use assay_postgres::failure::Failure;

/// What a schema says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Warehouses that it is made for.
    pub warehouses: u32,
    /// Seed of its rows.
    pub seed: u64,
    /// Parts of the order lines.
    pub partitions: u32,
    /// The moment of its loading, microseconds since 1970.
    pub loaded_us: i64,
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
    /// Something that is not ours: it is never touched.
    Foreign,
    /// Ours, and whole.
    Whole(Manifest),
    /// Ours, and its loading was broken off.
    Half(Manifest),
}

fn told(failure: &Failure) -> Error {
    failure.of("looking for tables of an earlier run")
}

impl State {
    /// Looks for a schema.
    ///
    /// # Errors
    /// What the server says.
    pub fn of(database: &mut Database) -> Result<Self> {
        let schema = database.schema.clone();
        let row = database.admin.one(&format!(
            "SELECT to_regnamespace('{schema}') IS NOT NULL, to_regclass('{schema}.assay_manifest') IS NOT NULL"
        ));
        let row = row.map_err(|failure| told(&failure))?;
        if !row.is_true(0) {
            return Ok(Self::Absent);
        }
        if !row.is_true(1) {
            return Ok(Self::Foreign);
        }
        let sql = format!("SELECT name, value FROM {schema}.assay_manifest");
        let rows = database.admin.query(&sql).map_err(|failure| told(&failure))?;
        let mut manifest = Manifest::default();
        for row in &rows {
            manifest.take(row.text(0), row.text(1));
        }
        Ok(if manifest.is_complete { Self::Whole(manifest) } else { Self::Half(manifest) })
    }
}

impl Manifest {
    /// What a schema of these rules says when nothing is loaded yet.
    pub fn of(rules: &Rules, shape: &Shape, loaded_us: i64) -> Self {
        Self {
            warehouses: rules.warehouses,
            seed: rules.seed,
            partitions: shape.partitions,
            loaded_us,
            ..Self::default()
        }
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "warehouses" => self.warehouses = value.parse().unwrap_or(0),
            "seed" => self.seed = value.parse().unwrap_or(0),
            "partitions" => self.partitions = value.parse().unwrap_or(0),
            "loaded_us" => self.loaded_us = value.parse().unwrap_or(0),
            "complete" => self.is_complete = value == "yes",
            _ => self.whole.extend(name.strip_prefix("table:").map(str::to_owned)),
        }
    }

    /// Whether a table is whole.
    pub fn has(&self, table: Table) -> bool {
        self.whole.iter().any(|name| name == table.name())
    }

    /// Refuses tables that were made otherwise than is wanted now.
    ///
    /// # Errors
    /// A usage error with both sides.
    pub fn check(&self, rules: &Rules, shape: &Shape) -> Result<()> {
        let same = [
            ("warehouses", u64::from(self.warehouses), u64::from(rules.warehouses)),
            ("partitions", u64::from(self.partitions), u64::from(shape.partitions)),
        ];
        for (what, is, wanted) in same {
            if is != wanted {
                return Err(Error::usage(
                    format!("schema {} has {is} {what}, and {wanted} are asked for", shape.schema),
                    format!(
                        "ask for --{what} {is}, name another --schema, or drop it with --left drop"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Creates the schema with its manifest.
    pub(super) fn create(&self, schema: &str) -> String {
        format!(
            "BEGIN; CREATE SCHEMA {schema}; \
             CREATE TABLE {schema}.assay_manifest (name text PRIMARY KEY, value text NOT NULL); \
             INSERT INTO {schema}.assay_manifest VALUES ('warehouses', '{}'), ('seed', '{}'), ('partitions', '{}'), \
             ('loaded_us', '{}'); COMMIT",
            self.warehouses, self.seed, self.partitions, self.loaded_us
        )
    }

    /// Notes that a table is whole.
    pub(super) fn note(schema: &str, table: Table) -> String {
        format!("INSERT INTO {schema}.assay_manifest VALUES ('table:{}', 'whole')", table.name())
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
        let shape = Shape { schema: "s".to_owned(), partitions: 0 };
        let rules = Rules { warehouses: 3, ..Rules::default() };
        let mut manifest = Manifest::of(&rules, &shape, 5);
        manifest.take("table:stock", "whole");
        assert!(manifest.has(Table::Stock) && !manifest.has(Table::Item));
        assert!(manifest.check(&rules, &shape).is_ok() && !manifest.is_complete);
        let other = Rules { warehouses: 4, ..Rules::default() };
        let error = manifest.check(&other, &shape).unwrap_err();
        assert!(error.message().contains("3 warehouses, and 4"), "{}", error.message());
        manifest.take("complete", "yes");
        assert!(manifest.is_complete);
    }
}
