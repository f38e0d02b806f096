//! The conditions that the data keeps whatever happens, and what must be there of acknowledged transactions.
//!
//! Source: TPC-C, clause 3.3.2, conditions 1 to 12. The eleventh is stated there for freshly loaded data; deliveries are
//! counted with each customer, so that it can be checked at any time.

use crate::load::Database;
use assay_model::Result;
use assay_model::load::{Check, Checks};
use std::time::Instant;

/// Order lines by order, once for all conditions that need them.
const LINES: &str = "
    SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'; SET enable_seqscan = on;
    CREATE TEMP TABLE assay_lines AS
    SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, count(*) AS lines, count(ol_delivery_d) AS delivered,
        sum(ol_amount) FILTER (WHERE ol_delivery_d IS NOT NULL) AS amount
    FROM {s}.order_line GROUP BY 1, 2, 3;
    ANALYZE assay_lines";

/// What was delivered to each customer and what each has paid.
const CUSTOMERS: &str = "
    CREATE TEMP TABLE assay_customers AS
    SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS balance, c_ytd_payment AS paid,
        coalesce(amount, 0) AS amount, coalesce(received, 0) AS received
    FROM {s}.customer
    LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(amount) AS amount FROM {s}.orders, assay_lines
        WHERE o_w_id = w AND o_d_id = d AND o_id = o GROUP BY 1, 2, 3) AS bought
        ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS received FROM {s}.history GROUP BY 1, 2, 3) AS told
        ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id";

/// Each condition in words, and a statement that counts what breaks it.
const CONDITIONS: [(&str, &str); 12] = [
    (
        "the sum of a warehouse is that of its districts",
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM {s}.district GROUP BY 1) AS d \
         ON d_w_id = w_id WHERE w_ytd <> total",
    ),
    (
        "the next number of a district follows its last order and its last new order",
        "SELECT count(*) FROM {s}.district \
         JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM {s}.orders GROUP BY 1, 2) AS o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM {s}.new_order GROUP BY 1, 2) AS n \
         ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE d_next_o_id - 1 <> o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)",
    ),
    (
        "the numbers of a district's new orders have no gap",
        "SELECT count(*) FROM (SELECT 1 FROM {s}.new_order GROUP BY no_w_id, no_d_id \
         HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) AS broken",
    ),
    (
        "a district has as many order lines as its orders say",
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS said FROM {s}.orders GROUP BY 1, 2) AS o \
         FULL JOIN (SELECT w, d, sum(lines) AS found FROM assay_lines GROUP BY 1, 2) AS l ON w = o_w_id AND d = o_d_id \
         WHERE said IS DISTINCT FROM found",
    ),
    (
        "an order without a carrier is a new order, and no other is",
        "SELECT count(*) FROM {s}.orders FULL JOIN {s}.new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE o_id IS NULL OR (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    ),
    (
        "an order has as many lines as it says",
        "SELECT count(*) FROM {s}.orders FULL JOIN assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE o_ol_cnt IS DISTINCT FROM lines",
    ),
    (
        "lines have a day of delivery when their order has a carrier",
        "SELECT count(*) FROM {s}.orders JOIN assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE delivered <> CASE WHEN o_carrier_id IS NULL THEN 0 ELSE lines END",
    ),
    (
        "the sum of a warehouse is that of its payments",
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT h_w_id, sum(h_amount) AS total FROM {s}.history GROUP BY 1) AS h \
         ON h_w_id = w_id WHERE w_ytd <> total",
    ),
    (
        "the sum of a district is that of its payments",
        "SELECT count(*) FROM {s}.district JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS total FROM {s}.history GROUP BY 1, 2) AS h \
         ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> total",
    ),
    (
        "a customer owes what was delivered less what was paid",
        "SELECT count(*) FROM assay_customers WHERE balance <> amount - received",
    ),
    (
        "orders less new orders are those that were delivered",
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, count(*) AS orders FROM {s}.orders GROUP BY 1, 2) AS o \
         LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS fresh FROM {s}.new_order GROUP BY 1, 2) AS n \
         ON no_w_id = o_w_id AND no_d_id = o_d_id \
         JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS delivered FROM {s}.customer GROUP BY 1, 2) AS c \
         ON c_w_id = o_w_id AND c_d_id = o_d_id \
         WHERE orders - coalesce(fresh, 0) <> 2100 + delivered",
    ),
    (
        "balance and payments of a customer are what was delivered",
        "SELECT count(*) FROM assay_customers WHERE balance + paid <> amount",
    ),
];

/// Orders and payments that stand in the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Orders that were ever placed.
    pub orders: u64,
    /// Payments that were ever made.
    pub payments: u64,
}

/// Counts what stands in the tables.
///
/// # Errors
/// What the server says.
pub fn count(database: &mut Database) -> Result<Counted> {
    let sql = format!(
        "SELECT (SELECT sum(d_next_o_id - 1) FROM {0}.district), (SELECT count(*) FROM {0}.history)",
        database.schema
    );
    let row = database.admin.one(&sql);
    let row = row.map_err(|failure| failure.of("counting orders and payments"))?;
    Ok(Counted { orders: row.count(0).unwrap_or(0), payments: row.count(1).unwrap_or(0) })
}

/// Checks all conditions; `when` says in the result when that was.
///
/// # Errors
/// What the server says.
pub fn verify(database: &mut Database, when: &str) -> Result<Checks> {
    let begun = Instant::now();
    let schema = database.schema.clone();
    // A session of its own: its tables and settings go with it.
    let mut connection = database.connect()?;
    let told = |failure: assay_postgres::failure::Failure| failure.of("checking the data");
    for sql in [LINES, CUSTOMERS] {
        connection.run(&sql.replace("{s}", &schema)).map_err(told)?;
    }
    let mut checks = Vec::with_capacity(CONDITIONS.len());
    for (number, (words, sql)) in (1..).zip(CONDITIONS) {
        let row = connection.one(&sql.replace("{s}", &schema)).map_err(told)?;
        let violations = row.count(0).unwrap_or(u64::MAX);
        checks.push(Check { number, condition: words.to_owned(), violations });
    }
    connection.close();
    Ok(Checks { when: when.to_owned(), checks, elapsed_s: begun.elapsed().as_secs_f64() })
}
