//! The judgement of storage that lost the test file itself, with every acknowledged write in it.

use super::{AfterPlan, case, integrity, no_file, with_judgement};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::recording::{give_up, tell_run};
use assay_engine::TargetAfterCut;
use assay_host::clock::unix_ns;
use assay_ledger::Ledger;
use assay_methods::durability::durability;
use assay_model::durability::Durability;
use assay_model::integrity::{FaultCount, FaultKind, Integrity, Sweep};
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_store::{NewRun, RunWriter, StoredDocument};
use std::path::Path;

impl AfterPlan {
    /// Judges a ledger whose test file is gone from the file system that it was made on. The file was
    /// durable before the first acknowledgement, so every acknowledged write is lost with it.
    ///
    /// # Errors
    /// A usage error when nothing was acknowledged; else what the store or the ledger says.
    pub(super) fn judge_lost_file(
        &self,
        ledger: &mut Ledger,
        criteria: Option<&CriteriaSource>,
        context: &Context,
    ) -> Result<FinishedRun> {
        let target = self.verify.only_target()?;
        if ledger.last().promises.is_empty() {
            return Err(no_file(target));
        }
        context.progress.say(&format!(
            "note: the test file is gone from {}, which is on the same file system as before: if \
             nobody removed it, the storage lost it",
            Path::new(target).display()
        ));
        let writer = context.store.create(&NewRun {
            kind: RunKind::Verify,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: context.command.clone(),
            targets: self.verify.target.targets.clone(),
            created_unix_ns: unix_ns(),
        })?;
        tell_run(&writer, context);
        match keep(self, ledger, &writer) {
            Ok(()) => finish_run(writer, &Finish::Complete, criteria),
            Err(error) => Err(given_up(context, writer, error)),
        }
    }
}

fn given_up(context: &Context, writer: RunWriter, error: Error) -> Error {
    give_up(&context.store, writer);
    error
}

fn keep(plan: &AfterPlan, ledger: &mut Ledger, writer: &RunWriter) -> Result<()> {
    let (promises, promised_ns) = ledger.take_promises();
    let mut broken_blocks: Vec<u64> = promises.keys().copied().collect();
    broken_blocks.sort_unstable();
    let case = case(ledger)?;
    let after = case.promised(promises, promised_ns);
    let found = TargetAfterCut {
        counts: vec![FaultCount { kind: FaultKind::Lost, blocks: after.promised_blocks() }],
        broken_blocks,
        sweep: Sweep { complete: true, ..Sweep::default() },
        ..TargetAfterCut::default()
    };
    let judged = plan.judged(&case, &after, &found);
    let cuts = with_judgement(plan.place()?, ledger, judged)?;
    let acknowledgements = case.epoch.acknowledgements;
    let durability = Durability { acknowledgements, ..durability(Vec::new(), None, cuts) };
    let integrity = Integrity {
        durability: Some(durability),
        ..integrity(&case, &after, &found, case.length_bytes)
    };
    writer.put_json(StoredDocument::Integrity, &integrity)
}
