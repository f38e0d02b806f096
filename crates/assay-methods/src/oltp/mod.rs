//! The order-entry load on PostgreSQL: its tables, its transactions as functions of the server or as statements, and
//! the conditions that its data must keep.

mod conditions;
mod copy;
mod fill;
mod functions;
mod manifest;
mod orders;
mod schema;
mod snapshot;
mod statements;
mod workload;

pub use conditions::{Counted, count, verify};
pub use fill::{Fill, fill};
pub use manifest::{Manifest, State};
pub use orders::{Calls, Isolation, OrderSession, Orders};
pub use schema::Shape;
pub use snapshot::Snapshot;
pub use workload::workload;
