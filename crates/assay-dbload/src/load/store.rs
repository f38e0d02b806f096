//! What a load of transactions needs of a product: a schema with a manifest, tables that are loaded, and copies of them.

use super::copy::{Chunk, Chunked};
use super::{Database, Manifest, OwnDatabase, Procedure, Product, Snapshot, Tables};
use assay_model::Result;
use assay_model::failure::{Answer, Failure, Refusal};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;

/// Names and values that a schema tells of itself.
pub type Notes = Vec<(String, String)>;

/// What is found under the name of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing.
    Absent,
    /// Something without notes of ours.
    Foreign,
    /// Ours.
    Ours(Notes),
}

/// A table on its way.
pub struct Coming<'a> {
    /// Its schema.
    pub schema: &'a str,
    /// Its name.
    pub table: &'a str,
    /// What it is.
    pub tables: &'a dyn Tables,
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
}

/// How a product keeps the tables of a load.
pub trait Store: Product {
    /// Rows on their way to the server.
    type Rows<'a>: Chunked;

    /// Rows that go to `to`.
    fn rows(to: &SyncSender<Chunk>) -> Self::Rows<'_>;

    /// Looks for a schema.
    ///
    /// # Errors
    /// What the server says.
    fn look_for(&mut self, schema: &str) -> Answer<Look>;

    /// Puts the notes of a load into a schema of ours.
    ///
    /// # Errors
    /// What the server says.
    fn begin_notes(&mut self, schema: &str, manifest: &Manifest) -> Answer<()>;

    /// Makes a table with its rows and keys, and notes that it is whole.
    ///
    /// # Errors
    /// What the server says; then nothing is noted.
    fn load_table(
        &mut self,
        coming: &Coming<'_>,
        chunks: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Answer<()>;

    /// What is done when all tables are whole: `finish` makes functions, where the product has such.
    ///
    /// # Errors
    /// What the server says.
    fn complete(&mut self, schema: &str, finish: String) -> Answer<()>;

    /// Makes procedures again, and then notes that they are there, where sessions of the product call such.
    ///
    /// # Errors
    /// What the server says, or that it is too old for them.
    fn make_procedures(&mut self, _schema: &str, _wanted: &[Procedure], _note: &str) -> Result<()> {
        Ok(())
    }

    /// Rows, bytes of tables and bytes of indexes.
    ///
    /// # Errors
    /// What the server says.
    fn table_sizes(&mut self, schema: &str) -> Answer<[u64; 3]>;

    /// The number in the only cell of a statement's answer; none where it is null.
    ///
    /// # Errors
    /// What the server says.
    fn number(&mut self, sql: &str) -> Answer<Option<u64>>;

    /// Whether a transaction is right and only its moment was wrong.
    fn is_for_others(failure: &Failure) -> bool {
        matches!(failure.meaning(), Some(Refusal::Deadlock | Refusal::Conflict))
    }

    /// A copy of a database of ours on a server that is not.
    ///
    /// # Errors
    /// What the server says, or that the product has no such copies.
    fn snapshot(database: &mut Database<Self>) -> Result<Snapshot>;

    /// Makes such a database from its copy again.
    ///
    /// # Errors
    /// What the server says.
    fn back_to(copy: &OwnDatabase, database: &mut Database<Self>) -> Result<()>;

    /// Drops such a copy.
    ///
    /// # Errors
    /// What the server says, or that it is not ours.
    fn drop_copy(copy: &OwnDatabase, database: &mut Database<Self>) -> Result<()>;
}
