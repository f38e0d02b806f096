//! What the plans of commands that measure have in common.

use crate::command_line::typed;
use crate::context::Context;
use crate::dry_run::PlanSummary;
use crate::finish::FinishedRun;
use crate::plan_document::read_plan;
use crate::resume::needed;
use crate::target_plan::TargetPlan;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_store::{RunReader, StoredDocument};
use serde::de::DeserializeOwned;

/// The plan of a command that measures storage: its fields are the options of the command, and the
/// run keeps it as a document.
pub trait CommandPlan {
    /// What is measured, as this machine sees it.
    fn target(&self) -> TargetPlan;

    /// What the plan would do; nothing is touched.
    ///
    /// # Errors
    /// A usage error for a plan that contradicts itself or names a target that is not there.
    fn summary(&self) -> Result<PlanSummary>;

    /// Carries the plan out as a new run.
    ///
    /// # Errors
    /// A usage error for a plan that contradicts itself; what storage, store and engine report.
    fn run(&self, context: &Context) -> Result<FinishedRun>;
}

/// A plan whose run can go on after it was killed or interrupted.
pub trait ResumablePlan: DeserializeOwned {
    /// The kind of its runs.
    const KIND: RunKind;

    /// What is measured; permissions to destroy data are added here, as no run keeps them.
    fn target_mut(&mut self) -> &mut TargetPlan;

    /// Measures what is left of a run.
    ///
    /// # Errors
    /// A usage error when nothing is left to measure; else as for a new run.
    fn resume(&self, run: &RunReader, context: &Context) -> Result<FinishedRun>;
}

/// The plan of a run that goes on.
///
/// # Errors
/// A usage error for a run of another kind, and for one that ended before it had a plan.
pub fn kept_plan<P: ResumablePlan>(run: &RunReader) -> Result<P> {
    let manifest = run.manifest();
    if manifest.kind != P::KIND {
        let id = &manifest.id;
        return Err(Error::usage(
            format!("the run {id} was started with `{}`", typed(&manifest.command)),
            format!("specify a run of kind {}; `assay runs` lists them", P::KIND.name()),
        ));
    }
    needed(run, StoredDocument::Plan)?;
    read_plan(run, P::KIND)?
        .ok_or_else(|| Error::environment("the plan of the run is missing", "run it again"))
}
