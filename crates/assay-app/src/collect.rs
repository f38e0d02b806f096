//! A run or a soak of several hosts whose driver has died, completed from what the hosts kept.

use crate::cluster::{HostNames, KeptHosts, KeptRun};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run, finish_with_page};
use crate::plan_document::read_plan;
use crate::recording::CELL;
use crate::run::RunPlan;
use crate::soak::{Cycles, SoakPlan};
use assay_host::clock::unix_ns;
use assay_model::cluster::Cluster;
use assay_model::measurement::{Finish, Interval, Window};
use assay_model::run::RunKind;
use assay_model::{Error, Result, Workload};
use assay_store::{CellReader, CellStart, CellWriter, RunReader, RunWriter, StoredDocument};

/// A run whose driver has died.
struct Died {
    workload: Workload,
    targets: Vec<String>,
    hosts: HostNames,
    /// The soak that it is, where it is one.
    soak: Option<SoakPlan>,
}

/// Completes a run from what its hosts kept, and judges it; hosts then forget it.
///
/// # Errors
/// A usage error where the run is not one of several hosts that keep what they measure, or has
/// ended; what any host says.
pub fn collect(
    run: &RunReader,
    named: Option<CriteriaSource>,
    context: &Context,
) -> Result<FinishedRun> {
    let died = Died::of(run)?;
    let criteria = CriteriaSource::of(named, &died.workload)?;
    let id = &run.manifest().id;
    // Who holds the lock still measures; who takes it up writes.
    let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
    let mut kept = KeptHosts::open(&died.hosts, id, context)?;
    let known = run.json::<Cluster>(StoredDocument::Cluster)?;
    let whole = kept.added_up(&died.workload, known.as_ref())?;
    let finished = if let Some(soak) = &died.soak {
        died.complete_soak(soak, run, writer, &whole)?
    } else {
        let cell = cell_of(run, &writer, &died.workload)?;
        died.complete(cell, run.cell(CELL).ok().as_ref(), &whole)?;
        writer.put_json(StoredDocument::Cluster, &whole.cluster)?;
        finish_run(writer, &whole.finish, criteria.as_ref())?
    };
    kept.forget()?;
    Ok(finished)
}

impl Died {
    fn of(run: &RunReader) -> Result<Self> {
        let manifest = run.manifest();
        if manifest.finish.is_some() {
            return Err(Error::usage(
                format!("the run {} has ended and is complete", manifest.id),
                "show it with `assay runs show`",
            ));
        }
        let of_run: Option<RunPlan> = read_plan(run, RunKind::Run)?;
        let of_soak: Option<SoakPlan> = read_plan(run, RunKind::Soak)?;
        let died = match (of_run, of_soak) {
            (Some(RunPlan { workload, target, hosts: Some(plan), .. }), _) => {
                Some(Self { workload, targets: target.targets, hosts: plan.hosts, soak: None })
            }
            (_, Some(soak)) => soak.hosts.clone().map(|plan| Self {
                workload: soak.workload.clone(),
                targets: soak.target.targets.clone(),
                hosts: plan.hosts,
                soak: Some(soak),
            }),
            _ => None,
        };
        died.ok_or_else(|| nothing_kept(run))
    }
}

/// Why there is nothing to collect of a run, and what to do instead.
fn nothing_kept(run: &RunReader) -> Error {
    let (id, kind) = (&run.manifest().id, run.manifest().kind);
    let why = match kind {
        RunKind::Calibrate | RunKind::Check => {
            "the driver ran the search and it ended with it: hosts do not keep its steps"
        }
        RunKind::Bench => {
            "sessions of a load keep nothing: complete steps are in the run, the current step is \
             lost"
        }
        RunKind::Study => {
            "the driver ordered the cells: complete cells are in the run, the current cell is lost"
        }
        RunKind::Watch => "all samples are in the run",
        RunKind::Run | RunKind::Soak | RunKind::Locality | RunKind::Verify => {
            "it was not measured with --hosts"
        }
    };
    Error::usage(
        format!("{id} (`assay {}`) cannot be collected: {why}", kind.name()),
        format!("see its data with `assay runs show {id}`, and start it again"),
    )
}

fn cell_of(run: &RunReader, writer: &RunWriter, workload: &Workload) -> Result<CellWriter> {
    let start = CellStart { started_unix_ns: unix_ns(), ..CellStart::default() };
    match run.cell(CELL) {
        Ok(_) => writer.resume_cell(CELL, &start),
        Err(_) => writer.create_cell(CELL, workload, &start),
    }
}

/// Puts behind the intervals that the driver wrote those that it did not get any more.
impl Died {
    fn complete(
        &self,
        mut cell: CellWriter,
        written: Option<&CellReader>,
        whole: &KeptRun,
    ) -> Result<()> {
        let before_ns = cell.elapsed_before_ns();
        let is_new = |interval: &Interval| {
            interval.start_ns + (interval.end_ns - interval.start_ns) / 2 >= before_ns
        };
        let first = whole.merged.first().map_or(0, |merged| merged.interval.start_ns);
        if first > before_ns + self.workload.interval.0 {
            return Err(Error::environment(
                "there is a gap between the data of the run and the data kept on its hosts",
                "start the run again",
            ));
        }
        check_same(written, whole)?;
        let (mut total, mut elapsed_ns) = (Window::default(), 0);
        let new = whole.merged.iter().filter(|merged| is_new(&merged.interval));
        for (index, merged) in (0..).zip(new) {
            let interval = Interval {
                index,
                start_ns: merged.interval.start_ns.saturating_sub(before_ns),
                end_ns: merged.interval.end_ns.saturating_sub(before_ns),
                ..merged.interval.clone()
            };
            cell.append_interval(&interval, &merged.joint)?;
            total.merge(&merged.joint);
            elapsed_ns = interval.end_ns;
        }
        cell.finish(whole.measurement(&self.workload, &self.targets, total, elapsed_ns)).map(drop)
    }

    /// The cycle that was under way, and what all cycles came to; what is missing of them stays
    /// missing.
    fn complete_soak(
        &self,
        soak: &SoakPlan,
        run: &RunReader,
        writer: RunWriter,
        whole: &KeptRun,
    ) -> Result<FinishedRun> {
        let cells = run.cells()?;
        let half_ns = self.workload.interval.0 / 2;
        if let Some((last, before)) = cells.split_last() {
            let is_under_way = last.elapsed_ns()? + half_ns < self.workload.duration.0;
            // A cycle that no host has begun yet has nothing, and hosts still keep the one before
            // it.
            let is_before = last.elapsed_ns()? == 0
                && before.last().is_some_and(|cell| is_of(cell, whole).unwrap_or(false));
            if is_under_way && !is_before {
                let start = CellStart { started_unix_ns: unix_ns(), ..CellStart::default() };
                let cell = writer.resume_cell(last.name(), &start)?;
                self.complete(cell, Some(last), whole)?;
            }
        }
        let mut cycles = Cycles::new(soak.cycles, soak.tolerance);
        cycles.restore_progress(&writer.reader()?)?;
        let found = cycles.finish(&self.workload);
        writer.put_json(StoredDocument::Cluster, &whole.cluster)?;
        writer.put_json(StoredDocument::Soak, &found)?;
        let finish = match &whole.finish {
            failed @ Finish::Failed { .. } => failed.clone(),
            _ => Finish::Interrupted,
        };
        finish_with_page(writer, &finish, found.outcome)
    }
}

/// Whether a cell has the first interval that hosts kept.
fn is_of(cell: &CellReader, whole: &KeptRun) -> Result<bool> {
    let Some(kept) = whole.merged.first().map(|merged| &merged.interval) else {
        return Ok(false);
    };
    for interval in cell.intervals()? {
        let interval = interval?;
        if interval.start_ns == kept.start_ns {
            return Ok(interval.operations.ios() == kept.operations.ios());
        }
    }
    Ok(false)
}

/// What the driver wrote and what its hosts kept of the same time is the same, or one of both is of
/// something else.
fn check_same(written: Option<&CellReader>, whole: &KeptRun) -> Result<()> {
    let Some(written) = written else { return Ok(()) };
    for interval in written.intervals()? {
        let interval = interval?;
        let mut kept = whole.merged.iter().map(|merged| &merged.interval);
        let same =
            kept.find(|kept| (kept.start_ns, kept.end_ns) == (interval.start_ns, interval.end_ns));
        if same.is_some_and(|kept| kept.operations.ios() != interval.operations.ios()) {
            return Err(Error::environment(
                "the run and the data kept on its hosts differ, so they are not from the same \
                 measurement",
                "start the run again",
            ));
        }
    }
    Ok(())
}
