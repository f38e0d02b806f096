//! Which caches and tiers a target has.

use crate::cluster::ClusterBench;
use crate::context::Context;
use crate::dry_run::PlanSummary;
use crate::finish::{FinishedRun, finish_with_page};
use crate::plan::CommandPlan;
use crate::plan_document::PlanDocument;
use crate::recording::{OpenTarget, Recording, RunRequest};
use crate::target_plan::TargetPlan;
use assay_methods::locality::{LocalityCurve, LocalityPhase, locality};
use assay_methods::{SimulatedBench, StorageBench};
use assay_model::locality::Locality;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::show_bytes;
use assay_model::{Outcome, Result};
use assay_store::StoredDocument;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The plan of a search for caches and tiers; its fields are the options of the command.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalityPlan {
    /// The curve that is measured.
    #[command(flatten)]
    pub curve: LocalityCurve,
    /// What is measured, and how it is opened.
    #[command(flatten)]
    pub target: TargetPlan,
}

impl CommandPlan for LocalityPlan {
    fn target(&self) -> TargetPlan {
        self.target.clone()
    }

    fn summary(&self) -> Result<PlanSummary> {
        Ok(PlanSummary {
            format: 1,
            title: "locality".to_owned(),
            load: format!(
                "random {} reads, one at a time, in growing working sets",
                self.curve.block_size
            ),
            time: format!(
                "each working set is read twice, warmed up for {} and measured for {}{}",
                self.curve.warm_up,
                self.curve.time,
                self.target.filling()
            ),
            targets: self.target.summary(false, true, false)?,
            server: None,
        })
    }

    /// Finds the sizes and latencies of caches and tiers.
    fn run(&self, context: &Context) -> Result<FinishedRun> {
        let document = PlanDocument::new(self)?;
        let request = RunRequest { document: Some(&document), ..RunRequest::reading(&self.target) };
        let mut recording = Recording::begin(RunKind::Locality, &request, context)?;
        let found = match self.measure(&mut recording) {
            Ok(found) => found,
            Err(error) => return Err(recording.abandon(error)),
        };
        // Test files go before the answer is given.
        let writer = recording.end();
        writer.put_json(StoredDocument::Locality, &found)?;
        let finish = if context.is_stopped() { Finish::Interrupted } else { Finish::Complete };
        finish_with_page(writer, &finish, Outcome::Pass)
    }
}

impl LocalityPlan {
    fn measure(&self, recording: &mut Recording) -> Result<Locality> {
        let Recording { context, target, .. } = recording;
        let (progress, stop) = (&context.progress, &context.stop);
        // Nobody waits for virtual time.
        let is_real = !matches!(target, OpenTarget::Simulated(..));
        let mut show = |phase: &LocalityPhase| {
            let what = format!("working set {}", show_bytes(real(phase.working_set_bytes)));
            progress.show(&what, phase.done_share, phase.left_s.filter(|_| is_real));
        };
        let curve = &self.curve;
        let found = match target {
            OpenTarget::Simulated(_, device) => {
                let length_bytes = device.length_bytes();
                let mut bench = SimulatedBench::of(device).with_stop(stop);
                locality(&mut bench, curve, length_bytes, &mut show)
            }
            OpenTarget::Storage(storage) => {
                let length_bytes = storage.targets.iter().map(|target| target.length_bytes).sum();
                let choice = self.target.engine.choice();
                let mut bench = StorageBench::new(Arc::clone(&storage.targets), choice, stop);
                locality(&mut bench, curve, length_bytes, &mut show)
            }
            OpenTarget::Hosts(hosts) => {
                let length_bytes = hosts.length_bytes();
                locality(&mut ClusterBench::new(hosts, stop), curve, length_bytes, &mut show)
            }
        };
        progress.clear();
        found
    }
}
