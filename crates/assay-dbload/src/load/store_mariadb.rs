//! Tables of a load on MariaDB and MySQL.
//!
//! A statement that makes a table ends a transaction there, so a table is noted down when it is whole, and one that is not
//! noted is made again.

use super::copy::Chunk;
use super::fill::stop_asked;
use super::store::{Coming, Look, Store};
use super::text_rows::TextRows;
use super::{Database, Manifest, MariaLink, OwnDatabase, Procedure, Snapshot, Tables};
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::{Error, Result};
use std::sync::mpsc::SyncSender;

/// The first release of MariaDB that reads a text of JSON as rows.
const ROWS_OF_JSON: (u32, u32) = (10, 6);

impl Store for MariaLink {
    type Rows<'a> = TextRows<'a>;

    fn rows(to: &SyncSender<Chunk>) -> TextRows<'_> {
        TextRows::new(to)
    }

    fn look_for(&mut self, schema: &str) -> Answer<Look> {
        let found = self.query(&format!(
            "SELECT COALESCE(TABLE_NAME, '') FROM information_schema.SCHEMATA LEFT JOIN information_schema.TABLES \
             ON TABLE_SCHEMA = SCHEMA_NAME AND TABLE_NAME = 'assay_manifest' WHERE SCHEMA_NAME = '{schema}'"
        ))?;
        match found.first() {
            None => return Ok(Look::Absent),
            Some(row) if row.text(0).is_empty() => return Ok(Look::Foreign),
            Some(_) => {}
        }
        let rows = self.query(&format!("SELECT name, value FROM {schema}.assay_manifest"))?;
        let pairs = rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned()));
        Ok(Look::Ours(pairs.collect()))
    }

    fn begin_notes(&mut self, schema: &str, manifest: &Manifest) -> Answer<()> {
        self.run(&format!(
            "CREATE TABLE {schema}.assay_manifest (name VARCHAR(80) PRIMARY KEY, value VARCHAR(80) NOT NULL) \
             ENGINE = InnoDB; {}",
            manifest.begin(schema)
        ))
    }

    fn load_table(
        &mut self,
        coming: &Coming<'_>,
        chunks: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Answer<()> {
        let name = format!("{}.{}", coming.schema, coming.table);
        self.run(&create(coming.tables, &name, coming.table))?;
        let mut bulk = self.bulk(&name, "")?;
        for chunk in chunks {
            bulk.send(&chunk)?;
        }
        bulk.finish()?;
        stop_asked(coming.stop)?;
        for columns in coming.tables.indexes(coming.table) {
            self.run(&format!("ALTER TABLE {name} ADD INDEX ({columns})"))?;
        }
        self.run(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}"))?;
        self.run(&Manifest::note(coming.schema, coming.table))
    }

    /// Functions are PostgreSQL's; procedures are there already.
    fn complete(&mut self, schema: &str, _finish: String) -> Answer<()> {
        self.run(&Manifest::note_complete(schema))
    }

    fn make_procedures(&mut self, schema: &str, wanted: &[Procedure], note: &str) -> Result<()> {
        check_rows_of_json(self)?;
        let made = create_procedures(self, schema, wanted, note);
        made.map_err(|failure| not_made(schema, &failure))
    }

    fn table_sizes(&mut self, schema: &str) -> Answer<[u64; 3]> {
        let sizes = self.one(&format!(
            "SELECT CAST(SUM(TABLE_ROWS) AS UNSIGNED), CAST(SUM(DATA_LENGTH) AS UNSIGNED), \
             CAST(SUM(INDEX_LENGTH) AS UNSIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'"
        ))?;
        Ok([0, 1, 2].map(|column| sizes.count(column).unwrap_or(0)))
    }

    fn number(&mut self, sql: &str) -> Answer<Option<u64>> {
        let row = self.one(sql)?;
        // Sums come as numbers with a point.
        let whole = row.text(0).split('.').next().unwrap_or_default();
        Ok(whole.parse().ok())
    }

    /// A lock that was waited for too long ends a statement only; the whole transaction is rolled back and tried again.
    fn is_for_others(failure: &Failure) -> bool {
        use Refusal::{Conflict, Deadlock, LockTimeout};
        matches!(failure.meaning(), Some(Deadlock | Conflict | LockTimeout))
    }

    fn snapshot(_database: &mut Database<Self>) -> Result<Snapshot> {
        Err(no_copies())
    }

    fn back_to(_copy: &OwnDatabase, _database: &mut Database<Self>) -> Result<()> {
        Err(no_copies())
    }

    fn drop_copy(_copy: &OwnDatabase, _database: &mut Database<Self>) -> Result<()> {
        Err(no_copies())
    }
}

/// Makes procedures in the place of those of their names. Who may make one may drop it, but not one that is not there.
fn create_procedures(
    link: &mut MariaLink,
    schema: &str,
    wanted: &[Procedure],
    note: &str,
) -> Answer<()> {
    let rows = link.query(&format!(
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '{schema}'"
    ))?;
    for Procedure { name, sql } in wanted {
        if rows.iter().any(|row| row.text(0) == *name) {
            link.run(&format!("DROP PROCEDURE {schema}.{name}"))?;
        }
        link.run(sql)?;
    }
    link.run(note)
}

/// Refuses a server that cannot read a text as rows.
///
/// # Errors
/// When it is too old.
pub(crate) fn check_rows_of_json(link: &MariaLink) -> Result<()> {
    let facts = link.facts();
    if facts.is_mariadb() && facts.release() < ROWS_OF_JSON {
        return Err(Error::environment(
            format!("MariaDB {} has no JSON_TABLE, by which orders are read", facts.version),
            "use MariaDB 10.6 or newer",
        ));
    }
    Ok(())
}

/// A right that lacks has its own remedy.
fn not_made(schema: &str, failure: &Failure) -> Error {
    let doing = format!("--calls proc: making the procedures of {schema}");
    match failure.meaning() {
        Some(Refusal::Denied) => Error::environment(
            format!("{doing}: {failure}"),
            format!(
                "GRANT CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {schema}.* to this user, or take --calls stmt"
            ),
        ),
        _ => failure.of(doing),
    }
}

/// No statement copies a database.
fn no_copies() -> Error {
    Error::usage(
        "--restore-every: such a server cannot copy a database",
        "leave it out, or name a directory: a server of our own is copied with its files",
    )
}

/// Makes a table; what stands there was not noted down as whole.
fn create(tables: &dyn Tables, name: &str, table: &str) -> String {
    // A moment to the microsecond that no time zone changes.
    let mut columns = tables.columns(table).replace("timestamp", "datetime(6)");
    if let Some(numbered) = tables.numbered(table) {
        let column = format!("{numbered} bigint");
        columns = columns.replacen(&column, &format!("{column} AUTO_INCREMENT"), 1);
    }
    let key = tables.key(table).map_or_else(String::new, |key| format!(", PRIMARY KEY ({key})"));
    let parts = tables.parts(table).map_or_else(String::new, |(by, parts)| {
        format!(" PARTITION BY HASH ({by}) PARTITIONS {parts}")
    });
    format!(
        "DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns}{key}) ENGINE = InnoDB{parts}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Calls;
    use crate::oltp::Shape;
    use assay_loads::oltp::Rules;

    #[test]
    fn a_table_numbers_its_new_rows_where_it_shall() {
        let rules = assay_loads::brokerage::Rules::default();
        let floor = crate::brokerage::Floor { rules: &rules };
        assert!(
            create(&floor, "s.trade", "trade")
                .contains("(id bigint AUTO_INCREMENT, at datetime(6)")
        );
        assert!(!create(&floor, "s.broker", "broker").contains("AUTO_INCREMENT"));
    }

    #[test]
    fn tables_have_their_keys_and_no_time_zones() {
        let rules = Rules::default();
        let shape = Shape { rules: &rules, partitions: 4, calls: Calls::Statements };
        let create = |table: &str| create(&shape, &format!("s.{table}"), table);
        assert!(create("order_line").contains("PARTITIONS 4"));
        assert!(create("orders").contains("PRIMARY KEY (o_w_id, o_d_id, o_id)"));
        let history = create("history");
        assert!(!history.contains("KEY") && history.contains("h_date datetime(6)"));
        let refused = |number| assay_mariadb::failure::refused(number, "HY000", "no");
        assert!([1213, 1205].iter().all(|number| MariaLink::is_for_others(&refused(*number))));
        assert!(!MariaLink::is_for_others(&refused(1114)));
    }
}
