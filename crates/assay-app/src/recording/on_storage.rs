//! A workload on real storage, with the kernel's own counters around it and the tool's ceiling for
//! comparison.

use assay_engine::{
    BackendChoice, EngineJob, Ignore, Observer, Started, Verifier, monotonic_ns, run, run_from,
};
use assay_host::clock::unix_ns_at;
use assay_host::counters::read_counters;
use assay_host::root::SysRoot;
use assay_methods::target::TargetStorage;
use assay_model::environment::Environment;
use assay_model::measurement::Finish;
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long the ceiling of the tool itself is measured.
const CEILING: Nanos = Nanos(50_000_000);
/// Between the last worker being ready and the start: write buffers are filled meanwhile.
const LEAD_NS: u64 = 1_000_000;

/// What is to be done on which storage, and by whom.
pub(crate) struct StorageWork<'a> {
    pub(crate) storage: &'a TargetStorage,
    pub(crate) backend: BackendChoice,
    /// Compares what is read with what was written.
    pub(crate) verifier: Option<&'a Arc<Verifier>>,
    pub(crate) workload: &'a Workload,
    /// Whether what the tool itself reaches is measured afterwards.
    pub(crate) with_ceiling: bool,
}

/// A start as soon as everything is ready.
pub(crate) fn at_once() -> impl FnMut() -> Result<u64> {
    || Ok(monotonic_ns() + LEAD_NS)
}

/// Runs it from the moment that `starter` gives once everything is ready.
pub(crate) fn on_storage(
    work: &StorageWork<'_>,
    starter: &mut dyn FnMut() -> Result<u64>,
    stop: &AtomicBool,
    observe: &mut dyn Observer,
) -> Result<Started> {
    let StorageWork { storage, backend, verifier, workload, with_ceiling } = *work;
    let (root, devices) = (SysRoot::live(), device_names(&storage.environment));
    let job = EngineJob { workload, targets: Arc::clone(&storage.targets), backend, passes: None };
    let before = read_counters(&root, &devices);
    let mut started = run_from(&job, verifier, starter, stop, observe)?;
    let passed = read_counters(&root, &devices).since(&before);
    // All stamps of a run are of one clock, whatever is done to that of the host meanwhile.
    started.measurement.started_unix_ns = unix_ns_at(started.start_ns + workload.warm_up.0);
    let conduct = &mut started.measurement.conduct;
    conduct.host_busy_share =
        passed.cpu.as_ref().map(assay_model::counters::CpuCounters::busy_share);
    conduct.kernel = Some(passed);
    // A load that its observer ended has measured what it needed.
    let is_measured = match started.measurement.finish {
        Finish::Complete => true,
        Finish::Interrupted => !stop.load(Ordering::Relaxed),
        Finish::Failed { .. } | Finish::Unfinished => false,
    };
    if with_ceiling && is_measured {
        conduct.ceiling_iops = ceiling_iops(&job);
    }
    conduct.remarks.extend(storage.remarks.iter().cloned());
    Ok(started)
}

/// What the tool reaches with the same workload on a device of no work; closed arrivals only.
fn ceiling_iops(job: &EngineJob<'_>) -> Option<f64> {
    let closed = |stream: &assay_model::Stream| {
        matches!(stream.arrival, assay_model::Arrival::Closed { .. })
    };
    if !job.workload.streams.iter().all(closed) {
        return None;
    }
    let mut workload = job.workload.clone();
    (workload.duration, workload.warm_up) = (CEILING, Nanos(0));
    let job = EngineJob {
        workload: &workload,
        targets: Arc::clone(&job.targets),
        backend: BackendChoice::Null,
        ..*job
    };
    run(&job, &AtomicBool::new(false), &mut Ignore).ok().map(|measurement| measurement.iops())
}

/// Kernel names of the devices under the targets, each once.
pub(crate) fn device_names(environment: &Environment) -> Vec<String> {
    let storage = environment.storage.iter();
    assay_host::watch::device_names(storage.map(|storage| &storage.stack))
}
