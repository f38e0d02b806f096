//! Assay's databases on a given PostgreSQL server, and copies of them: each carries a record with
//! its own number, and is dropped only when that was read in it and nothing else lies in it.

use super::copies::OwnDatabase;
use super::owned_postgres::{standing_as, strangers};
use super::owner::{OwnedKind, Ownership, RECORD, SchemaOwner, foreign, holds_foreign, in_the_way};
use super::postgres_link::session;
use assay_model::failure::{Answer, Failure};
use assay_model::{Error, Result};
use assay_postgres::address::PostgresAddress;
use assay_postgres::connection::PostgresConnection;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The schema in an Assay database that holds its record.
const SCHEMA: &str = "assay_database";
/// The number by which the server knows the database of a session; a copy of it has another.
const NUMBER: &str = "(SELECT oid::text FROM pg_database WHERE datname = current_database())";
/// Sessions of the last step may take so long to leave.
const PATIENCE: Duration = Duration::from_secs(20);

impl OwnDatabase {
    /// Finds an Assay database, or creates one where there is none; returns whether it was created.
    ///
    /// # Errors
    /// That there is one which is not ours, or where its copy would be, and what the server says.
    pub fn enter(address: &PostgresAddress, name: &str) -> Result<(Self, bool)> {
        let failed = |failure: Failure| failure.of(format!("looking for a database on {address}"));
        let copy = copy_of(name);
        match standing_of(address, &copy).map_err(failed)? {
            Ownership::Absent => {}
            Ownership::Foreign(why) => return Err(in_the_way("the database", &copy, &why)),
            Ownership::Ours(_) => return Err(left_copy(&copy)),
        }
        match standing_of(address, name).map_err(failed)? {
            Ownership::Foreign(why) => Err(in_the_way("the database", name, &why)),
            Ownership::Ours(owner) => Ok((Self { name: name.to_owned(), id: owner.id }, false)),
            Ownership::Absent => Self::make(address, name).map(|made| (made, true)),
        }
    }

    fn make(address: &PostgresAddress, name: &str) -> Result<Self> {
        let owner = SchemaOwner::new(OwnedKind::Database)?;
        let failed = |failure: Failure| failure.of(format!("creating a database on {address}"));
        let mut maintenance = session(address).map_err(failed)?;
        // What somebody put into the usual template is not ours to drop.
        maintenance.run(&format!("CREATE DATABASE {name} TEMPLATE template0")).map_err(failed)?;
        let mut inside = session(&address.with_database(name)).map_err(failed)?;
        inside
            .run(&format!(
                "BEGIN; CREATE SCHEMA {SCHEMA}; CREATE TABLE {SCHEMA}.{RECORD} (name text PRIMARY \
                 KEY, value text NOT NULL); INSERT INTO {SCHEMA}.{RECORD} VALUES {}; COMMIT",
                owner.values(NUMBER)
            ))
            .map_err(failed)?;
        inside.close();
        Ok(Self { name: name.to_owned(), id: owner.id })
    }

    /// Drops it; nothing happens where it is gone.
    ///
    /// # Errors
    /// That another one has its name by now, or that something else lies in it, or what the server
    /// says.
    fn remove(
        &self,
        maintenance: &mut PostgresConnection,
        address: &PostgresAddress,
    ) -> Result<()> {
        let name = &self.name;
        let failed = |failure: Failure| failure.of(format!("dropping the database {name}"));
        match standing_of(address, name).map_err(failed)? {
            Ownership::Absent => return Ok(()),
            Ownership::Ours(owner) if owner.id == self.id => {}
            Ownership::Ours(_) => {
                return Err(in_the_way("the database", name, "another run created it"));
            }
            Ownership::Foreign(why) => return Err(in_the_way("the database", name, &why)),
        }
        let mut inside = session(&address.with_database(name)).map_err(failed)?;
        let strangers = strangers_in(&mut inside).map_err(failed)?;
        inside.close();
        if !strangers.is_empty() {
            return Err(holds_foreign(&format!("the database {name}"), &strangers));
        }
        // Nobody is thrown out: a database that somebody else uses stays.
        patiently(|| maintenance.run(&format!("DROP DATABASE {name}"))).map_err(failed)
    }

    /// Copies it under another name; the copy gets a record of its own number.
    fn copy(
        &self,
        maintenance: &mut PostgresConnection,
        address: &PostgresAddress,
        name: &str,
    ) -> Result<Self> {
        let failed = |failure: Failure| failure.of("copying the database");
        let sql = format!("CREATE DATABASE {name} TEMPLATE {}", self.name);
        patiently(|| maintenance.run(&sql)).map_err(failed)?;
        let mut inside = session(&address.with_database(name)).map_err(failed)?;
        let sql = format!("UPDATE {SCHEMA}.{RECORD} SET value = {NUMBER} WHERE name = 'place'");
        inside.run(&sql).map_err(failed)?;
        inside.close();
        Ok(Self { name: name.to_owned(), id: self.id.clone() })
    }
}

/// The name of the copy of a database.
fn copy_of(name: &str) -> String {
    format!("{name}_loaded")
}

fn left_copy(copy: &str) -> Error {
    Error::environment(
        format!(
            "the database {copy} exists: an earlier run was killed before it dropped this copy"
        ),
        "drop it with `assay runs clean ADDRESS`, or specify another with --schema",
    )
}

/// Whose a database is.
fn standing_of(address: &PostgresAddress, name: &str) -> Answer<Ownership> {
    let mut maintenance = session(address)?;
    let rows = maintenance.query(&format!(
        "SELECT pg_get_userbyid(datdba) = current_user, datallowconn, pg_get_userbyid(datdba) \
         FROM pg_database WHERE datname = '{}'",
        name.replace('\'', "''")
    ))?;
    maintenance.close();
    let Some(row) = rows.first() else {
        return Ok(Ownership::Absent);
    };
    if !row.is_true(0) || !row.is_true(1) {
        return Ok(foreign(&format!("it belongs to the user {}", row.text(2))));
    }
    let mut inside = match session(&address.with_database(name)) {
        Ok(inside) => inside,
        Err(failure) => return Ok(foreign(&format!("it cannot be inspected ({failure})"))),
    };
    let found = standing_inside(&mut inside);
    inside.close();
    found
}

/// Whose the database of a session is: its record holds its own number.
fn standing_inside(inside: &mut PostgresConnection) -> Answer<Ownership> {
    let number = inside.one(&format!("SELECT {NUMBER}"))?.text(0).to_owned();
    Ok(match standing_as(inside, SCHEMA, Some(&number))? {
        Ownership::Absent => foreign("it has no owner record"),
        Ownership::Ours(owner) if owner.kind != OwnedKind::Database => {
            foreign("it has no owner record")
        }
        other => other,
    })
}

/// What an Assay database holds that was not made by a load of this user, in words.
fn strangers_in(inside: &mut PostgresConnection) -> Answer<Vec<String>> {
    let rows = inside.query(
        "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> \
         'information_schema'",
    )?;
    let mut found = Vec::new();
    for row in rows {
        let schema = row.text(0);
        let is_record = schema == SCHEMA;
        let known =
            if is_record { standing_inside(inside)? } else { standing_as(inside, schema, None)? };
        match known {
            Ownership::Ours(owner) => found.extend(strangers(inside, schema, owner.kind)?),
            // The schema that every database begins with; what lies in it is another matter.
            _ if schema == "public" => {
                found.extend(strangers(inside, schema, OwnedKind::Database)?);
            }
            _ => found.push(format!("the schema {schema}")),
        }
    }
    Ok(found)
}

/// Notes that the database of this session is to be kept.
pub(super) fn keep_database(link: &mut PostgresConnection) -> Answer<()> {
    link.run(&format!("UPDATE {SCHEMA}.{RECORD} SET value = 'yes' WHERE name = 'kept'"))
}

impl OwnDatabase {
    /// Copies it, to go back to it.
    pub(super) fn copied(&self, address: &PostgresAddress) -> Result<Self> {
        self.copy(&mut maintenance(address)?, &maintenance_address(address), &copy_of(&self.name))
    }

    /// Makes it from its copy again.
    pub(super) fn restored(&self, address: &PostgresAddress, copy: &Self) -> Result<()> {
        let (mut maintenance, address) = (maintenance(address)?, maintenance_address(address));
        self.remove(&mut maintenance, &address)?;
        copy.copy(&mut maintenance, &address, &self.name).map(drop)
    }

    /// Drops it, a database or a copy.
    pub(super) fn dropped(&self, address: &PostgresAddress) -> Result<()> {
        self.remove(&mut maintenance(address)?, &maintenance_address(address))
    }
}

/// A session on another database of the same server, from which that of a load can be removed and
/// made again.
fn maintenance(address: &PostgresAddress) -> Result<PostgresConnection> {
    let address = maintenance_address(address);
    let opened = session(&address);
    opened.map_err(|failure| failure.of(format!("opening a session on {address}")))
}

fn maintenance_address(address: &PostgresAddress) -> PostgresAddress {
    address.with_database("postgres")
}

/// Tries again while sessions are still leaving (code 55006: the database is in use).
fn patiently(mut act: impl FnMut() -> Answer<()>) -> Answer<()> {
    let started = Instant::now();
    loop {
        match act() {
            Err(failure) if failure.code() == Some("55006") && started.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(100));
            }
            other => return other,
        }
    }
}

/// Assay's databases on a server that nobody uses, with their sizes in bytes.
pub(super) fn left_databases(address: &PostgresAddress) -> Answer<Vec<(OwnDatabase, String, u64)>> {
    let mut maintenance = session(address)?;
    let rows = maintenance.query(
        "SELECT datname, pg_database_size(oid) FROM pg_database WHERE datallowconn AND NOT \
         datistemplate AND pg_get_userbyid(datdba) = current_user AND NOT EXISTS (SELECT FROM \
         pg_stat_activity WHERE datid = pg_database.oid)",
    )?;
    maintenance.close();
    let mut found = Vec::new();
    for row in rows {
        let name = row.text(0).to_owned();
        if let Ownership::Ours(owner) = standing_of(address, &name)?
            && !owner.is_kept
        {
            let bytes = row.count(1).unwrap_or(0);
            found.push((OwnDatabase { name: name.clone(), id: owner.id }, name, bytes));
        }
    }
    Ok(found)
}

/// Drops one of the [`left_databases`].
pub(super) fn remove_left_database(address: &PostgresAddress, left: &OwnDatabase) -> Result<()> {
    let opened = session(address);
    let mut maintenance =
        opened.map_err(|failure| failure.of(format!("connecting to {address}")))?;
    left.remove(&mut maintenance, address)
}
