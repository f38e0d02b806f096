//! The order-entry load: its tables, its transactions as functions of the server or as statements that are
//! written once for all products, and the conditions that its data must keep.

mod calls;
mod conditions;
mod dialect;
mod functions;
mod new_order;
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
