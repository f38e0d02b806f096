//! The brokerage load: its 33 tables, its twelve transactions as functions of PostgreSQL or as
//! statements that are written once for all products, and the conditions that its data must keep.

mod conditions;
mod functions;
mod schema;
mod session;
mod statements;
mod transactions;

pub use conditions::{found, verify};
pub use schema::BrokerageSchema;
pub use session::{BrokerSession, Brokerage, KINDS, PreparedBrokerage};
pub use transactions::{Days, TransactionOutcome};

use crate::load::{Dialect, creates};
use assay_loads::brokerage::BrokerageTable;

/// What the conditions look at.
const CHECKED: &str = "assay_trades";
/// Functions and sequences.
const FUNCTIONS: &str = include_str!("brokerage/sql/postgres_functions.sql");

/// Whether the load makes something of this name in its schema.
pub(crate) fn makes(name: &str) -> bool {
    let is_table = BrokerageTable::ALL.iter().any(|table| table.name() == name);
    is_table || name == CHECKED || creates(FUNCTIONS, name)
}

/// What transactions are on a server where one is a single call, in words; none where they are
/// statements only.
pub fn routines(dialect: Dialect) -> Option<&'static str> {
    statements::PHRASES.of(dialect).routines
}
