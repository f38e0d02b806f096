//! The conditions that the data keeps whatever happens, and what must be there of acknowledged
//! transactions.
//!
//! Source: TPC-C, clause 3.3.2, conditions 1 to 12. The eleventh is stated there for freshly loaded
//! data; deliveries are counted with each customer, so that it can be checked at any time.

use super::statements::PHRASES;
use crate::load::{Conditions, LoadSchema, Product, check_all, single_number};
use assay_model::Result;
use assay_model::load::Checks;

/// Order lines by order, once for all conditions that need them.
const LINES: &str = "SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, count(*) AS line_count, \
                     count(ol_delivery_d) AS delivered, sum(CASE WHEN ol_delivery_d IS NOT NULL \
                     THEN ol_amount END) AS amount FROM {s}.order_line GROUP BY ol_w_id, ol_d_id, \
                     ol_o_id";

/// What was delivered to each customer and what each has paid.
const CUSTOMERS: &str = "SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS balance, \
    c_ytd_payment AS paid, \
     coalesce(bought.amount, 0) AS amount, coalesce(paid.received, 0) AS received FROM \
     {s}.customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(amount) AS amount FROM {s}.orders \
     JOIN {lines} ON o_w_id = w AND o_d_id = d AND o_id = o GROUP BY o_w_id, o_d_id, o_c_id) AS \
     bought ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, \
     h_c_d_id, h_c_id, sum(h_amount) AS received FROM {s}.history GROUP BY h_c_w_id, h_c_d_id, \
     h_c_id) AS paid ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id";

/// Each condition in words, and what counts what breaks it. Where either side may lack a row, sums
/// over both are compared, or each is looked for in the other.
const CONDITIONS: [(&str, &str); 12] = [
    (
        "the total of a warehouse equals the sum of its districts",
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM \
         {s}.district GROUP BY d_w_id) AS d ON d_w_id = w_id WHERE w_ytd <> total",
    ),
    (
        "the next order number of a district follows its last order and its last new order",
        "SELECT count(*) FROM {s}.district JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM \
         {s}.orders GROUP BY o_w_id, o_d_id) AS o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
         (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM {s}.new_order GROUP BY no_w_id, \
         no_d_id) AS n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 <> o.last OR \
         d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)",
    ),
    (
        "the new-order numbers of a district have no gaps",
        "SELECT count(*) FROM (SELECT no_w_id FROM {s}.new_order GROUP BY no_w_id, no_d_id HAVING \
         max(no_o_id) - min(no_o_id) + 1 <> count(*)) AS broken",
    ),
    (
        "the number of order lines of a district matches its orders",
        "SELECT count(*) FROM (SELECT w, d, sum(said) AS said, sum(found) AS found FROM ( SELECT \
         o_w_id AS w, o_d_id AS d, sum(o_ol_cnt) AS said, 0 AS found FROM {s}.orders GROUP BY \
         o_w_id, o_d_id UNION ALL SELECT w, d, 0 AS said, sum(line_count) AS found FROM {lines} \
         GROUP BY w, d) AS sides GROUP BY w, d) AS both_sides WHERE said <> found",
    ),
    (
        "exactly the orders without a carrier are new orders",
        "SELECT (SELECT count(*) FROM {s}.orders LEFT JOIN {s}.new_order ON no_w_id = o_w_id AND \
         no_d_id = o_d_id AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT \
         NULL)) + (SELECT count(*) FROM {s}.new_order LEFT JOIN {s}.orders ON no_w_id = o_w_id \
         AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_id IS NULL)",
    ),
    (
        "the number of lines of an order matches its line count",
        "SELECT (SELECT count(*) FROM {s}.orders LEFT JOIN {lines} ON w = o_w_id AND d = o_d_id \
         AND o = o_id WHERE coalesce(o_ol_cnt, -1) <> coalesce(line_count, -1)) + (SELECT \
         count(*) FROM {lines} LEFT JOIN {s}.orders ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE o_id IS NULL)",
    ),
    (
        "order lines have a delivery date if their order has a carrier",
        "SELECT count(*) FROM {s}.orders JOIN {lines} ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE delivered <> CASE WHEN o_carrier_id IS NULL THEN 0 ELSE line_count END",
    ),
    (
        "the total of a warehouse equals the sum of its payments",
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT h_w_id, sum(h_amount) AS total FROM \
         {s}.history GROUP BY h_w_id) AS h ON h_w_id = w_id WHERE w_ytd <> total",
    ),
    (
        "the total of a district equals the sum of its payments",
        "SELECT count(*) FROM {s}.district JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS total \
         FROM {s}.history GROUP BY h_w_id, h_d_id) AS h ON h_w_id = d_w_id AND h_d_id = d_id \
         WHERE d_ytd <> total",
    ),
    (
        "the balance of a customer equals deliveries minus payments",
        "SELECT count(*) FROM {customers} WHERE balance <> amount - received",
    ),
    (
        "orders minus new orders equal the delivered orders",
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, count(*) AS orders FROM {s}.orders GROUP BY \
         o_w_id, o_d_id) AS o LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS fresh FROM \
         {s}.new_order GROUP BY no_w_id, no_d_id) AS n ON no_w_id = o_w_id AND no_d_id = o_d_id \
         JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS delivered FROM {s}.customer GROUP BY \
         c_w_id, c_d_id) AS c ON c_w_id = o_w_id AND c_d_id = o_d_id WHERE orders - \
         coalesce(fresh, 0) <> 2100 + delivered",
    ),
    (
        "balance plus payments of a customer equal deliveries",
        "SELECT count(*) FROM {customers} WHERE balance + paid <> amount",
    ),
];

/// Orders and payments that stand in the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionCounts {
    /// Orders that were ever placed.
    pub orders: u64,
    /// Payments that were ever made.
    pub payments: u64,
}

/// Counts what stands in the tables.
pub fn count<L: Product>(database: &mut LoadSchema<L>) -> Result<TransactionCounts> {
    let schema = database.schema.clone();
    let mut ask = |sql: String| {
        let found = single_number(&mut database.admin, &sql);
        found.map_err(|failure| failure.of("counting orders and payments"))
    };
    let orders = ask(format!("SELECT sum(d_next_o_id - 1) FROM {schema}.district"))?;
    let payments = ask(format!("SELECT count(*) FROM {schema}.history"))?;
    Ok(TransactionCounts { orders: orders.unwrap_or(0), payments: payments.unwrap_or(0) })
}

/// Checks all conditions; `when` says in the result when that was.
pub fn verify<L: Product>(database: &mut LoadSchema<L>, when: &str) -> Result<Checks> {
    let conditions = Conditions {
        phrases: PHRASES.of(L::DIALECT),
        looked_at: &[("{of lines}", LINES), ("{of customers}", CUSTOMERS)],
        each: &CONDITIONS.map(|(condition, sql)| (condition, sql.to_owned())),
    };
    check_all(database, &conditions, when)
}
