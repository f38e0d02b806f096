//! Sessions of this load on MariaDB and MySQL.

use super::query_settings::QuerySettings;
use super::store::DssStore;
use super::tables::SCHEMA;
use crate::load::{Database, Link, MariadbLink};
use assay_dbserver::Usage;
use assay_loads::dss::Table;
use assay_mariadb::failure::number;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Setting;
use assay_model::units::Nanos;

/// A statement that took too long: MariaDB's number, and MySQL's.
const OVER_LIMIT: [u16; 2] = [1969, 3024];
/// Digits behind the point that a quotient has more than what is divided: as many as hold an average to the ninth place
/// and beyond; the usual four do not.
const QUOTIENT_DIGITS: u32 = 12;
/// What a managed server is given for large queries. Scans read ahead, as they do everywhere else; sorts and joins have
/// the 4 MiB that a session of PostgreSQL has by itself.
const FIT: [(&str, u64); 5] = [
    ("innodb_read_ahead_threshold", 56),
    ("sort_buffer_size", 4 << 20),
    ("join_buffer_size", 4 << 20),
    ("tmp_table_size", 64 << 20),
    ("max_heap_table_size", 64 << 20),
];

impl DssStore for MariadbLink {
    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64> {
        self.connection.change(&format!("DELETE FROM {SCHEMA}.{} WHERE {condition}", table.name()))
    }

    /// One thread works on a query.
    fn parallel_max(&mut self) -> Option<u32> {
        None
    }

    fn tune(database: &mut Database<Self>) -> Answer<()> {
        if database.facts.is_own {
            for (name, value) in FIT {
                database.admin.run(&format!("SET GLOBAL {name} = {value}"))?;
            }
        }
        let names: Vec<String> = FIT.iter().map(|(name, _)| format!("'{name}'")).collect();
        let rows = database.admin.query(&format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
            names.join(", ")
        ))?;
        let settings = &mut database.facts.settings;
        for row in &rows {
            settings.retain(|setting| setting.name != row.text(0));
            let (name, value) = (row.text(0).to_owned(), row.text(1).to_owned());
            settings.push(Setting { name, value });
        }
        Ok(())
    }

    fn ready_to_ask(&mut self, asked: &QuerySettings) -> Answer<()> {
        let is_mariadb = self.connection.facts().is_mariadb();
        self.run(&settings(asked, is_mariadb))
    }

    /// MariaDB's limit of a session would hold for refresh functions, too.
    fn limited(&self, sql: String, limit: Option<Nanos>) -> String {
        match limit {
            Some(limit) if self.connection.facts().is_mariadb() => {
                let limit_ms = milliseconds(limit);
                let (whole, part) = (limit_ms / 1000, limit_ms % 1000);
                format!("SET STATEMENT max_statement_time = {whole}.{part:03} FOR {sql}")
            }
            _ => sql,
        }
    }

    fn is_over_limit(failure: &Failure) -> bool {
        number(failure).is_some_and(|number| OVER_LIMIT.contains(&number))
    }

    fn ending(&self) -> Option<String> {
        Some(format!("KILL {}", self.connection.facts().session))
    }

    fn whole_usage(first_process: u32) -> Option<Usage> {
        assay_mariadb::threads::whole_usage(first_process)
    }
}

fn milliseconds(limit: Nanos) -> u64 {
    limit.0.div_ceil(1_000_000).max(1)
}

/// Settings of a session.
fn settings(asked: &QuerySettings, is_mariadb: bool) -> String {
    let mut all =
        vec![format!("USE {SCHEMA}"), format!("SET div_precision_increment = {QUOTIENT_DIGITS}")];
    match asked.limit {
        _ if is_mariadb => all.push("SET max_statement_time = 0".to_owned()),
        // Holds for what reads only.
        Some(limit) => all.push(format!("SET max_execution_time = {}", milliseconds(limit))),
        None => {}
    }
    if let Some(work) = asked.memory.work {
        let names =
            ["sort_buffer_size", "join_buffer_size", "tmp_table_size", "max_heap_table_size"];
        all.extend(names.map(|name| format!("SET {name} = {}", work.0.max(64 << 10))));
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
    fn a_limit_is_one_of_queries_and_of_nothing_else() {
        let asked = QuerySettings {
            scale: Scale::new(1.0).unwrap(),
            choice: Choice::Validation,
            limit: Some(Nanos(1_500_000)),
            parallel: 0,
            memory: Memory { work: Some(Bytes(1 << 20)) },
        };
        let (mariadb, mysql) = (settings(&asked, true), settings(&asked, false));
        assert!(mariadb.contains("max_statement_time = 0") && !mariadb.contains("execution"));
        assert!(mysql.contains("max_execution_time = 2") && !mysql.contains("statement_time"));
        assert!(mysql.contains("join_buffer_size = 1048576"));
        let refused = |number| assay_mariadb::failure::refused(number, "HY000", "no");
        assert!([1969, 3024].iter().all(|number| MariadbLink::is_over_limit(&refused(*number))));
        assert!(!MariadbLink::is_over_limit(&refused(1317)));
    }
}
