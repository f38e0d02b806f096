//! What is mounted, and how to get rid of a mount that is busy.

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Mount points in the order in which they were mounted.
fn mount_points() -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    // The kernel writes a space in a path as \040; the others it escapes do not occur in ours.
    points.map(|point| PathBuf::from(point.replace("\\040", " "))).collect()
}

/// Whether `path` or anything below it is a mount point.
pub(crate) fn any_below(path: &Path) -> bool {
    mount_points().iter().any(|point| point.starts_with(path))
}

/// Takes every mount at or below `path` out of the name space, the last one first.
pub(crate) fn detach_below(path: &Path) {
    for point in mount_points().iter().rev().filter(|point| point.starts_with(path)) {
        let _ = unmount(point, UnmountFlags::FORCE | UnmountFlags::DETACH);
    }
}

/// Unmounts `path`, waiting up to `patience` for its last user, then by force: what is under way
/// fails, and the mount goes when its last file is closed.
pub(crate) fn unmount_surely(path: &Path, patience: Duration) -> Result<(), Errno> {
    let begin = Instant::now();
    loop {
        match unmount(path, UnmountFlags::empty()) {
            Err(Errno::BUSY) if begin.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(Errno::BUSY) => return tear_away(path),
            // Not a mount point any more.
            Err(Errno::INVAL) => return Ok(()),
            other => return other,
        }
    }
}

/// Fails what is under way on the mount at `path` and takes it out of the name space at once.
pub(crate) fn tear_away(path: &Path) -> Result<(), Errno> {
    unmount(path, UnmountFlags::FORCE | UnmountFlags::DETACH)
}
