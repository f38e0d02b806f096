//! The brokerage load on MariaDB and MySQL: its statements one after the other, because such a server answers a statement
//! before it takes the next.

use super::desk;
use super::statements::{Dialect, all};
use super::store::{BrokerStore, Days, Told, Value};
use crate::load::{Calls, Isolation, MariaLink};
use assay_loads::brokerage::{Rules, Transaction};
use assay_mariadb::connection::{Answers, Fields, Prepared};
use assay_model::failure::{Answer, Failure};
use std::collections::HashMap;

/// What a session keeps between its transactions.
pub struct Desk {
    /// Statements by their names, with the value that stands at each of their parameters.
    statements: HashMap<&'static str, (Prepared, Vec<usize>)>,
    days: Days,
    /// Answers of this turn, or of the one that is over.
    answers: Vec<Answers>,
    is_over: bool,
}

impl Desk {
    fn row(&self, place: usize, row: usize) -> Option<Fields<'_>> {
        self.answers.get(place)?.rows().nth(row)
    }
}

impl BrokerStore for MariaLink {
    type Desk = Desk;

    const DIALECT: Dialect = Dialect {
        words: &[
            ("{long}", "signed"),
            ("{moment}", "timestamp'1970-01-01 00:00:00' + interval #2 second"),
            ("{since}", "date'1970-01-01' + interval #2 day"),
            ("{lock}", "FOR UPDATE"),
            // A snapshot may be older than the locks that a transaction waited for; what is locked is read as it is.
            ("{fresh}", "FOR UPDATE"),
            // The table counts.
            ("{next number}", "NULL"),
            ("{number}", "last_insert_id()"),
            ("{books}", "{s}.assay_trades"),
        ],
        is_numbered: false,
    };

    const BEFORE_BOOKS: &'static [&'static str] = &["DROP TABLE IF EXISTS {books}"];
    const MAKE_BOOKS: &'static str = "CREATE TABLE {books} (PRIMARY KEY (id)) ENGINE = InnoDB AS";
    const AFTER_BOOKS: &'static str = "DROP TABLE IF EXISTS {books}";

    fn desk(
        &mut self,
        schema: &str,
        rules: &Rules,
        _calls: Calls,
        isolation: Isolation,
    ) -> Answer<Desk> {
        let isolation = isolation.name().to_uppercase();
        self.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))?;
        let mut statements = HashMap::new();
        for statement in all(Self::DIALECT, schema) {
            let prepared = self.prepare(&statement.sql)?;
            statements.insert(statement.name, (prepared, statement.order));
        }
        let days = Days::of(self, schema, rules)?;
        Ok(Desk { statements, days, answers: Vec::new(), is_over: true })
    }

    fn begin(&mut self, desk: &mut Desk) -> Answer<()> {
        desk.is_over = true;
        self.run("START TRANSACTION")
    }

    fn put(&mut self, desk: &mut Desk, name: &'static str, values: &[Value<'_>]) -> Answer<usize> {
        if std::mem::take(&mut desk.is_over) {
            desk.answers.clear();
        }
        let Some((statement, order)) = desk.statements.get(name) else {
            return Err(Failure::Strange(format!("no statement {name}")));
        };
        let answers = self.execute(statement, |to| {
            for place in order {
                match values.get(*place) {
                    Some(Value::Number(number)) => to.integer(*number),
                    Some(Value::Text(text)) => to.text(text.as_bytes()),
                    None => to,
                };
            }
        })?;
        desk.answers.push(answers.clone());
        Ok(desk.answers.len() - 1)
    }

    fn turn(&mut self, desk: &mut Desk) -> Answer<()> {
        desk.is_over = true;
        Ok(())
    }

    fn end(&mut self, desk: &mut Desk, is_for_good: bool) -> Answer<()> {
        desk.is_over = true;
        self.run(if is_for_good { "COMMIT" } else { "ROLLBACK" })
    }

    fn rows(&self, desk: &Desk, place: usize) -> usize {
        desk.answers.get(place).map_or(0, |answers| answers.rows().len())
    }

    fn touched(&self, desk: &Desk, place: usize) -> u64 {
        desk.answers.get(place).map_or(0, Answers::touched)
    }

    fn number_at(&self, desk: &Desk, place: usize, row: usize, column: usize) -> Option<i64> {
        desk.row(place, row)?.integer(column)
    }

    fn text_at<'a>(&'a self, desk: &'a Desk, place: usize, column: usize) -> &'a str {
        desk.row(place, 0).map_or("", |row| row.text(column))
    }

    fn days(desk: &Desk) -> Days {
        desk.days
    }

    fn attempt(&mut self, desk: &mut Desk, transaction: &Transaction) -> Answer<Told> {
        desk::attempt(self, desk, transaction)
    }
}
