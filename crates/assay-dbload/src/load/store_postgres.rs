//! Tables of a load on PostgreSQL: those in one piece come to be in the transaction of their rows.

use super::chunks::{Chunk, Chunks};
use super::copy::CopyRows;
use super::pipeline_postgres::ConnectionPipeline;
use super::store::{Destination, TableStore};
use super::tables::{IndexLayout, Statistics, TableLayout};
use super::transaction::Isolation;
use assay_loads::sink::Sink;
use assay_model::failure::Answer;
use assay_postgres::connection::Connection;
use std::fmt::Write as _;

impl TableStore for Connection {
    type Pipeline = ConnectionPipeline;

    const LOADING: &'static [&'static str] =
        &["SET maintenance_work_mem = '256MB'", "SET synchronous_commit = off"];
    const BEGIN: &'static str = "BEGIN; SET LOCAL statement_timeout = 0";

    fn create_manifest(schema: &str) -> String {
        format!("CREATE TABLE {schema}.assay_manifest (name text PRIMARY KEY, value text NOT NULL)")
    }

    /// By the name of the key, because the first column has had two.
    fn put_notes(schema: &str, notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
        format!(
            "INSERT INTO {schema}.assay_manifest VALUES {} \
             ON CONFLICT ON CONSTRAINT assay_manifest_pkey DO UPDATE SET value = excluded.value",
            values.join(", ")
        )
    }

    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String> {
        let begin = "BEGIN".to_owned();
        if layout.parts > 1 { vec![begin] } else { vec![begin, create("TABLE", schema, layout)] }
    }

    fn create_table(schema: &str, layout: &TableLayout) -> String {
        create("TABLE IF NOT EXISTS", schema, layout)
    }

    /// Two indexes of a table at once do not wait for each other; the key itself is declared behind them. That of a
    /// partitioned table cannot be declared so.
    fn key_index(layout: &TableLayout) -> Option<IndexLayout> {
        let name = format!("{}_pkey", layout.name);
        let columns = layout.key.filter(|_| layout.partitions.is_none())?;
        Some(IndexLayout { name, columns, is_unique: true })
    }

    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX {} ON {schema}.{table} ({})", index.name, index.columns)
    }

    fn count_index(schema: &str, table: &str, name: &str) -> String {
        format!(
            "SELECT count(*) FROM pg_indexes \
             WHERE schemaname = '{schema}' AND tablename = '{table}' AND indexname = '{name}'"
        )
    }

    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String> {
        let name = format!("{schema}.{}", layout.name);
        let mut statements: Vec<String> =
            layout.key.map(|key| declare_key(&name, layout, key)).into_iter().collect();
        match layout.statistics {
            Statistics::None => {}
            // Rows that were sent in one piece need no second visit.
            _ if layout.parts == 1 => statements.push(format!("ANALYZE {name}")),
            _ => statements.push(format!("VACUUM (FREEZE, ANALYZE) {name}")),
        }
        statements
    }

    fn table_sizes(schema: &str) -> String {
        format!(
            "SELECT coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)::bigint, \
             coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0)::bigint \
             FROM pg_class WHERE relnamespace = '{schema}'::regnamespace \
             AND relname NOT LIKE 'assay\\_manifest%' AND relname NOT LIKE 'assay\\_owner%'"
        )
    }

    fn encoder(chunks: Chunks<'_>) -> impl Sink {
        CopyRows(chunks)
    }

    /// Rows of a table that was made in the same transaction are not logged where that is allowed, and need no second
    /// visit, which a partitioned table does not allow.
    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let freeze = if to.is_new && to.layout.partitions.is_none() { ", FREEZE" } else { "" };
        let name = &to.layout.name;
        let mut copying =
            self.copy_in(&format!("COPY {}.{name} FROM STDIN (FORMAT binary{freeze})", to.schema))?;
        let mut sent = 0;
        for (chunk, rows) in chunks {
            copying.send(&chunk)?;
            sent += rows;
        }
        copying.finish().map(|()| sent)
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
}

/// Creates a table, in partitions by a hash where that is wanted. Where the server is not to vacuum it, what it would do
/// must not disturb what is measured.
fn create(what: &str, schema: &str, layout: &TableLayout) -> String {
    let (name, columns) = (format!("{schema}.{}", layout.name), &layout.columns);
    let vacuum = if layout.is_vacuumed { "" } else { ", autovacuum_enabled = off" };
    let with = format!("WITH (fillfactor = {}{vacuum})", layout.filled_percent);
    let Some((by, partitions)) = layout.partitions else {
        return format!("CREATE {what} {name} ({columns}) {with}");
    };
    let mut sql = format!("CREATE {what} {name} ({columns}) PARTITION BY HASH ({by});");
    for number in 0..partitions {
        let _ = write!(
            sql,
            "CREATE {what} {name}_{number} PARTITION OF {name} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number}) {with};"
        );
    }
    sql
}

/// Declares a key, unless an earlier loading did.
fn declare_key(name: &str, layout: &TableLayout, key: &str) -> String {
    let how = match layout.partitions {
        None => format!("USING INDEX {}_pkey", layout.name),
        Some(_) => format!("({key})"),
    };
    format!(
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = '{name}'::regclass AND contype = 'p') \
         THEN ALTER TABLE {name} ADD PRIMARY KEY {how}; END IF; END $$"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, Tables};
    use crate::oltp::Shape;
    use assay_loads::oltp::{Rules, Table};

    #[test]
    fn order_lines_are_one_table_or_partitions_by_warehouse() {
        let rules = Rules::default();
        let layout = |partitions, table| {
            Shape { rules: &rules, partitions, calls: Calls::Functions }.layout(table)
        };
        let create = |layout| Connection::begin_rows("s", &layout).concat();
        assert!(!create(layout(0, Table::OrderLine)).contains("PARTITION"));
        let cut = layout(4, Table::OrderLine);
        assert!(Connection::key_index(&cut).is_none());
        assert!(Connection::finish_table("s", &cut)[0].contains("ADD PRIMARY KEY (ol_w_id"));
        assert_eq!(create(cut).matches("PARTITION OF").count(), 4);
        let stock = layout(4, Table::Stock);
        assert!(Connection::finish_table("s", &stock)[0].contains("USING INDEX stock_pkey"));
        assert!(!create(stock).contains("PARTITION"));
    }

    #[test]
    fn a_table_that_is_cut_is_there_before_its_parts_and_visited_again() {
        let mut layout = TableLayout::new("orders", "o_orderkey bigint", 7);
        layout.parts = 2;
        assert_eq!(Connection::begin_rows("s", &layout), ["BEGIN"]);
        assert!(Connection::create_table("s", &layout).contains("IF NOT EXISTS s.orders"));
        assert_eq!(Connection::finish_table("s", &layout), ["VACUUM (FREEZE, ANALYZE) s.orders"]);
    }
}
