//! Tables of a load on PostgreSQL: each with its keys and its note in one transaction.

use super::copies::{copied, drop_copy, restored};
use super::copy::{Chunk, Rows};
use super::fill::stop_asked;
use super::store::{Coming, Look, Store};
use super::{Database, Manifest, OwnDatabase, Snapshot, Tables};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_postgres::connection::Connection;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

impl Store for Connection {
    type Rows<'a> = Rows<'a>;

    fn rows(to: &SyncSender<Chunk>) -> Rows<'_> {
        Rows::new(to)
    }

    fn look_for(&mut self, schema: &str) -> Answer<Look> {
        let row = self.one(&format!(
            "SELECT to_regnamespace('{schema}') IS NOT NULL, to_regclass('{schema}.assay_manifest') IS NOT NULL"
        ))?;
        if !row.is_true(0) {
            return Ok(Look::Absent);
        }
        if !row.is_true(1) {
            return Ok(Look::Foreign);
        }
        let rows = self.query(&format!("SELECT name, value FROM {schema}.assay_manifest"))?;
        let pairs = rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned()));
        Ok(Look::Ours(pairs.collect()))
    }

    fn begin_notes(&mut self, schema: &str, manifest: &Manifest) -> Answer<()> {
        self.run(&format!(
            "BEGIN; CREATE TABLE {schema}.assay_manifest (name text PRIMARY KEY, value text NOT NULL); {}; COMMIT",
            manifest.begin(schema)
        ))
    }

    fn load_table(
        &mut self,
        coming: &Coming<'_>,
        chunks: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Answer<()> {
        let name = format!("{}.{}", coming.schema, coming.table);
        let has_parts = coming.tables.parts(coming.table).is_some();
        self.run("BEGIN")?;
        self.run(&create(coming.tables, &name, coming.table))?;
        // Rows of a table that was made in the same transaction need no second visit, which one of parts does not allow.
        let freeze = if has_parts { "" } else { ", FREEZE" };
        let mut copying =
            self.copy_in(&format!("COPY {name} FROM STDIN (FORMAT binary{freeze})"))?;
        for chunk in chunks {
            copying.send(&chunk)?;
        }
        if coming.stop.load(Ordering::Relaxed) {
            copying.abort();
            return stop_asked(coming.stop);
        }
        copying.finish()?;
        if let Some(key) = coming.tables.key(coming.table) {
            self.run(&format!("ALTER TABLE {name} ADD PRIMARY KEY ({key})"))?;
        }
        for columns in coming.tables.indexes(coming.table) {
            self.run(&format!("CREATE INDEX ON {name} ({columns})"))?;
        }
        self.run(&Manifest::note(coming.schema, coming.table))?;
        self.run("COMMIT")?;
        self.run(&format!("ANALYZE {name}"))
    }

    /// Together, so that who goes on after a break does not meet half of it.
    fn complete(&mut self, schema: &str, finish: String) -> Answer<()> {
        self.run(&(finish + &Manifest::note_complete(schema)))
    }

    fn table_sizes(&mut self, schema: &str) -> Answer<[u64; 3]> {
        let sizes = self.one(&format!(
            "SELECT sum(reltuples) FILTER (WHERE relkind IN ('r', 'p') AND NOT relispartition)::bigint, \
             sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r')::bigint, \
             sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i')::bigint \
             FROM pg_class WHERE relnamespace = '{schema}'::regnamespace"
        ))?;
        Ok([0, 1, 2].map(|column| sizes.count(column).unwrap_or(0)))
    }

    fn number(&mut self, sql: &str) -> Answer<Option<u64>> {
        Ok(self.one(sql)?.count(0))
    }

    fn snapshot(database: &mut Database) -> Result<Snapshot> {
        copied(database).map(Snapshot::Template)
    }

    fn back_to(copy: &OwnDatabase, database: &mut Database) -> Result<()> {
        restored(copy, database)
    }

    fn drop_copy(copy: &OwnDatabase, database: &mut Database) -> Result<()> {
        drop_copy(copy, database)
    }
}

/// Creates a table, in parts by a hash where that is wanted.
fn create(tables: &dyn Tables, name: &str, table: &str) -> String {
    let columns = tables.columns(table);
    let with = format!("WITH (fillfactor = {})", tables.filled_percent(table));
    let Some((by, parts)) = tables.parts(table) else {
        return format!("CREATE TABLE {name} ({columns}) {with}");
    };
    let mut sql = format!("CREATE TABLE {name} ({columns}) PARTITION BY HASH ({by});");
    for part in 0..parts {
        let _ = write!(
            sql,
            "CREATE TABLE {name}_{part} PARTITION OF {name} FOR VALUES WITH (MODULUS {parts}, REMAINDER {part}) {with};"
        );
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Calls;
    use crate::oltp::Shape;
    use assay_loads::oltp::Rules;

    #[test]
    fn order_lines_are_one_table_or_parts_by_warehouse() {
        let rules = Rules::default();
        let whole = Shape { rules: &rules, partitions: 0, calls: Calls::Functions };
        assert!(!create(&whole, "s.order_line", "order_line").contains("PARTITION"));
        let parts = Shape { rules: &rules, partitions: 4, calls: Calls::Functions };
        let sql = create(&parts, "s.order_line", "order_line");
        assert_eq!(sql.matches("PARTITION OF").count(), 4);
        assert!(!create(&parts, "s.stock", "stock").contains("PARTITION"));
    }
}
