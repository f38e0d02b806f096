//! What lies in a schema of a PostgreSQL server and whose it is; a schema is dropped in one
//! transaction in which nobody can put another one in its place.

use super::owner::{
    OwnedKind, Ownership, RECORD, SchemaOwner, foreign, holds_foreign, in_use, pairs, quoted,
};
use crate::makes;
use assay_dbserver::password;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Dialect::Postgres;
use assay_model::{Error, Result};
use assay_postgres::connection::PostgresConnection;

/// How long a drop waits for somebody who reads one of the tables.
const LOCK_TIMEOUT: &str = "20s";

/// The number by which the server knows a schema; a copy of it has another.
pub(super) fn number_of(schema: &str) -> String {
    let name = schema.replace('\'', "''");
    format!("(SELECT oid::text FROM pg_namespace WHERE nspname = '{name}')")
}

/// Whose a schema is, or the same of a record that holds another number than that of its schema.
/// What is read must be a table of this very user: rules of views and functions of others would be
/// carried out with his rights.
pub(super) fn standing_as(
    link: &mut PostgresConnection,
    schema: &str,
    number: Option<&str>,
) -> Answer<Ownership> {
    let found = link.query(&format!(
        "SELECT n.oid::text, c.oid IS NOT NULL, pg_get_userbyid(coalesce(c.relowner, \
         n.nspowner)), coalesce(c.relkind = 'r' AND NOT c.relrowsecurity AND NOT c.relhasrules, \
         false), coalesce(pg_get_userbyid(c.relowner) = current_user AND n.nspowner = c.relowner, \
         false) FROM pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND \
         c.relname = '{RECORD}' WHERE n.nspname = '{}'",
        schema.replace('\'', "''")
    ))?;
    let Some(row) = found.first() else {
        return Ok(Ownership::Absent);
    };
    if !row.is_true(1) {
        return Ok(foreign(&format!("it has no owner record and is of the user {}", row.text(2))));
    }
    if !row.is_true(3) || !row.is_true(4) {
        return Ok(foreign(&format!("its owner record belongs to the user {}", row.text(2))));
    }
    let rows =
        link.query(&format!("SELECT name, value FROM ONLY {}.{RECORD}", quoted(Postgres, schema)))?;
    Ok(match SchemaOwner::of(&pairs(&rows)) {
        None => foreign("its owner record was not written by Assay"),
        Some(owner) if owner.place != number.unwrap_or_else(|| row.text(0)) => {
            foreign("it is a copy of a record of Assay")
        }
        Some(owner) => Ownership::Ours(owner),
    })
}

/// Ends a transaction that failed; the failure is what must be heard of.
pub(super) fn rolled_back<T, E>(
    link: &mut PostgresConnection,
    done: std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    if done.is_err() {
        let _ = link.run("ROLLBACK");
    }
    done
}

/// Begins a transaction in which a schema has a name that nobody else can know, so that no other
/// can take its place, and compares its record; gives that name. A given one keeps its name, which
/// its owner may not be allowed to change.
pub(super) fn take(
    link: &mut PostgresConnection,
    schema: &str,
    owner: &SchemaOwner,
) -> Result<String> {
    let failed = |failure: Failure| drop_failed(schema, &failure);
    let name = quoted(Postgres, schema);
    let (gone, alone) = if owner.is_given {
        (schema.to_owned(), format!("LOCK TABLE {name}.{RECORD} IN ACCESS EXCLUSIVE MODE"))
    } else {
        let gone = format!("assay_gone_{}", &password()?[..12]);
        let rename = format!("ALTER SCHEMA {name} RENAME TO {gone}");
        (gone, rename)
    };
    link.run(&format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'; {alone}"))
        .map_err(failed)?;
    let held = link.one(&format!(
        "SELECT pg_try_advisory_xact_lock(hashtext('{}'))",
        schema.replace('\'', "''")
    ));
    if !held.map_err(failed)?.is_true(0) {
        return Err(in_use(&format!("the schema {schema}")));
    }
    match standing_as(link, &gone, None).map_err(failed)? {
        Ownership::Ours(found) if found.id == owner.id => Ok(gone),
        Ownership::Ours(_) => Err(not_ours(schema, "another run created it")),
        Ownership::Foreign(why) => Err(not_ours(schema, &why)),
        Ownership::Absent => Err(not_ours(schema, "it is gone")),
    }
}

fn not_ours(schema: &str, why: &str) -> Error {
    Error::environment(
        format!("the schema {schema} is not touched: {why}"),
        "drop or rename it yourself if it is yours",
    )
}

pub(super) fn drop_failed(schema: &str, failure: &Failure) -> Error {
    Error::environment(
        format!("dropping the schema {schema}: {failure}; nothing of it was dropped"),
        "find the objects or sessions that use it, then run `assay runs clean ADDRESS`",
    )
}

/// Everything by its own name and without what depends on it: what is not ours makes the server
/// refuse. A given schema stays, empty.
pub(super) fn drop_all(
    link: &mut PostgresConnection,
    schema: &str,
    gone: &str,
    owner: &SchemaOwner,
) -> Result<()> {
    let failed = |failure: Failure| drop_failed(schema, &failure);
    let strangers = strangers(link, gone, owner.kind).map_err(failed)?;
    if !strangers.is_empty() {
        return Err(holds_foreign(&format!("the schema {schema}"), &strangers));
    }
    for (what, sql) in [("ROUTINE", ROUTINES), ("TABLE", TABLES), ("SEQUENCE", SEQUENCES)] {
        let rows = link.query(&of(sql, gone)).map_err(failed)?;
        let names: Vec<&str> = rows.iter().map(|row| row.text(1)).collect();
        if !names.is_empty() {
            link.run(&format!("DROP {what} {} RESTRICT", names.join(", "))).map_err(failed)?;
        }
    }
    if owner.is_given {
        return Ok(());
    }
    link.run(&format!("DROP SCHEMA {gone} RESTRICT")).map_err(failed)
}

/// Names of routines, plain and as statements need them.
const ROUTINES: &str =
    "SELECT proname, oid::regprocedure::text FROM pg_proc WHERE pronamespace = {n}";
/// Tables; their parts go with them.
const TABLES: &str = "SELECT relname, oid::regclass::text FROM pg_class WHERE relnamespace = {n} \
                      AND relkind IN ('r', 'p') AND NOT relispartition";
/// Sequences that do not belong to a column.
const SEQUENCES: &str = "SELECT relname, oid::regclass::text FROM pg_class AS c WHERE \
                         relnamespace = {n} AND relkind = 'S' AND NOT EXISTS (SELECT FROM \
                         pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND \
                         deptype IN ('a', 'i'))";
/// Parts of tables, which are named by their numbers.
const PARTS: &str = "SELECT relname, oid::regclass::text FROM pg_class WHERE relnamespace = {n} \
                     AND relkind IN ('r', 'p') AND relispartition";
/// What no load makes at all: views, foreign tables, composite types, triggers and rules on our
/// tables.
const NEVER_OURS: &str = "SELECT CASE relkind WHEN 'v' THEN 'the view ' WHEN 'm' THEN 'the \
    materialized view ' WHEN \
     'f' THEN 'the foreign table ' ELSE 'the type ' END || relname FROM pg_class WHERE \
     relnamespace = {n} AND relkind IN ('v', 'm', 'f', 'c') UNION ALL SELECT 'the type ' || \
     typname FROM pg_type WHERE typnamespace = {n} AND typtype IN ('d', 'e', 'r', 'm') UNION ALL \
     SELECT 'the trigger ' || tgname || ' on ' || relname FROM pg_trigger AS t JOIN pg_class AS c \
     ON c.oid = tgrelid WHERE relnamespace = {n} AND NOT tgisinternal UNION ALL SELECT 'the rule \
     ' || rulename || ' on ' || relname FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = \
     ev_class WHERE relnamespace = {n} AND relkind IN ('r', 'p')";
/// What lies elsewhere and depends on our tables: views, references, parts and heirs.
const ELSEWHERE: &str = "SELECT 'the view ' || v.oid::regclass::text FROM pg_depend AS d JOIN \
    pg_rewrite AS r ON \
     d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid JOIN pg_class AS v ON v.oid = \
     r.ev_class JOIN pg_class AS c ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid \
     WHERE c.relnamespace = {n} AND v.relnamespace <> {n} UNION SELECT 'the table ' || \
     f.oid::regclass::text FROM pg_constraint AS k JOIN pg_class AS c ON k.confrelid = c.oid JOIN \
     pg_class AS f ON f.oid = k.conrelid WHERE c.relnamespace = {n} AND f.relnamespace <> {n} \
     UNION SELECT 'the table ' || f.oid::regclass::text FROM pg_inherits JOIN pg_class AS c ON \
     c.oid = inhparent JOIN pg_class AS f ON f.oid = inhrelid WHERE c.relnamespace = {n} AND \
     f.relnamespace <> {n}";

/// A query about a schema.
fn of(sql: &str, schema: &str) -> String {
    let number =
        format!("(SELECT oid FROM pg_namespace WHERE nspname = '{}')", schema.replace('\'', "''"));
    sql.replace("{n}", &number)
}

/// What would go with a schema and was not made by its load, in words.
pub(super) fn strangers(
    link: &mut PostgresConnection,
    schema: &str,
    kind: OwnedKind,
) -> Answer<Vec<String>> {
    let mut found = Vec::new();
    for (what, sql) in [
        ("the function", ROUTINES),
        ("the table", TABLES),
        ("the table", PARTS),
        ("the sequence", SEQUENCES),
    ] {
        let rows = link.query(&of(sql, schema))?;
        let others = rows.iter().map(|row| row.text(0)).filter(|name| !makes(kind, name));
        found.extend(others.map(|name| format!("{what} {name}")));
    }
    for sql in [NEVER_OURS, ELSEWHERE] {
        found.extend(link.query(&of(sql, schema))?.iter().map(|row| row.text(0).to_owned()));
    }
    Ok(found)
}
