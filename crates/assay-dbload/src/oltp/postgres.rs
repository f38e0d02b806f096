//! The order-entry load on PostgreSQL: its words, what its conditions look at, and calls of its functions.

use super::functions::UNUSED_ITEM;
use super::store::OrderStore;
use crate::load::Words;
use assay_loads::oltp::{Customer, Transaction};
use assay_model::failure::Answer;
use assay_postgres::connection::{Answers, Batch, Connection};

/// Calls that are sent, and what they gave.
#[derive(Default)]
pub struct FunctionCalls {
    batch: Batch,
    answers: Answers,
}

impl OrderStore for Connection {
    type Functions = FunctionCalls;

    const WORDS: Words = &[
        (
            "{history_note}",
            "concat_ws(' ', c_id, c_d_id, c_w_id, :d, :w, :cents / 100.0) || '|' || c_data",
        ),
        ("{shown}", "RETURNING c_first, c_middle, c_last, c_credit, cast(c_balance AS text)"),
        ("{number}", ":number"),
        ("{into}", ""),
        ("{lines}", "assay_lines"),
        ("{customers}", "assay_customers"),
    ];

    const STATEMENTS: &'static str = include_str!("sql/postgres_statements.sql");

    const BEFORE_CONDITIONS: &'static [&'static str] = &[
        "SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'; SET enable_seqscan = on",
        "CREATE TEMP TABLE {lines} AS {of lines}",
        "ANALYZE {lines}",
        "CREATE TEMP TABLE {customers} AS {of customers}",
    ];
    /// Temporary tables go with the session.
    const AFTER_CONDITIONS: &'static str = "SELECT 1";

    fn functions(&mut self, schema: &str) -> Answer<FunctionCalls> {
        parse_calls(self, schema)?;
        Ok(FunctionCalls::default())
    }

    fn call(&mut self, calls: &mut FunctionCalls, transaction: &Transaction) -> Answer<bool> {
        let FunctionCalls { batch, answers } = calls;
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
