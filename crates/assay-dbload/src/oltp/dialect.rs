//! The words of the order-entry load in each dialect, its statements, and what its conditions look at.

use crate::load::{Dialect, Words};

/// What a product says of this load.
pub(super) struct Phrases {
    /// Its words where products differ.
    pub(super) words: Words,
    /// Its own statements.
    pub(super) statements: &'static str,
    /// Makes what the conditions look at.
    pub(super) before: &'static [&'static str],
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
        (
            "{history_note}",
            "concat_ws(' ', c_id, c_d_id, c_w_id, :d, :w, :cents / 100.0) || '|' || c_data",
        ),
        ("{shown}", "RETURNING c_first, c_middle, c_last, c_credit, cast(c_balance AS text)"),
        ("{number}", ":number"),
        ("{into}", ""),
        ("{lines}", "assay_lines"),
        ("{customers}", "assay_customers"),
    ],
    statements: include_str!("sql/postgres_statements.sql"),
    before: &[
        "SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'; SET enable_seqscan = on",
        "CREATE TEMP TABLE {lines} AS {of lines}",
        "ANALYZE {lines}",
        "CREATE TEMP TABLE {customers} AS {of customers}",
    ],
    // Temporary tables go with the session.
    after: "SELECT 1",
};

const MARIADB: Phrases = Phrases {
    words: &[
        // Numbers of variables become text in the letters of the session, which are not those of our database.
        (
            "{history_note}",
            "CONCAT(CAST(CONCAT_WS(' ', c_id, c_d_id, c_w_id, :w, :d, :cents / 100) AS CHAR CHARACTER SET latin1), '|', c_data)",
        ),
        ("{shown}", ""),
        ("{number}", "LAST_INSERT_ID()"),
        // Lines of an order as rows: a row of the text is a line's item, the warehouse that supplies it, and how many.
        (
            "{ordered}",
            "JSON_TABLE(:wanted, '$[*]' COLUMNS (place FOR ORDINALITY, item int PATH '$[0]', supply int PATH '$[1]', \
                 quantity int PATH '$[2]')) AS ordered",
        ),
        // Orders to be delivered as rows: a row of the text is a district and a number.
        (
            "{due}",
            "JSON_TABLE(:due, '$[*]' COLUMNS (of_d int PATH '$[0]', of_o int PATH '$[1]')) AS old",
        ),
        // Ordinary tables, because in some versions a statement can read a temporary one only once.
        ("{lines}", "{s}.assay_lines"),
        ("{customers}", "{s}.assay_customers"),
    ],
    statements: include_str!("sql/mariadb_statements.sql"),
    before: &[
        "DROP TABLE IF EXISTS {lines}, {customers}",
        "CREATE TABLE {lines} (w INT, d INT, o INT, line_count INT, delivered INT, amount DECIMAL(14,2), \
         PRIMARY KEY (w, d, o)) ENGINE = InnoDB AS {of lines}",
        "CREATE TABLE {customers} (w INT, d INT, c INT, balance DECIMAL(14,2), paid DECIMAL(14,2), \
         amount DECIMAL(14,2), received DECIMAL(14,2)) ENGINE = InnoDB AS {of customers}",
    ],
    after: "DROP TABLE IF EXISTS {lines}, {customers}",
};
