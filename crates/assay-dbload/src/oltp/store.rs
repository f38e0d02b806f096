//! What the order-entry load needs of a product: five transactions, conditions that are checked.

use crate::load::{Calls, Isolation, TableStore};
use assay_loads::oltp::Transaction;
use assay_model::Result;
use assay_model::failure::Answer;

/// How a product carries the transactions of the load out.
pub trait OrderStore: TableStore {
    /// What a session keeps between its transactions.
    type Turn: Send;
    /// What each of the twelve conditions counts that breaks it.
    const CONDITIONS: [&'static str; 12];

    /// Refuses a server that cannot carry the transactions out.
    fn check_orders(&self) -> Result<()> {
        Ok(())
    }

    /// Statements that make what the conditions look at, and the one that removes it.
    fn before_conditions(schema: &str) -> Vec<String>;

    /// What is done after the conditions.
    fn after_conditions(schema: &str) -> String;

    /// Settings and statements of a fresh session.
    fn turn(&mut self, schema: &str, calls: Calls, isolation: Isolation) -> Answer<Self::Turn>;

    /// One try of a transaction; whether it was committed, and not rolled back as asked. A failure leaves none open.
    fn attempt(&mut self, turn: &mut Self::Turn, transaction: &Transaction) -> Answer<bool>;
}
