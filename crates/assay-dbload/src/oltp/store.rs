//! What the order-entry load needs of a product: its statements, its functions or procedures, and conditions that are checked.

use crate::load::{TableStore, Words};
use assay_loads::oltp::Transaction;
use assay_model::Result;
use assay_model::failure::Answer;

/// How a product carries the transactions of the load out.
pub trait OrderStore: TableStore {
    /// Its words where products differ.
    const WORDS: Words;
    /// Its own statements.
    const STATEMENTS: &'static str;
    /// Calls of its functions or procedures.
    type Functions: Send;
    /// Makes what the conditions look at.
    const BEFORE_CONDITIONS: &'static [&'static str];
    /// What is done when they are checked.
    const AFTER_CONDITIONS: &'static str;

    /// Refuses a server that cannot carry the transactions out.
    fn check_orders(&self) -> Result<()> {
        Ok(())
    }

    /// Has the calls parsed.
    fn functions(&mut self, schema: &str) -> Answer<Self::Functions>;

    /// One call of a transaction; whether it was committed, and not rolled back as asked. A failure leaves none open.
    fn call(&mut self, functions: &mut Self::Functions, transaction: &Transaction) -> Answer<bool>;
}
