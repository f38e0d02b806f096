//! Sessions of this load on PostgreSQL.

use super::query_settings::QuerySettings;
use super::store::DssStore;
use super::tables::SCHEMA;
use crate::load::Database;
use assay_dbserver::Usage;
use assay_loads::dss::Table;
use assay_model::failure::{Answer, Failure};
use assay_model::units::Nanos;
use assay_postgres::connection::Connection;

/// The server's word for a statement that was cancelled, here by its limit.
const CANCELLED: &str = "57014";

impl DssStore for Connection {
    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64> {
        let sql = format!("DELETE FROM {SCHEMA}.{} WHERE {condition}", table.name());
        let statement = self.prepare("", &sql, &[])?;
        Ok(self.execute(&statement)?.count)
    }

    fn parallel_max(&mut self) -> Option<u32> {
        let row = self.one("SHOW max_parallel_workers").ok()?;
        row.text(0).parse().ok()
    }

    /// It is as it is to be.
    fn tune(_database: &mut Database<Connection>) -> Answer<()> {
        Ok(())
    }

    fn ready_to_ask(&mut self, asked: &QuerySettings) -> Answer<()> {
        self.run(&settings(asked))?;
        // Some versions lack one, and only some users may set the other; the result says what was timed.
        let _ = self.run("SET client_connection_check_interval = '1s'");
        let _ = self.run("SET track_io_timing = on");
        Ok(())
    }

    fn limited(&self, sql: String, _limit: Option<Nanos>) -> String {
        sql
    }

    fn is_over_limit(failure: &Failure) -> bool {
        failure.code() == Some(CANCELLED)
    }

    /// It looks for its client once a second.
    fn ending(&self) -> Option<String> {
        None
    }

    fn whole_usage(first_process: u32) -> Option<Usage> {
        assay_postgres::processes::whole_usage(first_process)
    }
}

/// Settings of a session.
fn settings(asked: &QuerySettings) -> String {
    let mut all = vec![
        format!("SET search_path = {SCHEMA}"),
        format!("SET max_parallel_workers_per_gather = {}", asked.parallel),
    ];
    if let Some(limit) = asked.limit {
        all.push(format!("SET statement_timeout = {}", limit.0.div_ceil(1_000_000).max(1)));
    }
    if let Some(work) = asked.memory.work {
        all.push(format!("SET work_mem = '{}kB'", (work.0 >> 10).max(64)));
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::Memory;
    use assay_loads::dss::{Choice, Scale};
    use assay_model::units::Bytes;

    #[test]
    fn sessions_have_the_settings_that_were_asked() {
        let asked = QuerySettings {
            scale: Scale::new(1.0).unwrap(),
            choice: Choice::Validation,
            limit: Some(Nanos(1_500_000)),
            parallel: 3,
            memory: Memory { work: Some(Bytes(64 << 20)) },
        };
        let all = settings(&asked);
        for wanted in ["per_gather = 3", "statement_timeout = 2", "work_mem = '65536kB'"] {
            assert!(all.contains(wanted), "{all}");
        }
        assert!(!settings(&QuerySettings { limit: None, ..asked }).contains("timeout"));
    }

    #[test]
    fn only_a_cancelled_query_is_over_its_limit() {
        let refused = |code| assay_postgres::failure::refused(code, "no");
        assert!(Connection::is_over_limit(&refused("57014")));
        assert!(!Connection::is_over_limit(&refused("53100")));
    }
}
