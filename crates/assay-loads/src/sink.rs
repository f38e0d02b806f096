//! Rows of a load on their way out of a generator, in whatever form a server takes them.

/// Takes rows, column by column in the order of their table.
///
/// Each value has a type of SQL; the form of a server's bulk load implements it, and so do tests.
pub trait RowSink {
    /// Begins a row of `columns` columns.
    fn row(&mut self, columns: u16);
    /// A column of type `integer`: four bytes in two's complement.
    fn integer(&mut self, value: u32);
    /// A column of type `bigint`.
    fn long(&mut self, value: i64);
    /// A column of type `numeric` with `digits` digits after the point, 2 or 4, as a count of its
    /// smallest unit.
    fn decimal(&mut self, value: i64, digits: u16);
    /// A text, without the blanks that a column of fixed length may want behind it.
    fn text(&mut self, value: &[u8]);
    /// A column of type `boolean`.
    fn flag(&mut self, value: bool);
    /// A moment, microseconds since 1970.
    fn time(&mut self, unix_us: i64);
    /// A day, counted from 1 January 1970.
    fn date(&mut self, unix_days: i32);
    /// A null of any type.
    fn null(&mut self);
    /// Whether nobody takes further rows.
    fn is_full(&self) -> bool;
    /// The last row is complete; what is still buffered leaves.
    fn finish(&mut self) {}
}

/// A part of a table: all parts of the same count together are the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TablePart {
    /// From 1.
    pub number: i32,
    /// How many there are.
    pub of: i32,
}

impl TablePart {
    /// The whole table.
    pub const WHOLE: Self = Self { number: 1, of: 1 };
}
