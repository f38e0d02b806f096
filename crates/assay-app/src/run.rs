//! One workload on one target.

use crate::cluster::{HostsPlan, of_each};
use crate::context::Context;
use crate::dry_run::{PlanSummary, load_of};
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan::{CommandPlan, ResumablePlan};
use crate::plan_document::PlanDocument;
use crate::read_verification::ReadVerification;
use crate::recording::{CELL, Recording, RunRequest, is_short, remaining};
use crate::resume::check_resumable;
use crate::target_plan::TargetPlan;
use crate::working_set::within_capacity;
use assay_host::clock::unix_ns;
use assay_model::measurement::Measurement;
use assay_model::run::RunKind;
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use assay_store::RunReader;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The plan of a run of one workload; its fields are options of the command.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// The workload, as it runs.
    #[arg(skip)]
    pub workload: Workload,
    /// Whether the whole time is measured, although the answer may be certain before.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_time: bool,
    /// Whether what is read is verified.
    #[command(flatten)]
    #[serde(default, skip_serializing_if = "ReadVerification::is_none")]
    pub verify: ReadVerification,
    /// The hosts that run it together; this program alone where they are absent.
    #[command(flatten)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsPlan>,
    /// Criteria to judge by: a file, oltp-default or dell-2017; by default those of the workload,
    /// if it has any
    #[arg(long, value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<PathBuf>,
    /// What is measured, and how it is opened.
    #[command(flatten)]
    pub target: TargetPlan,
}

impl RunPlan {
    /// What a workload is judged by, where the plan or the workload itself says it.
    fn judged_by(&self, workload: &Workload) -> Result<Option<CriteriaSource>> {
        CriteriaSource::of(CriteriaSource::named(self.criteria.as_deref())?, workload)
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
        self.verify.check(&self.workload, self.hosts.as_ref())
    }
}

impl CommandPlan for RunPlan {
    fn target(&self) -> TargetPlan {
        self.target.seen_by(HostsPlan::names(self.hosts.as_ref()))
    }

    fn summary(&self) -> Result<PlanSummary> {
        self.workload.check()?;
        let workload = &self.workload;
        let warm_up = match workload.warm_up {
            Nanos(0) => String::new(),
            time => format!(" after {time} of warm-up"),
        };
        Ok(PlanSummary {
            format: 1,
            title: format!("run {}", workload.name),
            load: load_of(workload, HostsPlan::names(self.hosts.as_ref())),
            time: format!("{} measured{warm_up}{}", workload.duration, self.target.filling()),
            targets: self.target().summary(
                workload.writes(),
                workload.direct,
                is_short(workload),
            )?,
            server: None,
        })
    }

    fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let criteria = self.judged_by(&self.workload)?;
        let document = PlanDocument::new(self)?;
        let hosts = self.hosts.as_ref();
        let each = hosts.map(|plan| of_each(&self.workload, &plan.hosts));
        let whole = each.as_ref().unwrap_or(&self.workload);
        let target = self.target().sized_for(whole);
        let request =
            RunRequest { hosts, ..RunRequest::of(&self.workload, &target, Some(&document)) };
        let mut recording = Recording::begin(RunKind::Run, &request, context)?;
        let workload = within_capacity(whole, recording.length_bytes(), &context.progress);
        self.say_unanswered(criteria.as_ref(), context);
        if let Err(error) = self.verify.begin(&workload, &mut recording) {
            return Err(recording.abandon(error));
        }
        if let Some(criteria) = criteria.as_ref().filter(|_| !self.whole_time) {
            recording.end_when_certain(&criteria.rules, &workload);
        }
        let measured = recording.measure(CELL, &workload);
        finish_measured(recording, measured, criteria.as_ref())
    }
}

impl ResumablePlan for RunPlan {
    const KIND: RunKind = RunKind::Run;

    fn target_mut(&mut self) -> &mut TargetPlan {
        &mut self.target
    }

    fn resume(&self, run: &RunReader, context: &Context) -> Result<FinishedRun> {
        check_resumable(run)?;
        let instead =
            "`assay hosts collect` completes it from what its hosts kept; or start it again";
        HostsPlan::check_resumable(self.hosts.as_ref(), instead)?;
        let left = match run.cell(CELL) {
            Ok(cell) => remaining(&cell.workload()?, cell.elapsed_ns()?)?,
            Err(_) => self.workload.clone(),
        };
        let criteria = self.judged_by(&left)?;
        let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
        let target = self.target.sized_for(&self.workload);
        let request = RunRequest::of(&left, &target, None);
        let mut recording = Recording::go_on(writer, &run.manifest().targets, &request, context)?;
        let left = within_capacity(&left, recording.length_bytes(), &context.progress);
        if let Err(error) = self.verify.begin(&left, &mut recording) {
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
