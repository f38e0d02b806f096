//! The words of the brokerage load in each dialect, and what its conditions look at.

use crate::load::{Dialect, Words};

/// What a product says of this load.
pub(super) struct Phrases {
    /// Its words where products differ.
    pub(super) words: Words,
    /// What is done before the conditions are checked.
    pub(super) before: &'static [&'static str],
    /// Makes a table of what follows, on which conditions look.
    pub(super) make_books: &'static str,
    /// What is done when they are checked.
    pub(super) after: &'static str,
}

/// What a product says of this load.
pub(super) const fn phrases(dialect: Dialect) -> &'static Phrases {
    match dialect {
        Dialect::Postgres => &POSTGRES,
        Dialect::Mariadb => &MARIADB,
    }
}

const POSTGRES: Phrases = Phrases {
    words: &[
        ("{long}", "bigint"),
        ("{moment}", "timestamp '1970-01-01' + make_interval(secs => :moment)"),
        ("{since}", "date '1970-01-01' + cast(:since AS int)"),
        ("{lock}", "FOR NO KEY UPDATE"),
        // A statement sees what was committed before it, and a snapshot that is too old is refused.
        ("{fresh}", ""),
        ("{next number}", "nextval('{s}.trade_numbers')"),
        ("{number}", "currval('{s}.trade_numbers')"),
        ("{books}", "assay_trades"),
    ],
    before: &["SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'"],
    make_books: "CREATE TEMP TABLE {books} AS",
    // A temporary table goes with the session.
    after: "SELECT 1",
};

const MARIADB: Phrases = Phrases {
    words: &[
        ("{long}", "signed"),
        ("{moment}", "timestamp'1970-01-01 00:00:00' + interval :moment second"),
        ("{since}", "date'1970-01-01' + interval :since day"),
        ("{lock}", "FOR UPDATE"),
        // A snapshot may be older than the locks that a transaction waited for; what is locked is read as it is.
        ("{fresh}", "FOR UPDATE"),
        // The table counts.
        ("{next number}", "NULL"),
        ("{number}", "last_insert_id()"),
        ("{books}", "{s}.assay_trades"),
    ],
    before: &["DROP TABLE IF EXISTS {books}"],
    make_books: "CREATE TABLE {books} (PRIMARY KEY (id)) ENGINE = InnoDB AS",
    after: "DROP TABLE IF EXISTS {books}",
};
