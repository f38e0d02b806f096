//! The order-entry load: its tables, its transactions as functions of the server or as statements that are
//! written once for all products, and the conditions that its data must keep.

mod conditions;
mod functions;
mod orders;
mod prepared;
mod rows;
mod schema;
mod statements;
mod transactions;

pub use conditions::{TransactionCounts, count, verify};
pub use orders::{OrderSession, Orders};
pub use prepared::PreparedOrders;
pub use schema::Shape;
