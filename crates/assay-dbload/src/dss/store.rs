//! What this load needs of a product: tables with their keys, rows in bulk, sessions that ask within limits.

use super::asked::Asked;
use crate::load::{Chunk, Database, Store};
use assay_dbserver::Usage;
use assay_loads::dss::{Index, Part, Scale, Table};
use assay_model::failure::{Answer, Failure};
use assay_model::row::Row;
use assay_model::units::Nanos;
use std::sync::mpsc::SyncSender;

/// Rows of a part of a table.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The table.
    pub table: Table,
    /// How large all tables are.
    pub scale: Scale,
    /// The part.
    pub part: Part,
    /// Changes keys of orders.
    pub rekey: &'a (dyn Fn(i64) -> i64 + Sync),
}

/// How a product keeps and asks the tables of this load.
pub trait DssStore: Store {
    /// Begins a transaction whose statements have no limit.
    const BEGIN_UNLIMITED: &'static str;

    /// Takes hold of our schema for as long as this session lives; says whether nobody else has it.
    ///
    /// # Errors
    /// What the server says.
    fn take_hold(&mut self) -> Answer<bool>;

    /// Fills our schema with these notes and the tables that are not made with their rows.
    ///
    /// # Errors
    /// What the server says.
    fn make(&mut self, notes: &[(String, String)], parts: &[(Table, i32)]) -> Answer<()>;

    /// Makes the tables that a loading which was broken off should have made before their rows.
    ///
    /// # Errors
    /// What the server says.
    fn make_missing(&mut self, parts: &[(Table, i32)]) -> Answer<()>;

    /// The statement that sets notes of the manifest.
    fn put(notes: &[(String, String)]) -> String;

    /// Settings of a session that loads; what this user may not set stays.
    fn ready_to_load(&mut self);

    /// Makes rows in the form of the server until nobody takes them.
    fn rows_of(wanted: Wanted<'_>, to: &SyncSender<Chunk>);

    /// Begins the transaction of a part; the table is made in it where it is whole and the product can do so.
    ///
    /// # Errors
    /// What the server says.
    fn begin_part(&mut self, table: Table, is_whole: bool) -> Answer<()>;

    /// Sends rows in the transaction at hand; `is_whole` where they are all of a fresh table. Gives their number.
    ///
    /// # Errors
    /// What the server says.
    fn send(
        &mut self,
        table: Table,
        is_whole: bool,
        chunks: &mut dyn Iterator<Item = Chunk>,
    ) -> Answer<u64>;

    /// Builds the index of the primary key, unless it is there.
    ///
    /// # Errors
    /// What the server says.
    fn build_key(&mut self, table: Table) -> Answer<()>;

    /// Builds another index, unless it is there.
    ///
    /// # Errors
    /// What the server says.
    fn build_index(&mut self, table: Table, index: &Index) -> Answer<()>;

    /// Declares the key and gathers statistics; `frozen` where rows were sent in one piece.
    ///
    /// # Errors
    /// What the server says.
    fn gather(&mut self, table: Table, frozen: bool) -> Answer<()>;

    /// Removes the rows that meet a condition; how many there were.
    ///
    /// # Errors
    /// What the server says.
    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64>;

    /// Bytes of tables and of indexes.
    ///
    /// # Errors
    /// What the server says.
    fn bytes(&mut self) -> Answer<(u64, u64)>;

    /// Processes that the server has for parallel steps of all sessions together; none where it does not tell, or has
    /// none.
    fn parallel_max(&mut self) -> Option<u32>;

    /// Makes a server of our own fit for large queries, and adds what matters for them to what is told of it.
    ///
    /// # Errors
    /// What the server says.
    fn fit(database: &mut Database<Self>) -> Answer<()>;

    /// Makes a session one that asks.
    ///
    /// # Errors
    /// What the server says.
    fn ready_to_ask(&mut self, asked: &Asked) -> Answer<()>;

    /// The text of a query that has a limit, where the limit is not one of the session.
    fn limited(&self, sql: String, limit: Option<Nanos>) -> String;

    /// All rows of a query.
    ///
    /// # Errors
    /// What the server says, that it took too long among it.
    fn ask(&mut self, sql: &str) -> Answer<Vec<Row>>;

    /// Whether a query was cancelled by its limit.
    fn is_over_limit(failure: &Failure) -> bool;

    /// The statement by which another session ends this one in the middle of a query; none where the server sees by
    /// itself that nobody waits any more.
    fn ending(&self) -> Option<String>;

    /// What all processes of a server used, those among them that have ended.
    fn whole_usage(first_process: u32) -> Option<Usage>;
}
