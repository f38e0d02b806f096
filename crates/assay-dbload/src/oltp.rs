//! The order-entry load: its tables, its transactions as functions of the server or as statements
//! that are written once for all products, and the conditions that its data must keep.

mod conditions;
mod functions;
mod orders;
mod rows;
mod schema;
mod statements;
mod transactions;

pub use conditions::{TransactionCounts, count, verify};
pub use orders::{OrderSession, Orders, PreparedOrders};
pub use schema::SchemaShape;

use crate::load::{Dialect, creates, without_part};
use assay_loads::oltp::OltpTable;

/// What the conditions look at.
const CHECKED: [&str; 2] = ["assay_lines", "assay_customers"];
/// Functions; procedures have their names.
const FUNCTIONS: &str = include_str!("oltp/sql/postgres_functions.sql");

/// Whether the load makes something of this name in its schema.
pub(crate) fn makes(name: &str) -> bool {
    let is_table = OltpTable::ALL.iter().any(|table| table.name() == without_part(name));
    is_table || CHECKED.contains(&name) || creates(FUNCTIONS, name)
}

/// What transactions are on a server where one is a single call, in words; none where they are
/// statements only.
pub fn routines(dialect: Dialect) -> Option<&'static str> {
    statements::PHRASES.of(dialect).routines
}
