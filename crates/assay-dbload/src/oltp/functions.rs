//! The five transactions as functions of PostgreSQL: one call, one network round trip, one transaction.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free, so the rows that most
//! sessions want come last.

use super::statements::within;
use assay_postgres::connection::Connection;

/// The code with which a new order is rolled back that names an unused item.
pub(super) const UNUSED_ITEM: &str = "AS001";

const FUNCTIONS: &str = include_str!("sql/postgres_functions.sql");

/// Creates all functions.
pub(super) fn create(schema: &str) -> String {
    // A statement whose changes are part of a query cannot stand inside of an expression.
    within::<Connection>(FUNCTIONS, &[("{into}", "INTO delivered")], schema)
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
}
