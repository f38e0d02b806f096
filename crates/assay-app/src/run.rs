//! One workload on one target.

use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan_document::PlanDocument;
use crate::recording::{Recording, RunRequest, check_verifiable, remaining};
use crate::resume::check_resumable;
use crate::target_plan::TargetPlan;
use assay_host::clock::unix_ns;
use assay_host::gate::FILE_BYTES_MIN;
use assay_methods::study::within;
use assay_model::measurement::Measurement;
use assay_model::number::{count_of, share};
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Share};
use assay_model::{Result, Workload};
use assay_store::RunReader;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The cell of the one workload.
const CELL: &str = "run";

/// The plan of a run of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// What is measured, and how it is opened.
    pub target: TargetPlan,
    /// The workload.
    pub workload: Workload,
    /// Share of the reads that are compared with what was written; nothing is verified where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Share>,
}

impl RunPlan {
    /// Runs the workload, and judges what came of it where somebody or the workload asks.
    pub fn run(&self, named: Option<CriteriaSource>, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let criteria = CriteriaSource::of(named, &self.workload)?;
        let document = PlanDocument::new(self)?;
        let target = self.sized_target();
        let request = RunRequest::of(&self.workload, &target, Some(&document));
        let mut recording = Recording::begin(RunKind::Run, &request, context)?;
        let workload = within_capacity(&self.workload, &recording, context);
        let asked = criteria.as_ref();
        let unanswered = asked.map(|asked| asked.rules.unanswered_by(&self.workload));
        for doubt in unanswered.unwrap_or_default() {
            context.progress.say(&format!("note: {doubt}"));
        }
        if let Err(error) = self.begin_verification(&workload, &mut recording) {
            return Err(recording.abandon(error));
        }
        let measured = recording.measure(CELL, &workload);
        finish_measured(recording, measured, asked)
    }

    fn check(&self) -> Result<()> {
        self.workload.check()?;
        match self.verify {
            Some(share) => check_verifiable(&self.workload, &self.target.targets, share),
            None => Ok(()),
        }
    }

    fn begin_verification(&self, workload: &Workload, recording: &mut Recording) -> Result<()> {
        self.verify.map_or(Ok(()), |share| recording.verify(workload, share))
    }

    /// Goes on with a run that was killed or interrupted: the same workload for the time that is left, all of it when
    /// the run ended before anything was measured.
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
        let left = match run.cell(CELL) {
            Ok(cell) => remaining(&cell.workload()?, cell.elapsed_ns()?)?,
            Err(_) => self.workload.clone(),
        };
        let criteria = CriteriaSource::of(named, &left)?;
        let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
        let target = self.sized_target();
        let request = RunRequest::of(&left, &target, None);
        let mut recording = Recording::go_on(writer, &run.manifest().targets, &request, context)?;
        let left = within_capacity(&left, &recording, context);
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

    /// The target with test files as large as the workload's data, where their size is not said otherwise.
    fn sized_target(&self) -> TargetPlan {
        let mut target = self.target.clone();
        let makes_files = target.targets.iter().any(|one| Path::new(one).is_dir());
        if let (None, Some(capacity), true) = (target.size, self.workload.capacity, makes_files) {
            let files = count_of(target.targets.len()).max(1);
            // A file keeps some of its bytes for what says that it is ours.
            let each = (capacity.0.div_ceil(files << 20) + 4) << 20;
            target.size = Some(Bytes(each.max(FILE_BYTES_MIN)));
        }
        target
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

/// The workload on the part of larger targets that it asks for; what is measured says where it went by its spans.
fn within_capacity(workload: &Workload, recording: &Recording, context: &Context) -> Workload {
    let Some(capacity) = workload.capacity else { return workload.clone() };
    let narrowed = Workload { capacity: None, ..workload.clone() };
    let length = recording.length_bytes();
    if capacity.0 <= length {
        return within(narrowed, share(capacity.0, length));
    }
    // A test file is smaller by its header, which is not worth a word.
    if capacity.0 - length > capacity.0 / 50 {
        context.progress.say(&format!(
            "note: the workload asks for {capacity} of data, and the target holds {}: all of it is used",
            Bytes(length)
        ));
    }
    narrowed
}
