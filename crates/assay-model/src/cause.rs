//! Causes other than the storage that shaped a measurement, if the documents prove them.

use crate::calibration::{Calibration, CurvePoint};
use crate::counters::{Counters, DeviceCounters, NamedDevice};
use crate::environment::{Environment, IoLimit, Storage};
use crate::load::Rung;
use crate::measurement::{ClockKind, Measurement, Operation, PerOperation, Submission};
use crate::number::{rate, real, seconds, share};
use crate::stack::LayerKind;
use crate::units::{show_count, show_time_ns};
use crate::verdict::{Bias, Doubt};
use crate::watch::Summary;

/// A host that is busier than this lets I/Os wait for a CPU.
pub const HOST_BUSY_MAX: f64 = 0.9;
/// A worker that is busier than this may have kept I/Os waiting.
const WORKER_BUSY_MAX: f64 = 0.95;
/// Rates between these multiples of a control group's limit show that it was reached: the kernel
/// hands out its allowance in slices of time, so that short measurements lie on either side of it.
const REACHED: std::ops::RangeInclusive<f64> = 0.85..=1.25;
/// Share of a CPU quota from which on it held the load back: the kernel hands it out in slices too.
const QUOTA_SHARE_MIN: f64 = 0.85;
/// Beyond this multiple of the limit a rate shows that it held nothing back.
const UNHINDERED: f64 = 2.0;
/// The watch of the host is late by less on any busy machine, ns.
const PAUSE_NS_MIN: u64 = 2_000_000_000;
/// A share of a device's data that others moved, and the bytes, from which on a neighbour is named.
const NEIGHBOUR_SHARE_MIN: f64 = 0.2;
const NEIGHBOUR_BYTES_MIN: f64 = 64.0 * 1024.0 * 1024.0;
/// Own writes may move this many times their bytes where data is copied on write, or where layers
/// below a file system have journals and redundancy of their own.
const WRITE_AMPLIFICATION_MAX: f64 = 3.0;
/// The same for data that a file system overwrites in place: its time stamps alone are added.
const IN_PLACE_AMPLIFICATION_MAX: f64 = 1.05;
/// Bytes of journal that one flush of such a file system may write: descriptor, one block, commit.
const SYNC_JOURNAL_BYTES: f64 = 12_288.0;
/// File systems that overwrite data in place; `data=journal` is the exception.
const IN_PLACE: [&str; 8] = ["ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "ntfs3", "jfs"];
/// From this many outstanding I/Os on average on, a limit may have held back a load: a closed load
/// that is held back always waits for one.
const HELD_BACK_DEPTH_MIN: f64 = 0.9;
/// Time of I/Os above the device's own, from which on they waited before they reached it.
const HELD_BACK_TIMES: f64 = 3.0;
/// Share of the bytes that a device must have moved, by the kernel's counters, and from how many
/// bytes on it is checked.
const SEEN_SHARE_MIN: f64 = 0.9;
const UNSEEN_BYTES_MIN: u64 = 64 << 20;

/// What shaped the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// Files in memory, or a device that is memory.
    Memory,
    /// A process or a machine that was paused, or a clock that jumped.
    Paused,
    /// A limit of a control group.
    ControlGroup,
    /// The page cache, or another cache in this host.
    PageCache,
    /// Too few idle CPUs.
    BusyHost,
    /// Other programs on the device.
    Neighbour,
    /// Storage that stands still with a period.
    Stalls,
    /// I/O by blocking calls, because `io_uring` is denied.
    BlockingCalls,
}

/// Something that shaped the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What it is.
    pub kind: CauseKind,
    /// What was seen, as a clause that begins a sentence.
    pub what: String,
    /// Where it moves the numbers; absent where it is a property of the storage itself, or of the
    /// way to it.
    pub bias: Option<Bias>,
    /// What to do for a result without it.
    pub remedy: String,
}

impl Cause {
    fn new(kind: CauseKind, what: String, remedy: &str) -> Self {
        let bias = match kind {
            CauseKind::Memory | CauseKind::Paused => Some(Bias::Unknown),
            CauseKind::PageCache => Some(Bias::Flattering),
            CauseKind::ControlGroup | CauseKind::BusyHost | CauseKind::Neighbour => {
                Some(Bias::Unflattering)
            }
            CauseKind::Stalls | CauseKind::BlockingCalls => None,
        };
        Self { kind, what, bias, remedy: remedy.to_owned() }
    }

    /// The same as a doubt about the storage; none of what is the storage's own.
    pub fn doubt(&self) -> Option<Doubt> {
        let (what, remedy) = (self.what.clone(), self.remedy.clone());
        self.bias.map(|bias| Doubt { what, bias, remedy })
    }
}

/// The documents of one run, any of which may be missing.
#[derive(Clone, Debug, Default)]
pub struct RunDocuments<'a> {
    /// The host and the storage under the targets.
    pub environment: Option<&'a Environment>,
    /// Host activity during the run.
    pub watch: Option<&'a Summary>,
    /// What the target can give.
    pub calibration: Option<&'a Calibration>,
    /// What happened under workloads.
    pub measurements: Vec<&'a Measurement>,
    /// The step of a load that stands for it.
    pub rung: Option<&'a Rung>,
}

/// Every cause that the documents prove, the gravest first.
pub fn known_causes(run: &RunDocuments<'_>) -> Vec<Cause> {
    let mut causes: Vec<Cause> = memory(run).into_iter().collect();
    causes.extend(paused(run));
    causes.extend(reached_limit(run));
    causes.extend(reached_quota(run));
    causes.extend(page_cache(run));
    causes.extend(busy_host(run));
    causes.extend(neighbour(run));
    causes.extend(stalls(run));
    causes.extend(blocking_calls(run));
    causes
}

/// Files in memory, or devices that are memory.
fn memory(run: &RunDocuments<'_>) -> Option<Cause> {
    let storage = run.environment?.storage.iter().find_map(|storage| {
        let kind = memory_kind(storage)?;
        Some((storage.stack.path.clone(), kind))
    });
    let (path, kind) = storage?;
    let what = format!(
        "{path} is in memory ({kind}): this does not measure storage, and nothing there survives \
         a power cut"
    );
    let remedy = "choose a directory on the storage in question";
    Some(Cause::new(CauseKind::Memory, what, remedy))
}

/// What keeps the files of a target in memory.
fn memory_kind(storage: &Storage) -> Option<String> {
    let mount = storage.stack.mount.as_ref().map(|mount| mount.file_system.as_str());
    let in_memory = |kind: &&str| matches!(*kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs");
    if let Some(kind) = mount.filter(in_memory) {
        return Some(kind.to_owned());
    }
    let mut leaves = storage.stack.leaves().peekable();
    leaves.peek()?;
    let is_memory = |kind| matches!(kind, LayerKind::Ram | LayerKind::Zram);
    leaves.all(|layer| is_memory(layer.kind)).then(|| "a RAM disk".to_owned())
}

/// The watch looks at the host once a period; one that is late by seconds did not run meanwhile.
fn paused(run: &RunDocuments<'_>) -> Option<Cause> {
    let late_ns = run.watch?.total.late_ns;
    let what = format!(
        "Assay did not run for {}: its process or the host was paused, or the clock jumped",
        show_time_ns(real(late_ns))
    );
    let remedy = "measure again without a pause";
    (late_ns >= PAUSE_NS_MIN).then(|| Cause::new(CauseKind::Paused, what, remedy))
}

/// Per second: what was done at most, as control groups count it.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    read_iops: f64,
    write_iops: f64,
    read_bytes: f64,
    write_bytes: f64,
}

impl Reached {
    fn from_operations(operations: &PerOperation, elapsed_s: f64) -> Self {
        let of = |operation| {
            let found = operations.get(operation);
            found.map_or((0, 0), |result| (result.ios, result.bytes))
        };
        let (read, write) = (of(Operation::Read), of(Operation::Write));
        Self {
            read_iops: rate(read.0, elapsed_s),
            write_iops: rate(write.0, elapsed_s),
            read_bytes: rate(read.1, elapsed_s),
            write_bytes: rate(write.1, elapsed_s),
        }
    }

    fn from_device(counters: &DeviceCounters, elapsed_s: f64) -> Self {
        Self {
            read_iops: rate(counters.read_ios, elapsed_s),
            write_iops: rate(counters.write_ios, elapsed_s),
            read_bytes: rate(counters.read_bytes, elapsed_s),
            write_bytes: rate(counters.write_bytes, elapsed_s),
        }
    }

    /// The one that a limit is about.
    fn of_limit(&self, limit: &IoLimit) -> f64 {
        match limit.quantity.as_str() {
            "read IOPS" => self.read_iops,
            "write IOPS" => self.write_iops,
            "read bytes/s" => self.read_bytes,
            "write bytes/s" => self.write_bytes,
            _ => 0.0,
        }
    }
}

/// The tightest limit of a control group on a device below a target, where a rate came up to it.
fn reached_limit(run: &RunDocuments<'_>) -> Option<Cause> {
    let environment = run.environment?;
    let mut limits: Vec<&IoLimit> = environment.limits_below_targets().collect();
    limits.sort_by_key(|limit| limit.per_s);
    let (all, curves) = (reached(run), reached_by_curves(run));
    let is_reached = |limit: &&IoLimit| {
        let of = |one: &Reached| one.of_limit(limit) / real(limit.per_s.max(1));
        let most = all.iter().map(of).fold(0.0, f64::max);
        let is_near = |reached: f64| REACHED.contains(&reached);
        is_near(most) || most <= UNHINDERED && curves.iter().map(of).any(is_near)
    };
    let limit = limits.into_iter().find(is_reached)?;
    let device = limit.device_name.clone().unwrap_or_else(|| limit.device.to_string());
    let what = format!(
        "the limit of control group {} ({} {} on {device}) was reached: that limit was measured, \
         not the storage",
        limit.control_group,
        show_count(real(limit.per_s)),
        limit.quantity
    );
    let remedy = "raise the limit or run outside the control group, then measure again";
    Some(Cause::new(CauseKind::ControlGroup, what, remedy))
}

/// The CPU quota of this process's control groups, where the process used it up: its threads then
/// stood still while CPUs of the host were idle.
fn reached_quota(run: &RunDocuments<'_>) -> Option<Cause> {
    let quota_cpus = run.environment?.host.cpu_limit?;
    let runs = run.measurements.iter().filter_map(|one| HostLoad::from_measurement(one));
    let watched = run.watch.and_then(HostLoad::from_watch);
    let own_cpus = runs.chain(watched).filter_map(|load| load.own_cores).fold(0.0, f64::max);
    let remedy = "raise the CPU limit or run outside the control group, then measure again";
    (own_cpus >= QUOTA_SHARE_MIN * quota_cpus).then(|| {
        let what = format!(
            "the CPU limit of the control group ({quota_cpus:.1} CPUs) was reached: the load was \
             held back, not the storage"
        );
        Cause::new(CauseKind::ControlGroup, what, remedy)
    })
}

/// Every rate of the run that a limit could have ended.
fn reached(run: &RunDocuments<'_>) -> Vec<Reached> {
    let of_point =
        |point: &CurvePoint| Reached::from_operations(&point.operations, point.elapsed_s);
    let mixes = run.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let points = mixes.flat_map(|mix| mix.curve.iter().chain(&mix.large_curve));
    let runs = run.measurements.iter().filter(|one| waits_for_one(one));
    let of_run = |one: &&Measurement| Reached::from_operations(&one.operations(), one.elapsed_s());
    let of_devices = runs.clone().flat_map(|one| reached_by_devices(one));
    let of_rung = run.rung.and_then(|rung| {
        let device = rung.device.as_ref()?;
        Some(Reached::from_device(&device.counters, rung.elapsed_s()))
    });
    points.map(of_point).chain(runs.map(of_run)).chain(of_devices).chain(of_rung).collect()
}

/// Whether at least one I/O was outstanding nearly all the time, by Little's law. An open load below
/// a limit is not held back by it, however near its rate is.
fn waits_for_one(measurement: &Measurement) -> bool {
    let operations = measurement.operations();
    let each = Operation::ALL.into_iter().filter_map(|operation| operations.get(operation));
    let busy_ns: f64 = each.map(|result| result.service.mean_ns() * real(result.ios)).sum();
    busy_ns >= HELD_BACK_DEPTH_MIN * real(measurement.elapsed_ns)
}

/// What the devices of a measurement did whose I/Os took much longer than the devices needed: they
/// waited above, and a journal counts against a limit, too.
fn reached_by_devices(measurement: &Measurement) -> Vec<Reached> {
    let operations = measurement.operations();
    let waited = |operation, device_ns: Option<f64>| {
        let own = operations.get(operation).map(|result| result.service.mean_ns());
        own.zip(device_ns).is_some_and(|(own_ns, device_ns)| own_ns > HELD_BACK_TIMES * device_ns)
    };
    let Some(kernel) = &measurement.conduct.kernel else { return Vec::new() };
    let held = kernel.devices.iter().map(|device| &device.counters).filter(|device| {
        waited(Operation::Read, device.read_time_mean_ns())
            || waited(Operation::Write, device.write_time_mean_ns())
    });
    // The counters begin with the warm-up, and have a time of their own.
    held.map(|device| Reached::from_device(device, kernel.elapsed_s())).collect()
}

/// All loads of each curve together: one visit alone may be shorter than the kernel's slices.
fn reached_by_curves(run: &RunDocuments<'_>) -> Vec<Reached> {
    let mixes = run.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let curves = mixes.flat_map(|mix| [&mix.curve, &mix.large_curve]);
    let of_curve = |points: &Vec<CurvePoint>| {
        let mut all = PerOperation::default();
        for point in points {
            all.merge(&point.operations);
        }
        Reached::from_operations(&all, points.iter().map(|point| point.elapsed_s).sum())
    };
    curves.map(of_curve).collect()
}

/// Reads that never reached a device. Loads on databases have their own account of it.
fn page_cache(run: &RunDocuments<'_>) -> Option<Cause> {
    if let Some(found) = run.measurements.iter().find_map(|one| cached_reads(one)) {
        return Some(found);
    }
    let mut on_loops = run.measurements.iter().filter(|one| is_on_loop(one));
    if let Some(found) = on_loops.find_map(|one| unseen(Operation::Write, one)) {
        return Some(found);
    }
    let calibration = run.calibration?;
    if calibration.direct_io == Some(false) {
        return Some(not_bypassed());
    }
    unseen_by_watch(calibration, &run.watch?.total.counters)
}

/// The same of a calibration, whose loads are watched as a whole: no device may have read less than
/// the loads did.
fn unseen_by_watch(calibration: &Calibration, watched: &Counters) -> Option<Cause> {
    let points = calibration.mixes.iter().flat_map(|mix| mix.curve.iter().chain(&mix.large_curve));
    let reads = points.filter_map(|point| point.operations.read.as_ref());
    let claimed: u64 = reads.map(|read| read.bytes).sum();
    let seen = share(most_seen(&watched.devices, |device| device.read_bytes)?, claimed);
    (claimed >= UNSEEN_BYTES_MIN && seen < SEEN_SHARE_MIN).then(|| from_memory("read", seen))
}

/// A loop device takes writes into the page cache even where direct I/O was requested of it.
fn is_on_loop(measurement: &Measurement) -> bool {
    let mut devices = measurement.conduct.kernel.iter().flat_map(|kernel| &kernel.devices);
    devices.any(|device| device.name.starts_with("loop"))
}

fn not_bypassed() -> Cause {
    let what = "the page cache was not bypassed: reads and writes may have ended in memory";
    let remedy = "use a file system with direct I/O, or the device itself";
    Cause::new(CauseKind::PageCache, what.to_owned(), remedy)
}

/// A cache answers in place of the storage. How I/Os are taken was seen on the first target; past
/// the block layer nothing caches.
pub fn cached_reads(measurement: &Measurement) -> Option<Cause> {
    let conduct = &measurement.conduct;
    if conduct.direct_io == Some(false) {
        return Some(not_bypassed());
    }
    if measurement.operations().read.is_some()
        && let Some(found) = unseen(Operation::Read, measurement)
    {
        return Some(found);
    }
    let first = measurement.targets.first();
    let is_cached = first.is_none_or(|target| !conduct.passthrough.contains(&target.name));
    (conduct.submission == Submission::Inline && is_cached).then(|| {
        let what = "I/Os completed during submission, as from a cache".to_owned();
        let remedy = "use a target on a device that is larger than every cache in front of it";
        Cause::new(CauseKind::PageCache, what, remedy)
    })
}

/// The kernel's counters are an independent witness: what no device of the stack moved came from a
/// cache above them. Checked only where warm-up and rounding cannot explain the difference.
pub fn unseen(operation: Operation, measurement: &Measurement) -> Option<Cause> {
    let (name, bytes): (_, fn(&DeviceCounters) -> u64) = match operation {
        Operation::Sync => return None,
        Operation::Write => ("written", |device| device.write_bytes),
        Operation::Read => ("read", |device| device.read_bytes),
    };
    let claimed = countable_bytes(operation, measurement)?;
    let seen = share(seen_bytes(measurement, bytes)?, claimed);
    if claimed < UNSEEN_BYTES_MIN || seen >= SEEN_SHARE_MIN {
        return None;
    }
    Some(from_memory(name, seen))
}

fn from_memory(name: &str, seen_share: f64) -> Cause {
    let what = format!(
        "only {:.0}% of the bytes {name} reached a device, by the kernel's counters: the rest \
         stayed in memory (page cache, or blocks that were never written)",
        seen_share * 100.0
    );
    let remedy = "use direct I/O on a target larger than every cache in front of the device";
    Cause::new(CauseKind::PageCache, what, remedy)
}

/// Bytes that the kernel's counters should show: all but those of targets past the block layer.
/// `None` where there are none.
fn countable_bytes(operation: Operation, measurement: &Measurement) -> Option<u64> {
    let unseen = &measurement.conduct.passthrough;
    if unseen.is_empty() {
        return measurement.operations().get(operation).map(|result| result.bytes);
    }
    let countable = measurement.targets.iter().filter(|target| !unseen.contains(&target.name));
    let results = countable.filter_map(|target| target.operations.get(operation));
    results.map(|result| result.bytes).reduce(|all, bytes| all + bytes)
}

/// Layers of one target pass the same bytes on, so the largest counts; those of several targets add
/// up, which may count layers twice and can only be too kind. `None` where the kernel counts
/// nothing, as on network file systems.
fn seen_bytes(measurement: &Measurement, bytes: fn(&DeviceCounters) -> u64) -> Option<u64> {
    let devices = &measurement.conduct.kernel.as_ref()?.devices;
    if measurement.targets.len() > 1 {
        let each = devices.iter().map(|device| bytes(&device.counters));
        return each.reduce(|all, one| all + one);
    }
    most_seen(devices, bytes)
}

/// The largest count of any layer. A loop device counts what it takes from the page cache, too: it
/// is left out where the device below it is counted.
fn most_seen(devices: &[NamedDevice], bytes: fn(&DeviceCounters) -> u64) -> Option<u64> {
    let is_loop = |device: &&NamedDevice| device.name.starts_with("loop");
    let below = devices.iter().filter(|device| !is_loop(device)).map(|one| bytes(&one.counters));
    below.max().or_else(|| devices.iter().map(|device| bytes(&device.counters)).max())
}

/// How busy the CPUs of a host were during a measurement, and who kept them busy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLoad {
    /// Busy share of all CPUs, 0..=1.
    pub busy_share: f64,
    /// CPUs of the host, where known.
    pub cores: Option<f64>,
    /// CPUs that Assay used, where known.
    pub own_cores: Option<f64>,
    /// CPUs that the measured database server used, where there is one and it is known.
    pub server_cores: Option<f64>,
    /// Running share of the busiest worker, 0..=1.
    pub worker_busy_share: f64,
}

impl HostLoad {
    /// During one measurement; `None` in virtual time, in which nothing is ever late.
    pub fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let conduct = &measurement.conduct;
        if matches!(conduct.clock, ClockKind::Virtual | ClockKind::Fio) {
            return None;
        }
        let elapsed_s = measurement.elapsed_s();
        let own_s = conduct.cpu_user_s + conduct.cpu_system_s;
        Some(Self {
            busy_share: conduct.host_busy_share.unwrap_or(0.0),
            cores: conduct.kernel.as_ref().and_then(cpus),
            own_cores: (elapsed_s > 0.0 && own_s > 0.0).then(|| own_s / elapsed_s),
            server_cores: None,
            worker_busy_share: conduct.worker_busy_share_max,
        })
    }

    /// During one step of a load on a database.
    pub fn from_rung(rung: &Rung) -> Option<Self> {
        let elapsed_s = rung.elapsed_s();
        // Where the server's CPU time is unknown, the server may be on another host.
        let server_s = rung.server_cpu_s.filter(|_| elapsed_s > 0.0);
        Some(Self {
            busy_share: rung.host_busy_share?,
            cores: rung.measurement.conduct.kernel.as_ref().and_then(cpus),
            own_cores: server_s.map(|_| rung.client_cpu_s / elapsed_s),
            server_cores: server_s.map(|server_s| server_s / elapsed_s),
            worker_busy_share: 0.0,
        })
    }

    /// While the host was watched.
    pub fn from_watch(watch: &Summary) -> Option<Self> {
        let counters = &watch.total.counters;
        let elapsed_s = counters.elapsed_s();
        let own_ns = counters.process.map(|own| own.user_ns.saturating_add(own.system_ns));
        Some(Self {
            busy_share: counters.cpu?.busy_share(),
            cores: cpus(counters),
            own_cores: own_ns.filter(|_| elapsed_s > 0.0).map(|own_ns| seconds(own_ns) / elapsed_s),
            server_cores: None,
            worker_busy_share: 0.0,
        })
    }

    /// Whether I/Os waited for a CPU.
    pub fn is_busy(&self) -> bool {
        self.busy_share > HOST_BUSY_MAX
    }

    /// `Assay 0.3, others 1.7 of 2 CPUs`, with a measured database server apart from both; nothing
    /// where it is not known who used them.
    pub fn users(&self) -> Option<String> {
        let cpus = self.cores?;
        let busy = self.busy_share * cpus;
        let own = self.own_cores?.min(busy);
        let server = self.server_cores.map(|server| server.min(busy - own));
        let others = busy - own - server.unwrap_or(0.0);
        let server =
            server.map_or_else(String::new, |server| format!(", database server {server:.1}"));
        Some(format!("Assay {own:.1}{server}, others {others:.1} of {cpus:.0} CPUs"))
    }

    /// What was too busy to tell the storage's time from its own, if anything was.
    pub fn busy(&self) -> Option<String> {
        if self.is_busy() {
            let users = self.users().map_or_else(String::new, |users| format!(" ({users})"));
            return Some(format!(
                "the host was too busy to judge the storage: its CPUs were busy {:.0}% of the \
                 time{users}",
                self.busy_share * 100.0
            ));
        }
        (self.worker_busy_share > WORKER_BUSY_MAX).then(|| {
            format!(
                "the load generator was too busy to judge the storage: one of its workers was \
                 busy {:.0}% of the time",
                self.worker_busy_share * 100.0
            )
        })
    }
}

/// CPUs by their counted time.
fn cpus(counters: &Counters) -> Option<f64> {
    let total_ns = counters.cpu?.total_ns();
    (counters.time_ns > 0).then(|| (real(total_ns) / real(counters.time_ns)).round().max(1.0))
}

/// The first busy part of the run speaks for it; what has no counters of its own is watched as a
/// whole.
fn busy_host(run: &RunDocuments<'_>) -> Option<Cause> {
    let watched = run.watch.and_then(HostLoad::from_watch);
    let runs = run.measurements.iter().filter_map(|one| HostLoad::from_measurement(one));
    let rung = run.rung.and_then(HostLoad::from_rung);
    let logical = run.environment.map(|environment| real(environment.host.cpu.logical));
    let all = watched.and_then(|watched| watched.cores).or(logical.filter(|cpus| *cpus > 0.0));
    let loads = runs.chain(rung).map(|load| HostLoad { cores: load.cores.or(all), ..load });
    let whole = watched.filter(|_| run.measurements.is_empty() && run.rung.is_none());
    let busy = loads.chain(whole).find_map(|load| load.busy());
    busy.map(|what| {
        let remedy = "measure while nothing else runs on the host";
        Cause::new(CauseKind::BusyHost, what, remedy)
    })
}

/// A kernel or a container that denies `io_uring`. The numbers stand: each outstanding I/O has a
/// thread, which costs more CPU, and a host that had too little of it is a cause of its own.
fn blocking_calls(run: &RunDocuments<'_>) -> Option<Cause> {
    let denied = run.measurements.iter().find_map(|one| one.conduct.backend_reason.clone())?;
    let what = format!("{denied}: I/O was issued by blocking calls, which use more CPU");
    let remedy = "allow io_uring for a measurement that uses less CPU";
    Some(Cause::new(CauseKind::BlockingCalls, what, remedy))
}

/// What others moved on the device meanwhile. A database server is another process, so a load shows
/// nothing of it.
fn neighbour(run: &RunDocuments<'_>) -> Option<Cause> {
    if run.rung.is_some() || run.measurements.iter().any(|one| has_passthrough(one)) {
        return None;
    }
    let in_place = run
        .environment
        .is_some_and(|environment| environment.storage.iter().all(overwrites_in_place));
    let of_runs = run.measurements.iter().find_map(|one| {
        let counters = one.conduct.kernel.as_ref()?;
        foreign(counters, own_bytes(counters, Some(one))?.amplified(in_place))
    });
    let watched = || {
        let counters = &run.watch?.total.counters;
        // The flushes of a calibrated log are in no document.
        let has_log = run.calibration.is_some_and(|calibration| calibration.log.is_some());
        foreign(counters, own_bytes(counters, None)?.amplified(in_place && !has_log))
    };
    let (device, foreign_share) = if run.measurements.is_empty() { watched()? } else { of_runs? };
    let what = format!(
        "other programs used the device: at least {:.0}% of the data that {device} transferred \
         during the run was theirs",
        foreign_share * 100.0
    );
    let remedy = "measure while nothing else uses the device";
    Some(Cause::new(CauseKind::Neighbour, what, remedy))
}

/// Whether what is written lands on the device once: no copy on write, journal or redundancy below.
fn overwrites_in_place(storage: &Storage) -> bool {
    let plain = [
        LayerKind::Nvme,
        LayerKind::Scsi,
        LayerKind::Virtio,
        LayerKind::Xen,
        LayerKind::Mmc,
        LayerKind::Dasd,
        LayerKind::Partition,
        LayerKind::Lvm,
        LayerKind::Crypt,
        LayerKind::Multipath,
    ];
    let mount = storage.stack.mount.as_ref();
    let is_in_place = mount.is_none_or(|mount| {
        let is_journaled = mount.options.iter().any(|option| option == "data=journal");
        IN_PLACE.contains(&mount.file_system.as_str()) && !is_journaled
    });
    is_in_place && storage.stack.layers.iter().all(|layer| plain.contains(&layer.kind))
}

fn has_passthrough(measurement: &Measurement) -> bool {
    !measurement.conduct.passthrough.is_empty()
}

/// Bytes that this program moved.
#[derive(Clone, Copy, Debug)]
struct OwnBytes {
    read: f64,
    write: f64,
    syncs: f64,
}

impl OwnBytes {
    /// With the most that a file system adds to them.
    fn amplified(self, in_place: bool) -> Self {
        let write = if in_place {
            IN_PLACE_AMPLIFICATION_MAX * self.write + SYNC_JOURNAL_BYTES * self.syncs
        } else {
            WRITE_AMPLIFICATION_MAX * self.write
        };
        Self { write, ..self }
    }
}

/// By the kernel's account of this process, which covers the warm-up as the counters of devices do;
/// never less than what was measured, because not every kernel keeps that account. Nothing is
/// concluded without either.
fn own_bytes(counters: &Counters, measured: Option<&Measurement>) -> Option<OwnBytes> {
    let process = counters.process.filter(|own| own.read_bytes + own.write_bytes > 0)?;
    let operations = measured.map(Measurement::operations);
    let bytes = |operation| {
        let result = operations.as_ref().and_then(|operations| operations.get(operation));
        result.map_or(0, |result| result.bytes)
    };
    let syncs = operations.as_ref().and_then(|operations| operations.sync.as_ref());
    let syncs = syncs.map_or(0, |result| result.ios);
    Some(OwnBytes {
        read: real(process.read_bytes.max(bytes(Operation::Read))),
        write: real(process.write_bytes.max(bytes(Operation::Write))),
        syncs: real(syncs),
    })
}

/// The device with the largest share of data that others moved, where that is a share that matters.
fn foreign(counters: &Counters, own: OwnBytes) -> Option<(String, f64)> {
    let each = counters.devices.iter().map(|device| {
        let (read, write) = (real(device.counters.read_bytes), real(device.counters.write_bytes));
        let others = (read - own.read).max(0.0) + (write - own.write).max(0.0);
        (device.name.clone(), others, others / (read + write).max(1.0))
    });
    let most = each.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let matters = most.1 >= NEIGHBOUR_BYTES_MIN && most.2 >= NEIGHBOUR_SHARE_MIN;
    matters.then_some((most.0, most.2))
}

/// Stalls with a period are the storage's own.
fn stalls(run: &RunDocuments<'_>) -> Option<Cause> {
    let mixes = run.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let stalls = mixes.filter_map(|mix| mix.stalls);
    let longest = stalls.max_by(|one, other| one.length_ns.total_cmp(&other.length_ns))?;
    let what = format!(
        "the storage stalled for {} every {}",
        show_time_ns(longest.length_ns),
        show_time_ns(longest.period_ns)
    );
    let remedy = "look for cache flushes or garbage collection with this period";
    Some(Cause::new(CauseKind::Stalls, what, remedy))
}

#[cfg(test)]
mod tests;
