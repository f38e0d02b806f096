//! A row of a server's answer in text form, whatever its product.

/// A row of an answer in text form; `None` is null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row(pub Vec<Option<String>>);

impl Row {
    /// The text of a column; empty for null.
    pub fn text(&self, column: usize) -> &str {
        self.0.get(column).and_then(Option::as_deref).unwrap_or("")
    }

    /// A count; `None` where it is null or none.
    pub fn count(&self, column: usize) -> Option<u64> {
        self.text(column).parse().ok()
    }

    /// A real number; `None` where it is null or none.
    pub fn real(&self, column: usize) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Whether it says yes.
    pub fn is_true(&self, column: usize) -> bool {
        matches!(self.text(column), "t" | "on" | "true")
    }
}
