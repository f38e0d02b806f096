//! One session on PostgreSQL.

use super::link::{Isolation, Link, PreparedStatement};
use super::pipeline_postgres::ConnectionPipeline;
use super::statements::{Dialect, Value, parameters};
use assay_dbserver::{Interrupter, Usage};
use assay_model::failure::Answer;
use assay_model::row::Row;
use assay_postgres::address::Address;
use assay_postgres::connection::{Connection, Prepared};
use assay_postgres::processes::usage;

/// How this program calls itself to a server.
pub(super) const APPLICATION: &str = "assay";
/// Makes the server write down what a session did (version 15); older ones do so by themselves twice a second.
const FLUSH: &str = "SELECT pg_stat_force_next_flush()";

impl Link for Connection {
    type Address = Address;
    type Prepared = PreparedStatement<Prepared>;
    type Pipeline = ConnectionPipeline;
    const DIALECT: Dialect = Dialect::Postgres;

    fn open(address: &Address) -> Answer<Self> {
        Self::open(address, APPLICATION)
    }

    /// One plan for each statement, by way of indexes, that does not turn in mid-run.
    fn begin_session(&mut self, isolation: Isolation) -> Answer<()> {
        self.run(
            "SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; \
             SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off",
        )?;
        self.run(&format!("SET default_transaction_isolation = '{}'", isolation.name()))?;
        // Only some users may: times in the result say whether they were taken, and what is rolled back as asked fills a log.
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

    fn prepare(&mut self, name: &str, text: &str, like: &[Value<'_>]) -> Answer<Self::Prepared> {
        let (sql, order) = parameters(text, Self::DIALECT);
        let lengths: Vec<usize> = order.iter().map(|place| like[*place].bytes()).collect();
        Ok(PreparedStatement { statement: Self::prepare(self, name, &sql, &lengths)?, order })
    }

    #[inline]
    fn execute(&mut self, parsed: &mut Self::Prepared, values: &[Value<'_>]) -> Answer<u64> {
        for (parameter, place) in parsed.order.iter().enumerate() {
            match values[*place] {
                Value::Number(number) => parsed.statement.set_integer(parameter, number),
                Value::Text(text) => parsed.statement.set(parameter, text.as_bytes()),
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

    fn usage(&self) -> Option<Usage> {
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
