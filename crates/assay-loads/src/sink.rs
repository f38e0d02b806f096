//! Where rows go that a load makes, in whatever form a server takes them.

/// Takes rows, column by column in the order of their table.
pub trait Sink {
    /// Begins a row of so many columns.
    fn row(&mut self, columns: u16);
    /// A whole number of four bytes, as its bits where it lies below nothing.
    fn integer(&mut self, value: u32);
    /// A whole number of eight bytes.
    fn long(&mut self, value: i64);
    /// A real number with `digits` behind the point, as a whole number of its smallest unit; 2 or 4.
    fn decimal(&mut self, value: i64, digits: u16);
    /// A text.
    fn text(&mut self, value: &[u8]);
    /// Yes or no.
    fn flag(&mut self, value: bool);
    /// A moment, microseconds since 1970.
    fn time(&mut self, unix_us: i64);
    /// A day, counted from 1 January 1970.
    fn date(&mut self, unix_days: i32);
    /// Nothing.
    fn null(&mut self);
    /// Whether nobody wants more.
    fn is_full(&self) -> bool;
}
