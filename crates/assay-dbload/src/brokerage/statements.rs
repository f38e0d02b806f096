//! The statements of all transactions, written once in the words that products share, the words of
//! each dialect, and what the conditions look at.

use crate::load::{ByDialect, Calls, Dialect, LoadStatement, Phrases, prepared, templates};

/// What each dialect says of this load.
pub(super) static PHRASES: ByDialect<Phrases> = ByDialect {
    postgres: Phrases {
        statements: "",
        routines: Some(Calls::Functions.name()),
        words: &[
            ("{long}", "bigint"),
            ("{moment}", "timestamp '1970-01-01' + make_interval(secs => :moment)"),
            ("{since}", "date '1970-01-01' + cast(:since AS int)"),
            ("{lock}", "FOR NO KEY UPDATE"),
            // A statement sees what was committed before it, and a snapshot that is too old is
            // refused.
            ("{fresh}", ""),
            ("{next number}", "nextval('{s}.trade_numbers')"),
            ("{number}", "currval('{s}.trade_numbers')"),
            ("{books}", "assay_trades"),
        ],
        before: &[
            "SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'",
            "CREATE TEMP TABLE {books} AS {of books}",
        ],
        // A temporary table goes with the session.
        after: "SELECT 1",
    },
    mariadb: Phrases {
        statements: "",
        routines: None,
        words: &[
            ("{long}", "signed"),
            ("{moment}", "timestamp'1970-01-01 00:00:00' + interval :moment second"),
            ("{since}", "date'1970-01-01' + interval :since day"),
            ("{lock}", "FOR UPDATE"),
            // A snapshot may be older than the locks that a transaction waited for; what is locked
            // is read as it is.
            ("{fresh}", "FOR UPDATE"),
            // The table counts.
            ("{next number}", "NULL"),
            ("{number}", "last_insert_id()"),
            ("{books}", "{s}.assay_trades"),
        ],
        before: &[
            "DROP TABLE IF EXISTS {books}",
            "CREATE TABLE {books} (PRIMARY KEY (id)) ENGINE = InnoDB AS {of books}",
        ],
        after: "DROP TABLE IF EXISTS {books}",
    },
};

/// Trades that a statement takes at once.
pub(super) const TRADES: usize = 20;
/// Brokers that a statement takes at once.
pub(super) const BROKERS: usize = 40;

/// The statements.
const STATEMENTS: &str = include_str!("sql/statements.sql");
/// What securities `w` were and are worth, all shares of them.
const WORTH: &str = "SELECT count(*), cast(sum(d.close * y.shares) * 100 AS {long}), \
                     cast(sum(l.price * y.shares) * 100 AS {long})";
const PRICES: &str = "JOIN {s}.security AS y ON y.symbol = w.symbol JOIN {s}.last_trade AS l ON \
                      l.symbol = w.symbol JOIN {s}.daily_market AS d ON d.symbol = w.symbol AND \
                      d.day = {since}";

/// All statements in the words of a product.
pub(super) fn all(dialect: Dialect, schema: &str) -> Vec<LoadStatement> {
    let (numbers, names) = (list('#', 1, TRADES), list('@', 2, BROKERS));
    let words = [
        ("{worth}", WORTH),
        ("{prices}", PRICES),
        ("{numbers}", numbers.as_str()),
        ("{names}", names.as_str()),
    ];
    let words = [&words, PHRASES.of(dialect).words].concat();
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
        for dialect in Dialect::ALL {
            assert_whole(&all(dialect, "shop"), dialect);
            assert_eq!(all(dialect, "shop").len(), 74);
        }
    }
}
