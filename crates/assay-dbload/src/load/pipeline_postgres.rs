//! Statements that travel together to PostgreSQL: it does nothing of what stands behind a refused one, so the end of a
//! transaction travels with its last statements.

use super::pipeline::{Pipeline, missing};
use super::statements::{Statement, Value};
use assay_model::failure::Answer;
use assay_postgres::connection::{Answers, Batch, Connection, Fields};
use std::collections::HashMap;

/// What stands around the statements of a transaction.
const FRAMES: [(&str, &str); 3] =
    [("begin", "BEGIN"), ("commit", "COMMIT"), ("rollback", "ROLLBACK")];

/// The statements of a session.
pub struct ConnectionPipeline {
    /// The value that stands at each parameter of a statement.
    orders: HashMap<&'static str, Vec<usize>>,
    batch: Batch,
    answers: Answers,
    /// Statements of the next exchange.
    count: usize,
}

impl ConnectionPipeline {
    fn row(&self, place: usize, row: usize) -> Option<Fields<'_>> {
        self.answers.rows(place).nth(row)
    }

    /// What a try left that failed is not sent.
    fn forget(&mut self) {
        self.batch.clear();
        self.count = 0;
    }
}

impl Pipeline for ConnectionPipeline {
    type Link = Connection;

    const ENDS_TOGETHER: bool = true;

    fn prepare(link: &mut Connection, _schema: &str, statements: Vec<Statement>) -> Answer<Self> {
        for (name, sql) in FRAMES {
            link.parse(name, sql)?;
        }
        let mut orders: HashMap<_, _> = FRAMES.map(|(name, _)| (name, Vec::new())).into();
        for Statement { name, sql, order, .. } in statements {
            link.parse(name, &sql)?;
            orders.insert(name, order);
        }
        Ok(Self { orders, batch: Batch::default(), answers: Answers::default(), count: 0 })
    }

    fn knows(&self, name: &str) -> bool {
        self.orders.contains_key(name)
    }

    fn begin(&mut self) -> Answer<()> {
        self.forget();
        self.put("begin", &[]).map(drop)
    }

    fn put(&mut self, name: &'static str, values: &[Value<'_>]) -> Answer<usize> {
        let order = self.orders.get(name).ok_or_else(|| missing(name))?;
        self.batch.execute(name, |to| {
            for place in order {
                match values.get(*place) {
                    Some(Value::Number(number)) => to.long(*number),
                    Some(Value::Text(text)) => to.text(text),
                    None => to,
                };
            }
        });
        self.count += 1;
        Ok(self.count - 1)
    }

    fn exchange(&mut self, link: &mut Connection) -> Answer<()> {
        let done = link.exchange(&mut self.batch, &mut self.answers);
        self.forget();
        done
    }

    fn end(&mut self, link: &mut Connection, is_for_good: bool) -> Answer<()> {
        self.put(if is_for_good { "commit" } else { "rollback" }, &[])?;
        self.exchange(link)
    }

    /// It is a transaction by itself.
    fn alone(
        &mut self,
        link: &mut Connection,
        name: &'static str,
        values: &[Value<'_>],
    ) -> Answer<()> {
        self.forget();
        self.put(name, values)?;
        self.exchange(link)
    }

    fn rows(&self, place: usize) -> usize {
        self.answers.rows(place).count()
    }

    fn touched(&self, place: usize) -> u64 {
        self.answers.touched(place)
    }

    fn number(&self, place: usize, row: usize, column: usize) -> Option<i64> {
        self.row(place, row)?.integer(column)
    }

    fn text(&self, place: usize, column: usize) -> &str {
        self.row(place, 0).map_or("", |row| row.text(column))
    }
}
