//! The manual of `open(2)`: files that somebody names, opened without waiting, read with a bound,
//! private where they must be.
#![forbid(unsafe_code)]

mod ending;
mod owner;
mod plain;

pub use ending::{end_waits_with, is_ending};
pub use owner::{check_private, is_foreign, is_writable_by_all, is_writable_by_others};
pub use plain::{open_plain, read_bounded, read_plain, read_private, read_with_facts};
