//! What is wanted of a load of decision support.

use crate::load::partial_data::PartialData;
use crate::load::server_plan::ServerPlan;
use assay_dbload::dss::SessionMemory;
use assay_loads::dss::{DssScale, ParameterChoice};
use assay_model::load::Setting;
use assay_model::units::{Bytes, Nanos};
use std::path::Path;

/// What is wanted.
pub struct DssRequest<'a> {
    /// The target as it was named.
    pub target: &'a str,
    /// How large the tables are.
    pub scale: DssScale,
    /// Streams of each throughput run.
    pub streams: Vec<u32>,
    /// Parallel processes of each group of runs.
    pub parallel: Vec<u32>,
    /// How often all of them.
    pub repeats: u32,
    /// Whether there is a power run.
    pub has_power: bool,
    /// Whether there are refresh functions.
    pub refreshes: bool,
    /// Where parameters come from.
    pub choice: ParameterChoice,
    /// Longest time of a query.
    pub limit: Nanos,
    /// Memory of a session.
    pub memory: SessionMemory,
    /// Where answers are written.
    pub answers: Option<&'a Path>,
    /// Cache of a managed server.
    pub buffer_pool: Bytes,
    /// Sessions that load at once.
    pub loaders: u32,
    /// The schema of the tables on a server that is not ours.
    pub schema: String,
    /// What becomes of tables that are there.
    pub partial_data: Option<PartialData>,
    /// The server.
    pub server: &'a ServerPlan,
    /// The knobs as they are shown.
    pub plan: Vec<Setting>,
}
