//! Limits of the kernel's block layer (cgroup v1 `blkio.throttle`) on one device for chosen work.

use crate::program;
use crate::skip::Skip;
use rustix::fs::{FileType, major, minor, stat};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, id};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Rates that may not be exceeded; absent ones are free. The kernel hands out tokens in slices of
/// about 100 ms: right for rates over seconds, not for the shape of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Reads per second.
    pub reads_per_s: Option<u64>,
    /// Writes per second; buffered writes escape it.
    pub writes_per_s: Option<u64>,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second; buffered writes escape it.
    pub write_bytes_per_s: Option<u64>,
}

impl Limits {
    /// File of the control group and its value; 0 takes a limit away.
    fn settings(self) -> [(&'static str, u64); 4] {
        [
            ("blkio.throttle.read_iops_device", self.reads_per_s),
            ("blkio.throttle.write_iops_device", self.writes_per_s),
            ("blkio.throttle.read_bps_device", self.read_bytes_per_s),
            ("blkio.throttle.write_bps_device", self.write_bytes_per_s),
        ]
        .map(|(name, limit)| (name, limit.unwrap_or(0)))
    }
}

/// A control group with limits on one device. Work runs in it through [`Throttle::spawn`] and
/// [`Throttle::run`]; dropping it moves what still runs back out and removes the group.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
    parent: PathBuf,
    device: String,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where the blkio controller of cgroup v1 is mounted.
fn controller() -> Result<PathBuf, Skip> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let found = table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let ours = fields.get(2) == Some(&"cgroup")
            && fields.get(3)?.split(',').any(|option| option == "blkio");
        ours.then(|| PathBuf::from(fields[1]))
    });
    found.ok_or_else(|| Skip::new("no cgroup v1 with the blkio controller"))
}

/// `major:minor` of the disk that is, or lies under, `path`.
fn disk_of(path: &Path) -> Result<String, Skip> {
    let refuse = |why: String| Skip::new(format!("{}: {why}", path.display()));
    let facts = stat(path).map_err(|error| refuse(error.to_string()))?;
    let is_device = FileType::from_raw_mode(facts.st_mode) == FileType::BlockDevice;
    let number = if is_device { facts.st_rdev } else { facts.st_dev };
    let name = format!("{}:{}", major(number), minor(number));
    let system = fs::canonicalize(Path::new("/sys/dev/block").join(&name))
        .map_err(|_| refuse(format!("device {name} is not a disk")))?;
    if !system.join("partition").exists() {
        return Ok(name);
    }
    let whole = system.parent().map(|disk| disk.join("dev")).unwrap_or_default();
    let whole = fs::read_to_string(whole).map_err(|error| refuse(error.to_string()))?;
    Ok(whole.trim().to_owned())
}

impl Throttle {
    /// Limits the disk that is, or lies under, `path`.
    ///
    /// # Errors
    /// A skip without root, without cgroup v1 blkio throttling, or if `path` is on no disk.
    pub fn new(path: &Path, limits: Limits) -> Result<Self, Skip> {
        program::need_root("throttling a device")?;
        let parent = controller()?;
        let device = disk_of(path)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let group = parent.join(format!("assay-rig.{}.{number}", id()));
        let failed = |error: io::Error| Skip::new(format!("{}: {error}", group.display()));
        fs::create_dir(&group).map_err(failed)?;
        let throttle = Self { group: group.clone(), parent, device };
        throttle.set(limits).map_err(failed)?;
        Ok(throttle)
    }

    /// Replaces the limits, also for what is under way.
    pub fn set(&self, limits: Limits) -> io::Result<()> {
        for (name, limit) in limits.settings() {
            fs::write(self.group.join(name), format!("{} {limit}", self.device))?;
        }
        Ok(())
    }

    /// Calls `work` under the limits, on a thread of its own; what it starts is limited too.
    ///
    /// # Panics
    /// As `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let enter = || {
            let thread = rustix::thread::gettid().as_raw_nonzero();
            fs::write(self.group.join("tasks"), thread.to_string())
        };
        let joined = std::thread::scope(|scope| scope.spawn(|| enter().map(|()| work())).join());
        joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Starts `command` under the limits.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        self.run(|| command.spawn())?
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let begin = Instant::now();
        while fs::remove_dir(&self.group).is_err() && begin.elapsed() < Duration::from_secs(1) {
            let left = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
            for process in left.lines() {
                let _ = fs::write(self.parent.join("cgroup.procs"), process);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
