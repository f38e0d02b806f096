//! A mounted rig: the guard that serves a script under a directory and always unmounts.

use crate::device::Device;
use crate::errno::Errno;
use crate::fault::Fault;
use crate::filesystem::RigFileSystem;
use crate::latency::Latency;
use crate::log::{Log, Statistics};
use crate::mounts;
use crate::operation::Operation;
use crate::program;
use crate::scratch::Scratch;
use crate::script::Script;
use crate::skip::Skip;
use crate::store::Version;
use crate::timer::{Timer, locked};
use assay_model::{Error, Result};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a file may stay open before the rig is unmounted by force.
const PATIENCE: Duration = Duration::from_millis(500);

/// A script at work under a directory. Dropping it fails what is still under way with `EIO` and
/// unmounts: at once if nothing is open, else after half a second by force.
pub struct Rig {
    directory: PathBuf,
    device: Arc<Mutex<Device>>,
    timer: Timer,
    session: Option<BackgroundSession>,
    /// The mount point, if the rig made it.
    scratch: Option<Scratch>,
}

/// Why no rig can be mounted here, neither by this user nor by a helper.
fn missing() -> std::result::Result<(), Skip> {
    let device = "/dev/fuse";
    let opened = OpenOptions::new().read(true).write(true).open(device);
    opened.map_err(|error| Skip::new(format!("FUSE is not available: {device}: {error}")))?;
    if is_root() || on_path("fusermount3") || on_path("fusermount") {
        return Ok(());
    }
    Err(Skip::new("mounting FUSE needs root or fusermount3"))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).exists())
}

fn options(script: &Script) -> Config {
    let mut options = Config::default();
    options.mount_options = vec![
        MountOption::FSName("assay-rig".to_owned()),
        if script.read_only { MountOption::RO } else { MountOption::RW },
    ];
    // Tests run clients as other users; only root may grant that everywhere.
    if is_root() {
        options.acl = SessionACL::All;
    }
    options
}

impl Rig {
    /// Mounts `script` on a temporary directory.
    ///
    /// Only root may: a process that is killed while its threads wait for its own mount cannot die
    /// before the mount is torn away, which is root's right. A watchdog does that.
    ///
    /// # Errors
    /// A skip without root or FUSE.
    ///
    /// # Panics
    /// When the script is invalid or contradictory, or mounting fails for any other reason.
    pub fn mount(script: &Script) -> std::result::Result<Self, Skip> {
        program::need_root("mounting a rig")?;
        missing()?;
        let scratch = Scratch::new().map_err(|error| Skip::new(error.to_string()))?;
        let mut rig = match Self::mount_at(scratch.path(), script) {
            Ok(rig) => rig,
            Err(error) if error.message().ends_with(NOT_PERMITTED) => {
                return Err(Skip::new(error.message()));
            }
            Err(error) => panic!("{error}"),
        };
        rig.scratch = Some(scratch);
        Ok(rig)
    }

    /// Mounts `script` on an existing directory. Without root, the process must not use the mount
    /// itself; see [`Rig::mount`].
    ///
    /// # Errors
    /// A usage error for an invalid or contradictory script, else an environment error.
    pub fn mount_at(directory: &Path, script: &Script) -> Result<Self> {
        script.check()?;
        missing().map_err(|skip| Error::environment(skip.reason(), "run as root"))?;
        let doing = |error: std::io::Error| refusal(directory, &error);
        let device = Arc::new(Mutex::new(Device::new(script)));
        let timer = Timer::start().map_err(doing)?;
        let filesystem = RigFileSystem::new(script, Arc::clone(&device), timer.appointments());
        let session = Session::new(filesystem, directory, &options(script)).map_err(doing)?;
        let session = session.spawn().map_err(doing)?;
        let directory = directory.canonicalize().map_err(doing)?;
        Ok(Self { directory, device, timer, session: Some(session), scratch: None })
    }

    /// Where the rig is mounted.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of a file of the rig.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The operations answered so far, in order of acknowledgement.
    pub fn log(&self) -> Log {
        locked(&self.device).recorder.log()
    }

    /// Hands over the operations answered since the last call; the statistics go on.
    pub fn take_log(&self) -> Log {
        locked(&self.device).recorder.take()
    }

    /// Counts since the mount.
    pub fn statistics(&self) -> Statistics {
        locked(&self.device).recorder.statistics()
    }

    /// What the store really holds: no fault, no delay, no line in the log. Shorter at the end of
    /// the file.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn stored(&self, name: &str, offset: u64, length: u64) -> Vec<u8> {
        let device = locked(&self.device);
        let bytes = device
            .tree
            .find(name)
            .and_then(|inode| Ok(device.tree.store(inode)?.read(offset, length, Version::Current)));
        drop(device);
        bytes.unwrap_or_else(|errno| panic!("no stored file {name}: {errno}"))
    }

    /// Changes the service time of operations that arrive from now on.
    pub fn set_latency(&self, operation: Operation, latency: Latency) {
        locked(&self.device).schedule.set_latency(operation, latency);
    }

    /// Adds a fault, with counts that begin now.
    ///
    /// # Panics
    /// When the fault is invalid or contradictory.
    pub fn add_fault(&self, fault: Fault) {
        if let Err(error) = fault.check() {
            panic!("{error}");
        }
        locked(&self.device).faults.add(fault);
    }

    /// Heals every fault; what was done stays done.
    pub fn clear_faults(&self) {
        locked(&self.device).faults.clear();
    }

    /// Fails every operation with `errno`, those under way included, for good.
    pub fn vanish(&self, errno: Errno) {
        locked(&self.device).vanish(errno);
        self.timer.appointments().hurry();
    }

    /// Cuts the power: everything fails from now on, and of the volatile cache is left what follows
    /// from the seed.
    pub fn cut_power(&self, seed: u64) {
        locked(&self.device).cut_power(seed);
    }

    /// Gives the power back.
    pub fn restore_power(&self) {
        locked(&self.device).restore_power();
    }

    /// Unmounts as dropping does, and returns what had happened.
    pub fn unmount(mut self) -> Report {
        self.end();
        Report { log: self.take_log(), statistics: self.statistics() }
    }

    /// Unmounts by force at once, whatever is open or under way: the kernel fails it, and every
    /// later use of an open file, with an error of its own.
    ///
    /// # Errors
    /// That of the kernel: without root, `EPERM`.
    pub fn tear_away(&self) -> std::io::Result<()> {
        Ok(mounts::tear_away(&self.directory)?)
    }
}

const NOT_PERMITTED: &str = "not permitted";

/// What the refusal of a mount means: a missing right ends in [`NOT_PERMITTED`].
fn refusal(directory: &Path, error: &std::io::Error) -> Error {
    let what = format!("mounting a rig on {}: {error}", directory.display());
    // Without the right to mount, the helper is tried, which may not be installed.
    let right = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
    let what = if right && directory.is_dir() { format!("{what}: {NOT_PERMITTED}") } else { what };
    Error::environment(what, "name an existing empty directory; run as root")
}

impl Rig {
    fn end(&mut self) {
        self.vanish(Errno::EIO);
        let unmounted = mounts::unmount_surely(&self.directory, PATIENCE);
        // Without root only the session's own helper may unmount, and it cannot tear away: the
        // session then ends with the last open file, which nobody should wait for.
        if let (Some(session), Ok(())) = (self.session.take(), unmounted) {
            let _ = session.umount_and_join();
        }
        self.scratch.take();
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if self.session.is_some() {
            self.end();
        }
    }
}

/// All that a rig saw, from its mount to its end.
#[derive(Clone, Debug)]
pub struct Report {
    /// The operations that no one had taken out of the log before.
    pub log: Log,
    /// Counts of all operations.
    pub statistics: Statistics,
}

impl Report {
    /// The log as [`Log::write_jsonl`] writes it, then one line `{"statistics": …}`.
    pub fn write_jsonl(&self, mut to: impl Write) -> std::io::Result<()> {
        self.log.write_jsonl(&mut to)?;
        serde_json::to_writer(&mut to, &serde_json::json!({ "statistics": self.statistics }))?;
        to.write_all(b"\n")?;
        to.flush()
    }
}
