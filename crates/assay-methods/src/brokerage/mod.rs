//! The brokerage load on PostgreSQL: its 33 tables, its twelve transactions as functions of the server, and the
//! conditions that its data must keep.

mod conditions;
mod deals;
mod functions;
mod market;
mod reads;
mod schema;

pub use conditions::{found, verify};
pub use deals::{Brokerage, KINDS, TRADE_RESULT};
pub use schema::Floor;
