//! The five transactions as functions of PostgreSQL and as procedures of MariaDB and MySQL: one call, one network round trip, one
//! transaction.
//!
//! In a procedure, what concerns all lines of an order is one statement, whose lines come as one text: a statement of a
//! procedure costs some thirty microseconds however little it does. The rows that most sessions want come last, and what is
//! changed is changed before it is read: a lock that is shared first and then wanted alone is how serialisable sessions end in
//! deadlocks.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free.

use super::statements::{text, within};
use crate::load::{Dialect, Procedure, with_variables};

/// The code with which a new order is rolled back that names an unused item.
pub(super) const UNUSED_ITEM: &str = "AS001";

const FUNCTIONS: &str = include_str!("sql/postgres_functions.sql");
const PROCEDURES: &str = include_str!("sql/mariadb_procedures.sql");
/// How each procedure begins.
const CREATE: &str = "CREATE PROCEDURE {s}.";
/// Whatever is refused leaves no transaction open, and the client hears of it.
const REFUSED: &str =
    "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; START TRANSACTION;";
/// The number of a customer; of several of one name the one in the middle, rounded up.
const NUMBER: &str = "
    SET customer = c;
    IF name <> '' THEN
        {count};
        SET place = (place - 1) DIV 2;
        {named} LIMIT place, 1;
    END IF;";

/// Creates all functions.
pub(super) fn create(schema: &str) -> String {
    // A statement whose changes are part of a query cannot stand inside of an expression.
    within(Dialect::Postgres, FUNCTIONS, &[("{into}", "INTO delivered")], schema)
}

/// All procedures with what they are made of.
pub(super) fn procedures(schema: &str) -> Vec<Procedure> {
    let named = text(Dialect::Mariadb, "named");
    let number = NUMBER
        .replace("{count}", &into(&counted(&named), "place"))
        .replace("{named}", &into(&named, "customer"));
    let parts = [
        ("{refused}", REFUSED.to_owned()),
        ("{found}", number),
        ("{buyer}", found("buyer", "discount, last_name, credit, tax, district_tax")),
        ("{low}", found("low", "low")),
    ];
    let made = |text: &'static str| {
        let (name, _) = text.split_once('(')?;
        let body = parts.iter().fold(text.trim_end().to_owned(), |body, (part, is)| {
            body.replace(part, &with_variables(is))
        });
        let (sql, number) = (format!("{CREATE}{body}"), [("{number}", "number")]);
        Some(Procedure { name, sql: within(Dialect::Mariadb, &sql, &number, schema) })
    };
    PROCEDURES.split(CREATE).skip(1).filter_map(made).collect()
}

/// A statement that searches one row, which goes into variables.
fn found(statement: &str, variables: &str) -> String {
    into(&text(Dialect::Mariadb, statement), variables)
}

fn into(search: &str, variables: &str) -> String {
    search.replacen(" FROM ", &format!(" INTO {variables} FROM "), 1)
}

/// How many customers have a name.
fn counted(named: &str) -> String {
    let (search, _) = named.split_once(" ORDER BY").unwrap_or((named, ""));
    search.replacen("c_id", "COUNT(*)", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_and_their_code() {
        let all = create("shop");
        assert_eq!(all.matches("CREATE FUNCTION shop.").count(), 5);
        assert!(!all.contains('{') && all.contains("no_w_id = w AND"), "{all}");
        assert!(all.contains(UNUSED_ITEM) && all.contains("INTO delivered FROM paid;"));
    }

    #[test]
    fn procedures_are_whole_and_end_each_transaction_that_they_begin() {
        let all = procedures("shop");
        assert_eq!(all.len(), 5);
        for Procedure { name, sql } in &all {
            assert!(sql.starts_with(&format!("CREATE PROCEDURE shop.{name}(")), "{sql}");
            assert!(!sql.contains(['{', '}', ':', '?']), "{sql}");
            assert_eq!(sql.matches("START TRANSACTION;").count(), 1, "{sql}");
            assert_eq!(sql.matches("COMMIT;").count(), 1, "{sql}");
            assert!(sql.contains("ROLLBACK; RESIGNAL"), "{sql}");
        }
        let named = "SELECT COUNT(*) INTO place FROM shop.customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = name;";
        assert!(all[1].sql.contains(named) && all[2].sql.contains(named), "{}", all[1].sql);
    }
}
