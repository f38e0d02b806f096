//! A study from its plan to its page: on storage, on a simulated device, or as loads of a database.

use super::executor::{self, OnStorage, run_cells};
use super::load_cell::{is_of_loads, load_of};
use super::load_cells::LoadCells;
use super::shared_data::Data;
use super::{outline, phases};
use crate::cluster::HostsPlan;
use crate::context::Context;
use crate::finish::{FinishedRun, finish_with_page};
use crate::load::prepared_server::see_to_left_in;
use crate::plan::ResumablePlan;
use crate::plan_document::PlanDocument;
use crate::recording::{OpenTarget, Recording, RunRequest, tell_run};
use crate::target_plan::TargetPlan;
use assay_dbload::load::LoadTarget;
use assay_host::clock::unix_ns;
use assay_judge::{factor_curves, factor_scaling};
use assay_methods::study::{base_workload, cells, published, workload_of};
use assay_model::measurement::Finish;
use assay_model::number::real_len;
use assay_model::run::RunKind;
use assay_model::study::{CellResult, CellState, FactorValue, Study, StudyResult};
use assay_model::{Error, Outcome, Result};
use assay_store::{NewRun, RunReader, RunWriter, StoredDocument};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The plan of a study; its fields are options of the command.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyPlan {
    /// The study, scaled.
    #[arg(skip)]
    pub study: Study,
    /// What holds for all its cells, in sentences.
    #[arg(skip)]
    #[serde(default)]
    pub notes: Vec<String>,
    /// The hosts that measure together, of which a factor may take some; this program alone where
    /// they are absent.
    #[command(flatten)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsPlan>,
    /// What is measured, and how it is opened.
    #[command(flatten)]
    pub target: TargetPlan,
}

/// Results of earlier cells.
type EarlierCells = Vec<CellResult>;

/// The factor that says how many hosts take part.
const HOSTS: &str = "hosts";

impl StudyPlan {
    /// Carries the study out: every combination of its factors, in its order, with its phases.
    ///
    /// # Errors
    /// What the study, the store, the target or the engine says; a cell that fails says so in the
    /// result.
    pub fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.check_hosts()?;
        self.check_verified()?;
        if is_of_loads(&self.study, &self.target.targets) {
            return self.run_loads(context);
        }
        has_work(&self.study, &self.target)?;
        base_workload(&self.study)?;
        outline::check(&self.on_each_host(), &self.target.targets)?;
        let sized = self.sized();
        let document = PlanDocument::new(&sized)?;
        let request = sized.request(Some(&document))?;
        let recording = Recording::begin(RunKind::Study, &request, context)?;
        let refused = match executor::keep(&recording.writer, &self.study) {
            Ok(()) => phases::used(&recording, &self.study, None).err(),
            Err(error) => Some(error),
        };
        match refused {
            Some(error) => Err(recording.abandon(error)),
            None => sized.measure(recording, Vec::new()),
        }
    }

    /// The plan with test files as large as the data of the study.
    fn sized(&self) -> Self {
        let mut sized = self.clone();
        sized.target = self.target();
        give_size(&sized.study, &mut sized.target);
        sized
    }

    /// What is measured, as this machine sees it.
    pub fn target(&self) -> TargetPlan {
        self.target.seen_by(HostsPlan::names(self.hosts.as_ref()))
    }

    /// The study as each host has it: how many of them take part is nothing that one of them could
    /// do.
    pub fn on_each_host(&self) -> Study {
        let mut study = self.study.clone();
        if self.hosts.is_some() {
            study.factors.retain(|factor| factor.name != HOSTS);
        }
        study
    }

    /// Refuses verification where no workload of this program is measured.
    fn check_verified(&self) -> Result<()> {
        let measured = if self.hosts.is_some() {
            "several hosts"
        } else if self.study.sessions.is_some() {
            "sessions of a simulated database"
        } else if is_of_loads(&self.study, &self.target.targets) {
            "loads of a database"
        } else {
            return Ok(());
        };
        if self.study.verify.is_none() {
            return Ok(());
        }
        Err(Error::usage(
            format!("'verify' checks the writes of one host, but this study measures {measured}"),
            "omit verify, or study a workload",
        ))
    }

    /// Refuses numbers of hosts without hosts, and hosts for what has none.
    fn check_hosts(&self) -> Result<()> {
        let asked = self.study.factors.iter().filter(|factor| factor.name == HOSTS);
        let most = asked
            .flat_map(|factor| factor.values.iter().filter_map(FactorValue::number))
            .fold(0.0, f64::max);
        let is_of_loads = is_of_loads(&self.study, &self.target.targets);
        let Some(plan) = &self.hosts else {
            let is_simulated =
                self.target.targets.iter().any(|target| target.starts_with("array:"));
            if most < 1.0 || is_simulated || is_of_loads {
                return Ok(());
            }
            return Err(Error::usage(
                "the factor 'hosts' needs hosts",
                "specify them with --hosts, for example local:4, or measure array:NAME with \
                 [sessions]",
            ));
        };
        if is_of_loads {
            return Err(Error::usage(
                "the cells of this study are database loads, which name their own hosts",
                "leave --hosts out; vary 'hosts' with values like \"local:2\"",
            ));
        }
        let there = plan.hosts.names().len();
        if most > real_len(there) {
            return Err(Error::usage(
                format!("the study needs {most:.0} hosts, but --hosts lists {there}"),
                "list more hosts, or use smaller values",
            ));
        }
        Ok(())
    }

    fn only_target(&self) -> &str {
        self.target.targets.first().map(String::as_str).unwrap_or_default()
    }

    /// A study whose cells are loads of a database.
    fn run_loads(&self, context: &Context) -> Result<FinishedRun> {
        let target = self.only_target();
        let named = LoadTarget::read(target)?;
        for cell in cells(&self.study) {
            load_of(&self.study, &cell, target)?;
        }
        let writer = context.store.create(&NewRun {
            kind: RunKind::Study,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: named.command(target, &context.command),
            targets: vec![named.shown()],
            created_unix_ns: unix_ns(),
        })?;
        PlanDocument::new(self)?.keep(&writer)?;
        executor::keep(&writer, &self.study)?;
        self.measure_loads(writer, Vec::new(), context)
    }

    /// All loads that have no result yet, then the page.
    fn measure_loads(
        &self,
        writer: RunWriter,
        before: EarlierCells,
        context: &Context,
    ) -> Result<FinishedRun> {
        tell_run(&writer, context);
        let mut result = self.fresh(before);
        let target = self.only_target();
        let named = LoadTarget::read(target)?;
        if let LoadTarget::Directory(path) = &named {
            see_to_left_in(path, None, &context.progress)?;
        }
        let mut runner = LoadCells {
            target,
            context,
            progress: context.progress.clone(),
            writer: &writer,
            began: Instant::now(),
            data: Data::open(&self.study, &named)?,
        };
        let finish = run_cells(&mut runner, &self.study, &mut result);
        // What was loaded goes before the answer is given, whatever came of it.
        let closed = runner.data.take().map_or(Ok(()), Data::close);
        context.progress.clear();
        let finish = finish.and_then(|finish| closed.map(|()| finish))?;
        self.finish_study(writer, &mut result, &finish)
    }

    /// All cells that have no result yet, then the page.
    fn measure(&self, recording: Recording, before: EarlierCells) -> Result<FinishedRun> {
        let is_fresh = before.is_empty();
        let mut result = self.fresh(before);
        let mut runner = OnStorage::new(recording, &self.study, is_fresh);
        let finish = run_cells(&mut runner, &self.study, &mut result)?;
        result.course = runner.course(&self.study);
        // Test files go before the answer is given.
        self.finish_study(runner.recording.end(), &mut result, &finish)
    }

    fn request<'a>(&'a self, document: Option<&'a PlanDocument>) -> Result<RunRequest<'a>> {
        let study = &self.on_each_host();
        let writes = |cell| workload_of(study, &cell).is_ok_and(|workload| workload.writes());
        let prepares = cells(study).iter().any(|cell| cell.restored);
        Ok(RunRequest {
            target: &self.target,
            write: prepares || cells(study).into_iter().any(writes),
            direct: base_workload(study)?.direct,
            grows: false,
            workload: None,
            hosts: self.hosts.as_ref(),
            study: Some(&self.study),
            document,
        })
    }

    fn fresh(&self, before: EarlierCells) -> StudyResult {
        StudyResult {
            format: 1,
            study: self.study.name.clone(),
            description: self.study.description.clone(),
            planned: u32::try_from(cells(&self.study).len()).unwrap_or(u32::MAX),
            notes: self.notes.clone(),
            cells: before,
            curves: Vec::new(),
            scaling: Vec::new(),
            course: None,
            published: Vec::new(),
            mean_latency_max: self.study.mean_latency_max,
        }
    }

    /// Adds curves and published figures and writes the page. A failed cell fails the study; an
    /// undecided cell leaves it undecided.
    fn finish_study(
        &self,
        writer: RunWriter,
        result: &mut StudyResult,
        finish: &Finish,
    ) -> Result<FinishedRun> {
        result.curves = factor_curves(&result.cells);
        result.scaling = factor_scaling(&result.curves);
        result.published = published(&self.study.name, &self.target.targets, &result.cells);
        writer.put_json(StoredDocument::Results, result)?;
        let failed = result.cells.iter().any(|cell| matches!(cell.state, CellState::Failed { .. }));
        let in_doubt = result.cells.iter().any(|cell| cell.doubt.is_some());
        let outcome = match (failed, in_doubt) {
            (true, _) => Outcome::Fail,
            (false, true) => Outcome::Inconclusive,
            (false, false) => Outcome::Pass,
        };
        finish_with_page(writer, finish, outcome)
    }
}

impl ResumablePlan for StudyPlan {
    const KIND: RunKind = RunKind::Study;

    fn target_mut(&mut self) -> &mut TargetPlan {
        &mut self.target
    }

    /// Cells that have a result are not measured again.
    fn resume(&self, run: &RunReader, context: &Context) -> Result<FinishedRun> {
        let mut left = self.sized();
        let before = run.json::<StudyResult>(StoredDocument::Results)?.map(|result| {
            left.notes = result.notes;
            result.cells
        });
        let before = before.unwrap_or_default();
        let id = &run.manifest().id;
        if before.len() >= cells(&self.study).len() {
            return Err(Error::usage(
                format!("the study {id} has a result for every cell"),
                "report it with `assay report`",
            ));
        }
        let open = || context.store.resume(&run.path().display().to_string(), unix_ns());
        if is_of_loads(&self.study, &self.target.targets) {
            // A target whose secret was kept out of the run must have it from the environment.
            LoadTarget::read(self.only_target())?;
            return left.measure_loads(open()?, before, context);
        }
        let (writer, request) = (open()?, left.request(None)?);
        let recording = Recording::go_on(writer, &left.target.targets, &request, context)?;
        if matches!(recording.target, OpenTarget::Simulated(..)) {
            context.progress.say(
                "note: a simulated device starts over; its content from earlier cells is gone",
            );
        }
        left.measure(recording, before)
    }
}

/// What only a database or a simulated array can do is not asked of a storage.
fn has_work(study: &Study, target: &TargetPlan) -> Result<()> {
    let is_array = target.targets.iter().any(|target| target.starts_with("array:"));
    if study.has_workload() || (is_array && study.sessions.is_some()) {
        return Ok(());
    }
    Err(Error::usage(
        format!("the study '{}' has nothing to do on {}", study.name, target.targets.join(", ")),
        "add a [workload] or a preset for storage, [sessions] for array:NAME, [load] for a \
         database",
    ))
}

/// A test file as large as the data of the study, and as many of them as it has volumes.
fn give_size(study: &Study, target: &mut TargetPlan) {
    let volumes = study
        .factors
        .iter()
        .filter(|factor| factor.name == "volumes")
        .flat_map(|factor| factor.values.iter().filter_map(FactorValue::number))
        .fold(1.0, f64::max);
    let directories = target.targets.iter().all(|path| target.is_directory(path));
    if !directories || target.targets.is_empty() {
        return;
    }
    if let [only] = target.targets.as_slice() {
        target.targets = vec![only.clone(); assay_model::number::index(volumes).max(1)];
    }
    if target.size.is_none() {
        let files = assay_model::number::count_of(target.targets.len());
        // A file keeps some of its bytes for what says that it is ours.
        let each = |bytes: u64| bytes.div_ceil(files << 20) + 4;
        target.size = study.capacity.map(|size| assay_model::units::Bytes(each(size.0) << 20));
    }
}
