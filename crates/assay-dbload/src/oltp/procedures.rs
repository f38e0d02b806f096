//! The five transactions as procedures of the server: one call, one network round trip, one transaction.
//!
//! What concerns all lines of an order is one statement, whose lines come as one text: a statement of a procedure costs some
//! thirty microseconds however little it does. The rows that most sessions want come last, and what is changed is changed before
//! it is read: a lock that is shared first and then wanted alone is how serialisable sessions end in deadlocks.

use super::statements::{text, within};
use crate::load::{MariadbLink, Procedure, with_variables};

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

const PLACE_ORDER: &str = include_str!("sql/mariadb_new_order.sql");

const PAY: &str = include_str!("sql/mariadb_payment.sql");

const LAST_ORDER: &str = include_str!("sql/mariadb_order_status.sql");

const DELIVERY: &str = include_str!("sql/mariadb_delivery.sql");

const LOW_STOCK: &str = include_str!("sql/mariadb_stock_level.sql");

/// All of them with what they are made of.
pub(super) fn all(schema: &str) -> Vec<Procedure> {
    let named = text::<MariadbLink>("named");
    let number = NUMBER
        .replace("{count}", &into(&counted(&named), "place"))
        .replace("{named}", &into(&named, "customer"));
    let parts = [
        ("{refused}", REFUSED.to_owned()),
        ("{found}", number),
        ("{buyer}", found("buyer", "discount, last_name, credit, tax, district_tax")),
        ("{low}", found("low", "low")),
    ];
    let made = |(name, text): (&'static str, &str)| {
        let body = parts
            .iter()
            .fold(text.to_owned(), |body, (part, is)| body.replace(part, &with_variables(is)));
        let sql = format!("CREATE PROCEDURE {{s}}.{name}{body}");
        Procedure { name, sql: within::<MariadbLink>(&sql, &[("{number}", "number")], schema) }
    };
    [
        ("place_order", PLACE_ORDER),
        ("pay", PAY),
        ("last_order", LAST_ORDER),
        ("deliver", DELIVERY),
        ("low_stock", LOW_STOCK),
    ]
    .map(made)
    .to_vec()
}

/// A statement that searches one row, which goes into variables.
fn found(statement: &str, variables: &str) -> String {
    into(&text::<MariadbLink>(statement), variables)
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
    fn procedures_are_whole_and_end_each_transaction_that_they_begin() {
        let all = all("shop");
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
