//! Columns of an answer; what is NULL or of another type is not known.

use crate::connection::Row;

/// A text that may be NULL.
pub(super) fn text(row: &Row, column: usize) -> Option<String> {
    row.0.get(column).cloned().flatten()
}

/// An object's id, or that of a process.
pub(super) fn id(row: &Row, column: usize) -> u32 {
    row.text(column).parse().unwrap_or_default()
}
