//! An ext4 on a device whose power can be cut: a loop device over a file of a rig with a volatile
//! cache.

use crate::latency::Latency;
use crate::loop_device::LoopDevice;
use crate::mounts;
use crate::operation::Operation;
use crate::program;
use crate::rig::Rig;
use crate::scratch::Scratch;
use crate::script::Script;
use crate::skip::Skip;
use crate::store::Content;
use rustix::mount::{MountFlags, mount};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that is the device.
const DISK: &str = "disk";
/// How long programs that lost their storage may hold it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A mounted ext4 whose device can lose its power. Nothing in it survives but what the cache of the
/// script leaves.
pub struct CutFileSystem {
    directory: PathBuf,
    device: Option<LoopDevice>,
    rig: Rig,
    _scratch: Scratch,
}

impl CutFileSystem {
    /// Makes one of this size on a rig of this script, which has a cache.
    ///
    /// # Errors
    /// A skip without root, FUSE, loop devices or `mkfs.ext4`.
    pub fn make(size_bytes: u64, script: Script) -> Result<Self, Skip> {
        let rig = Rig::mount(&script.file_of(DISK, size_bytes, Content::Zeros))?;
        let scratch = Scratch::new().map_err(|error| Skip::new(error.to_string()))?;
        let directory = scratch.join("mount");
        std::fs::create_dir(&directory).map_err(|error| Skip::new(error.to_string()))?;
        let device = LoopDevice::attach(&rig.path(DISK))?;
        let calm = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        let arguments = ["-q", "-F", "-m", "0", "-E", calm].map(OsStr::new);
        let arguments: Vec<&OsStr> =
            arguments.into_iter().chain([device.path().as_os_str()]).collect();
        program::run("mkfs.ext4", &arguments)?;
        let mut made = Self { directory, device: Some(device), rig, _scratch: scratch };
        made.mount()?;
        Ok(made)
    }

    fn mount(&mut self) -> Result<(), Skip> {
        let device = self.device.as_ref().map_or(Path::new(""), LoopDevice::path);
        let mounted = mount(device, &self.directory, "ext4", MountFlags::NOATIME, None);
        mounted.map_err(|error| Skip::new(format!("mounting {}: {error}", device.display())))
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Changes the service time of operations that arrive at the device from now on.
    pub fn set_latency(&self, operation: Operation, latency: Latency) {
        self.rig.set_latency(operation, latency);
    }

    /// Cuts the power: everything fails from now on, and of the cache is left what follows from the
    /// seed.
    pub fn cut_power(&self, seed: u64) {
        self.rig.cut_power(seed);
    }

    /// Gives the power back and mounts what the device holds; programs that used it must have
    /// ended, and what the kernel had still in memory goes with the cut.
    ///
    /// # Errors
    /// A skip that says why the device cannot be mounted again.
    pub fn restore_power(&mut self) -> Result<(), Skip> {
        let unmounted = mounts::unmount_surely(&self.directory, PATIENCE);
        unmounted.map_err(|error| Skip::new(format!("unmounting: {error}")))?;
        self.device.take();
        self.rig.restore_power();
        self.device = Some(LoopDevice::attach(&self.rig.path(DISK))?);
        self.mount()
    }
}

impl Drop for CutFileSystem {
    fn drop(&mut self) {
        // A refusal is left to the next run's sweep of abandoned directories.
        let _ = mounts::unmount_surely(&self.directory, PATIENCE);
        self.device.take();
    }
}
