//! Tables and sessions of this load on MariaDB and MySQL.
//!
//! The engine keeps a table as a tree by its primary key, so the key is there before the rows, which come in its order. A
//! statement that makes a table ends a transaction, so all tables are made before the first row.

use super::asked::Asked;
use super::manifest::SCHEMA;
use super::store::{DssStore, Wanted};
use crate::load::{Chunk, Chunked, Database, MariaLink, Store};
use assay_dbserver::Usage;
use assay_loads::dss::{Index, Table, Taker, create_table, put_rows};
use assay_loads::sink::Sink;
use assay_mariadb::failure::number;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Setting;
use assay_model::row::Row;
use assay_model::units::Nanos;
use std::sync::mpsc::SyncSender;

/// A statement that took too long: MariaDB's number, and MySQL's.
const OVER_LIMIT: [u16; 2] = [1969, 3024];
/// Digits behind the point that a quotient has more than what is divided: as many as hold an average to the ninth place
/// and beyond; the usual four do not.
const QUOTIENT_DIGITS: u32 = 12;
/// What a server of our own is given for large queries. Scans read ahead, as they do everywhere else; sorts and joins have
/// the 4 MiB that a session of PostgreSQL has by itself.
const FIT: [(&str, u64); 5] = [
    ("innodb_read_ahead_threshold", 56),
    ("sort_buffer_size", 4 << 20),
    ("join_buffer_size", 4 << 20),
    ("tmp_table_size", 64 << 20),
    ("max_heap_table_size", 64 << 20),
];

/// Rows of this load as those of any.
struct Columns<S> {
    columns: u16,
    to: S,
}

impl<S: Sink> Taker for Columns<S> {
    fn begin(&mut self) {
        self.to.row(self.columns);
    }

    fn key(&mut self, value: i64) {
        self.to.long(value);
    }

    fn integer(&mut self, value: i32) {
        self.to.long(i64::from(value));
    }

    fn money(&mut self, hundredths: i64) {
        self.to.decimal(hundredths, 2);
    }

    fn text(&mut self, text: &str) {
        self.to.text(text.as_bytes());
    }

    fn date(&mut self, days: i32) {
        self.to.date(days);
    }

    fn end(&mut self) -> bool {
        !self.to.is_full()
    }
}

impl DssStore for MariaLink {
    /// Limits are those of queries only.
    const BEGIN_UNLIMITED: &'static str = "START TRANSACTION";

    fn take_hold(&mut self) -> Answer<bool> {
        Ok(self.one(&format!("SELECT GET_LOCK('{SCHEMA}', 0)"))?.count(0) == Some(1))
    }

    /// Each statement stands for itself, so each makes up for one that was broken off; the notes come all at once.
    fn make(&mut self, notes: &[(String, String)], parts: &[(Table, i32)]) -> Answer<()> {
        let statements = [
            format!(
                "CREATE TABLE IF NOT EXISTS {SCHEMA}.assay_manifest \
                 (item VARCHAR(80) PRIMARY KEY, value VARCHAR(80) NOT NULL) ENGINE = InnoDB"
            ),
            Self::put(notes),
        ];
        self.run(&statements.join("; "))?;
        self.make_missing(parts)
    }

    fn make_missing(&mut self, parts: &[(Table, i32)]) -> Answer<()> {
        parts.iter().try_for_each(|(table, _)| self.run(&create_here(*table)))
    }

    fn put(notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(item, value)| format!("('{item}', '{value}')")).collect();
        format!("REPLACE INTO {SCHEMA}.assay_manifest VALUES {}", values.join(", "))
    }

    fn ready_to_load(&mut self) {
        if self.facts().is_mariadb() {
            // Statistics of columns are those of a sample, as in other products.
            let _ = self.run("SET analyze_sample_percentage = 0");
        }
    }

    fn rows_of(wanted: Wanted<'_>, to: &SyncSender<Chunk>) {
        let columns = u16::try_from(wanted.table.columns().len()).unwrap_or(0);
        let mut rows = Columns { columns, to: <Self as Store>::rows(to) };
        put_rows(wanted.table, wanted.scale, wanted.part, wanted.rekey, &mut rows);
        rows.to.flush();
    }

    fn begin_part(&mut self, _table: Table, _is_whole: bool) -> Answer<()> {
        self.run("START TRANSACTION")
    }

    fn send(
        &mut self,
        table: Table,
        _is_whole: bool,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let mut bulk = self.bulk(&format!("{SCHEMA}.{}", table.name()), "")?;
        let mut sent = 0;
        for (chunk, rows) in chunks {
            bulk.send(&chunk)?;
            sent += rows;
        }
        let taken = bulk.finish()?;
        // Rows whose keys are there are left out without a word.
        if taken == sent {
            return Ok(sent);
        }
        Err(Failure::Protocol(format!("the server took {taken} of {sent} rows")))
    }

    /// It was there before the rows.
    fn build_key(&mut self, _table: Table) -> Answer<()> {
        Ok(())
    }

    fn build_index(&mut self, table: Table, index: &Index) -> Answer<()> {
        let (table, name, columns) = (table.name(), index.name, index.columns);
        let there = self.one(&format!(
            "SELECT COUNT(*) FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = '{SCHEMA}' AND TABLE_NAME = '{table}' AND INDEX_NAME = '{name}'"
        ))?;
        if there.count(0) != Some(0) {
            return Ok(());
        }
        self.run(&format!("ALTER TABLE {SCHEMA}.{table} ADD INDEX {name} ({columns})"))
    }

    fn gather(&mut self, table: Table, _frozen: bool) -> Answer<()> {
        let name = table.name();
        let of_columns = if self.facts().is_mariadb() { " PERSISTENT FOR ALL" } else { "" };
        self.run(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {SCHEMA}.{name}{of_columns}"))
    }

    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64> {
        self.change(&format!("DELETE FROM {SCHEMA}.{} WHERE {condition}", table.name()))
    }

    fn bytes(&mut self) -> Answer<(u64, u64)> {
        let [_, tables, indexes] = self.table_sizes(SCHEMA)?;
        Ok((tables, indexes))
    }

    /// One thread works on a query.
    fn parallel_max(&mut self) -> Option<u32> {
        None
    }

    fn fit(database: &mut Database<Self>) -> Answer<()> {
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

    fn ready_to_ask(&mut self, asked: &Asked) -> Answer<()> {
        let is_mariadb = self.facts().is_mariadb();
        self.run(&settings(asked, is_mariadb))
    }

    /// MariaDB's limit of a session would hold for refresh functions, too.
    fn limited(&self, sql: String, limit: Option<Nanos>) -> String {
        match limit {
            Some(limit) if self.facts().is_mariadb() => {
                let limit_ms = milliseconds(limit);
                let (whole, part) = (limit_ms / 1000, limit_ms % 1000);
                format!("SET STATEMENT max_statement_time = {whole}.{part:03} FOR {sql}")
            }
            _ => sql,
        }
    }

    fn ask(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.query(sql)
    }

    fn is_over_limit(failure: &Failure) -> bool {
        number(failure).is_some_and(|number| OVER_LIMIT.contains(&number))
    }

    fn ending(&self) -> Option<String> {
        Some(format!("KILL {}", self.facts().session))
    }

    fn whole_usage(first_process: u32) -> Option<Usage> {
        assay_mariadb::threads::whole_usage(first_process)
    }
}

fn create_here(table: Table) -> String {
    let name = format!("{SCHEMA}.{}", table.name());
    let create =
        create_table(table, &name).replacen("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1);
    let columns = create.strip_suffix(')').unwrap_or(&create);
    format!("{columns}, PRIMARY KEY ({})) ENGINE = InnoDB", table.key())
}

fn milliseconds(limit: Nanos) -> u64 {
    limit.0.div_ceil(1_000_000).max(1)
}

/// Settings of a session.
fn settings(asked: &Asked, is_mariadb: bool) -> String {
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
    use assay_loads::dss::{Choice, Scale, TABLES};
    use assay_model::units::Bytes;

    #[test]
    fn tables_have_their_keys_before_their_rows() {
        for table in TABLES {
            let create = create_here(table);
            assert!(create.starts_with("CREATE TABLE IF NOT EXISTS assay_dss."), "{create}");
            let key = format!(", PRIMARY KEY ({})) ENGINE = InnoDB", table.key());
            assert!(create.ends_with(&key), "{create}");
            assert_eq!(create.matches('(').count(), create.matches(')').count());
        }
    }

    #[test]
    fn a_limit_is_one_of_queries_and_of_nothing_else() {
        let asked = Asked {
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
        assert!([1969, 3024].iter().all(|number| MariaLink::is_over_limit(&refused(*number))));
        assert!(!MariaLink::is_over_limit(&refused(1317)));
    }
}
