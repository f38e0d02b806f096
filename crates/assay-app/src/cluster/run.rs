//! One workload on several hosts: from the plan to a run of the store.

use super::conduct::Whole;
use super::course::Measured;
use super::driver::Driver;
use super::hosts::{HostNames, HostsPlan};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::host_sampler::HostSampler;
use crate::plan_document::PlanDocument;
use crate::recording::{CELL, RunRequest, device_names, give_up, tell_run};
use crate::target_plan::TargetPlan;
use crate::working_set::within_capacity;
use assay_cluster::division::{Member, Places, part_of};
use assay_cluster::findings::cluster;
use assay_cluster::merge::Merged;
use assay_cluster::protocol::{Opened, Opening};
use assay_host::clock::unix_ns;
use assay_methods::target::{Targets, parse_targets};
use assay_model::environment::Environment;
use assay_model::measurement::{Conduct, Measurement, Window};
use assay_model::number::{count_of, seconds};
use assay_model::run::RunKind;
use assay_model::units::Bytes;
use assay_model::{Error, Result, Workload};
use assay_store::{CellStart, CellWriter, Document, Durability, NewRun, RunWriter};
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// One workload on several hosts, as it was planned.
#[derive(Clone, Copy)]
pub(crate) struct TogetherPlan<'a> {
    pub(crate) target: &'a TargetPlan,
    pub(crate) workload: &'a Workload,
    pub(crate) hosts: &'a HostsPlan,
    /// The plan as it is kept.
    pub(crate) document: &'a PlanDocument,
}

/// Runs a workload on several hosts, and judges what came of it where somebody or the workload asks.
///
/// # Errors
/// What any host refuses, before anything is touched on any of them; what the store says.
pub(crate) fn run_together(
    plan: &TogetherPlan<'_>,
    criteria: Option<&CriteriaSource>,
    context: &Context,
) -> Result<FinishedRun> {
    let paths = check(plan)?;
    let workload = of_each(plan);
    let target = plan.target.sized_for(&workload);
    let sized = TogetherPlan { target: &target, workload: &workload, ..*plan };
    let token = token()?;
    let program = (context.guards.node.as_slice(), token.as_str());
    let mut driver = Driver::open(&plan.hosts.hosts, program, &context.stop, &context.progress)?;
    let shared = driver.admit(&opening(&sized)?)?.iter().flatten().any(Option::is_some);
    check_shared(plan, shared)?;
    let opened = driver.open_targets()?;
    let writer = begin(plan, &opened, context)?;
    let recorded = Together { plan: sized, paths: &paths, context, writer: &writer }.measure(
        &mut driver,
        &opened,
        shared,
    );
    drop(driver);
    match recorded {
        Ok(measurement) => finish_run(writer, &measurement.finish, criteria),
        Err(error) => {
            give_up(&context.store, writer);
            Err(error)
        }
    }
}

/// What can be refused before any node is started.
fn check(plan: &TogetherPlan<'_>) -> Result<Vec<PathBuf>> {
    RunRequest::of(plan.workload, plan.target, None).check()?;
    let Targets::Paths(paths) = parse_targets(&plan.target.targets)? else {
        return Err(Error::usage(
            "a simulated device lives in one program, and --hosts has several",
            "name a directory, a file or a block device, or leave --hosts out",
        ));
    };
    // What cannot be divided is said now.
    divided(plan.workload, plan.hosts, false).map(|_| paths)
}

/// Processes of one machine cannot both be the only one to write to a device or to a file.
fn check_shared(plan: &TogetherPlan<'_>, shared: bool) -> Result<()> {
    if !(shared && plan.workload.writes()) {
        return Ok(());
    }
    Err(Error::usage(
        "the workload writes, and hosts that may share a device or a file would overwrite each other",
        "name a directory, in which each host makes a test file of its own",
    ))
}

/// The workload with each host's part of its data.
fn of_each(plan: &TogetherPlan<'_>) -> Workload {
    let count = count_of(plan.hosts.hosts.names().len());
    let each = |capacity: Bytes| Bytes(capacity.0.div_ceil(count));
    Workload { capacity: plan.workload.capacity.map(each), ..plan.workload.clone() }
}

fn opening(plan: &TogetherPlan<'_>) -> Result<Opening> {
    let RunRequest { write, direct, grows, .. } = RunRequest::of(plan.workload, plan.target, None);
    let target = serde_json::to_value(plan.target).map_err(|error| {
        Error::environment(format!("writing the plan: {error}"), "report this as a bug")
    })?;
    let (destroy, wipe) = (plan.target.destroy.clone(), plan.target.wipe.clone());
    let in_use = plan.hosts.in_use;
    Ok(Opening { target, destroy, wipe, in_use, write, direct, grows })
}

/// The part of each host.
fn divided(workload: &Workload, hosts: &HostsPlan, shared: bool) -> Result<Vec<Workload>> {
    let count = u32::try_from(hosts.hosts.names().len()).unwrap_or(u32::MAX);
    let places = if shared { Places::Slices } else { Places::Own };
    let part = |host| part_of(workload, Member { host, hosts: count }, hosts.outstanding, places);
    (0..count).map(part).collect()
}

/// Begins the run in the store, now that all hosts have opened what they were asked to.
fn begin(plan: &TogetherPlan<'_>, opened: &[Opened], context: &Context) -> Result<RunWriter> {
    let writer = context.store.create(&NewRun {
        kind: RunKind::Run,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: context.command.clone(),
        targets: plan.target.targets.clone(),
        created_unix_ns: unix_ns(),
    })?;
    let keep = || -> Result<()> {
        plan.document.keep(&writer)?;
        writer.put(Document::Workload, &assay_model::document::to_toml(plan.workload)?)?;
        match opened.first() {
            Some(first) => writer.put_json(Document::Environment, &first.environment),
            None => Ok(()),
        }
    };
    match keep() {
        Ok(()) => Ok(writer),
        Err(error) => {
            give_up(&context.store, writer);
            Err(error)
        }
    }
}

/// A run on several hosts that is being recorded.
struct Together<'a> {
    plan: TogetherPlan<'a>,
    paths: &'a [PathBuf],
    context: &'a Context,
    writer: &'a RunWriter,
}

impl Together<'_> {
    fn measure(&self, driver: &mut Driver, opened: &[Opened], shared: bool) -> Result<Measurement> {
        tell_run(self.writer, self.context);
        for (host, opened) in driver.hosts.iter().zip(opened) {
            let say = |note| self.context.progress.say(&format!("note: {}: {note}", host.name));
            opened.notes.iter().for_each(say);
        }
        let length_bytes = opened.iter().map(|opened| opened.length_bytes).min().unwrap_or(0);
        let workload = within_capacity(self.plan.workload, length_bytes, &self.context.progress);
        let parts = divided(&workload, self.plan.hosts, shared)?;
        driver.ask_clocks()?;
        let cell = self.writer.create_cell(CELL, &workload, &cell_start())?;
        let sampler = self.sampler(opened.first().map(|opened| &opened.environment))?;
        let recorded = self.record(driver, &parts, cell);
        drop(sampler);
        recorded
    }

    /// Samples the machine where all nodes are on it.
    fn sampler(&self, environment: Option<&Environment>) -> Result<Option<HostSampler>> {
        let (HostNames::Local(_), Some(environment)) = (&self.plan.hosts.hosts, environment) else {
            return Ok(None);
        };
        let log = self.writer.watch_log()?;
        let sampler = HostSampler::begin(log, device_names(environment));
        sampler.mark(Some(CELL));
        Ok(Some(sampler))
    }

    /// Measures the parts, and keeps every interval that all hosts have before the next one ends.
    fn record(
        &self,
        driver: &mut Driver,
        parts: &[Workload],
        mut cell: CellWriter,
    ) -> Result<Measurement> {
        let workload = self.plan.workload;
        let (mut total, mut failure) = (Window::default(), None);
        let total_s = workload.duration.seconds();
        let progress = &self.context.progress;
        progress.show(&workload.name, 0.0, None);
        let mut observe = |merged: &Merged| {
            let done_s = seconds(merged.interval.end_ns);
            let what = crate::recording::describe(&workload.name, &merged.interval);
            progress.show(&what, done_s / total_s, Some(total_s - done_s));
            progress.interval(&merged.interval);
            total.merge(&merged.joint);
            match cell.append_interval(&merged.interval, &merged.joint) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let measured = driver.measure(parts, &mut observe);
        progress.clear();
        let mut measured = measured?;
        if let Some(error) = failure {
            measured.finish =
                assay_model::measurement::Finish::Failed { reason: error.message().to_owned() };
        }
        self.keep(driver, &measured, total, cell)
    }

    fn keep(
        &self,
        driver: &Driver,
        measured: &Measured,
        total: Window,
        cell: CellWriter,
    ) -> Result<Measurement> {
        let (transport, hosts) = (self.plan.hosts.hosts.transport(), &driver.hosts);
        let document = cluster(transport, hosts, Some(measured.start), &measured.merger);
        self.writer.put_json(Document::Cluster, &document)?;
        let whole = Whole {
            workload: self.plan.workload,
            total,
            targets: &shown(self.paths),
            hosts,
            transport,
            started_unix_ns: self.started_unix_ns(measured.start.at_ns),
        };
        cell.finish(whole.measurement(measured))
    }

    /// The time of day at which the measured time began.
    fn started_unix_ns(&self, at_ns: u64) -> u64 {
        let began_ns = at_ns + self.plan.workload.warm_up.0;
        let since_ns = assay_engine::monotonic_ns().saturating_sub(began_ns);
        unix_ns().saturating_sub(since_ns)
    }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn cell_start() -> CellStart {
    CellStart {
        started_unix_ns: unix_ns(),
        durability: Durability::EveryInterval,
        conduct: Conduct::default(),
    }
}

/// A secret of 128 bits: lines that went astray are none of this session's.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    let source = Path::new("/dev/urandom");
    let read = File::open(source).and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| {
        Error::environment(
            format!("reading {}: {error}", source.display()),
            "this needs the system's random numbers",
        )
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
