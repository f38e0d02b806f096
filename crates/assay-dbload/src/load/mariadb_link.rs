//! One session on MariaDB or MySQL, and statements that travel together on it: the server executes
//! what stands behind a refused one, too. A transaction that changed something ends for good only
//! when all its answers are known, and none begins or ends without being asked to.

use super::link::{Isolation, PreparedStatement, ServerLink};
use super::pipeline::{StatementPipeline, missing};
use super::products::ServerAddress;
use super::statements::{LoadStatement, StatementValue, parameters};
use super::target::LoadTarget;
use assay_dbserver::{CpuUsage, Interrupter};
use assay_mariadb::address::MariadbAddress;
use assay_mariadb::connection::{
    MariadbAnswers, MariadbBatch, MariadbConnection, MariadbFields, MariadbPrepared, MariadbValues,
};
use assay_mariadb::threads::Thread;
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::load::Dialect;
use assay_model::row::Row;
use std::collections::HashMap;

/// A session, and the thread that serves it.
pub struct MariadbLink {
    /// The session itself.
    pub(crate) connection: MariadbConnection,
    /// With what the thread had used before: it may have served others.
    pub(super) thread: Option<(Thread, CpuUsage)>,
}

impl ServerLink for MariadbLink {
    type Address = MariadbAddress;
    type Prepared = PreparedStatement<MariadbPrepared>;
    type Pipeline = MariadbPipeline;
    const DIALECT: Dialect = Dialect::Mariadb;

    fn address_in(named: &LoadTarget) -> Option<&MariadbAddress> {
        match named {
            LoadTarget::Server(ServerAddress::Mariadb(address)) => Some(address),
            _ => None,
        }
    }

    fn spelled(address: &MariadbAddress) -> String {
        address.spelled()
    }

    fn open(address: &MariadbAddress) -> Answer<Self> {
        let mut connection = MariadbConnection::open(address)?;
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

    fn prepare(
        &mut self,
        _name: &str,
        text: &str,
        _like: &[StatementValue<'_>],
    ) -> Answer<Self::Prepared> {
        let (sql, order) = parameters(text, Self::DIALECT);
        Ok(PreparedStatement { statement: self.connection.prepare(&sql)?, order })
    }

    #[inline]
    fn execute(
        &mut self,
        parsed: &mut Self::Prepared,
        values: &[StatementValue<'_>],
    ) -> Answer<u64> {
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

    fn usage(&self) -> Option<CpuUsage> {
        let (thread, before) = self.thread?;
        Some(thread.usage()?.since(&before))
    }

    /// A lock that was waited for too long ends a statement only; the whole transaction is rolled
    /// back and tried again.
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
pub(super) fn put_values(
    to: &mut MariadbValues<'_>,
    order: &[usize],
    values: &[StatementValue<'_>],
) {
    for place in order {
        match values.get(*place) {
            Some(StatementValue::Number(number)) => to.integer(*number),
            Some(StatementValue::Text(text)) => to.text(text.as_bytes()),
            // It has no arrays.
            Some(StatementValue::Numbers(_)) | None => to.null(),
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

/// A statement as the server knows it.
struct KnownStatement {
    prepared: MariadbPrepared,
    /// The value that stands at each of its parameters.
    order: Vec<usize>,
    changes: bool,
    /// Whether it ends its transaction itself.
    is_call: bool,
}

/// The statements of a session.
pub struct MariadbPipeline {
    statements: HashMap<&'static str, KnownStatement>,
    commit: MariadbPrepared,
    rollback: MariadbPrepared,
    batch: MariadbBatch,
    /// Statements of the next exchange.
    count: usize,
    /// Whether this transaction may have changed something.
    changes: bool,
}

impl MariadbPipeline {
    fn answers(&self, place: usize) -> Option<&MariadbAnswers> {
        self.batch.answers(place)
    }

    fn row(&self, place: usize, row: usize) -> Option<MariadbFields<'_>> {
        self.answers(place)?.rows().nth(row)
    }
}

impl StatementPipeline for MariadbPipeline {
    type Link = MariadbLink;

    const ENDS_TOGETHER: bool = false;

    fn prepare(
        link: &mut MariadbLink,
        schema: &str,
        statements: Vec<LoadStatement>,
    ) -> Answer<Self> {
        // MySQL wants a database for rows that are in none. Whatever stands behind a transaction
        // that the server gave up must not be for good.
        link.run(&format!("USE {schema}; SET SESSION autocommit = 0"))?;
        let mut known = HashMap::new();
        for LoadStatement { name, sql, order, changes } in statements {
            let prepared = link.connection.prepare(&sql)?;
            let is_call = sql.starts_with("CALL ");
            known.insert(name, KnownStatement { prepared, order, changes, is_call });
        }
        Ok(Self {
            statements: known,
            commit: link.connection.prepare("COMMIT")?,
            rollback: link.connection.prepare("ROLLBACK")?,
            batch: MariadbBatch::default(),
            count: 0,
            changes: false,
        })
    }

    fn knows(&self, name: &str) -> bool {
        self.statements.contains_key(name)
    }

    /// Its first statement begins it.
    fn begin(&mut self) -> Answer<()> {
        // What a try left that failed is not sent.
        self.batch.clear();
        self.count = 0;
        self.changes = false;
        Ok(())
    }

    fn put(&mut self, name: &'static str, values: &[StatementValue<'_>]) -> Answer<usize> {
        let known = self.statements.get(name).ok_or_else(|| missing(name))?;
        self.batch.execute(known.prepared, |to| put_values(to, &known.order, values));
        self.changes |= known.changes;
        self.count += 1;
        Ok(self.count - 1)
    }

    fn exchange(&mut self, link: &mut MariadbLink) -> Answer<()> {
        if std::mem::take(&mut self.count) == 0 {
            return Ok(());
        }
        link.connection.exchange(&mut self.batch)
    }

    fn end(&mut self, link: &mut MariadbLink, is_for_good: bool) -> Answer<()> {
        if is_for_good && self.changes {
            self.exchange(link)?;
            // Not in the batch, whose answers are still to be read.
            return link.connection.execute(&self.commit, |_| ()).map(drop);
        }
        let end = if is_for_good { self.commit } else { self.rollback };
        self.batch.execute(end, |_| ());
        self.count += 1;
        self.exchange(link)
    }

    fn alone(
        &mut self,
        link: &mut MariadbLink,
        name: &'static str,
        values: &[StatementValue<'_>],
    ) -> Answer<()> {
        self.begin()?;
        self.put(name, values)?;
        let is_call = self.statements.get(name).is_some_and(|known| known.is_call);
        if is_call { self.exchange(link) } else { self.end(link, true) }
    }

    fn rows(&self, place: usize) -> usize {
        self.answers(place).map_or(0, |answers| answers.rows().len())
    }

    fn touched(&self, place: usize) -> u64 {
        self.answers(place).map_or(0, MariadbAnswers::touched)
    }

    fn number(&self, place: usize, row: usize, column: usize) -> Option<i64> {
        self.row(place, row)?.integer(column)
    }

    fn text(&self, place: usize, column: usize) -> &str {
        self.row(place, 0).map_or("", |row| row.text(column))
    }
}
