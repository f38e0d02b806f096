//! What every load says of itself, so that neither a study nor a command must know which load it
//! has before it.

use super::load_member::LoadMember;
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::load::server_plan::ServerPlan;
use crate::load::transactions::CommitPlan;
use crate::plan_document::PlanDocument;
use assay_model::Result;
use assay_model::load::LoadKind;
use assay_model::units::{Bytes, Nanos};

/// A load as it is planned.
pub trait PlannedLoad {
    /// Which load it is.
    fn kind(&self) -> LoadKind;

    /// Refuses what means nothing or contradicts itself, before anything is touched.
    ///
    /// # Errors
    /// A usage error that names the option.
    fn check(&self) -> Result<()>;

    /// Carries it out as a run of its own, which keeps `document` before anything is measured.
    fn run(&self, document: &PlanDocument, context: &Context) -> Result<FinishedRun>;

    /// Has sessions as one of several hosts, on data that are there.
    ///
    /// # Errors
    /// What the server says when it is entered, or that the load has no sessions that could be
    /// divided.
    fn take_part(&self, member: &mut LoadMember<'_>) -> Result<()>;

    /// All values that shape its data: with the same ones the same data can be used again.
    fn shape(&self) -> DataShape;

    /// Bytes of its data with their indexes, about.
    fn data_bytes(&self) -> Result<u64>;

    /// What it does in a few words, and how long that is measured.
    fn summary(&self) -> [String; 2];

    /// The parts that all loads have.
    fn parts(&mut self) -> LoadParts<'_>;

    /// Sets the length of a step, where the load has steps.
    fn set_time(&mut self, _time: Nanos) {}
}

/// Values that shape data, with their names.
pub type DataShape = Vec<(&'static str, String)>;

/// The parts of a plan that all loads have, to be changed.
pub struct LoadParts<'a> {
    /// The directory, or the address of a server.
    pub target: &'a mut String,
    /// Further databases, where the load can be on several.
    pub other_targets: Option<&'a mut Vec<String>>,
    /// The server.
    pub server: &'a mut ServerPlan,
    /// Cache of the server.
    pub buffer_pool: &'a mut Bytes,
    /// Before every how many steps data are restored, where the load can restore them.
    pub restore_every: Option<&'a mut Option<u32>>,
    /// Where acknowledged transactions are kept, where the load has any.
    pub ledger: Option<&'a mut Option<CommitPlan>>,
}
