//! The order-entry load: its tables, its transactions as functions of the server or as statements, and
//! the conditions that its data must keep.

mod conditions;
mod functions;
mod mariadb;
mod orders;
mod postgres;
mod schema;
mod statements;
mod store;

pub use conditions::{Counted, count, verify};
pub use orders::{OrderSession, Orders};
pub use schema::Shape;
pub(crate) use schema::object_names;
pub use store::OrderStore;
