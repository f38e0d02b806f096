//! Hours or days of load, with or without rests.

mod cycles;

use crate::cluster::HostsPlan;
use crate::context::Context;
use crate::dry_run::{PlanSummary, load_of};
use crate::finish::{FinishedRun, finish_with_page};
use crate::plan::{CommandPlan, ResumablePlan};
use crate::plan_document::PlanDocument;
use crate::read_verification::ReadVerification;
use crate::recording::{Recording, RunRequest, is_short};
use crate::resume::check_resumable;
use crate::target_plan::TargetPlan;
use assay_host::clock::unix_ns;
use assay_model::integrity::Integrity;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::soak::SoakCycles;
use assay_model::spelling::defaults;
use assay_model::units::{Nanos, Share};
use assay_model::{Error, Outcome, Result, Workload};
use assay_store::{RunReader, StoredDocument};
use clap::Args;
use serde::{Deserialize, Serialize};

pub(crate) use cycles::Cycles;

/// The plan of a soak; its fields are options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoakPlan {
    /// The workload of a cycle.
    #[arg(skip)]
    pub workload: Workload,
    /// Load and rests.
    #[command(flatten)]
    pub cycles: SoakCycles,
    /// Largest loss of rate that is acceptable
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub tolerance: Share,
    /// Whether what is read is verified.
    #[command(flatten)]
    #[serde(default, skip_serializing_if = "ReadVerification::is_none")]
    pub verify: ReadVerification,
    /// The hosts that load it together; this program alone where they are absent.
    #[command(flatten)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsPlan>,
    /// What is measured, and how it is opened.
    #[command(flatten)]
    pub target: TargetPlan,
}

impl Default for SoakPlan {
    fn default() -> Self {
        defaults()
    }
}

impl CommandPlan for SoakPlan {
    fn target(&self) -> TargetPlan {
        self.target.seen_by(HostsPlan::names(self.hosts.as_ref()))
    }

    fn summary(&self) -> Result<PlanSummary> {
        let (cycles, workload) = (&self.cycles, &self.workload);
        let time = match cycles.cycles {
            1 => format!("{} of load", cycles.work),
            count => {
                format!("{count} cycles of {} of load and {} of rest", cycles.work, cycles.rest)
            }
        };
        let rest = match cycles.final_rest {
            Nanos(0) => String::new(),
            rest => format!(", then {rest} of rest and one more cycle"),
        };
        Ok(PlanSummary {
            format: 1,
            title: format!("soak {}", workload.name),
            load: load_of(workload, HostsPlan::names(self.hosts.as_ref())),
            time: format!("{time}{rest}{}", self.target.filling()),
            targets: self.target().summary(
                workload.writes(),
                workload.direct,
                is_short(workload),
            )?,
            server: None,
        })
    }

    /// Loads the target and says whether it becomes steady, what it loses, and whether rest brings
    /// it back.
    fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let (document, target) = (PlanDocument::new(self)?, self.target());
        let hosts = self.hosts.as_ref();
        let of_one = RunRequest::of(&self.workload, &target, Some(&document));
        let request = RunRequest { hosts, ..of_one };
        let recording = Recording::begin(RunKind::Soak, &request, context)?;
        self.measure(recording, Cycles::new(self.cycles, self.tolerance))
    }
}

impl ResumablePlan for SoakPlan {
    const KIND: RunKind = RunKind::Soak;

    fn target_mut(&mut self) -> &mut TargetPlan {
        &mut self.target
    }

    /// What was measured counts, the rest is measured.
    fn resume(&self, run: &RunReader, context: &Context) -> Result<FinishedRun> {
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
}

impl SoakPlan {
    fn check(&self) -> Result<()> {
        if self.cycles.work.seconds() < 1.0 {
            return Err(Error::usage(
                format!("{} of load is too short", self.cycles.work),
                "use at least a few minutes: --time 8h, or --time 300s --rest 600s --cycles 215",
            ));
        }
        self.workload.check()?;
        self.verify.check(&self.workload, self.hosts.as_ref())
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
        self.verify.begin(&self.workload, recording)?;
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
        writer.put_json(StoredDocument::Soak, &soak)?;
        let verified = integrity.map(|integrity| integrity.outcome());
        let outcomes = std::iter::once(soak.outcome).chain(verified);
        finish_with_page(writer, finish, Outcome::of_all(outcomes))
    }
}
