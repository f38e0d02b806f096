//! The lines of an order as a text of rows, which the server reads as a table.

use assay_loads::oltp::Line;
use std::fmt::Write as _;

/// Writes rows of a line's item, the warehouse that supplies it, and how many.
pub(super) fn write_lines(to: &mut String, lines: &[Line]) {
    to.clear();
    to.push('[');
    for (place, line) in lines.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Writing to memory does not fail.
        let _ = write!(to, "{comma}[{},{},{}]", line.item, line.supply, line.quantity);
    }
    to.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rows_of_a_text() {
        let mut text = "old".to_owned();
        let line = |item| Line { supply: 2, item, quantity: 10 };
        write_lines(&mut text, &[line(7), line(100_000)]);
        assert_eq!(text, "[[7,2,10],[100000,2,10]]");
        write_lines(&mut text, &[]);
        assert_eq!(text, "[]");
    }
}
