//! A run of several hosts whose driver has died, completed from what the hosts kept.

use crate::cluster::{KeptHosts, KeptRun};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan_document::read_plan;
use crate::recording::CELL;
use crate::run::RunPlan;
use assay_host::clock::unix_ns;
use assay_model::cluster::Cluster;
use assay_model::measurement::{Interval, Window};
use assay_model::run::RunKind;
use assay_model::{Error, Result, Workload};
use assay_store::{CellReader, CellStart, CellWriter, Document, RunReader, RunWriter};

/// Completes a run from what its hosts kept, and judges it; hosts then forget it.
///
/// # Errors
/// A usage error where the run is not one of several hosts, or has ended; what any host says.
pub fn collect(
    run: &RunReader,
    named: Option<CriteriaSource>,
    context: &Context,
) -> Result<FinishedRun> {
    let (plan, hosts) = plan_of(run)?;
    let criteria = CriteriaSource::of(named, &plan.workload)?;
    let id = &run.manifest().id;
    // Who holds the lock still measures; who takes it up writes.
    let writer = context.store.resume(&run.path().display().to_string(), unix_ns())?;
    let mut kept = KeptHosts::open(&hosts, id, context)?;
    let known = run.json::<Cluster>(Document::Cluster)?;
    let whole = kept.added_up(&plan.workload, known.as_ref())?;
    let cell = cell_of(run, &writer, &plan.workload)?;
    complete(cell, run.cell(CELL).ok().as_ref(), &whole, &plan)?;
    writer.put_json(Document::Cluster, &whole.cluster)?;
    let finished = finish_run(writer, &whole.finish, criteria.as_ref())?;
    kept.forget()?;
    Ok(finished)
}

fn plan_of(run: &RunReader) -> Result<(RunPlan, crate::cluster::HostNames)> {
    let manifest = run.manifest();
    if manifest.finish.is_some() {
        return Err(Error::usage(
            format!("the run {} has ended, and nothing of it is missing", manifest.id),
            "show it with `assay runs show`",
        ));
    }
    let plan: Option<RunPlan> = read_plan(run, RunKind::Run)?;
    let hosts = plan.as_ref().and_then(|plan| plan.hosts.as_ref()).map(|plan| plan.hosts.clone());
    plan.zip(hosts).ok_or_else(|| {
        Error::usage(
            format!("{} is not `assay run --hosts`", manifest.id),
            "hosts keep what they measure for `run` alone; begin anything else again",
        )
    })
}

fn cell_of(run: &RunReader, writer: &RunWriter, workload: &Workload) -> Result<CellWriter> {
    let start = CellStart { started_unix_ns: unix_ns(), ..CellStart::default() };
    match run.cell(CELL) {
        Ok(_) => writer.resume_cell(CELL, &start),
        Err(_) => writer.create_cell(CELL, workload, &start),
    }
}

/// Puts behind the intervals that the driver wrote those that it did not get any more.
fn complete(
    mut cell: CellWriter,
    written: Option<&CellReader>,
    whole: &KeptRun,
    plan: &RunPlan,
) -> Result<()> {
    let before_ns = cell.elapsed_before_ns();
    let is_new = |interval: &Interval| {
        interval.start_ns + (interval.end_ns - interval.start_ns) / 2 >= before_ns
    };
    let first = whole.merged.first().map_or(0, |merged| merged.interval.start_ns);
    if first > before_ns + plan.workload.interval.0 {
        return Err(Error::environment(
            "between what the run has and what its hosts kept there is a gap",
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
    let targets = &plan.target.targets;
    cell.finish(whole.measurement(&plan.workload, targets, (total, elapsed_ns))).map(drop)
}

/// What the driver wrote and what its hosts kept of the same time is the same, or one of both is of something else.
fn check_same(written: Option<&CellReader>, whole: &KeptRun) -> Result<()> {
    let Some(written) = written else { return Ok(()) };
    for interval in written.intervals()? {
        let interval = interval?;
        let mut kept = whole.merged.iter().map(|merged| &merged.interval);
        let same =
            kept.find(|kept| (kept.start_ns, kept.end_ns) == (interval.start_ns, interval.end_ns));
        if same.is_some_and(|kept| kept.operations.ios() != interval.operations.ios()) {
            return Err(Error::environment(
                "the run and what its hosts kept differ, so they are not of the same measurement",
                "start the run again",
            ));
        }
    }
    Ok(())
}
