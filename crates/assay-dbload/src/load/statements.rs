//! Statements that are written once in the words that products share, and how they become those of
//! one product: numbers stand as `#1`, texts as `@1`, arrays of numbers as `%1`, and what products
//! say differently in braces.

use assay_model::load::Dialect;
use std::fmt::Write as _;

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementValue<'a> {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'a str),
    /// Whole numbers, where the product has arrays.
    Numbers(&'a [u32]),
}

impl StatementValue<'_> {
    /// Its length on the way to PostgreSQL, bytes.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Number(_) => 8,
            Self::Text(text) => text.len(),
            // A head of five words, and a length with each number.
            Self::Numbers(all) => 20 + 8 * all.len(),
        }
    }
}

impl From<u32> for StatementValue<'_> {
    fn from(number: u32) -> Self {
        Self::Number(i64::from(number))
    }
}

/// What products say differently: a word in braces, and what stands for it.
pub type StatementWords = &'static [(&'static str, &'static str)];

/// Whether parameters have numbers and types, so that one can stand in several places.
const fn is_numbered(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Postgres)
}

/// A statement in the words of a product, and which of the values stands at each of its parameters,
/// from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStatement {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub sql: String,
    /// Places of values, parameter by parameter.
    pub order: Vec<usize>,
    /// Whether it may change something.
    pub changes: bool,
}

impl LoadStatement {
    /// A text that is in the words of a product, but for its parameters.
    pub(crate) fn of(name: &'static str, text: &str, dialect: Dialect) -> Self {
        let (sql, order) = parameters(text, dialect);
        Self { name, changes: !sql.starts_with("SELECT"), sql, order }
    }
}

/// A text in the words of a product.
pub(crate) fn said(text: &str, words: &[(&str, &str)], schema: &str) -> String {
    let said = words.iter().fold(text.to_owned(), |sql, (word, meant)| sql.replace(word, meant));
    said.replace("{s}", schema)
}

/// Writes parameters as the product does, and returns which value stands at each.
pub(super) fn parameters(text: &str, dialect: Dialect) -> (String, Vec<usize>) {
    let (mut sql, mut order, mut rest) = (String::with_capacity(text.len()), Vec::new(), text);
    while let Some(at) = rest.find(['#', '@', '%']) {
        let (before, mark) = rest.split_at(at);
        let digits = mark[1..].bytes().take_while(u8::is_ascii_digit).count();
        let (mark, after) = mark.split_at(1 + digits);
        sql.push_str(before);
        rest = after;
        match mark[1..].parse::<usize>() {
            Ok(number) if is_numbered(dialect) => {
                let kind = match mark.as_bytes()[0] {
                    b'#' => "bigint",
                    b'@' => "text",
                    _ => "int[]",
                };
                // Writing to memory does not fail.
                let _ = write!(sql, "${}::{kind}", numbered(&mut order, number - 1));
            }
            Ok(number) => {
                sql.push('?');
                order.push(number - 1);
            }
            Err(_) => sql.push_str(mark),
        }
    }
    sql.push_str(rest);
    (sql, order)
}

/// The number of the parameter that a value is, from 1; the server refuses one that stands nowhere.
fn numbered(order: &mut Vec<usize>, value: usize) -> usize {
    let known = order.iter().position(|one| *one == value);
    known.unwrap_or_else(|| {
        order.push(value);
        order.len() - 1
    }) + 1
}

/// Fails where a name stands twice, or a product does not say what a word or a value means.
#[cfg(test)]
pub(crate) fn assert_whole(found: &[LoadStatement], dialect: Dialect) {
    let names: std::collections::HashSet<&str> = found.iter().map(|one| one.name).collect();
    assert_eq!(names.len(), found.len());
    for LoadStatement { name, sql, order, .. } in found {
        assert!(!sql.contains(['{', '}', '#', ';']), "{name}: {sql}");
        let plain = sql.replace("::", "");
        let is_unnamed = |rest: &str| !rest.starts_with(|letter: char| letter.is_ascii_lowercase());
        assert!(plain.split(':').skip(1).all(is_unnamed), "{name}: {sql}");
        let marks = sql.matches(if is_numbered(dialect) { "$" } else { "?" }).count();
        assert!(marks >= order.len(), "{name}: {sql}");
        assert!(is_numbered(dialect) || marks == order.len(), "{name}: {sql}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_or_stand_in_their_order() {
        let text = "a = #2 AND b = @1 AND c = #2 AND d LIKE '%@x'";
        let (sql, order) = parameters(text, Dialect::Postgres);
        assert_eq!(sql, "a = $1::bigint AND b = $2::text AND c = $1::bigint AND d LIKE '%@x'");
        assert_eq!(order, [1, 0]);
        let (sql, order) = parameters(text, Dialect::Mariadb);
        assert_eq!(sql, "a = ? AND b = ? AND c = ? AND d LIKE '%@x'");
        assert_eq!(order, [1, 0, 1]);
    }
}
