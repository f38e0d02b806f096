//! A load of decision support after the published description of TPC-H: eight tables, 22 queries,
//! two refresh functions.
//!
//! Rows come from the crate `tpchgen`, whose output is that of the benchmark's own generator;
//! queries, parameters and refresh functions are made here from their description (TPC Benchmark H,
//! revision 3.0.1, clauses 2.3 to 2.7).

mod dates;
mod orders;
mod parameters;
mod queries;
mod refresh;
mod rows;
mod scale;
mod tables;

pub use orders::order;
pub use parameters::{ParameterChoice, QueryParameters, draw, validation};
pub use queries::{QUERIES, text};
pub use refresh::{RefreshSet, SETS};
pub use rows::{prepare_texts, put_rows};
pub use scale::DssScale;
pub use tables::{ColumnKind, DssColumn, DssTable, Index, TABLES, column_list};

/// What every page and text of such a load says about its relation to the benchmark that it
/// follows.
pub const NOTICE: &str = "The load dss-h follows the published description of TPC-H but does not \
                          comply with all of its rules: its results are not TPC results and \
                          cannot be compared with any published ones.";
