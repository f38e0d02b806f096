//! Which caches and tiers a target has.

use crate::cluster::ClusterBench;
use crate::context::Context;
use crate::finish::{FinishedRun, finish_with_page};
use crate::plan_document::PlanDocument;
use crate::recording::{OpenTarget, Recording, RunRequest};
use crate::target_plan::TargetPlan;
use assay_methods::locality::{self, locality};
use assay_methods::{SimulatedBench, StorageBench};
use assay_model::locality::Locality;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, show_bytes};
use assay_model::{Outcome, Result};
use assay_store::Document;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The plan of a search for caches and tiers; its fields are the options of the verb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalityPlan {
    /// What is measured, and how it is opened.
    pub target: TargetPlan,
    /// The smallest working set.
    pub smallest: Bytes,
    /// The largest working set; the whole target where none is given.
    pub largest: Option<Bytes>,
    /// Bytes of a read.
    pub transfer: Bytes,
    /// Reads of each working set before it is measured.
    pub settle: Nanos,
    /// Measured time of each working set.
    pub point: Nanos,
    /// Time between two jumps of a hot spot; none where it is not given.
    pub follow: Option<Nanos>,
}

impl Default for LocalityPlan {
    fn default() -> Self {
        Self {
            target: TargetPlan::default(),
            smallest: Bytes(1 << 20),
            largest: None,
            transfer: Bytes(8 << 10),
            settle: Nanos(2_000_000_000),
            point: Nanos(5_000_000_000),
            follow: None,
        }
    }
}

impl LocalityPlan {
    /// Finds the sizes and latencies of caches and tiers.
    pub fn run(&self, context: &Context) -> Result<FinishedRun> {
        let document = PlanDocument::new(self)?;
        let request = RunRequest { document: Some(&document), ..RunRequest::reading(&self.target) };
        let mut recording = Recording::begin(RunKind::Locality, &request, context)?;
        let found = match self.measure(&mut recording) {
            Ok(found) => found,
            Err(error) => return Err(recording.abandon(error)),
        };
        // Test files go before the answer is given.
        let writer = recording.end();
        writer.put_json(Document::Locality, &found)?;
        let finish = if context.is_stopped() { Finish::Interrupted } else { Finish::Complete };
        finish_with_page(writer, &finish, Outcome::Pass)
    }

    fn measure(&self, recording: &mut Recording) -> Result<Locality> {
        let Recording { context, target, .. } = recording;
        let (progress, stop) = (&context.progress, &context.stop);
        let mut show = |done: f64, bytes: u64| {
            progress.show(&format!("working set {}", show_bytes(real(bytes))), done, None);
        };
        let found = match target {
            OpenTarget::Simulated(_, device) => {
                let method = self.method(device.length_bytes());
                let mut bench = SimulatedBench::of(device).with_stop(stop);
                locality(&mut bench, &method, &mut show)
            }
            OpenTarget::Storage(storage) => {
                let length = storage.targets.iter().map(|target| target.length_bytes).sum();
                let choice = self.target.engine.choice();
                let mut bench = StorageBench::new(Arc::clone(&storage.targets), choice, stop);
                locality(&mut bench, &self.method(length), &mut show)
            }
            OpenTarget::Hosts(hosts) => {
                let method = self.method(hosts.length_bytes());
                locality(&mut ClusterBench::new(hosts, stop), &method, &mut show)
            }
        };
        progress.clear();
        found
    }

    fn method(&self, length_bytes: u64) -> locality::LocalityPlan {
        locality::LocalityPlan {
            length_bytes,
            smallest: self.smallest,
            largest: self.largest,
            transfer: self.transfer,
            settle: self.settle,
            point: self.point,
            follow: self.follow,
            seed: 1,
        }
    }
}
