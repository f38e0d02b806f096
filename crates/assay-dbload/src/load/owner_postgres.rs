//! Which schemas and databases of a PostgreSQL server are Assay's: made, known, kept, copied and removed by their record.

use super::copies::OwnDatabase;
use super::copies_postgres::keep_database;
use super::owned_postgres::{drop_all, drop_failed, number_of, rolled_back, standing_as, take};
use super::owner::{
    LeftoverSchema, LeftoversOnServer, OwnedKind, Owner, Ownership, RECORD, SchemaOwner, quoted,
};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_postgres::address::Address;
use assay_postgres::connection::Connection;

impl SchemaOwner for Connection {
    /// Makes a schema: its record comes with it or neither.
    fn claim(&mut self, schema: &str, owner: &Owner) -> Answer<()> {
        let made = self.run(&format!(
            "BEGIN; CREATE SCHEMA {0}; CREATE TABLE {0}.{RECORD} (name text PRIMARY KEY, value text NOT NULL); \
             INSERT INTO {0}.{RECORD} VALUES {1}; COMMIT",
            quoted(schema),
            owner.values(&number_of(schema))
        ));
        rolled_back(self, made)
    }

    fn standing(&mut self, schema: &str) -> Answer<Ownership> {
        standing_as(self, schema, None)
    }

    /// Drops a schema that carries this record, with everything in it that its load makes, or nothing at all.
    fn remove_owned(&mut self, schema: &str, owner: &Owner) -> Result<()> {
        let taken = take(self, schema, owner);
        let done = taken.and_then(|gone| {
            drop_all(self, schema, &gone, owner.kind)?;
            self.run("COMMIT").map_err(|failure| drop_failed(schema, &failure))
        });
        rolled_back(self, done)
    }

    /// Gives an Assay schema another name, and notes that it is to be kept.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &Owner) -> Result<()> {
        let taken = take(self, schema, owner);
        let done = taken.and_then(|gone| {
            let sql = format!(
                "ALTER SCHEMA {0} RENAME TO {1}; UPDATE {1}.{RECORD} SET value = 'yes' WHERE name = 'kept'; COMMIT",
                quoted(&gone),
                quoted(name)
            );
            self.run(&sql).map_err(|failure| drop_failed(schema, &failure))
        });
        rolled_back(self, done)
    }

    /// Notes that a schema is to stay.
    fn keep_owned(&mut self, schema: &str) -> Answer<()> {
        self.run(&format!(
            "UPDATE {}.{RECORD} SET value = 'yes' WHERE name = 'kept'",
            quoted(schema)
        ))
    }

    /// Marks a schema as one that is in use until this session ends; says whether no other program had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool> {
        Ok(self.one(&format!("SELECT pg_try_advisory_lock(hashtext('{schema}'))"))?.is_true(0))
    }

    /// Assay's schemas that nobody uses and nobody asked to keep, except `own`, and those that only look like ours, with the
    /// reason.
    fn left_schemas(&mut self, own: &str) -> Answer<LeftoversOnServer> {
        // A lock of the transaction is given back with the statement.
        let rows = self.query(
            "SELECT nspname, coalesce((SELECT sum(pg_total_relation_size(oid)) FROM pg_class \
             WHERE relnamespace = n.oid AND relkind IN ('r', 'm')), 0)::bigint, \
             pg_try_advisory_xact_lock(hashtext(nspname)) FROM pg_namespace AS n \
             WHERE nspname LIKE 'assay\\_%' OR EXISTS (SELECT FROM pg_class \
             WHERE relnamespace = n.oid AND relname = 'assay_owner')",
        )?;
        let (mut left, mut others) = (Vec::new(), Vec::new());
        for row in rows.iter().filter(|row| row.text(0) != own) {
            let name = row.text(0).to_owned();
            match self.standing(&name)? {
                Ownership::Ours(owner) if owner.is_kept || !row.is_true(2) => {}
                Ownership::Ours(owner) if owner.kind == OwnedKind::Database => {}
                Ownership::Ours(owner) => {
                    left.push(LeftoverSchema { name, owner, bytes: row.count(1).unwrap_or(0) });
                }
                Ownership::Foreign(why) => others.push((name, why)),
                Ownership::Absent => {}
            }
        }
        Ok((left, others))
    }

    fn keep_database(&mut self) -> Answer<()> {
        keep_database(self)
    }

    fn copy_database(address: &Address, own: &OwnDatabase) -> Result<OwnDatabase> {
        own.copied(address)
    }

    fn restore_database(address: &Address, own: &OwnDatabase, copy: &OwnDatabase) -> Result<()> {
        own.restored(address, copy)
    }

    fn drop_database(address: &Address, own: &OwnDatabase) -> Result<()> {
        own.dropped(address)
    }
}
