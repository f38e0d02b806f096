//! Assay's databases on a MariaDB or MySQL server, where a schema is a database: made with their record, known by it, and
//! emptied by name before they are dropped. No statement there drops only what is empty, and none that makes or drops a
//! table can be taken back: between the last look and the drop lies one network round trip.

use super::copies::{OwnDatabase, no_copies};
use super::link::Link;
use super::mariadb_link::MariadbLink;
use super::objects::makes;
use super::owner::{
    LeftoverSchema, LeftoversOnServer, OwnedKind, Owner, Ownership, RECORD, SchemaOwner, foreign,
    holds_foreign, in_use, pairs,
};
use assay_mariadb::address::Address;
use assay_model::failure::{Answer, Failure};
use assay_model::{Error, Result};

/// A name in the quotes of these products.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in a statement; names of the server's own tables hold no backslash that means another letter.
fn text(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

impl SchemaOwner for MariadbLink {
    /// Makes a database with its record; one that is there is refused by the server.
    fn claim(&mut self, schema: &str, owner: &Owner) -> Answer<()> {
        self.run(&format!(
            "CREATE DATABASE {0} CHARACTER SET latin1 COLLATE latin1_bin; \
             CREATE TABLE {0}.{RECORD} (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT NULL) ENGINE = InnoDB; \
             INSERT INTO {0}.{RECORD} VALUES {1}",
            quoted(schema),
            owner.values(&text(schema))
        ))
    }

    /// Whose a database is.
    fn standing(&mut self, schema: &str) -> Answer<Ownership> {
        let found = self.query(&format!(
            "SELECT COALESCE(TABLE_TYPE, '') FROM information_schema.SCHEMATA LEFT JOIN information_schema.TABLES \
             ON TABLE_SCHEMA = SCHEMA_NAME AND TABLE_NAME = '{RECORD}' WHERE SCHEMA_NAME = {}",
            text(schema)
        ))?;
        match found.first().map(|row| row.text(0)) {
            None => return Ok(Ownership::Absent),
            Some("") => return Ok(foreign("it has no owner record")),
            Some("BASE TABLE") => {}
            Some(_) => return Ok(foreign("its owner record is not a table")),
        }
        let rows = self.query(&format!("SELECT name, value FROM {}.{RECORD}", quoted(schema)))?;
        Ok(match Owner::of(&pairs(&rows)) {
            None => foreign("its owner record is not what this program writes"),
            Some(owner) if owner.place != schema => foreign("it is a copy of one that assay made"),
            Some(owner) => Ownership::Ours(owner),
        })
    }

    /// Drops a database that carries this record, with what its load makes.
    fn remove_owned(&mut self, schema: &str, owner: &Owner) -> Result<()> {
        check(self, schema, owner)?;
        let failed = |failure: Failure| failure.of(format!("dropping the database {schema}"));
        let refuse = |strangers: Vec<String>| -> Result<()> {
            if strangers.is_empty() {
                return Ok(());
            }
            Err(holds_foreign(&format!("the database {schema}"), &strangers))
        };
        refuse(strangers(self, schema, owner.kind).map_err(failed)?)?;
        let mut tables = self.tables(schema).map_err(failed)?;
        // What came in between is not of the load, and makes the last look refuse.
        tables.retain(|table| table != RECORD && makes(owner.kind, table));
        if !tables.is_empty() {
            let names: Vec<String> = tables
                .iter()
                .map(|table| format!("{}.{}", quoted(schema), quoted(table)))
                .collect();
            self.run(&format!("DROP TABLE {}", names.join(", "))).map_err(failed)?;
        }
        let routines = self.query(&about(ROUTINES, schema)).map_err(failed)?;
        for row in routines.iter().filter(|row| makes(owner.kind, row.text(1))) {
            let (what, name) = (row.text(0), quoted(row.text(1)));
            self.run(&format!("DROP {what} {}.{name}", quoted(schema))).map_err(failed)?;
        }
        // The record goes last, so that what is cut short here is known again.
        refuse(strangers(self, schema, OwnedKind::Database).map_err(failed)?)?;
        self.run(&format!("DROP DATABASE {}", quoted(schema))).map_err(failed)
    }

    /// Gives the tables of an Assay database to another one, which is to be kept: no statement renames a database.
    fn rename_owned(&mut self, schema: &str, name: &str, owner: &Owner) -> Result<()> {
        check(self, schema, owner)?;
        let failed = |failure: Failure| failure.of("keeping our tables");
        let kept = Owner { is_kept: true, ..owner.clone() };
        self.claim(name, &kept).map_err(failed)?;
        for table in self.tables(schema).map_err(failed)? {
            if table != RECORD && makes(owner.kind, &table) {
                let (from, to) = (quoted(schema), quoted(name));
                let sql = format!("RENAME TABLE {from}.{table} TO {to}.{table}");
                self.run(&sql).map_err(failed)?;
            }
        }
        self.remove_owned(schema, owner)
    }

    /// Notes that a database is to stay.
    fn keep_owned(&mut self, schema: &str) -> Answer<()> {
        self.run(&format!(
            "UPDATE {}.{RECORD} SET value = 'yes' WHERE name = 'kept'",
            quoted(schema)
        ))
    }

    /// Marks a database as one that is in use until this session ends; says whether no other program had done so.
    fn hold(&mut self, schema: &str) -> Answer<bool> {
        Ok(self.connection.one(&format!("SELECT GET_LOCK({}, 0)", text(schema)))?.count(0)
            == Some(1))
    }

    /// Assay's databases that nobody uses and nobody asked to keep, except `own`, and those that only look like ours, with the
    /// reason.
    fn left_schemas(&mut self, own: &str) -> Answer<LeftoversOnServer> {
        let rows = self.query(&format!(
            "SELECT SCHEMA_NAME, IS_FREE_LOCK(SCHEMA_NAME), (SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED) \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = SCHEMA_NAME) FROM information_schema.SCHEMATA \
             WHERE SCHEMA_NAME LIKE 'assay\\_%' OR EXISTS (SELECT 1 FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = SCHEMA_NAME AND TABLE_NAME = '{RECORD}')"
        ))?;
        let (mut left, mut others) = (Vec::new(), Vec::new());
        for row in rows.iter().filter(|row| row.text(0) != own) {
            let name = row.text(0).to_owned();
            match self.standing(&name)? {
                Ownership::Ours(owner) if owner.is_kept || row.count(1) != Some(1) => {}
                Ownership::Ours(owner) => {
                    left.push(LeftoverSchema { name, owner, bytes: row.count(2).unwrap_or(0) });
                }
                Ownership::Foreign(why) => others.push((name, why)),
                Ownership::Absent => {}
            }
        }
        Ok((left, others))
    }

    /// A schema is a database, and has its own record.
    fn keep_database(&mut self) -> Answer<()> {
        Ok(())
    }

    fn copy_database(_address: &Address, _own: &OwnDatabase) -> Result<OwnDatabase> {
        Err(no_copies())
    }

    fn restore_database(_: &Address, _own: &OwnDatabase, _copy: &OwnDatabase) -> Result<()> {
        Err(no_copies())
    }

    fn drop_database(_address: &Address, _own: &OwnDatabase) -> Result<()> {
        Err(no_copies())
    }
}

/// Refuses a database that does not carry this record, or that another program uses.
fn check(link: &mut MariadbLink, schema: &str, owner: &Owner) -> Result<()> {
    let failed = |failure: Failure| failure.of(format!("looking at the database {schema}"));
    if !link.hold(schema).map_err(failed)? {
        return Err(in_use(&format!("the database {schema}")));
    }
    let why = match link.standing(schema).map_err(failed)? {
        Ownership::Ours(found) if found.id == owner.id => return Ok(()),
        Ownership::Ours(_) => "another run made it".to_owned(),
        Ownership::Foreign(why) => why,
        Ownership::Absent => "it is gone".to_owned(),
    };
    Err(Error::environment(
        format!("the database {schema} is not touched: {why}"),
        "drop or rename it yourself if it is yours",
    ))
}

const ROUTINES: &str =
    "SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {s}";
/// What no load makes at all.
const NEVER_OURS: [&str; 3] = [
    "SELECT CONCAT('the event ', EVENT_NAME) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = {s}",
    "SELECT CONCAT('the trigger ', TRIGGER_NAME) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = {s}",
    "SELECT CONCAT('the table ', CONSTRAINT_SCHEMA, '.', TABLE_NAME) FROM information_schema.REFERENTIAL_CONSTRAINTS \
     WHERE UNIQUE_CONSTRAINT_SCHEMA = {s} AND CONSTRAINT_SCHEMA <> {s}",
];

fn about(sql: &str, schema: &str) -> String {
    sql.replace("{s}", &text(schema))
}

/// What would go with a database and was not made by its load, in words.
fn strangers(link: &mut MariadbLink, schema: &str, kind: OwnedKind) -> Answer<Vec<String>> {
    let mut found = Vec::new();
    let tables = link.query(&about(
        "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = {s}",
        schema,
    ))?;
    let is_other =
        |name: &str, kind_of_table: &str| kind_of_table != "BASE TABLE" || !makes(kind, name);
    let others = tables.iter().filter(|row| is_other(row.text(0), row.text(1)));
    found.extend(others.map(|row| format!("the {} {}", row.text(1).to_lowercase(), row.text(0))));
    let routines = link.query(&about(ROUTINES, schema))?;
    let others = routines.iter().filter(|row| !makes(kind, row.text(1)));
    found.extend(others.map(|row| format!("the {} {}", row.text(0).to_lowercase(), row.text(1))));
    for sql in NEVER_OURS {
        found.extend(link.query(&about(sql, schema))?.iter().map(|row| row.text(0).to_owned()));
    }
    Ok(found)
}
