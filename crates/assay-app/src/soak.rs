//! Hours or days of load, with or without rests.

mod cycles;

use crate::cluster::HostsPlan;
use crate::context::Context;
use crate::finish::{FinishedRun, finish_with_page};
use crate::plan_document::PlanDocument;
use crate::recording::{Recording, RunRequest, check_verifiable};
use crate::resume::check_resumable;
use crate::target_plan::TargetPlan;
use assay_host::clock::unix_ns;
use assay_model::integrity::Integrity;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::soak;
use assay_model::units::Share;
use assay_model::{Error, Outcome, Result, Workload};
use assay_store::{Document, RunReader};
use serde::{Deserialize, Serialize};

pub(crate) use cycles::Cycles;

/// The plan of a soak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoakPlan {
    /// What is measured, and how it is opened.
    pub target: TargetPlan,
    /// The workload of a cycle.
    pub workload: Workload,
    /// Load and rests.
    pub cycles: soak::SoakPlan,
    /// Largest loss of rate that is acceptable.
    pub tolerance: Share,
    /// Share of the reads that are compared with what was written; nothing is verified where it is
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Share>,
    /// The hosts that load it together; this program alone where they are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsPlan>,
}

impl SoakPlan {
    /// Loads the target and says whether it becomes steady, what it loses, and whether rest brings
    /// it back.
    pub fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let document = PlanDocument::new(self)?;
        let hosts = self.hosts.as_ref();
        let of_one = RunRequest::of(&self.workload, &self.target, Some(&document));
        let request = RunRequest { hosts, ..of_one };
        let recording = Recording::begin(RunKind::Soak, &request, context)?;
        self.measure(recording, Cycles::new(self.cycles, self.tolerance))
    }

    /// Goes on with a soak that was killed or interrupted: what was measured counts, the rest is
    /// measured.
    pub fn resume(&self, run: &RunReader, context: &Context) -> Result<FinishedRun> {
        check_resumable(run)?;
        self.check()?;
        HostsPlan::check_resumable(self.hosts.as_ref(), "start it again")?;
        let mut cycles = Cycles::new(self.cycles, self.tolerance);
        cycles.restore_progress(run)?;
        let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
        let request = RunRequest::of(&self.workload, &self.target, None);
        let recording = Recording::go_on(writer, &run.manifest().targets, &request, context)?;
        self.measure(recording, cycles)
    }

    fn check(&self) -> Result<()> {
        if self.cycles.work.seconds() < 1.0 {
            return Err(Error::usage(
                format!("{} of load is too short", self.cycles.work),
                "load for minutes at least: --time 8h, or --work 300s --rest 600s --cycles 215",
            ));
        }
        self.workload.check()?;
        HostsPlan::check_verified(self.hosts.as_ref(), self.verify)?;
        match self.verify {
            Some(share) => check_verifiable(&self.workload, share),
            None => Ok(()),
        }
    }

    fn measure(&self, mut recording: Recording, mut cycles: Cycles) -> Result<FinishedRun> {
        match self.conduct(&mut recording, &mut cycles) {
            Ok((finish, integrity)) => self.finish(recording, &cycles, &finish, integrity),
            Err(error) => Err(recording.abandon(error)),
        }
    }

    /// Load and rests, and a sweep over everything behind them.
    fn conduct(
        &self,
        recording: &mut Recording,
        cycles: &mut Cycles,
    ) -> Result<(Finish, Option<Integrity>)> {
        if let Some(share) = self.verify {
            recording.verify(&self.workload, share)?;
        }
        let finish = cycles.conduct(recording, &self.workload)?;
        let integrity = recording.end_verification(&finish, None)?;
        Ok((finish, integrity))
    }

    fn finish(
        &self,
        recording: Recording,
        cycles: &Cycles,
        finish: &Finish,
        integrity: Option<Integrity>,
    ) -> Result<FinishedRun> {
        let soak = cycles.finish(&self.workload);
        // Test files go before the answer is given.
        let writer = recording.end();
        writer.put_json(Document::Soak, &soak)?;
        let verified = integrity.map(|integrity| integrity.outcome());
        let outcomes = std::iter::once(soak.outcome).chain(verified);
        finish_with_page(writer, finish, Outcome::of_all(outcomes))
    }
}
