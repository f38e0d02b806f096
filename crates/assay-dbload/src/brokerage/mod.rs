//! The brokerage load: its 33 tables, its twelve transactions as functions of PostgreSQL or as statements that are written
//! once for all products, and the conditions that its data must keep.

mod asking;
mod calls;
mod caring;
mod conditions;
mod dealing;
mod deals;
mod desk;
mod functions;
mod mariadb;
mod postgres;
mod prepared;
mod schema;
mod statements;
mod store;

pub use conditions::{found, verify};
pub use deals::{BrokerSession, Brokerage, KINDS, TRADE_RESULT};
pub use prepared::PreparedBrokerage;
pub use schema::Floor;
pub use store::{BrokerStore, Days, Told};
