//! A load of decision support: tables loaded in parallel, a power run, throughput runs, and for each what the server, the
//! processors and the device counted.
//!
//! [`DssStore`] defines what it needs of a product.

mod mariadb;
mod postgres;
mod query_settings;
mod refresh;
mod run;
mod store;
mod stream;
mod tables;

use crate::load::Database;
use assay_model::Result;

pub use query_settings::{Memory, QuerySettings};
pub use refresh::finish_refresh;
pub use run::{QueryHooks, RunPlan, measure};
pub use store::DssStore;
pub use tables::{DssTables, SCHEMA, data_bytes, scale_of, schema_state, sizes};

/// Makes a managed server fit for large queries, and reads the settings that matter for them.
pub fn tune<L: DssStore>(database: &mut Database<L>) -> Result<()> {
    L::tune(database).map_err(|failure| failure.of("choosing the settings of the server"))
}

/// Processes that the server has for parallel steps of all sessions together; none where it does not say, or has none.
pub fn parallel_max<L: DssStore>(database: &mut Database<L>) -> Option<u32> {
    database.admin.parallel_max()
}
