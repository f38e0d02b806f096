//! The brokerage load on MariaDB and MySQL: its words.

use super::store::{BrokerStore, TransactionOutcome};
use crate::load::{MariadbLink, Words};
use assay_loads::brokerage::Transaction;
use assay_model::failure::Answer;
use std::convert::Infallible;

impl BrokerStore for MariadbLink {
    /// It has none.
    type Functions = Infallible;

    const WORDS: Words = &[
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
    ];

    const BEFORE_BOOKS: &'static [&'static str] = &["DROP TABLE IF EXISTS {books}"];
    const MAKE_BOOKS: &'static str = "CREATE TABLE {books} (PRIMARY KEY (id)) ENGINE = InnoDB AS";
    const AFTER_BOOKS: &'static str = "DROP TABLE IF EXISTS {books}";

    fn functions(&mut self, _schema: &str) -> Answer<Option<Infallible>> {
        Ok(None)
    }

    fn call(
        &mut self,
        functions: &mut Infallible,
        _transaction: &Transaction,
    ) -> Answer<TransactionOutcome> {
        match *functions {}
    }
}
