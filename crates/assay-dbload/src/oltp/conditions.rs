//! The conditions that the data keeps whatever happens, and what must be there of acknowledged transactions.
//!
//! Source: TPC-C, clause 3.3.2, conditions 1 to 12. The eleventh is stated there for freshly loaded data; deliveries are
//! counted with each customer, so that it can be checked at any time.

use super::store::OrderStore;
use crate::load::{Conditions, Database, check_all, single_number};
use assay_model::Result;
use assay_model::load::Checks;

/// The conditions in words, by their numbers from 1.
const WORDS: [&str; 12] = [
    "the sum of a warehouse is that of its districts",
    "the next number of a district follows its last order and its last new order",
    "the numbers of a district's new orders have no gap",
    "a district has as many order lines as its orders say",
    "an order without a carrier is a new order, and no other is",
    "an order has as many lines as it says",
    "lines have a day of delivery when their order has a carrier",
    "the sum of a warehouse is that of its payments",
    "the sum of a district is that of its payments",
    "a customer owes what was delivered less what was paid",
    "orders less new orders are those that were delivered",
    "balance and payments of a customer are what was delivered",
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
pub fn count<L: OrderStore>(database: &mut Database<L>) -> Result<Counted> {
    let schema = database.schema.clone();
    let mut ask = |sql: String| {
        let found = single_number(&mut database.admin, &sql);
        found.map_err(|failure| failure.of("counting orders and payments"))
    };
    let orders = ask(format!("SELECT sum(d_next_o_id - 1) FROM {schema}.district"))?;
    let payments = ask(format!("SELECT count(*) FROM {schema}.history"))?;
    Ok(Counted { orders: orders.unwrap_or(0), payments: payments.unwrap_or(0) })
}

/// Checks all conditions; `when` says in the result when that was.
pub fn verify<L: OrderStore>(database: &mut Database<L>, when: &str) -> Result<Checks> {
    let schema = database.schema.clone();
    let each: Vec<(&'static str, String)> =
        WORDS.into_iter().zip(L::CONDITIONS.map(str::to_owned)).collect();
    let conditions = Conditions {
        before: &L::before_conditions(&schema),
        each: &each,
        after: Some(L::after_conditions(&schema)),
    };
    check_all(database, &conditions, when)
}
