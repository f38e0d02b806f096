//! The order-entry load on MariaDB and MySQL: its words, what its conditions look at, and calls of its procedures.

use super::procedure_calls::Procedures;
use super::store::OrderStore;
use crate::load::{MariadbLink, Words, check_rows_of_json, none_open};
use assay_loads::oltp::Transaction;
use assay_model::Result;
use assay_model::failure::Answer;

impl OrderStore for MariadbLink {
    type Functions = Procedures;

    const WORDS: Words = &[
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
    ];

    const STATEMENTS: &'static str = include_str!("sql/mariadb_statements.sql");

    const BEFORE_CONDITIONS: &'static [&'static str] = &[
        "DROP TABLE IF EXISTS {lines}, {customers}",
        "CREATE TABLE {lines} (w INT, d INT, o INT, line_count INT, delivered INT, amount DECIMAL(14,2), \
         PRIMARY KEY (w, d, o)) ENGINE = InnoDB AS {of lines}",
        "CREATE TABLE {customers} (w INT, d INT, c INT, balance DECIMAL(14,2), paid DECIMAL(14,2), \
         amount DECIMAL(14,2), received DECIMAL(14,2)) ENGINE = InnoDB AS {of customers}",
    ];
    const AFTER_CONDITIONS: &'static str = "DROP TABLE IF EXISTS {lines}, {customers}";

    fn check_orders(&self) -> Result<()> {
        check_rows_of_json(self)
    }

    fn functions(&mut self, schema: &str) -> Answer<Procedures> {
        Procedures::prepare(&mut self.connection, schema)
    }

    fn call(&mut self, procedures: &mut Procedures, transaction: &Transaction) -> Answer<bool> {
        let taken = procedures.call(&mut self.connection, transaction);
        // A procedure has rolled back itself, unless it was not called at all.
        none_open(self, taken)
    }
}
