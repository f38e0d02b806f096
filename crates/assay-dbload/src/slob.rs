//! The SLOB method on a database: data that is scattered, and statements that read or change blocks
//! of it.

mod fill;
mod session;
mod statements;
mod tables;

pub use fill::{fill, is_filled};
pub use session::{BlockSession, Slob};
pub use statements::access_words;
pub use tables::{RowAccess, data_bytes};

use crate::load::{is_numbered, without_part};

/// Whether the method makes something of this name in its schema.
pub(crate) fn makes(name: &str) -> bool {
    without_part(name) == "scan" || is_numbered(name, "cf")
}
