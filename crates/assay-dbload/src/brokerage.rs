//! The brokerage load: its 33 tables, its twelve transactions as functions of PostgreSQL or as statements that are written
//! once for all products, and the conditions that its data must keep.

mod conditions;
mod functions;
mod prepared;
mod runner;
mod schema;
mod session;
mod statements;
mod transactions;

pub use conditions::{found, verify};
pub use prepared::PreparedBrokerage;
pub use runner::{Days, TransactionOutcome};
pub use schema::BrokerageSchema;
pub use session::{BrokerSession, Brokerage, KINDS, TRADE_RESULT};
