//! The statements of all transactions, written once in the words that products share.

use super::dialect::phrases;
use crate::load::{Dialect, Statement, prepared, templates};

/// Trades that a statement takes at once.
pub(super) const TRADES: usize = 20;
/// Brokers that a statement takes at once.
pub(super) const BROKERS: usize = 40;

/// The statements.
const STATEMENTS: &str = include_str!("sql/statements.sql");
/// What securities `w` were and are worth, all shares of them.
const WORTH: &str = "SELECT count(*), cast(sum(d.close * y.shares) * 100 AS {long}), cast(sum(l.price * y.shares) * 100 AS {long})";
const PRICES: &str = "JOIN {s}.security AS y ON y.symbol = w.symbol JOIN {s}.last_trade AS l ON l.symbol = w.symbol \
    JOIN {s}.daily_market AS d ON d.symbol = w.symbol AND d.day = {since}";

/// All statements in the words of a product.
pub(super) fn all(dialect: Dialect, schema: &str) -> Vec<Statement> {
    let (numbers, names) = (list('#', 1, TRADES), list('@', 2, BROKERS));
    let words = [
        ("{worth}", WORTH),
        ("{prices}", PRICES),
        ("{numbers}", numbers.as_str()),
        ("{names}", names.as_str()),
    ];
    let words = [&words, phrases(dialect).words].concat();
    prepared(&templates(STATEMENTS), &words, dialect, schema)
}

/// `count` parameters of a kind, with commas between them.
fn list(kind: char, first: usize, count: usize) -> String {
    (first..first + count).map(|place| format!("{kind}{place}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::assert_whole;

    #[test]
    fn every_statement_has_a_name_of_its_own_and_no_word_that_a_product_does_not_know() {
        for dialect in [Dialect::Postgres, Dialect::Mariadb] {
            assert_whole(&all(dialect, "shop"), dialect);
            assert_eq!(all(dialect, "shop").len(), 74);
        }
    }
}
