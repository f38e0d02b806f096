//! Tables of a load on MariaDB and MySQL.
//!
//! The engine keeps a table as a tree by its primary key, so the key is there before the rows. A statement that makes a
//! table ends a transaction, so a table is noted when it is whole, and one that is not noted is made again.

use super::chunks::{Chunk, Chunks};
use super::link::Link;
use super::mariadb_link::MariadbLink;
use super::pipeline_mariadb::MariadbPipeline;
use super::store::{Destination, TableStore};
use super::tables::{IndexLayout, Procedure, Statistics, TableLayout};
use super::text_rows::TextRows;
use super::transaction::Isolation;
use assay_loads::sink::Sink;
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::{Error, Result};

/// The first release of MariaDB that reads a text of JSON as rows.
const ROWS_OF_JSON: (u32, u32) = (10, 6);

impl TableStore for MariadbLink {
    type Pipeline = MariadbPipeline;

    /// Statistics of columns are those of a sample, as in other products; sizes are those of now.
    const LOADING: &'static [&'static str] = &["/*M! SET analyze_sample_percentage = 0 */"];
    /// Limits are those of queries only.
    const BEGIN: &'static str = "START TRANSACTION";

    fn create_manifest(schema: &str) -> String {
        format!(
            "CREATE TABLE {schema}.assay_manifest (name VARCHAR(80) PRIMARY KEY, value VARCHAR(80) NOT NULL) \
             ENGINE = InnoDB"
        )
    }

    fn put_notes(schema: &str, notes: &[(String, String)]) -> String {
        let values: Vec<String> =
            notes.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
        format!("REPLACE INTO {schema}.assay_manifest VALUES {}", values.join(", "))
    }

    /// A table in one piece is made again as a whole, so that what was sent of it need not be taken back.
    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String> {
        if layout.parts > 1 {
            return vec!["START TRANSACTION".to_owned()];
        }
        let drop = format!("DROP TABLE IF EXISTS {schema}.{}", layout.name);
        vec![drop, create("TABLE", schema, layout)]
    }

    fn create_table(schema: &str, layout: &TableLayout) -> String {
        create("TABLE IF NOT EXISTS", schema, layout)
    }

    /// It was there before the rows.
    fn key_index(_layout: &TableLayout) -> Option<IndexLayout> {
        None
    }

    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        format!("ALTER TABLE {schema}.{table} ADD {unique}INDEX {} ({})", index.name, index.columns)
    }

    fn count_index(schema: &str, table: &str, name: &str) -> String {
        format!(
            "SELECT COUNT(*) FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME = '{table}' AND INDEX_NAME = '{name}'"
        )
    }

    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String> {
        let name = format!("{schema}.{}", layout.name);
        let analyze = format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}");
        match layout.statistics {
            Statistics::None => Vec::new(),
            Statistics::Table => vec![analyze],
            // A comment to MySQL, which gathers them by a statement of its own.
            Statistics::Columns => vec![format!("{analyze} /*M! PERSISTENT FOR ALL */")],
        }
    }

    fn table_sizes(schema: &str) -> String {
        format!(
            "SELECT CAST(COALESCE(SUM(DATA_LENGTH), 0) AS UNSIGNED), CAST(COALESCE(SUM(INDEX_LENGTH), 0) AS UNSIGNED) \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}' \
             AND TABLE_NAME NOT IN ('assay_manifest', 'assay_owner')"
        )
    }

    fn encoder(chunks: Chunks<'_>) -> impl Sink {
        TextRows::new(chunks)
    }

    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64> {
        let name = format!("{}.{}", to.schema, to.layout.name);
        let columns = to.layout.sent.as_deref().unwrap_or_default();
        let mut bulk = self.connection.bulk(&name, columns)?;
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

    fn check_rows_of_json(&self) -> Result<()> {
        let facts = self.connection.facts();
        if facts.is_mariadb() && facts.release() < ROWS_OF_JSON {
            return Err(Error::environment(
                format!("MariaDB {} has no JSON_TABLE, by which orders are read", facts.version),
                "use MariaDB 10.6 or newer",
            ));
        }
        Ok(())
    }

    fn make_procedures(&mut self, schema: &str, wanted: &[Procedure], note: &str) -> Result<()> {
        self.check_rows_of_json()?;
        let made = create_procedures(self, schema, wanted, note);
        made.map_err(|failure| not_made(schema, &failure))
    }

    fn begin_session(&mut self, isolation: Isolation) -> Answer<()> {
        let isolation = isolation.name().to_uppercase();
        self.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))
    }
}

/// Makes procedures in the place of those of their names. Who may make one may drop it, but not one that is not there.
fn create_procedures(
    link: &mut MariadbLink,
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

/// Creates a table.
fn create(what: &str, schema: &str, layout: &TableLayout) -> String {
    // A moment to the microsecond that no time zone changes.
    let mut columns = layout.columns.replace("timestamp", "datetime(6)");
    if let Some(numbered) = layout.numbered {
        let column = format!("{numbered} bigint");
        columns = columns.replacen(&column, &format!("{column} AUTO_INCREMENT"), 1);
    }
    let key = layout.key.map_or_else(String::new, |key| format!(", PRIMARY KEY ({key})"));
    let partitions = layout.partitions.map_or_else(String::new, |(by, count)| {
        format!(" PARTITION BY HASH ({by}) PARTITIONS {count}")
    });
    let (name, options) = (&layout.name, layout.options);
    format!("CREATE {what} {schema}.{name} ({columns}{key}) ENGINE = InnoDB{options}{partitions}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, Tables};
    use crate::oltp::Shape;
    use assay_loads::oltp::{Rules, Table};

    #[test]
    fn a_table_numbers_its_new_rows_where_it_shall() {
        let rules = assay_loads::brokerage::Rules::default();
        let floor = crate::brokerage::BrokerageSchema { rules: &rules };
        let create = |table| MariadbLink::create_table("s", &floor.layout(table));
        assert!(
            create(assay_loads::brokerage::Table::Trade)
                .contains("(id bigint AUTO_INCREMENT, at datetime(6)")
        );
        assert!(!create(assay_loads::brokerage::Table::Broker).contains("AUTO_INCREMENT"));
    }

    #[test]
    fn tables_have_their_keys_and_no_time_zones() {
        let rules = Rules::default();
        let shape = Shape { rules: &rules, partitions: 4, calls: Calls::Statements };
        let create = |table| MariadbLink::begin_rows("s", &shape.layout(table)).concat();
        assert!(create(Table::OrderLine).contains("PARTITIONS 4"));
        assert!(create(Table::Orders).contains("PRIMARY KEY (o_w_id, o_d_id, o_id)"));
        let history = create(Table::History);
        assert!(!history.contains("KEY") && history.contains("h_date datetime(6)"));
        let refused = |number| assay_mariadb::failure::refused(number, "HY000", "no");
        assert!([1213, 1205].iter().all(|number| MariadbLink::is_for_others(&refused(*number))));
        assert!(!MariadbLink::is_for_others(&refused(1114)));
    }
}
