//! A load of decision support: tables loaded in parallel, a power run, throughput runs, and for
//! each what the server, the processors and the device counted.

mod query_settings;
mod refresh;
mod run;
mod stream;
mod tables;

use crate::load::{LoadSchema, Product};
use assay_loads::dss::TABLES;
use assay_model::Result;

pub use query_settings::{QuerySettings, SessionMemory, parallel_max, parallel_usual};
pub use refresh::finish_refresh;
pub use run::{DssRunPlan, QueryHooks, measure};
pub use tables::{DssTables, SCHEMA, data_bytes, scale_of, schema_state, sizes};

/// Whether the load makes something of this name in its schema.
pub(crate) fn makes(name: &str) -> bool {
    TABLES.iter().any(|table| table.name() == name)
}

/// Makes a managed server fit for large queries, and reads the settings that matter for them.
pub fn tune<L: Product>(database: &mut LoadSchema<L>) -> Result<()> {
    query_settings::make_fit(database)
        .map_err(|failure| failure.of("choosing the settings of the server"))
}
