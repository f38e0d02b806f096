//! The brokerage load on PostgreSQL: functions of the server, or statements that travel together.

use super::calls::{call, parse, told};
use super::desk;
use super::functions::TAKEN_BACK;
use super::statements::{Dialect, all};
use super::store::{BrokerStore, Days, Told, Value};
use crate::load::{Calls, Isolation, steady};
use assay_loads::brokerage::{Rules, Transaction};
use assay_model::failure::Answer;
use assay_postgres::connection::{Answers, Batch, Connection, Fields};

/// What stands around the statements of a transaction.
const FRAMES: [(&str, &str); 3] =
    [("begin", "BEGIN"), ("commit", "COMMIT"), ("rollback", "ROLLBACK")];

/// What a session keeps between its transactions.
pub struct Desk {
    calls: Calls,
    days: Days,
    batch: Batch,
    answers: Answers,
    /// Statements of this turn.
    count: usize,
}

impl Desk {
    fn row(&self, place: usize, row: usize) -> Option<Fields<'_>> {
        self.answers.rows(place).nth(row)
    }
}

impl BrokerStore for Connection {
    type Desk = Desk;

    const DIALECT: Dialect = Dialect {
        words: &[
            ("{long}", "bigint"),
            ("{moment}", "timestamp '1970-01-01' + make_interval(secs => #2)"),
            ("{since}", "date '1970-01-01' + cast(#2 AS int)"),
            ("{lock}", "FOR NO KEY UPDATE"),
            // A statement sees what was committed before it, and a snapshot that is too old is refused.
            ("{fresh}", ""),
            ("{next number}", "nextval('{s}.trade_numbers')"),
            ("{number}", "currval('{s}.trade_numbers')"),
            ("{books}", "assay_trades"),
        ],
        is_numbered: true,
    };

    const BEFORE_BOOKS: &'static [&'static str] =
        &["SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'"];
    const MAKE_BOOKS: &'static str = "CREATE TEMP TABLE {books} AS";
    /// A temporary table goes with the session.
    const AFTER_BOOKS: &'static str = "SELECT 1";

    fn desk(
        &mut self,
        schema: &str,
        rules: &Rules,
        calls: Calls,
        isolation: Isolation,
    ) -> Answer<Desk> {
        steady(self, isolation)?;
        match calls {
            Calls::Functions => parse(self, schema)?,
            Calls::Statements => {
                for statement in all(Self::DIALECT, schema) {
                    self.parse(statement.name, &statement.sql)?;
                }
                for (name, sql) in FRAMES {
                    self.parse(name, sql)?;
                }
            }
        }
        let days = Days::of(self, schema, rules)?;
        Ok(Desk { calls, days, batch: Batch::default(), answers: Answers::default(), count: 0 })
    }

    fn begin(&mut self, desk: &mut Desk) -> Answer<()> {
        // What a try left that failed is not sent.
        desk.batch.clear();
        desk.count = 0;
        self.put(desk, "begin", &[]).map(drop)
    }

    fn put(&mut self, desk: &mut Desk, name: &'static str, values: &[Value<'_>]) -> Answer<usize> {
        desk.batch.execute(name, |to| {
            for value in values {
                match value {
                    Value::Number(number) => to.long(*number),
                    Value::Text(text) => to.text(text),
                };
            }
        });
        desk.count += 1;
        Ok(desk.count - 1)
    }

    fn turn(&mut self, desk: &mut Desk) -> Answer<()> {
        let done = self.exchange(&mut desk.batch, &mut desk.answers);
        desk.batch.clear();
        desk.count = 0;
        done
    }

    fn end(&mut self, desk: &mut Desk, is_for_good: bool) -> Answer<()> {
        self.put(desk, if is_for_good { "commit" } else { "rollback" }, &[])?;
        self.turn(desk)
    }

    fn rows(&self, desk: &Desk, place: usize) -> usize {
        desk.answers.rows(place).count()
    }

    fn touched(&self, desk: &Desk, place: usize) -> u64 {
        desk.answers.touched(place)
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
        if desk.calls == Calls::Statements {
            return desk::attempt(self, desk, transaction);
        }
        desk.batch.clear();
        call(&mut desk.batch, transaction);
        match self.exchange(&mut desk.batch, &mut desk.answers) {
            Ok(()) => told(transaction, &desk.answers),
            Err(failure) if failure.code() == Some(TAKEN_BACK) => {
                Ok(Told { is_taken_back: true, ..Told::default() })
            }
            Err(failure) => Err(failure),
        }
    }
}
