//! One session on MariaDB or MySQL.

use super::link::{Isolation, Link, PreparedStatement};
use super::pipeline_mariadb::MariadbPipeline;
use super::statements::{Dialect, Value, parameters};
use assay_dbserver::{Interrupter, Usage};
use assay_mariadb::address::Address;
use assay_mariadb::connection::{Connection, Prepared, Values};
use assay_mariadb::threads::Thread;
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::row::Row;

/// A session, and the thread that serves it.
pub struct MariadbLink {
    /// The session itself.
    pub(crate) connection: Connection,
    /// With what the thread had used before: it may have served others.
    pub(super) thread: Option<(Thread, Usage)>,
}

impl Link for MariadbLink {
    type Address = Address;
    type Prepared = PreparedStatement<Prepared>;
    type Pipeline = MariadbPipeline;
    const DIALECT: Dialect = Dialect::Mariadb;

    fn open(address: &Address) -> Answer<Self> {
        let mut connection = Connection::open(address)?;
        let thread = if address.is_local() { Thread::of(&mut connection) } else { None };
        let thread = thread.and_then(|thread| Some((thread, thread.usage()?)));
        Ok(Self { connection, thread })
    }

    fn begin_session(&mut self, isolation: Isolation) -> Answer<()> {
        let isolation = isolation.name().to_uppercase();
        self.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))
    }

    fn run(&mut self, sql: &str) -> Answer<()> {
        self.connection.run(sql)
    }

    fn query(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.connection.query(sql)
    }

    fn change(&mut self, sql: &str) -> Answer<u64> {
        self.connection.change(sql)
    }

    fn prepare(&mut self, _name: &str, text: &str, _like: &[Value<'_>]) -> Answer<Self::Prepared> {
        let (sql, order) = parameters(text, Self::DIALECT);
        Ok(PreparedStatement { statement: self.connection.prepare(&sql)?, order })
    }

    #[inline]
    fn execute(&mut self, parsed: &mut Self::Prepared, values: &[Value<'_>]) -> Answer<u64> {
        let PreparedStatement { statement, order } = &*parsed;
        let answers = self.connection.execute(statement, |to| put_values(to, order, values))?;
        Ok(answers.count())
    }

    fn interrupter(&self) -> Answer<Interrupter> {
        self.connection.interrupter()
    }

    fn served_by(&self) -> u32 {
        self.thread.map_or(0, |(thread, _)| thread.thread)
    }

    fn usage(&self) -> Option<Usage> {
        let (thread, before) = self.thread?;
        Some(thread.usage()?.since(&before))
    }

    /// A lock that was waited for too long ends a statement only; the whole transaction is rolled back and tried again.
    fn is_for_others(failure: &Failure) -> bool {
        use Refusal::{Conflict, Deadlock, LockTimeout};
        matches!(failure.meaning(), Some(Deadlock | Conflict | LockTimeout))
    }

    fn close(self) {
        self.connection.close();
    }
}

/// Puts the value of each parameter; one without a value is null.
#[inline]
pub(super) fn put_values(to: &mut Values<'_>, order: &[usize], values: &[Value<'_>]) {
    for place in order {
        match values.get(*place) {
            Some(Value::Number(number)) => to.integer(*number),
            Some(Value::Text(text)) => to.text(text.as_bytes()),
            None => to.null(),
        };
    }
}

impl MariadbLink {
    pub(super) fn tables(&mut self, schema: &str) -> Answer<Vec<String>> {
        let rows = self.query(&format!(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'"
        ))?;
        Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
    }
}
