//! What every stream of a run is asked, and within which limits.

use assay_loads::dss::{Choice, Scale};
use assay_model::units::{Bytes, Nanos};

/// How much memory a session may use for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// For each sort and hash; the server's own choice where it is none.
    pub work: Option<Bytes>,
}

/// What every stream of a run is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuerySettings {
    /// How large the tables are.
    pub scale: Scale,
    /// Where parameters come from.
    pub choice: Choice,
    /// The longest that a query may take.
    pub limit: Option<Nanos>,
    /// Processes that the server may use for a step of a query besides the session's own process.
    pub parallel: u32,
    /// Memory of a session.
    pub memory: Memory,
}
