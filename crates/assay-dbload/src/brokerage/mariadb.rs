//! The brokerage load on MariaDB and MySQL: its statements, which travel together as far as none needs what another one finds.
//! The server executes what stands behind a refused one, too: a transaction that changed something ends for good only when all
//! its answers are known, and none begins or ends without being asked to.

use super::desk;
use super::statements::{Dialect, Statement, all};
use super::store::{BrokerStore, Days, Told, Value};
use crate::load::{Calls, Isolation, Link, MariaLink};
use assay_loads::brokerage::{Rules, Transaction};
use assay_mariadb::connection::{Answers, Batch, Fields, Prepared};
use assay_model::failure::{Answer, Failure};
use std::collections::HashMap;

/// A statement as the server knows it.
struct Known {
    prepared: Prepared,
    /// The value that stands at each of its parameters.
    order: Vec<usize>,
    changes: bool,
}

/// What a session keeps between its transactions.
pub struct Desk {
    statements: HashMap<&'static str, Known>,
    commit: Prepared,
    rollback: Prepared,
    days: Days,
    batch: Batch,
    /// Statements of this turn.
    count: usize,
    /// Whether this transaction may have changed something.
    changes: bool,
}

impl Desk {
    fn answers(&self, place: usize) -> Option<&Answers> {
        self.batch.answers(place)
    }

    fn row(&self, place: usize, row: usize) -> Option<Fields<'_>> {
        self.answers(place)?.rows().nth(row)
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
        let days = Days::of(self, schema, rules)?;
        // Whatever stands behind a transaction that the server gave up must not be for good.
        self.run("SET SESSION autocommit = 0")?;
        let mut statements = HashMap::new();
        for Statement { name, sql, order, changes } in all(Self::DIALECT, schema) {
            let prepared = self.connection.prepare(&sql)?;
            statements.insert(name, Known { prepared, order, changes });
        }
        Ok(Desk {
            statements,
            commit: self.connection.prepare("COMMIT")?,
            rollback: self.connection.prepare("ROLLBACK")?,
            days,
            batch: Batch::default(),
            count: 0,
            changes: false,
        })
    }

    /// Its first statement begins it.
    fn begin(&mut self, desk: &mut Desk) -> Answer<()> {
        // What a try left that failed is not sent.
        desk.batch.clear();
        desk.count = 0;
        desk.changes = false;
        Ok(())
    }

    fn put(&mut self, desk: &mut Desk, name: &'static str, values: &[Value<'_>]) -> Answer<usize> {
        let Some(known) = desk.statements.get(name) else {
            return Err(Failure::Protocol(format!("no statement {name}")));
        };
        desk.batch.execute(known.prepared, |to| {
            for place in &known.order {
                match values.get(*place) {
                    Some(Value::Number(number)) => to.integer(*number),
                    Some(Value::Text(text)) => to.text(text.as_bytes()),
                    None => to,
                };
            }
        });
        desk.changes |= known.changes;
        desk.count += 1;
        Ok(desk.count - 1)
    }

    fn turn(&mut self, desk: &mut Desk) -> Answer<()> {
        desk.count = 0;
        self.connection.exchange(&mut desk.batch)
    }

    fn end(&mut self, desk: &mut Desk, is_for_good: bool) -> Answer<()> {
        if is_for_good && desk.changes {
            self.turn(desk)?;
            return self.run("COMMIT");
        }
        let end = if is_for_good { desk.commit } else { desk.rollback };
        desk.batch.execute(end, |_| ());
        self.turn(desk)
    }

    fn rows(&self, desk: &Desk, place: usize) -> usize {
        desk.answers(place).map_or(0, |answers| answers.rows().len())
    }

    fn touched(&self, desk: &Desk, place: usize) -> u64 {
        desk.answers(place).map_or(0, Answers::touched)
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
