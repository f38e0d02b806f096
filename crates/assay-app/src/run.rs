//! One workload on one target.

use crate::cluster::{HostsPlan, of_each};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan_document::PlanDocument;
use crate::recording::{CELL, Recording, RunRequest, check_verifiable, remaining};
use crate::resume::check_resumable;
use crate::target_plan::TargetPlan;
use crate::working_set::within_capacity;
use assay_host::clock::unix_ns;
use assay_model::measurement::Measurement;
use assay_model::run::RunKind;
use assay_model::units::Share;
use assay_model::{Result, Workload};
use assay_store::RunReader;
use serde::{Deserialize, Serialize};

/// The plan of a run of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// What is measured, and how it is opened.
    pub target: TargetPlan,
    /// The workload.
    pub workload: Workload,
    /// Share of the reads that are compared with what was written; nothing is verified where it is
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Share>,
    /// The hosts that run it together; this program alone where they are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsPlan>,
}

impl RunPlan {
    /// Runs the workload, and judges what came of it where somebody or the workload asks.
    pub fn run(&self, named: Option<CriteriaSource>, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let criteria = CriteriaSource::of(named, &self.workload)?;
        let document = PlanDocument::new(self)?;
        let hosts = self.hosts.as_ref();
        let each = hosts.map(|plan| of_each(&self.workload, &plan.hosts));
        let whole = each.as_ref().unwrap_or(&self.workload);
        let target = self.target.sized_for(whole);
        let request =
            RunRequest { hosts, ..RunRequest::of(&self.workload, &target, Some(&document)) };
        let mut recording = Recording::begin(RunKind::Run, &request, context)?;
        let workload = within_capacity(whole, recording.length_bytes(), &context.progress);
        self.say_unanswered(criteria.as_ref(), context);
        if let Err(error) = self.begin_verification(&workload, &mut recording) {
            return Err(recording.abandon(error));
        }
        let measured = recording.measure(CELL, &workload);
        finish_measured(recording, measured, criteria.as_ref())
    }

    /// Says what of the criteria the workload cannot answer.
    fn say_unanswered(&self, asked: Option<&CriteriaSource>, context: &Context) {
        let unanswered = asked.map(|asked| asked.rules.unanswered_by(&self.workload));
        for doubt in unanswered.unwrap_or_default() {
            context.progress.say(&format!("note: {doubt}"));
        }
    }

    fn check(&self) -> Result<()> {
        self.workload.check()?;
        HostsPlan::check_verified(self.hosts.as_ref(), self.verify)?;
        match self.verify {
            Some(share) => check_verifiable(&self.workload, share),
            None => Ok(()),
        }
    }

    fn begin_verification(&self, workload: &Workload, recording: &mut Recording) -> Result<()> {
        self.verify.map_or(Ok(()), |share| recording.verify(workload, share))
    }

    /// Goes on with a run that was killed or interrupted: the same workload for the time that is
    /// left, all of it when the run ended before anything was measured.
    ///
    /// # Errors
    /// A usage error when nothing is left to measure; else as for [`run`](Self::run).
    pub fn resume(
        &self,
        run: &RunReader,
        named: Option<CriteriaSource>,
        context: &Context,
    ) -> Result<FinishedRun> {
        check_resumable(run)?;
        let instead =
            "`assay hosts collect` completes it from what its hosts kept; or start it again";
        HostsPlan::check_resumable(self.hosts.as_ref(), instead)?;
        let left = match run.cell(CELL) {
            Ok(cell) => remaining(&cell.workload()?, cell.elapsed_ns()?)?,
            Err(_) => self.workload.clone(),
        };
        let criteria = CriteriaSource::of(named, &left)?;
        let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
        let target = self.target.sized_for(&self.workload);
        let request = RunRequest::of(&left, &target, None);
        let mut recording = Recording::go_on(writer, &run.manifest().targets, &request, context)?;
        let left = within_capacity(&left, recording.length_bytes(), &context.progress);
        if let Err(error) = self.begin_verification(&left, &mut recording) {
            return Err(recording.abandon(error));
        }
        let measured = if run.cell(CELL).is_ok() {
            let cell = recording.writer.resume_cell(CELL, &recording.cell_start())?;
            recording.measure_into(cell, &left)
        } else {
            recording.measure(CELL, &left)
        };
        finish_measured(recording, measured, criteria.as_ref())
    }
}

/// Verifies and judges what was measured; test files go before the answer is given.
fn finish_measured(
    mut recording: Recording,
    measured: Result<Measurement>,
    criteria: Option<&CriteriaSource>,
) -> Result<FinishedRun> {
    let ended = measured.and_then(|measurement| {
        recording.end_verification(&measurement.finish, None)?;
        Ok(measurement)
    });
    match ended {
        Ok(measurement) => finish_run(recording.end(), &measurement.finish, criteria),
        Err(error) => Err(recording.abandon(error)),
    }
}
