//! A directory for tests that wait for storage without asking anything about it: a file system in
//! memory.

use crate::loop_device::LoopDevice;
use crate::program;
use crate::scratch::Scratch;
use rustix::mount::{MountFlags, mount};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Memory that is mounted on all machines of today.
const MEMORY: &str = "/dev/shm";
/// Less than this free, and tests stay on the disk, bytes: a container may have 64 MiB.
const FREE_BYTES_MIN: u64 = 4 << 30;
/// Size of the file system, bytes: programs ask for room that they do not fill, and only what is
/// written takes memory.
const SIZE_BYTES: u64 = 16 << 30;

/// A directory that all users may enter, the same for all threads of this process, on an ext4 in
/// memory, so that no test waits for a disk that others use. Where that cannot be had (without
/// root, loop devices or memory) it lies in the temporary directory. It goes with the process,
/// whatever ends that.
///
/// # Panics
/// When not even a temporary directory can be made.
pub fn memory_directory() -> &'static Path {
    static DIRECTORY: OnceLock<(Scratch, PathBuf)> = OnceLock::new();
    let (_, path) = DIRECTORY.get_or_init(|| {
        let scratch =
            Scratch::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
        let path = scratch.join("g");
        fs::create_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let _ = mount_in_memory(&path);
        (scratch, path)
    });
    path
}

/// Nothing when any part of it cannot be had.
fn mount_in_memory(directory: &Path) -> Option<()> {
    let memory = rustix::fs::statvfs(MEMORY).ok()?;
    if memory.f_bavail.saturating_mul(memory.f_frsize) < FREE_BYTES_MIN {
        return None;
    }
    let image = PathBuf::from(format!("{MEMORY}/assay-memory.{}", std::process::id()));
    let file = File::create_new(&image).ok()?;
    let sized = file.set_len(SIZE_BYTES);
    let device = sized.ok().and_then(|()| LoopDevice::attach(&image).ok());
    // The device keeps the image, and the mount the device.
    let _ = fs::remove_file(&image);
    let device = device?;
    // A small journal and few inodes: both are written when it is made.
    let words = [
        "-q",
        "-F",
        "-E",
        "lazy_itable_init=0,lazy_journal_init=0",
        "-N",
        "65536",
        "-J",
        "size=16",
    ];
    let mut arguments: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    arguments.push(device.path().as_os_str());
    program::run("mkfs.ext4", &arguments).ok()?;
    // Memory of what is removed is given back.
    mount(device.path(), directory, "ext4", MountFlags::NOATIME, Some(c"discard")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn everybody_may_enter_and_all_stand_on_the_same() {
        let path = memory_directory();
        assert_eq!(path, memory_directory());
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o5, 0o5, "{mode:o}");
        fs::write(path.join("ground"), "x").unwrap();
        assert_eq!(fs::read(path.join("ground")).unwrap(), b"x");
        let image = format!("{MEMORY}/assay-memory.{}", std::process::id());
        assert!(!Path::new(&image).exists());
    }
}
