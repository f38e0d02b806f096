//! One session on PostgreSQL, and statements that travel together on it: the server does nothing of
//! what stands behind a refused one, so the end of a transaction travels with its last statements.

use super::link::{Isolation, PreparedStatement, ServerLink};
use super::pipeline::{StatementPipeline, missing};
use super::products::ServerAddress;
use super::statements::{LoadStatement, StatementValue, parameters};
use super::target::LoadTarget;
use assay_dbserver::{CpuUsage, Interrupter};
use assay_model::failure::{Answer, Failure};
use assay_model::load::Dialect;
use assay_model::row::Row;
use assay_postgres::address::PostgresAddress;
use assay_postgres::binaries::MAJOR_MIN;
use assay_postgres::connection::{
    PostgresAnswers, PostgresBatch, PostgresConnection, PostgresFields, PostgresPrepared,
    SYSTEM_NAMES,
};
use assay_postgres::processes::usage;
use std::collections::HashMap;

/// How this program calls itself to a server.
const APPLICATION: &str = "assay";

/// A session in which names of others mean nothing.
pub(super) fn session(address: &PostgresAddress) -> Answer<PostgresConnection> {
    let mut opened = PostgresConnection::open(address, APPLICATION)?;
    // An older server is refused by its release, before anything is asked of it.
    if opened.major() >= MAJOR_MIN {
        opened.run(SYSTEM_NAMES)?;
    }
    Ok(opened)
}
/// Makes the server write down what a session did (version 15); older ones do so by themselves
/// twice a second.
const FLUSH: &str = "SELECT pg_stat_force_next_flush()";

impl ServerLink for PostgresConnection {
    type Address = PostgresAddress;
    type Prepared = PreparedStatement<PostgresPrepared>;
    type Pipeline = ConnectionPipeline;
    const DIALECT: Dialect = Dialect::Postgres;

    fn address_in(named: &LoadTarget) -> Option<&PostgresAddress> {
        match named {
            LoadTarget::Server(ServerAddress::Postgres(address)) => Some(address),
            _ => None,
        }
    }

    fn spelled(address: &PostgresAddress) -> String {
        address.spelled()
    }

    fn open(address: &PostgresAddress) -> Answer<Self> {
        session(address)
    }

    /// One plan for each statement, by way of indexes, that does not turn in mid-run.
    fn begin_session(&mut self, isolation: Isolation) -> Answer<()> {
        self.run(
            "SET plan_cache_mode = force_generic_plan; SET jit = off; SET \
             max_parallel_workers_per_gather = 0; SET enable_seqscan = off; SET enable_hashjoin = \
             off; SET enable_mergejoin = off",
        )?;
        self.run(&format!("SET default_transaction_isolation = '{}'", isolation.name()))?;
        // Only some users may: times in the result say whether they were taken, and what is rolled
        // back as asked fills a log.
        let _ = self.run("SET track_io_timing = on");
        let _ = self.run("SET log_min_messages = fatal");
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Answer<()> {
        Self::run(self, sql)
    }

    fn query(&mut self, sql: &str) -> Answer<Vec<Row>> {
        Self::query(self, sql)
    }

    fn change(&mut self, sql: &str) -> Answer<u64> {
        let statement = Self::prepare(self, "", sql, &[])?;
        Ok(Self::execute(self, &statement)?.count)
    }

    fn prepare(
        &mut self,
        name: &str,
        text: &str,
        like: &[StatementValue<'_>],
    ) -> Answer<Self::Prepared> {
        let (sql, order) = parameters(text, Self::DIALECT);
        let lengths: Vec<usize> = order.iter().map(|place| like[*place].bytes()).collect();
        Ok(PreparedStatement { statement: Self::prepare(self, name, &sql, &lengths)?, order })
    }

    #[inline]
    fn execute(
        &mut self,
        parsed: &mut Self::Prepared,
        values: &[StatementValue<'_>],
    ) -> Answer<u64> {
        for (parameter, place) in parsed.order.iter().enumerate() {
            match values[*place] {
                StatementValue::Number(number) => parsed.statement.set_integer(parameter, number),
                StatementValue::Text(text) => parsed.statement.set(parameter, text.as_bytes()),
                StatementValue::Numbers(_) => {
                    return Err(Failure::Protocol("an array in a statement alone".to_owned()));
                }
            }
        }
        Ok(Self::execute(self, &parsed.statement)?.count)
    }

    fn interrupter(&self) -> Answer<Interrupter> {
        Self::interrupter(self)
    }

    fn served_by(&self) -> u32 {
        self.facts().process_id
    }

    fn usage(&self) -> Option<CpuUsage> {
        usage(self.served_by())
    }

    fn settle_counts(&mut self) {
        // Where it fails the counts lag, which is what they did before.
        let _ = self.run(FLUSH);
    }

    fn close(self) {
        Self::close(self);
    }
}

/// What stands around the statements of a transaction.
const FRAMES: [(&str, &str); 3] =
    [("begin", "BEGIN"), ("commit", "COMMIT"), ("rollback", "ROLLBACK")];

/// The statements of a session.
pub struct ConnectionPipeline {
    /// The value that stands at each parameter of a statement.
    orders: HashMap<&'static str, Vec<usize>>,
    batch: PostgresBatch,
    answers: PostgresAnswers,
    /// Statements of the next exchange.
    count: usize,
}

impl ConnectionPipeline {
    fn row(&self, place: usize, row: usize) -> Option<PostgresFields<'_>> {
        self.answers.rows(place).nth(row)
    }

    /// What a try left that failed is not sent.
    fn forget(&mut self) {
        self.batch.clear();
        self.count = 0;
    }
}

impl StatementPipeline for ConnectionPipeline {
    type Link = PostgresConnection;

    const ENDS_TOGETHER: bool = true;

    fn prepare(
        link: &mut PostgresConnection,
        _schema: &str,
        statements: Vec<LoadStatement>,
    ) -> Answer<Self> {
        for (name, sql) in FRAMES {
            link.parse(name, sql)?;
        }
        let mut orders: HashMap<_, _> = FRAMES.map(|(name, _)| (name, Vec::new())).into();
        for LoadStatement { name, sql, order, .. } in statements {
            link.parse(name, &sql)?;
            orders.insert(name, order);
        }
        Ok(Self {
            orders,
            batch: PostgresBatch::default(),
            answers: PostgresAnswers::default(),
            count: 0,
        })
    }

    fn knows(&self, name: &str) -> bool {
        self.orders.contains_key(name)
    }

    fn begin(&mut self) -> Answer<()> {
        self.forget();
        self.put("begin", &[]).map(drop)
    }

    fn put(&mut self, name: &'static str, values: &[StatementValue<'_>]) -> Answer<usize> {
        let order = self.orders.get(name).ok_or_else(|| missing(name))?;
        self.batch.execute(name, |to| {
            for place in order {
                match values.get(*place) {
                    Some(StatementValue::Number(number)) => to.long(*number),
                    Some(StatementValue::Text(text)) => to.text(text),
                    Some(StatementValue::Numbers(all)) => to.integers(all.iter().copied()),
                    None => to,
                };
            }
        });
        self.count += 1;
        Ok(self.count - 1)
    }

    fn exchange(&mut self, link: &mut PostgresConnection) -> Answer<()> {
        let done = link.exchange(&mut self.batch, &mut self.answers);
        self.forget();
        done
    }

    fn end(&mut self, link: &mut PostgresConnection, is_for_good: bool) -> Answer<()> {
        self.put(if is_for_good { "commit" } else { "rollback" }, &[])?;
        self.exchange(link)
    }

    /// It is a transaction by itself.
    fn alone(
        &mut self,
        link: &mut PostgresConnection,
        name: &'static str,
        values: &[StatementValue<'_>],
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
