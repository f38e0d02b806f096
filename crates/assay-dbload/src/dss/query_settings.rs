//! What every stream of a run is asked, within which limits, and how sessions and servers of each
//! product are made fit for it.

use crate::load::{Dialect, LoadSchema, Product, ServerLink, single_number};
use assay_loads::dss::{DssScale, ParameterChoice};
use assay_model::failure::{Answer, Failure};
use assay_model::load::{DatabaseProduct, Setting};
use assay_model::units::{Bytes, Nanos};

/// The servers' words for a statement that was cancelled, here by its limit: of PostgreSQL, of
/// MariaDB, of MySQL.
const OVER_LIMIT: [&str; 3] = ["57014", "1969", "3024"];
/// Digits behind the point that a quotient of MariaDB and MySQL has more than what is divided: as
/// many as hold an average to the ninth place and beyond; the usual four do not.
const QUOTIENT_DIGITS: u32 = 12;
/// What a managed server of MariaDB is given for large queries. Scans read ahead, as they do
/// everywhere else; sorts and joins have the 4 MiB that a session of PostgreSQL has by itself.
const FIT: [(&str, u64); 5] = [
    ("innodb_read_ahead_threshold", 56),
    ("sort_buffer_size", 4 << 20),
    ("join_buffer_size", 4 << 20),
    ("tmp_table_size", 64 << 20),
    ("max_heap_table_size", 64 << 20),
];

/// How much memory a session may use for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionMemory {
    /// For each sort and hash; the server's own choice where it is none.
    pub work: Option<Bytes>,
}

/// What every stream of a run is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuerySettings {
    /// How large the tables are.
    pub scale: DssScale,
    /// Where parameters come from.
    pub choice: ParameterChoice,
    /// The longest that a query may take.
    pub limit: Option<Nanos>,
    /// Processes that the server may use for a step of a query besides the session's own process.
    pub parallel: u32,
    /// Memory of a session.
    pub memory: SessionMemory,
}

impl QuerySettings {
    /// Makes a session one that asks.
    pub(super) fn apply<L: ServerLink>(
        &self,
        link: &mut L,
        product: DatabaseProduct,
        schema: &str,
    ) -> Answer<()> {
        link.run(&self.statements(product, schema))?;
        if product == DatabaseProduct::Postgres {
            // Some versions lack one, and only some users may set the other; the result says what
            // was timed.
            let _ = link.run("SET client_connection_check_interval = '1s'");
            let _ = link.run("SET track_io_timing = on");
        }
        Ok(())
    }

    /// The text of a query within its limit, where the limit is not one of the session: MariaDB's
    /// would hold for refresh functions, too.
    pub(super) fn limited(&self, sql: String, product: DatabaseProduct) -> String {
        match self.limit {
            Some(limit) if product == DatabaseProduct::MariaDb => {
                let limit_ms = milliseconds(limit);
                let (whole, part) = (limit_ms / 1000, limit_ms % 1000);
                format!("SET STATEMENT max_statement_time = {whole}.{part:03} FOR {sql}")
            }
            _ => sql,
        }
    }

    /// Settings of a session.
    fn statements(&self, product: DatabaseProduct, schema: &str) -> String {
        if product == DatabaseProduct::Postgres {
            return self.of_postgres(schema);
        }
        let mut all = vec![
            format!("USE {schema}"),
            format!("SET div_precision_increment = {QUOTIENT_DIGITS}"),
        ];
        match self.limit {
            _ if product == DatabaseProduct::MariaDb => {
                all.push("SET max_statement_time = 0".to_owned());
            }
            // Holds for what reads only.
            Some(limit) => all.push(format!("SET max_execution_time = {}", milliseconds(limit))),
            None => {}
        }
        if let Some(work) = self.memory.work {
            let names = FIT[1..].iter().map(|(name, _)| name);
            all.extend(names.map(|name| format!("SET {name} = {}", work.0.max(64 << 10))));
        }
        all.join("; ")
    }

    fn of_postgres(&self, schema: &str) -> String {
        let mut all = vec![
            format!("SET search_path = {schema}"),
            format!("SET max_parallel_workers_per_gather = {}", self.parallel),
        ];
        if let Some(limit) = self.limit {
            all.push(format!("SET statement_timeout = {}", milliseconds(limit)));
        }
        if let Some(work) = self.memory.work {
            all.push(format!("SET work_mem = '{}kB'", (work.0 >> 10).max(64)));
        }
        all.join("; ")
    }
}

fn milliseconds(limit: Nanos) -> u64 {
    limit.0.div_ceil(1_000_000).max(1)
}

/// Whether a query was cancelled by its limit.
pub(super) fn is_over_limit(failure: &Failure) -> bool {
    let code = failure.code().and_then(|code| code.split(' ').next());
    code.is_some_and(|code| OVER_LIMIT.contains(&code))
}

/// The statement by which another session ends this one in the middle of a query; none where the
/// server sees by itself within a second that nobody waits any more.
pub(super) fn ending<L: ServerLink>(link: &mut L) -> Answer<Option<String>> {
    match L::DIALECT {
        Dialect::Postgres => Ok(None),
        Dialect::Mariadb => {
            let session = single_number(link, "SELECT CONNECTION_ID()")?;
            Ok(session.map(|session| format!("KILL {session}")))
        }
    }
}

/// Processes that help a session with a step of a query where nobody says; none where one thread
/// works on a query.
pub const fn parallel_usual(dialect: Dialect) -> Option<u32> {
    match dialect {
        Dialect::Postgres => Some(2),
        Dialect::Mariadb => None,
    }
}

/// Processes that the server has for parallel steps of all sessions together; none where it does
/// not say, or has none.
pub fn parallel_max<L: Product>(database: &mut LoadSchema<L>) -> Option<u32> {
    parallel_usual(L::DIALECT)?;
    let most = single_number(&mut database.admin, "SHOW max_parallel_workers").ok()??;
    u32::try_from(most).ok()
}

/// Makes a managed server fit for large queries, where it is not, and adds the settings that matter
/// for them to its facts.
pub(super) fn make_fit<L: Product>(database: &mut LoadSchema<L>) -> Answer<()> {
    if L::DIALECT == Dialect::Postgres {
        return Ok(());
    }
    if database.facts.is_own {
        for (name, value) in FIT {
            database.admin.run(&format!("SET GLOBAL {name} = {value}"))?;
        }
    }
    let names: Vec<String> = FIT.iter().map(|(name, _)| format!("'{name}'")).collect();
    let rows = database
        .admin
        .query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", ")))?;
    let settings = &mut database.facts.settings;
    for row in &rows {
        settings.retain(|setting| setting.name != row.text(0));
        let (name, value) = (row.text(0).to_owned(), row.text(1).to_owned());
        settings.push(Setting { name, value });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(work: Bytes) -> QuerySettings {
        QuerySettings {
            scale: DssScale::new(1.0).unwrap(),
            choice: ParameterChoice::Validation,
            limit: Some(Nanos(1_500_000)),
            parallel: 3,
            memory: SessionMemory { work: Some(work) },
        }
    }

    #[test]
    fn sessions_have_the_settings_that_were_asked() {
        let asked = asked(Bytes(64 << 20));
        let all = asked.statements(DatabaseProduct::Postgres, "s");
        for wanted in ["per_gather = 3", "statement_timeout = 2", "work_mem = '65536kB'"] {
            assert!(all.contains(wanted), "{all}");
        }
        let without = QuerySettings { limit: None, ..asked };
        assert!(!without.statements(DatabaseProduct::Postgres, "s").contains("timeout"));
    }

    #[test]
    fn a_limit_is_one_of_queries_and_of_nothing_else() {
        let asked = asked(Bytes(1 << 20));
        let mariadb = asked.statements(DatabaseProduct::MariaDb, "s");
        let mysql = asked.statements(DatabaseProduct::MySql, "s");
        assert!(mariadb.contains("max_statement_time = 0") && !mariadb.contains("execution"));
        assert!(mysql.contains("max_execution_time = 2") && !mysql.contains("statement_time"));
        assert!(mysql.contains("join_buffer_size = 1048576"));
        let limited = |product| asked.limited("SELECT 1".to_owned(), product);
        let within = "SET STATEMENT max_statement_time = 0.002 FOR SELECT 1";
        assert_eq!(limited(DatabaseProduct::MariaDb), within);
        assert_eq!(limited(DatabaseProduct::MySql), "SELECT 1");
        assert_eq!(limited(DatabaseProduct::Postgres), "SELECT 1");
    }

    #[test]
    fn only_a_cancelled_query_is_over_its_limit() {
        let refused = |code| assay_postgres::failure::refused(code, "no");
        assert!(is_over_limit(&refused("57014")) && !is_over_limit(&refused("53100")));
        let refused = |number| assay_mariadb::failure::refused(number, "HY000", "no");
        assert!([1969, 3024].iter().all(|number| is_over_limit(&refused(*number))));
        assert!(!is_over_limit(&refused(1317)));
    }
}
