//! The SLOB method on a database: data that is scattered, and statements that read or change blocks of it.

mod fill;
mod mariadb;
mod postgres;
mod session;
mod store;
mod tables;

pub use fill::{fill, is_filled};
pub use mariadb::MARIADB_ACCESS;
pub use session::{BlockSession, Slob};
pub use store::BlockStore;
pub use tables::{Access, data_bytes};
