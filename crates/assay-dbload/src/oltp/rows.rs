//! Rows of numbers as a text of JSON, which the server reads as a table.

use assay_loads::oltp::NewOrder;
use std::fmt::{Debug, Write as _};

/// A line of an order as a row: its item, the warehouse that supplies it, and how many.
pub(super) fn order_rows(order: &NewOrder) -> impl Iterator<Item = [u32; 3]> {
    order.lines.iter().map(|line| [line.item, line.supply, line.quantity])
}

/// Writes rows in the place of what was there.
pub(super) fn write_rows<N: Debug, const COLUMNS: usize>(
    to: &mut String,
    rows: impl IntoIterator<Item = [N; COLUMNS]>,
) {
    to.clear();
    to.push('[');
    for (place, row) in rows.into_iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Numbers are written as in JSON, and writing to memory does not fail.
        let _ = write!(to, "{comma}{row:?}");
    }
    to.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_text_of_json() {
        let mut text = "old".to_owned();
        write_rows(&mut text, [[7, 2, 10], [100_000, 2, 10]]);
        assert_eq!(text, "[[7, 2, 10],[100000, 2, 10]]");
        write_rows::<u32, 2>(&mut text, []);
        assert_eq!(text, "[]");
    }
}
