//! What a load needs of a product: the SQL of tables, keys and notes, a way for rows in bulk, and prepared statements.

use super::chunks::{Chunk, Chunks};
use super::database::Database;
use super::link::Link;
use super::pipeline::Pipeline;
use super::product::Product;
use super::tables::{IndexLayout, Procedure, TableLayout};
use super::transaction::Isolation;
use assay_loads::sink::Sink;
use assay_model::Result;
use assay_model::failure::Answer;

/// Names and values that a schema notes about itself.
pub type Notes = Vec<(String, String)>;

/// A table that rows are sent to.
pub struct Destination<'a> {
    /// Its schema.
    pub schema: &'a str,
    /// What it is.
    pub layout: &'a TableLayout,
    /// Whether the transaction at hand made it.
    pub is_new: bool,
}

/// How a product keeps the tables of a load: their SQL, their rows in bulk, and sessions that prepare statements on them.
pub trait TableStore: Product {
    /// Prepared statements of a session.
    type Pipeline: Pipeline<Link = Self>;
    /// Settings of a session that loads; what this user may not set stays.
    const LOADING: &'static [&'static str];
    /// Begins a transaction whose statements have no time limit.
    const BEGIN: &'static str;

    /// Creates the table of notes.
    fn create_manifest(schema: &str) -> String;

    /// Writes notes, in the place of those of their names.
    fn put_notes(schema: &str, notes: &[(String, String)]) -> String;

    /// The statements before the rows of a table in one piece, or of one part: a transaction, and the table in it where
    /// the product can do so.
    fn begin_rows(schema: &str, layout: &TableLayout) -> Vec<String>;

    /// Creates a table, unless it is there.
    fn create_table(schema: &str, layout: &TableLayout) -> String;

    /// The index of the primary key, where it is built after the rows.
    fn key_index(layout: &TableLayout) -> Option<IndexLayout>;

    /// Builds an index.
    fn add_index(schema: &str, table: &str, index: &IndexLayout) -> String;

    /// Counts the entries of the server's catalogue about an index.
    fn count_index(schema: &str, table: &str, name: &str) -> String;

    /// Declares the primary key where that is not done, and gathers statistics.
    fn finish_table(schema: &str, layout: &TableLayout) -> Vec<String>;

    /// Bytes of tables and of indexes on storage, as two columns; the program's own notes left out.
    fn table_sizes(schema: &str) -> String;

    /// Encodes rows in the form of the product's bulk load.
    fn encoder(chunks: Chunks<'_>) -> impl Sink;

    /// Sends rows in the transaction at hand; gives their number.
    ///
    /// # Errors
    /// What the server says, or that it took fewer.
    fn send_rows(
        &mut self,
        to: &Destination<'_>,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64>;

    /// Settings of a fresh session of transactions.
    fn begin_session(&mut self, isolation: Isolation) -> Answer<()>;

    /// Refuses a server that cannot read a text as rows, where that is how rows reach a statement.
    ///
    /// # Errors
    /// When it is too old.
    fn check_rows_of_json(&self) -> Result<()> {
        Ok(())
    }

    /// Makes procedures again, and then notes that they are there, where sessions of the product call such.
    ///
    /// # Errors
    /// What the server says, or that it is too old for them.
    fn make_procedures(&mut self, _schema: &str, _wanted: &[Procedure], _note: &str) -> Result<()> {
        Ok(())
    }
}

/// The number in the only cell of a statement's answer; none where it is null.
pub fn single_number<L: Link>(link: &mut L, sql: &str) -> Answer<Option<u64>> {
    let rows = link.query(sql)?;
    // Sums come as numbers with a point from some products.
    let cell = rows.first().map_or("", |row| row.text(0));
    Ok(cell.split('.').next().and_then(|whole| whole.parse().ok()))
}

/// Bytes of tables and of indexes of a schema on storage.
pub(crate) fn sizes_of<L: TableStore>(database: &mut Database<L>) -> Result<(u64, u64)> {
    let sql = L::table_sizes(&database.schema);
    let rows = database.admin.query(&sql);
    let rows = rows.map_err(|failure| failure.of("looking at the tables"))?;
    let bytes = |column| rows.first().and_then(|row| row.count(column)).unwrap_or(0);
    Ok((bytes(0), bytes(1)))
}
