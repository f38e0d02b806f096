//! Earlier runs of the same workload on the same storage, which show how it varies from run to run.

use assay_judge::compare::SideFacts;
use assay_model::Result;
use assay_model::run::RunKind;
use assay_store::{RunReader, RunSummary, Store};

/// Earlier runs that are read for one side.
const RUNS_MAX: usize = 24;

/// What a side is, as far as earlier runs must be the same.
pub(super) struct WantedHistory<'a> {
    pub(super) kind: RunKind,
    pub(super) targets: &'a [String],
    /// Runs that are compared: they stand for themselves.
    pub(super) compared: &'a [String],
}

/// The newest earlier runs that were made in the same way; those that cannot be read are none.
pub(super) fn history(
    store: &Store,
    wanted: &WantedHistory<'_>,
    side: &SideFacts,
    facts_of: fn(&RunReader) -> Result<SideFacts>,
) -> Result<Vec<SideFacts>> {
    let is_wanted = |run: &RunSummary| {
        run.kind == wanted.kind
            && run.targets == wanted.targets
            && !wanted.compared.contains(&run.id)
    };
    let runs = store.runs()?.runs.into_iter().filter(is_wanted).take(RUNS_MAX);
    let facts = runs.filter_map(|run| {
        let reader: RunReader = store.open(&run.path.display().to_string()).ok()?;
        facts_of(&reader).ok()
    });
    Ok(facts.filter(|earlier| earlier.made == side.made).collect())
}
