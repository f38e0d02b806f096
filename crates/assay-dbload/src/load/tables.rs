//! The tables of a load: what each is on a server, and where its rows come from.

use assay_loads::sink::{RowSink, TablePart};
use assay_model::load::LoadKind;
use std::fmt::Debug;

/// What texts consist of in the products whose tables otherwise follow their database: a
/// comparison with an index needs the same on both sides.
pub(crate) const LETTERS: &str = "CHARACTER SET latin1 COLLATE latin1_bin";

/// A table as a server has to keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// Its name in the schema of the load.
    pub name: String,
    /// Its columns with their types.
    pub columns: String,
    /// The columns of its primary key, where it has one.
    pub key: Option<&'static str>,
    /// Further indexes.
    pub indexes: Vec<IndexLayout>,
    /// Percent of a block that loading fills, where the product leaves room.
    pub filled_percent: u32,
    /// The column by whose hash the table is partitioned, and into how many partitions.
    pub partitions: Option<(&'static str, u32)>,
    /// The column that numbers new rows, where the product lets the table do so.
    pub numbered: Option<&'static str>,
    /// Further options of the table in the words of MariaDB.
    pub options: &'static str,
    /// The columns that rows are sent for, where they are not all.
    pub sent: Option<String>,
    /// Whether the server may vacuum the table by itself.
    pub is_vacuumed: bool,
    /// What the server gathers about it after loading.
    pub statistics: Statistics,
    /// Its rows after loading, about.
    pub rows: u64,
    /// Into how many parts its rows are cut, so that several sessions load it.
    pub parts: i32,
}

impl TableLayout {
    /// A table in one piece, without key or index.
    pub fn new(name: &str, columns: impl Into<String>, rows: u64) -> Self {
        Self {
            name: name.to_owned(),
            columns: columns.into(),
            key: None,
            indexes: Vec::new(),
            filled_percent: 100,
            partitions: None,
            numbered: None,
            options: "",
            sent: None,
            is_vacuumed: true,
            statistics: Statistics::Table,
            rows,
            parts: 1,
        }
    }

    /// Adds indexes on these columns, named by the table and their order.
    pub fn with_indexes(mut self, columns: &[&'static str]) -> Self {
        let named = (1..).zip(columns).map(|(number, columns)| IndexLayout {
            name: format!("{}_index_{number}", self.name),
            columns,
            is_unique: false,
        });
        self.indexes = named.collect();
        self
    }
}

/// An index other than that of the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexLayout {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: &'static str,
    /// Whether no two rows have the same values in them.
    pub is_unique: bool,
}

/// What a server gathers about a loaded table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// Nothing: plans of the load do not depend on it.
    None,
    /// What it gathers by itself.
    Table,
    /// The distribution of values as well, where that is a matter of its own.
    Columns,
}

/// What the rows of a load are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowOrigin {
    /// Seed of every random choice.
    pub seed: u64,
    /// The moment of loading, microseconds since 1970.
    pub loaded_us: i64,
}

/// A procedure of the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Procedure {
    /// Its name in the schema of the load.
    pub name: &'static str,
    /// The statement that creates it.
    pub sql: String,
}

/// The tables of a load, and the rows in them.
pub trait LoadTables: Sync {
    /// One of them.
    type Table: Copy + Debug + Send + Sync;

    /// Which load it is.
    fn kind(&self) -> LoadKind;

    /// All tables, the largest first, so that who loads them at once ends at once.
    fn all(&self) -> Vec<Self::Table>;

    /// A table as a server has to keep it.
    fn layout(&self, table: Self::Table) -> TableLayout;

    /// What the tables are made with, by the names of the options.
    fn knobs(&self) -> Vec<(&'static str, String)>;

    /// Makes what all rows need; runs while the first are made already.
    fn prepare(&self) {}

    /// Makes the rows of a part of a table, until nobody takes more.
    fn make(&self, table: Self::Table, part: TablePart, origin: RowOrigin, to: &mut dyn RowSink);

    /// Creates what PostgreSQL needs besides the tables: functions, sequences, references; whole
    /// statements.
    fn functions(&self, _schema: &str, _loaded_us: i64) -> String {
        String::new()
    }

    /// Procedures of MariaDB and MySQL that sessions call.
    fn procedures(&self, _schema: &str) -> Vec<Procedure> {
        Vec::new()
    }
}
