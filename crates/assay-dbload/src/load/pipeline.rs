//! Prepared statements of a session: which travel together, what they gave, and how a transaction
//! ends.

use super::statements::{LoadStatement, StatementValue};
use assay_model::failure::{Answer, Failure};

/// Prepared statements of a session. What is put is sent by the next exchange; its answers can be
/// read until something else is exchanged.
pub trait StatementPipeline: Send + Sized {
    /// A session on the product.
    type Link;
    /// Whether the end of a transaction travels with its last statements.
    const ENDS_TOGETHER: bool;

    /// Has the statements parsed.
    fn prepare(link: &mut Self::Link, schema: &str, statements: Vec<LoadStatement>)
    -> Answer<Self>;

    /// Whether there is a statement of this name.
    fn knows(&self, name: &str) -> bool;

    /// Begins a transaction of several statements.
    fn begin(&mut self) -> Answer<()>;

    /// Puts a statement; returns its place among those of the next exchange.
    fn put(&mut self, name: &'static str, values: &[StatementValue<'_>]) -> Answer<usize>;

    /// Sends what was put and waits for the answers.
    fn exchange(&mut self, link: &mut Self::Link) -> Answer<()>;

    /// Ends the transaction behind what was put, for good or as if it had not been.
    fn end(&mut self, link: &mut Self::Link, is_for_good: bool) -> Answer<()>;

    /// A transaction of one statement.
    fn alone(
        &mut self,
        link: &mut Self::Link,
        name: &'static str,
        values: &[StatementValue<'_>],
    ) -> Answer<()>;

    /// Rows that the statement of a place gave.
    fn rows(&self, place: usize) -> usize;

    /// Rows that it changed.
    fn touched(&self, place: usize) -> u64;

    /// A whole number that it gave; nothing for null and where there is no such row.
    fn number(&self, place: usize, row: usize, column: usize) -> Option<i64>;

    /// A text in its first row; empty for null.
    fn text(&self, place: usize, column: usize) -> &str;
}

/// What should be there is not.
pub(crate) fn missing(what: &str) -> Failure {
    Failure::Protocol(format!("a {what} is missing"))
}
