//! What the method needs of a product: rows in blocks of their own, and statements on them.

use super::tables::{Access, BlockLayout};
use crate::load::{Database, TableStore};
use assay_loads::slob::{Rules, TEXT_BYTES, Work};
use assay_model::failure::Answer;
use assay_model::{Error, Result};

/// Statements of one table: reading, changing, scanning.
pub type Statements<S> = [Option<S>; 3];

/// A range of keys, and the text that a change writes.
#[derive(Debug)]
pub struct Range<'a> {
    /// The first key.
    pub first: i64,
    /// The last key.
    pub last: i64,
    /// The text.
    pub text: &'a [u8; TEXT_BYTES],
}

/// How a product keeps the tables of the method.
pub trait BlockStore: TableStore {
    /// A statement that is ready.
    type Statement: Send;

    /// Refuses a way of reading that the product lacks, and a server that would read otherwise.
    fn check_plan(database: &mut Database<Self>, access: Access, rules: &Rules) -> Result<()>;

    /// How rows come to lie in blocks of their own, of this many bytes.
    fn block_layout(block_bytes: u64) -> BlockLayout;

    /// Refuses tables whose rows share blocks.
    ///
    /// # Errors
    /// An environment error with the sizes.
    fn check_blocks(rows: u64, table_bytes: u64, block_bytes: u64) -> Result<()>;

    /// Settings of a session.
    fn ready(&mut self, access: Access) -> Answer<()>;

    /// The statements of a table, and of the one without an index where it is scanned.
    fn statements(
        &mut self,
        schema: &str,
        table: u32,
        rules: &Rules,
    ) -> Answer<Statements<Self::Statement>>;

    /// Carries a statement out; rows that it met.
    fn meet(
        &mut self,
        statement: &mut Self::Statement,
        work: Work,
        range: &Range<'_>,
    ) -> Answer<u64>;
}

/// That rows share blocks.
pub(super) fn shared_blocks(rows: u64, table_bytes: u64, wanted_bytes: u64, hint: &str) -> Error {
    Error::environment(
        format!(
            "{rows} rows became {table_bytes} bytes and not {wanted_bytes}: not every row has a block of its own"
        ),
        hint,
    )
}
