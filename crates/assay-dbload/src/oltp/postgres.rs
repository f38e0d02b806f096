//! The order-entry load on PostgreSQL: functions of the server or pipelined statements.

use super::functions::UNUSED_ITEM;
use super::statements::{self, prepare};
use super::store::OrderStore;
use crate::load::{Calls, Isolation, none_open, steady};
use assay_loads::oltp::{Customer, Transaction};
use assay_model::failure::Answer;
use assay_postgres::connection::{Answers, Batch, Connection};

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
    LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS received FROM {s}.history GROUP BY 1, 2, 3) AS paid
        ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id";

/// What a session keeps between its transactions.
pub struct Turn {
    calls: Calls,
    batch: Batch,
    answers: Answers,
}

impl OrderStore for Connection {
    type Turn = Turn;

    const CONDITIONS: [&'static str; 12] = [
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM {s}.district GROUP BY 1) AS d \
         ON d_w_id = w_id WHERE w_ytd <> total",
        "SELECT count(*) FROM {s}.district \
         JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM {s}.orders GROUP BY 1, 2) AS o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM {s}.new_order GROUP BY 1, 2) AS n \
         ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE d_next_o_id - 1 <> o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)",
        "SELECT count(*) FROM (SELECT 1 FROM {s}.new_order GROUP BY no_w_id, no_d_id \
         HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) AS broken",
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS said FROM {s}.orders GROUP BY 1, 2) AS o \
         FULL JOIN (SELECT w, d, sum(lines) AS found FROM assay_lines GROUP BY 1, 2) AS l ON w = o_w_id AND d = o_d_id \
         WHERE said IS DISTINCT FROM found",
        "SELECT count(*) FROM {s}.orders FULL JOIN {s}.new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE o_id IS NULL OR (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
        "SELECT count(*) FROM {s}.orders FULL JOIN assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE o_ol_cnt IS DISTINCT FROM lines",
        "SELECT count(*) FROM {s}.orders JOIN assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
         WHERE delivered <> CASE WHEN o_carrier_id IS NULL THEN 0 ELSE lines END",
        "SELECT count(*) FROM {s}.warehouse JOIN (SELECT h_w_id, sum(h_amount) AS total FROM {s}.history GROUP BY 1) AS h \
         ON h_w_id = w_id WHERE w_ytd <> total",
        "SELECT count(*) FROM {s}.district JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS total FROM {s}.history GROUP BY 1, 2) AS h \
         ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> total",
        "SELECT count(*) FROM assay_customers WHERE balance <> amount - received",
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, count(*) AS orders FROM {s}.orders GROUP BY 1, 2) AS o \
         LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS fresh FROM {s}.new_order GROUP BY 1, 2) AS n \
         ON no_w_id = o_w_id AND no_d_id = o_d_id \
         JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS delivered FROM {s}.customer GROUP BY 1, 2) AS c \
         ON c_w_id = o_w_id AND c_d_id = o_d_id \
         WHERE orders - coalesce(fresh, 0) <> 2100 + delivered",
        "SELECT count(*) FROM assay_customers WHERE balance + paid <> amount",
    ];

    fn before_conditions(schema: &str) -> Vec<String> {
        [LINES, CUSTOMERS].map(|sql| sql.replace("{s}", schema)).to_vec()
    }

    /// Temporary tables go with the session.
    fn after_conditions(_schema: &str) -> String {
        "SELECT 1".to_owned()
    }

    fn turn(&mut self, schema: &str, calls: Calls, isolation: Isolation) -> Answer<Turn> {
        steady(self, isolation)?;
        match calls {
            Calls::Functions => parse_calls(self, schema)?,
            Calls::Statements => prepare(self, schema)?,
        }
        Ok(Turn { calls, batch: Batch::default(), answers: Answers::default() })
    }

    fn attempt(&mut self, turn: &mut Turn, transaction: &Transaction) -> Answer<bool> {
        let Turn { calls, batch, answers } = turn;
        if *calls == Calls::Statements {
            let taken = statements::Turn { connection: self, batch, answers }.take(transaction);
            return none_open(self, taken);
        }
        batch.clear();
        call(batch, transaction);
        match self.exchange(batch, answers) {
            Ok(()) => Ok(true),
            Err(failure) if failure.code() == Some(UNUSED_ITEM) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

fn parse_calls(connection: &mut Connection, schema: &str) -> Answer<()> {
    for (name, parameters) in [
        ("place_order", "$1::int, $2::int, $3::int, $4::int[], $5::int[], $6::int[]"),
        ("pay", "$1::int, $2::int, $3::int, $4::int, $5::int, $6::text, $7::int"),
        ("last_order", "$1::int, $2::int, $3::int, $4::text"),
        ("deliver", "$1::int, $2::int"),
        ("low_stock", "$1::int, $2::int, $3::int"),
    ] {
        connection.parse(name, &format!("SELECT {schema}.{name}({parameters})"))?;
    }
    Ok(())
}

/// A customer as number and name; one of them says nothing.
fn both(customer: &Customer) -> (u32, &str) {
    match customer {
        Customer::Number(number) => (*number, ""),
        Customer::Name(name) => (0, name),
    }
}

/// The call of a transaction.
fn call(batch: &mut Batch, transaction: &Transaction) {
    match transaction {
        Transaction::NewOrder(order) => batch.execute("place_order", |values| {
            values.integer(order.warehouse).integer(order.district).integer(order.customer);
            values.integers(order.lines.iter().map(|line| line.supply));
            values.integers(order.lines.iter().map(|line| line.item));
            values.integers(order.lines.iter().map(|line| line.quantity));
        }),
        Transaction::Payment(payment) => batch.execute("pay", |values| {
            let (number, name) = both(&payment.customer);
            values.integer(payment.warehouse).integer(payment.district);
            values.integer(payment.customer_warehouse).integer(payment.customer_district);
            values.integer(number).text(name).integer(payment.amount);
        }),
        Transaction::OrderStatus(asked) => batch.execute("last_order", |values| {
            let (number, name) = both(&asked.customer);
            values.integer(asked.warehouse).integer(asked.district).integer(number).text(name);
        }),
        Transaction::Delivery(delivery) => batch.execute("deliver", |values| {
            values.integer(delivery.warehouse).integer(delivery.carrier);
        }),
        Transaction::StockLevel(asked) => batch.execute("low_stock", |values| {
            values.integer(asked.warehouse).integer(asked.district).integer(asked.threshold);
        }),
    }
}
