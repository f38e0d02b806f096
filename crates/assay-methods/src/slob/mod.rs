//! The SLOB method on PostgreSQL: data that is scattered, and statements that read or change blocks of it.

mod fill;
mod session;
mod tables;

pub use fill::{Fill, fill, is_filled};
pub use session::{BlockSession, Slob};
pub use tables::{Access, data_bytes, workload};
