//! The five transactions as functions of the server: one call, one network round trip, one transaction.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free, so the rows that most
//! sessions want come last.

/// The code with which a new order is rolled back that names an unused item.
pub(super) const UNUSED_ITEM: &str = "AS001";

/// The part of a stock's text that belongs to a district.
pub(super) const DISTRICT_TEXT: &str = "CASE {d} WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 \
    WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 \
    WHEN 9 THEN s_dist_09 ELSE s_dist_10 END";

const NEW_ORDER: &str = include_str!("sql/postgres_new_order.sql");

const PAYMENT: &str = include_str!("sql/postgres_payment.sql");

const ORDER_STATUS: &str = include_str!("sql/postgres_order_status.sql");

/// All districts in one statement; an order that another delivery holds is left to it.
pub(super) const DELIVER: &str = include_str!("sql/postgres_delivery.sql");

/// Items of the last 20 orders of a district whose stock is below a threshold.
pub(super) const STOCK_LEVEL: &str = include_str!("sql/postgres_stock_level.sql");

/// A function of one statement.
fn wrapped(name: &str, parameters: &str, statement: &str) -> String {
    format!(
        "CREATE FUNCTION {{s}}.{name}({parameters}) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN ({}); END $$;",
        statement.trim_start()
    )
}

/// A statement whose changes are part of a query cannot stand inside of an expression.
fn delivery() -> String {
    format!(
        "CREATE FUNCTION {{s}}.deliver(w int, carrier int, OUT delivered bigint) LANGUAGE plpgsql AS $$ BEGIN {} INTO delivered FROM paid; END $$;",
        DELIVER.replace("SELECT count(*) FROM paid", "SELECT count(*)")
    )
}

/// Creates all functions.
pub(super) fn create(schema: &str) -> String {
    let stock_level = wrapped("low_stock", "w int, d int, threshold int", STOCK_LEVEL);
    let all = [NEW_ORDER, PAYMENT, ORDER_STATUS, &delivery(), &stock_level].concat();
    with_schema(&all, schema).replace("{text}", &DISTRICT_TEXT.replace("{d}", "d"))
}

/// A statement on the tables of a schema.
pub(super) fn with_schema(sql: &str, schema: &str) -> String {
    sql.replace("{s}", schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_and_their_code() {
        let all = create("shop");
        assert_eq!(all.matches("CREATE FUNCTION shop.").count(), 5);
        assert!(!all.contains("{s}") && !all.contains("{text}") && !all.contains("{d}"));
        assert!(all.contains(UNUSED_ITEM));
    }
}
