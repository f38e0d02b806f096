//! Columns of an answer; what is NULL or of another type is not known.

use postgres::Row;

/// A count; negative ones do not exist.
pub(super) fn count(row: &Row, column: usize) -> Option<u64> {
    let big = row.try_get::<_, Option<i64>>(column).ok().flatten();
    let small = || row.try_get::<_, Option<i32>>(column).ok().flatten().map(i64::from);
    u64::try_from(big.or_else(small)?).ok()
}

/// A count that is 0 where it is not known.
pub(super) fn or_zero(row: &Row, column: usize) -> u64 {
    count(row, column).unwrap_or_default()
}

/// A real number.
pub(super) fn real(row: &Row, column: usize) -> Option<f64> {
    row.try_get::<_, Option<f64>>(column).ok().flatten()
}

/// A text.
pub(super) fn text(row: &Row, column: usize) -> Option<String> {
    row.try_get::<_, Option<String>>(column).ok().flatten()
}

/// A truth.
pub(super) fn truth(row: &Row, column: usize) -> bool {
    row.try_get::<_, Option<bool>>(column).ok().flatten().unwrap_or_default()
}

/// An object's id.
pub(super) fn id(row: &Row, column: usize) -> u32 {
    row.try_get::<_, u32>(column).unwrap_or_default()
}
