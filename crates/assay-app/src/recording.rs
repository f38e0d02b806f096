//! One command that measures: its place in the store, its targets, its progress, and every interval
//! kept as it comes.

use crate::cluster::{HostsOrder, HostsPlan, HostsRequest, OpenHosts};
use crate::context::Context;
use crate::host_sampler::HostSampler;
use crate::plan_document::PlanDocument;
use crate::target_plan::TargetPlan;
use assay_engine::{BackendChoice, OpenFile, Simulation};
use assay_host::clock::{clock_step, unix_ns};
use assay_host::counters::read_counters;
use assay_host::root::SysRoot;
use assay_judge::EarlyWatch;
use assay_ledger::{KeptAcknowledgements, LedgerRecorder};
use assay_methods::sessions::run_sessions;
use assay_methods::target::{
    SimulatedDevice, SpeedupObserver, TargetFilling, TargetStorage, Targets, parse_targets,
};
use assay_model::array::SessionLoad;
use assay_model::document::to_toml;
use assay_model::durability::Durability;
use assay_model::integrity::{FaultVersions, Integrity, SimulatedLoss, Sweep};
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, Window,
};
use assay_model::number::{real, seconds};
use assay_model::run::{Event, EventKind, RunKind};
use assay_model::study::Study;
use assay_model::units::{Nanos, Share, show_bytes};
use assay_model::{Error, Result, Workload};
use assay_store::{
    CellStart, CellWriter, NewRun, RunReader, RunWriter, Store, StoredDocument,
    WriteDurability as CellDurability,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

mod certain;
mod clock_remark;
mod on_storage;
mod real_time;
mod unmeasured;
mod verification;

use clock_remark::clock_step_remark;
pub(crate) use clock_remark::is_clock_step;
pub(crate) use on_storage::{StorageWork, at_once, device_names, on_storage};
use real_time::RealTimePace;
use verification::RunVerification;
pub use verification::check_verifiable;

/// The cell of a run of one workload.
pub(crate) const CELL: &str = "run";

/// Where workloads run.
pub enum OpenTarget {
    /// Opened files and devices.
    Storage(Box<TargetStorage>),
    /// A simulated device in virtual time, with its description.
    Simulated(Box<Simulation>, Box<SimulatedDevice>),
    /// What several hosts opened, each for itself.
    Hosts(Box<OpenHosts>),
}

/// A run that is being recorded.
pub struct Recording {
    /// Where it is kept.
    pub writer: RunWriter,
    /// What the caller gave.
    pub context: Context,
    /// What is measured.
    pub target: OpenTarget,
    backend: BackendChoice,
    /// Where what is read is compared with what was written.
    verification: Option<RunVerification>,
    /// Where the next measurement ends once its criteria are certain.
    early: Option<EarlyWatch>,
    /// Samples the host as long as the recording lives; nothing real is sampled while a device is
    /// simulated.
    sampler: Option<HostSampler>,
    /// Whether the run began with this command.
    is_new: bool,
    began: Instant,
}

/// What is run: a workload, or sessions of a simulated database that it is the storage's view of.
#[derive(Clone, Copy)]
pub struct RecordedWork<'a> {
    /// The workload, and the times of either.
    pub workload: &'a Workload,
    /// Sessions, on a simulated device.
    pub sessions: Option<&'a SessionLoad>,
}

/// What is wanted of a recording.
#[derive(Clone, Copy)]
pub struct RunRequest<'a> {
    /// The targets and how to open them.
    pub target: &'a TargetPlan,
    /// Whether it will write.
    pub write: bool,
    /// Whether the page cache is to be passed by.
    pub direct: bool,
    /// Whether a small test file is enough while its reads do not look cached.
    pub grows: bool,
    /// The workload, where there is one alone: kept before anything else, so that the run can be
    /// taken up again whenever it ends.
    pub workload: Option<&'a Workload>,
    /// The study, for the same reason.
    pub study: Option<&'a Study>,
    /// The plan, which is kept before anything is measured; a run that goes on has its own.
    pub document: Option<&'a PlanDocument>,
    /// The hosts that measure together; this program alone where there are none.
    pub hosts: Option<&'a HostsPlan>,
}

impl<'a> RunRequest<'a> {
    /// Reading past the page cache, by one program; what a run wants besides is said next to it.
    pub const fn reading(target: &'a TargetPlan) -> Self {
        Self {
            target,
            write: false,
            direct: true,
            grows: false,
            workload: None,
            study: None,
            document: None,
            hosts: None,
        }
    }
}

/// Longer loads outlast what a small file is a sample of, s.
const SHORT_S: f64 = 600.0;

/// Whether a small test file is enough for a workload.
pub(crate) fn is_short(workload: &Workload) -> bool {
    workload.duration.seconds() <= SHORT_S
}

impl<'a> RunRequest<'a> {
    /// For one workload.
    pub fn of(
        workload: &'a Workload,
        target: &'a TargetPlan,
        document: Option<&'a PlanDocument>,
    ) -> Self {
        let (write, direct) = (workload.writes(), workload.direct);
        let grows = is_short(workload);
        Self {
            target,
            write,
            direct,
            grows,
            workload: Some(workload),
            study: None,
            document,
            hosts: None,
        }
    }
}

impl Recording {
    /// Begins a run in the store and opens its targets; when that fails nothing is left behind.
    pub fn begin(kind: RunKind, wanted: &RunRequest<'_>, context: &Context) -> Result<Self> {
        let named = parse_targets(&wanted.target.targets)?;
        wanted.check()?;
        let writer = context.store.create(&NewRun {
            kind,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: context.command.clone(),
            targets: wanted.target.targets.clone(),
            created_unix_ns: unix_ns(),
        })?;
        let id = writer.manifest().id.clone();
        let opened =
            keep_documents(&writer, wanted).and_then(|()| open(named, wanted, &id, context));
        match opened {
            Ok(target) => Self::new(writer, target, wanted, true, context),
            Err(error) => {
                give_up(&context.store, writer);
                Err(error)
            }
        }
    }

    /// Opens the targets of a run that goes on.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin); the run stays as it was.
    pub fn go_on(
        writer: RunWriter,
        targets: &[String],
        wanted: &RunRequest<'_>,
        context: &Context,
    ) -> Result<Self> {
        let id = writer.manifest().id.clone();
        let target = open(parse_targets(targets)?, wanted, &id, context)?;
        Self::new(writer, target, wanted, false, context)
    }

    fn new(
        writer: RunWriter,
        target: OpenTarget,
        wanted: &RunRequest<'_>,
        is_new: bool,
        context: &Context,
    ) -> Result<Self> {
        tell_run(&writer, context);
        if let OpenTarget::Storage(storage) = &target {
            storage.notes.iter().for_each(|note| context.progress.say(&format!("note: {note}")));
        }
        let sampled = match &target {
            OpenTarget::Storage(storage) => Some(&storage.environment),
            OpenTarget::Hosts(hosts) => hosts.local_environment(),
            OpenTarget::Simulated(..) => None,
        };
        let sampler = match sampled {
            Some(environment) => {
                Some(HostSampler::begin(writer.watch_log()?, device_names(environment)))
            }
            None => None,
        };
        let recording = Self {
            verification: None,
            early: None,
            sampler,
            writer,
            context: context.clone(),
            target,
            backend: wanted.target.engine.choice(),
            is_new,
            began: Instant::now(),
        };
        recording.keep_environment()?;
        Ok(recording)
    }

    /// Ends a recording whose measurement is done: test files go, and the host is sampled no more.
    pub fn end(self) -> RunWriter {
        drop((self.target, self.sampler));
        self.writer
    }

    /// Ends a recording whose measurement was refused: test files go, and so does a run in which
    /// nothing was measured.
    pub fn abandon(self, error: Error) -> Error {
        let Self { writer, target, context, is_new, sampler, .. } = self;
        drop((target, sampler));
        let is_empty = |run: RunReader| {
            let calibrated = run.document(StoredDocument::Calibration).ok().flatten();
            calibrated.is_none() && run.measured_ns().is_ok_and(|measured_ns| measured_ns == 0)
        };
        if is_new && writer.reader().is_ok_and(is_empty) {
            give_up(&context.store, writer);
        }
        error
    }

    /// Bytes of all targets together; of several hosts those that each has at least.
    pub fn length_bytes(&self) -> u64 {
        match &self.target {
            OpenTarget::Hosts(hosts) => hosts.length_bytes(),
            OpenTarget::Simulated(_, device) => device.length_bytes(),
            OpenTarget::Storage(storage) => {
                storage.targets.iter().map(|target| target.length_bytes).sum()
            }
        }
    }

    /// Whether several hosts measure.
    pub fn has_hosts(&self) -> bool {
        matches!(self.target, OpenTarget::Hosts(_))
    }

    fn keep_environment(&self) -> Result<()> {
        match &self.target {
            OpenTarget::Hosts(hosts) => match hosts.environment() {
                Some(environment) => self.writer.put_json(StoredDocument::Environment, environment),
                None => Ok(()),
            },
            OpenTarget::Storage(storage) => {
                self.writer.put_json(StoredDocument::Environment, &storage.environment)
            }
            OpenTarget::Simulated(..) => Ok(()),
        }
    }

    /// Runs a workload as a cell of the run; every interval is kept before the next one ends.
    ///
    /// # Errors
    /// What the engine or the store says before the first interval; later failures are in the
    /// measurement.
    pub fn measure(&mut self, cell: &str, workload: &Workload) -> Result<Measurement> {
        let start = self.cell_start();
        let writer = self.writer.create_cell(cell, workload, &start)?;
        self.measure_into(writer, workload)
    }

    /// The same, with somebody who looks at every interval and may say something about it.
    pub fn measure_watched(
        &mut self,
        cell: &str,
        work: RecordedWork<'_>,
        watch: &mut dyn FnMut(&Interval) -> Option<String>,
    ) -> Result<Measurement> {
        let start = self.cell_start();
        let writer = self.writer.create_cell(cell, work.workload, &start)?;
        self.measure_with(writer, work, watch)
    }

    /// Why the sum over the hosts of the last measurement decides nothing, in a sentence, where it
    /// does not.
    pub fn doubt_of_hosts(&self) -> Option<&str> {
        match &self.target {
            OpenTarget::Hosts(hosts) => hosts.last_doubt(),
            OpenTarget::Storage(_) | OpenTarget::Simulated(..) => None,
        }
    }

    /// The same for a cell that was opened to go on.
    pub fn measure_into(&mut self, cell: CellWriter, workload: &Workload) -> Result<Measurement> {
        self.measure_with(cell, RecordedWork { workload, sessions: None }, &mut |_| None)
    }

    /// The same for any cell that is open.
    pub fn measure_with(
        &mut self,
        mut cell: CellWriter,
        work: RecordedWork<'_>,
        watch: &mut dyn FnMut(&Interval) -> Option<String>,
    ) -> Result<Measurement> {
        let (workload, mut failure) = (work.workload, None);
        self.mark(Some(cell.name()));
        let total_s = workload.duration.seconds();
        let (progress, name) = (self.context.progress.clone(), workload.name.as_str());
        let stop = Arc::clone(&self.context.stop);
        let is_real = !matches!(self.target, OpenTarget::Simulated(..));
        progress.show(name, 0.0, None);
        let verifier = self.verification.as_ref().map(|one| Arc::clone(&one.verifier));
        let verification = &mut self.verification;
        let mut early = self.early.take();
        let mut observe = |interval: &Interval, joint: &Window| {
            let done_s = seconds(interval.end_ns);
            // Virtual time passes at a pace of its own: who shows it takes the time left from that
            // pace.
            let left_s = is_real.then_some(total_s - done_s);
            progress.show(&describe(name, interval), done_s / total_s, left_s);
            progress.interval(interval);
            let certain = early.as_mut().and_then(|early| early.add(interval, joint));
            let verified = verification.as_mut().and_then(RunVerification::news);
            for words in watch(interval).into_iter().chain(verified).chain(certain) {
                progress.say(&words);
            }
            let is_decided = early.as_ref().is_some_and(|early| early.decided().is_some());
            match cell.append_interval(interval, joint) {
                // Virtual time does not look at the flag by itself.
                Ok(()) if is_decided || stop.load(Ordering::Relaxed) => ControlFlow::Break(()),
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let measured = match &mut self.target {
            OpenTarget::Simulated(simulation, device) => {
                let mut paced = RealTimePace::of(device, &self.context.stop, &mut observe);
                in_virtual_time(simulation, device, work, &mut paced)
            }
            OpenTarget::Storage(storage) => {
                let backend = self.backend;
                let verifier = verifier.as_ref();
                let work = StorageWork { storage, backend, verifier, workload, with_ceiling: true };
                on_storage(&work, &mut at_once(), &self.context.stop, &mut observe)
                    .map(|started| started.measurement)
            }
            OpenTarget::Hosts(hosts) => on_hosts(hosts, workload, &self.writer, &mut observe),
        };
        self.context.progress.clear();
        self.mark(None);
        let mut measurement = measured?;
        if let Some(verification) = &mut self.verification {
            verification.measured(workload, &mut measurement);
        }
        self.conclude(&mut measurement, early.as_ref(), failure);
        cell.finish(measurement)
    }

    /// Says which cell is measured from now on.
    fn mark(&self, cell: Option<&str>) {
        if let Some(sampler) = &self.sampler {
            sampler.mark(cell);
        }
    }

    /// What a cell must know before its first interval: all that can be said of a run that is
    /// killed.
    pub fn cell_start(&self) -> CellStart {
        let started_unix_ns = unix_ns();
        match &self.target {
            OpenTarget::Simulated(..) => CellStart {
                started_unix_ns,
                durability: CellDurability::Finished,
                conduct: Conduct {
                    backend: BackendKind::Simulated,
                    clock: ClockKind::Virtual,
                    ..Conduct::default()
                },
            },
            OpenTarget::Hosts(_) => CellStart {
                started_unix_ns,
                durability: CellDurability::EveryInterval,
                conduct: Conduct::default(),
            },
            OpenTarget::Storage(storage) => CellStart {
                started_unix_ns,
                durability: CellDurability::EveryInterval,
                conduct: Conduct {
                    direct_io: Some(storage.targets.iter().all(|target| target.direct)),
                    remarks: storage.remarks.clone(),
                    ..self.backend.conduct().unwrap_or_default()
                },
            },
        }
    }
}

impl Recording {
    /// Verifies everything that is measured from now on; `checked_share` of the reads are compared.
    ///
    /// # Errors
    /// A usage error when the workload or the targets cannot be verified.
    pub fn verify(&mut self, workload: &Workload, checked_share: Share) -> Result<()> {
        let name = self.writer.manifest().targets.first().map_or("", String::as_str);
        self.verification = match &mut self.target {
            OpenTarget::Storage(storage) => {
                Some(RunVerification::begin(workload, &storage.targets, checked_share)?)
            }
            OpenTarget::Simulated(simulation, device) => {
                let (simulation, device) = (simulation.as_mut(), device.as_ref());
                let share = checked_share;
                Some(RunVerification::begin_simulated(workload, simulation, device, name, share)?)
            }
            // Each host would verify what it wrote itself; nobody asks for that.
            OpenTarget::Hosts(_) => None,
        };
        Ok(())
    }

    /// Verifies everything that is measured from now on, and keeps a ledger of what is
    /// acknowledged; `begin` is given the target, the number in the stamps and the bytes of a
    /// block.
    ///
    /// # Errors
    /// As for [`verify`](Self::verify), and what `begin` says.
    pub fn verify_with_ledger(
        &mut self,
        workload: &Workload,
        begin: impl FnOnce(&OpenFile, u32, u64) -> Result<LedgerRecorder>,
    ) -> Result<()> {
        let OpenTarget::Storage(storage) = &self.target else {
            return Err(keeps_no_acknowledged_data());
        };
        let begun = RunVerification::begin(workload, &storage.targets, Share(1.0))?;
        self.verification = Some(begun.with_ledger(&storage.targets[0], begin)?);
        Ok(())
    }

    /// Ends the ledger where there is one, and says what became of the acknowledgements.
    pub fn end_ledger(&mut self) -> Option<KeptAcknowledgements> {
        self.verification.as_mut()?.end_ledger()
    }

    /// Reads everything that was written, and keeps what came of it; nothing without verification.
    ///
    /// # Errors
    /// An environment error when memory is short or the store cannot take the documents.
    pub fn end_verification(
        &mut self,
        finish: &Finish,
        durability: Option<Durability>,
    ) -> Result<Option<Integrity>> {
        let found = self.sweep_verified(finish, durability)?;
        if let Some(integrity) = &found {
            self.writer.put_json(StoredDocument::Integrity, integrity)?;
        }
        Ok(found)
    }

    /// Reads everything that was written, and says what came of it; nothing without verification.
    ///
    /// # Errors
    /// An environment error when memory is short or the store cannot take both versions of what is
    /// wrong.
    pub fn sweep_verified(
        &mut self,
        finish: &Finish,
        durability: Option<Durability>,
    ) -> Result<Option<Integrity>> {
        let Some(verification) = self.verification.take() else {
            return Ok(None);
        };
        let progress = self.context.progress.clone();
        let mut show = |share: f64| progress.show("sweep over the written blocks", share, None);
        let sweep = match finish {
            // What has gone cannot be read.
            Finish::Failed { .. } => Sweep::default(),
            _ => match &mut self.target {
                OpenTarget::Simulated(simulation, _) => {
                    simulation.sweep(&self.context.stop, &mut show)
                }
                _ => verification.verifier.sweep(&self.context.stop, &mut show)?,
            },
        };
        self.context.progress.clear();
        let simulated_loss = self.end_simulated_verification();
        let integrity = Integrity { durability, simulated_loss, ..verification.finish(sweep) };
        self.keep_versions(&verification.verifier.versions())?;
        Ok(Some(integrity))
    }

    /// A simulated device has no memory any more; what it did to its data, by its own account,
    /// where it fails.
    fn end_simulated_verification(&mut self) -> Option<SimulatedLoss> {
        match &mut self.target {
            OpenTarget::Simulated(simulation, device) => {
                simulation.end_verification().filter(|_| device.fails())
            }
            _ => None,
        }
    }

    /// Keeps both versions of the first blocks with faults, and says where.
    ///
    /// # Errors
    /// An environment error when the store cannot take them.
    pub fn keep_versions(&self, versions: &[FaultVersions]) -> Result<()> {
        if !versions.is_empty() {
            self.writer.keep_faults(versions)?;
            let path = self.writer.path().join(assay_store::FAULTS);
            self.context.progress.say(&format!(
                "note: both versions of {} blocks are kept in {}",
                versions.len(),
                path.display()
            ));
        }
        Ok(())
    }
}

impl RunRequest<'_> {
    /// What can be refused before anything is touched.
    pub(crate) fn check(&self) -> Result<()> {
        self.target.check()?;
        if self.target.engine.polled && !self.direct {
            return Err(Error::usage(
                "--polled needs direct I/O, but the workload sets direct = false",
                "leave one of them out",
            ));
        }
        Ok(())
    }
}

/// A promise is kept on storage of this machine or not at all.
pub(crate) fn keeps_no_acknowledged_data() -> Error {
    Error::usage(
        "only storage of this machine can be tested for acknowledged writes after a cut",
        "specify a directory or a block device; use `assay run --verify` for a simulated device",
    )
}

/// Says which run is measured from now on, and where it is kept.
pub(crate) fn tell_run(writer: &RunWriter, context: &Context) {
    let manifest = writer.manifest();
    let subject = format!("{} of {}", manifest.kind.name(), manifest.targets.join(", "));
    context.progress.run(writer.path(), &subject);
}

fn keep_documents(writer: &RunWriter, wanted: &RunRequest<'_>) -> Result<()> {
    if let Some(document) = wanted.document {
        document.keep(writer)?;
    }
    if let Some(workload) = wanted.workload {
        writer.put(StoredDocument::Workload, &to_toml(workload)?)?;
    }
    match wanted.study {
        Some(study) => writer.put(StoredDocument::Study, &to_toml(study)?),
        None => Ok(()),
    }
}

/// The run so far in a few words, for the line of progress.
pub(crate) fn describe(name: &str, interval: &Interval) -> String {
    let bytes_per_s = real(interval.operations.bytes()) / interval.elapsed_s().max(1e-9);
    format!(
        "{name}: {} IOPS, {}/s",
        assay_model::units::show_count(interval.iops()),
        show_bytes(bytes_per_s)
    )
}

fn open(
    named: Targets,
    wanted: &RunRequest<'_>,
    run: &str,
    context: &Context,
) -> Result<OpenTarget> {
    if let Some(plan) = wanted.hosts {
        let RunRequest { target, write, direct, grows, workload, .. } = *wanted;
        let request = HostsRequest { target, write, direct, grows, workload };
        let hosts = OpenHosts::open(plan, &request, run, context)?;
        return Ok(OpenTarget::Hosts(Box::new(hosts)));
    }
    let paths = match named {
        Targets::Simulated(device) => {
            let mut simulation = device.simulation();
            simulation.stop_on(Arc::clone(&context.stop));
            return Ok(OpenTarget::Simulated(Box::new(simulation), device));
        }
        Targets::Paths(paths) => paths,
    };
    context.progress.show("opening the target", 0.0, None);
    let opening = wanted.target.opening(wanted.write, wanted.direct, wanted.grows);
    let mut show = |filling: TargetFilling<'_>| match filling {
        TargetFilling::Begins(note) => context.progress.say(&format!("note: {note}")),
        TargetFilling::Written { bytes, total_bytes } => {
            let what = format!("filling the test file: {}", show_bytes(real(bytes)));
            context.progress.show(&what, assay_model::number::share(bytes, total_bytes), None);
        }
    };
    let storage = TargetStorage::open(&paths, &opening, &context.stop, &mut show)?;
    context.progress.clear();
    Ok(OpenTarget::Storage(Box::new(storage)))
}

/// Removes a run in which nothing was measured.
pub fn give_up(store: &Store, writer: RunWriter) {
    let path = writer.path().to_owned();
    drop(writer);
    if let Some(id) = path.file_name().and_then(|name| name.to_str()) {
        // What cannot be removed is listed as unfinished, which is true.
        drop(store.remove(id));
    }
}

/// Runs on all hosts together, and keeps what they came to.
fn on_hosts(
    hosts: &mut OpenHosts,
    workload: &Workload,
    writer: &RunWriter,
    observe: &mut dyn assay_engine::Observer,
) -> Result<Measurement> {
    let members = hosts.chosen();
    let queue_depth = hosts.queue_depth();
    let order = HostsOrder { workload, members: &members, queue_depth, is_slice: false };
    if let Some(found) = hosts.document_before() {
        writer.put_json(StoredDocument::Cluster, &found)?;
    }
    let outcome =
        hosts.measure(&order, &mut |merged| observe.interval(&merged.interval, &merged.joint))?;
    if let Some(found) = hosts.document_to_keep(&outcome) {
        writer.put_json(StoredDocument::Cluster, &found)?;
    }
    Ok(outcome.measurement)
}

/// Runs on a simulated device; what was hastened is reported as what it stands for.
fn in_virtual_time(
    simulation: &mut Simulation,
    device: &SimulatedDevice,
    work: RecordedWork<'_>,
    observer: &mut dyn assay_engine::Observer,
) -> Result<Measurement> {
    let hasten = device.hasten();
    let workload = hasten.workload(work.workload);
    let mut hastened = SpeedupObserver { hasten, observer };
    let measured = match work.sessions {
        Some(load) => run_sessions(simulation, load, &workload, &mut hastened),
        None => simulation.run(&workload, &mut hastened)?,
    };
    Ok(hasten.measurement(measured))
}

/// A reader of the host's busy share since it was last called.
pub fn host_busy() -> impl FnMut() -> Option<f64> {
    let root = SysRoot::live();
    let mut last = read_counters(&root, &[]);
    move || {
        let now = read_counters(&root, &[]);
        let passed = now.since(&last);
        last = now;
        passed.cpu.map(|cpu| cpu.busy_share())
    }
}

/// An unfinished run opened to go on: the same targets, what is left of the workload.
///
/// # Errors
/// When there is nothing left to measure.
pub fn remaining(workload: &Workload, measured_ns: u64) -> Result<Workload> {
    let left_ns = workload.duration.0.saturating_sub(measured_ns);
    if left_ns == 0 {
        return Err(Error::usage(
            "the run has measured its whole duration",
            "report it with `assay report`",
        ));
    }
    Ok(Workload { duration: Nanos(left_ns), ..workload.clone() })
}

/// Ends the run in the store, with a remark if the clock of the host was set meanwhile.
pub fn close(mut writer: RunWriter, finish: Finish) -> Result<RunReader> {
    if let Some(step) = clock_step() {
        let what = EventKind::Remark(clock_step_remark(step));
        writer.event(&Event { at_unix_ns: unix_ns(), cell: None, what })?;
    }
    writer.finish(finish, unix_ns())
}
