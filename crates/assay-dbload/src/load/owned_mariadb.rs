//! Assay's databases on a MariaDB or MySQL server, where a schema is a database: made with their
//! record, known by it, and emptied by name before they are dropped. No statement there drops only
//! what is empty, and none that makes or drops a table can be taken back: between the last look and
//! the drop lies one network round trip.

use super::link::ServerLink;
use super::mariadb_link::MariadbLink;
use super::owner::{self, OwnedKind, Ownership, SchemaOwner, in_use};
use super::product::Product;
use crate::makes;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Dialect;
use assay_model::{Error, Result};

/// A name in the quotes of these products.
pub(super) fn quoted(name: &str) -> String {
    owner::quoted(Dialect::Mariadb, name)
}

/// A text in a statement; names of the server's own tables hold no backslash that means another
/// letter.
pub(super) fn text(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

/// Refuses a database that does not carry this record, or that another program uses.
pub(super) fn check_owner(link: &mut MariadbLink, schema: &str, owner: &SchemaOwner) -> Result<()> {
    let failed = |failure: Failure| failure.of(format!("inspecting the database {schema}"));
    if !link.hold(schema).map_err(failed)? {
        return Err(in_use(&format!("the database {schema}")));
    }
    let why = match link.standing(schema).map_err(failed)? {
        Ownership::Ours(found) if found.id == owner.id => return Ok(()),
        Ownership::Ours(_) => "another run created it".to_owned(),
        Ownership::Foreign(why) => why,
        Ownership::Absent => "it is gone".to_owned(),
    };
    Err(Error::environment(
        format!("the database {schema} is not touched: {why}"),
        "drop or rename it yourself if it is yours",
    ))
}

pub(super) const ROUTINES: &str =
    "SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {s}";
/// What no load makes at all.
const NEVER_OURS: [&str; 3] = [
    "SELECT CONCAT('the event ', EVENT_NAME) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = \
     {s}",
    "SELECT CONCAT('the trigger ', TRIGGER_NAME) FROM information_schema.TRIGGERS WHERE \
     TRIGGER_SCHEMA = {s}",
    "SELECT CONCAT('the table ', CONSTRAINT_SCHEMA, '.', TABLE_NAME) FROM \
     information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = {s} AND \
     CONSTRAINT_SCHEMA <> {s}",
];

pub(super) fn about(sql: &str, schema: &str) -> String {
    sql.replace("{s}", &text(schema))
}

/// What would go with a database and was not made by its load, in words.
pub(super) fn strangers(
    link: &mut MariadbLink,
    schema: &str,
    kind: OwnedKind,
) -> Answer<Vec<String>> {
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
