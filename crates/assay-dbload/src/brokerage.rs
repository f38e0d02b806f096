//! The brokerage load: its 33 tables, its twelve transactions as functions of PostgreSQL or as statements that are written
//! once for all products, and the conditions that its data must keep.

mod calls;
mod conditions;
mod functions;
mod maintenance_transactions;
mod mariadb;
mod postgres;
mod prepared;
mod read_transactions;
mod runner;
mod schema;
mod session;
mod statements;
mod store;
mod trade_transactions;

pub use conditions::{found, verify};
pub use prepared::PreparedBrokerage;
pub use schema::BrokerageSchema;
pub use session::{BrokerSession, Brokerage, KINDS, TRADE_RESULT};
pub use store::{BrokerStore, Days, TransactionOutcome};
