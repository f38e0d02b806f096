//! Temporary directories that are told apart by owner, so that what a killed test left is cleared.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::mounts;
use crate::watchdog;

const PREFIX: &str = "assay-rig.";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A directory of its own below the system's temporary directory, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new empty directory. The first call of a process also clears away the mounts and the
    /// directories of rigs whose process is gone, and starts the watchdog that does so for this
    /// one.
    pub fn new() -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            Self::sweep();
            watchdog::start();
        }
        let name = format!("{PREFIX}{}.{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self { path })
    }

    /// Unmounts and removes what rigs of dead processes left behind; whatever refuses is left.
    pub fn sweep() {
        let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
            return;
        };
        let paths = entries.flatten().map(|entry| entry.path());
        for path in paths.filter(|path| is_abandoned(path)) {
            mounts::detach_below(&path);
            if !mounts::any_below(&path) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that is still a mount point must not be emptied.
        if !mounts::any_below(&self.path) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The process that made a scratch directory, by the directory's name.
fn owner(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    name.split('.').next()?.parse().ok()
}

fn is_abandoned(path: &Path) -> bool {
    owner(path).is_some_and(|pid| !is_alive(pid))
}

/// A killed process whose threads hang in its own mount stays, its first thread as a zombie.
fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit_once(") ").map_or("X", |(_, rest)| rest);
    !state.starts_with(['Z', 'X'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_goes_with_its_guard() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        fs::write(scratch.join("file"), "x").unwrap();
        assert_eq!(owner(&path), Some(std::process::id()));
        assert!(!is_abandoned(&path));
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn only_directories_of_dead_rigs_are_abandoned() {
        // Process numbers end at 4,194,304 (PID_MAX_LIMIT).
        assert!(is_abandoned(Path::new("/tmp/assay-rig.4999999.0")));
        assert!(is_alive(1));
        assert!(!is_abandoned(Path::new("/tmp/assay-rig.what")));
        assert!(!is_abandoned(Path::new("/tmp/other.4999999.0")));
    }
}
