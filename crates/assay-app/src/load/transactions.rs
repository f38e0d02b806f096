//! What loads of transactions share: where their tables are, and what is done around a rung.

mod driver;
mod table_setup;

pub use driver::{TransactionDriver, TransactionLoad};
pub use table_setup::{Restorable, TableSetup};
