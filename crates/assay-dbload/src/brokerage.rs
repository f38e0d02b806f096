//! The brokerage load: its 33 tables, its twelve transactions as functions of PostgreSQL or as statements that are written
//! once for all products, and the conditions that its data must keep.

mod calls;
mod conditions;
mod dialect;
mod functions;
mod maintenance_transactions;
mod outcome;
mod prepared;
mod read_transactions;
mod runner;
mod schema;
mod session;
mod statements;
mod trade_transactions;

pub use conditions::{found, verify};
pub use outcome::{Days, TransactionOutcome};
pub use prepared::PreparedBrokerage;
pub use schema::BrokerageSchema;
pub use session::{BrokerSession, Brokerage, KINDS, TRADE_RESULT};
