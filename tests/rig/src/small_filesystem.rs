//! File systems of a few MiB, mounted for as long as their guard lives: full disks in a moment.

use crate::loop_device::LoopDevice;
use crate::mounts;
use crate::program;
use crate::scratch::Scratch;
use crate::skip::Skip;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_remount};
use std::ffi::{CStr, CString, OsStr};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long others may hold what they did not ask for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A mounted file system of its own.
#[derive(Debug)]
pub struct SmallFileSystem {
    directory: PathBuf,
    device: Option<LoopDevice>,
    scratch: Option<Scratch>,
}

fn refused(error: Errno) -> Skip {
    Skip::new(format!("mounting a small file system: {error}"))
}

impl SmallFileSystem {
    /// An ext4 of `size_bytes` (a few hundred KiB at least) on a loop device, without blocks
    /// reserved for root.
    ///
    /// # Errors
    /// A skip without root, loop devices or `mkfs.ext4`.
    pub fn ext4(size_bytes: u64) -> Result<Self, Skip> {
        let calm = "lazy_itable_init=0,lazy_journal_init=0";
        Self::make("ext4", &["-q", "-F", "-m", "0", "-E", calm], size_bytes)
    }

    /// A file system of another kind on a loop device, made by `mkfs.<kind>` with `options`.
    ///
    /// # Errors
    /// A skip without root, loop devices, the program, or the kernel's support.
    pub fn make(kind: &str, options: &[&str], size_bytes: u64) -> Result<Self, Skip> {
        let device = LoopDevice::of_size(size_bytes)?;
        let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        arguments.push(device.path().as_os_str());
        program::run(&format!("mkfs.{kind}"), &arguments)?;
        Self::mount(kind, device.path().to_owned(), None, Some(device))
    }

    /// A tmpfs that holds `size_bytes`.
    ///
    /// # Errors
    /// A skip without root.
    pub fn tmpfs(size_bytes: u64) -> Result<Self, Skip> {
        program::need_root("mounting tmpfs")?;
        let room = CString::new(format!("size={size_bytes}")).unwrap_or_default();
        Self::mount("tmpfs", PathBuf::from("tmpfs"), Some(&room), None)
    }

    fn mount(
        kind: &str,
        source: PathBuf,
        data: Option<&CStr>,
        device: Option<LoopDevice>,
    ) -> Result<Self, Skip> {
        let scratch = Scratch::new().map_err(|error| Skip::new(error.to_string()))?;
        let directory = scratch.join("mount");
        std::fs::create_dir(&directory).map_err(|error| Skip::new(error.to_string()))?;
        mount(source, &directory, kind, MountFlags::NOATIME, data).map_err(refused)?;
        Ok(Self { directory, device, scratch: Some(scratch) })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The block device below, if it has one.
    pub fn device(&self) -> Option<&LoopDevice> {
        self.device.as_ref()
    }

    /// Makes it read-only while it stays mounted; nothing may be open for writing. What another
    /// thread starts holds copies of all that is open until it runs, so that this may take a
    /// moment.
    pub fn remount_read_only(&self) -> std::io::Result<()> {
        let begin = Instant::now();
        loop {
            match mount_remount(&self.directory, MountFlags::RDONLY, c"") {
                Err(Errno::BUSY) if begin.elapsed() < PATIENCE => sleep(Duration::from_millis(2)),
                answer => return Ok(answer?),
            }
        }
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        // A refusal is left to the next run's sweep of abandoned directories.
        let _ = mounts::unmount_surely(&self.directory, Duration::from_millis(500));
        self.device.take();
        self.scratch.take();
    }
}
