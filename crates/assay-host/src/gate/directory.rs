//! Directories for programs that write many files, such as a database server: created here, known again by a marker,
//! and removed with everything in them; nothing that was not created here is ever removed.

use super::Gate;
use super::create::{Spot, check_space, failed, new_owner};
use super::lock::LockedFile;
use crate::root::{SysRoot, names_in};
use assay_model::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, fsync, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Begin of the names of such directories.
pub const DIRECTORY_PREFIX: &str = "assay-directory-";
/// The marker in such a directory.
const MARKER: &str = "assay-marker";
/// First line of a marker.
const FIRST_LINE: &str = "ASSAY DIRECTORY 1";

/// A directory that was created here and is held by this program.
#[derive(Debug)]
pub struct OwnedDirectory {
    path: PathBuf,
    /// Locked as long as this program lives.
    _marker: LockedFile,
}

impl OwnedDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Gate {
    /// Creates a directory in another one, for this user alone, after a look at the space that is wanted in it.
    ///
    /// # Errors
    /// An environment error when the space does not suffice or the system refuses; then nothing is left behind.
    pub fn create_directory(&self, parent: &Path, wanted_bytes: u64) -> Result<OwnedDirectory> {
        let owner = new_owner(parent)?.to_string();
        let name = format!("{DIRECTORY_PREFIX}{}", &owner[..12]);
        let parent = parent.canonicalize().map_err(|error| unreadable(parent, &error))?;
        let spot = Spot::within(&parent, OsStr::new(&name))?;
        check_space(&spot, wanted_bytes)?;
        // Whoever cleans up waits, so that a directory without its marker is always one that was left behind.
        let _ = flock(&spot.directory, FlockOperation::LockExclusive);
        let made = make(&spot, &owner);
        let _ = flock(&spot.directory, FlockOperation::Unlock);
        made.map_err(|error| {
            // Only what is empty goes this way.
            let _ =
                fs::remove_file(spot.path.join(MARKER)).and_then(|()| fs::remove_dir(&spot.path));
            failed(&spot.path, "creating it", error)
        })
    }

    /// Directories of ours in `parent` whose program has ended without removing them.
    ///
    /// # Errors
    /// An environment error when `parent` cannot be read.
    pub fn left_directories(&self, parent: &Path) -> Result<Vec<PathBuf>> {
        let held = File::open(parent).map_err(|error| unreadable(parent, &error))?;
        let _ = flock(&held, FlockOperation::LockExclusive);
        let names = names_in(parent).map_err(|error| unreadable(parent, &error))?;
        let ours = names.iter().filter(|name| name.starts_with(DIRECTORY_PREFIX));
        Ok(ours.map(|name| parent.join(name)).filter(|path| is_left(path)).collect())
    }

    /// Removes a directory that is held, with everything in it; its marker goes last, so that it is known again
    /// when this is cut short.
    ///
    /// # Errors
    /// An environment error when something in it cannot be removed or another file system is mounted in it.
    pub fn remove_directory(&self, directory: &OwnedDirectory) -> Result<()> {
        self.empty(&directory.path)
    }

    /// Leaves a directory to the user: without its marker no program of ours removes it any more.
    ///
    /// # Errors
    /// An environment error when the marker cannot be removed.
    pub fn give_away_directory(&self, directory: &OwnedDirectory) -> Result<()> {
        let marker = directory.path.join(MARKER);
        fs::remove_file(&marker).map_err(|error| unreadable(&marker, &error))
    }

    /// Removes one of the [`left_directories`](Self::left_directories).
    ///
    /// # Errors
    /// As for [`remove_directory`](Self::remove_directory), and when it is not ours or a program holds it.
    pub fn remove_left_directory(&self, path: &Path) -> Result<()> {
        if is_left(path) {
            return self.empty(path);
        }
        Err(Error::environment(
            format!("{} is not removed: it is in use or was not created by assay", path.display()),
            "remove it by hand if it is yours",
        ))
    }

    fn empty(&self, path: &Path) -> Result<()> {
        check_mounts(self.root(), path)?;
        let refused = |error: std::io::Error| {
            Error::environment(
                format!("removing {}: {error}", path.display()),
                "remove it by hand; it is of no further use",
            )
        };
        for entry in fs::read_dir(path).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            if entry.file_name() == MARKER {
                continue;
            }
            // Neither of these follows a symbolic link.
            let is_directory = entry.file_type().map_err(refused)?.is_dir();
            let removed = if is_directory {
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
            removed.map_err(refused)?;
        }
        let marker = path.join(MARKER);
        if marker.exists() {
            fs::remove_file(marker).map_err(refused)?;
        }
        fs::remove_dir(path).map_err(refused)
    }
}

/// The directory with its locked marker.
fn make(spot: &Spot, owner: &str) -> rustix::io::Result<OwnedDirectory> {
    mkdirat(&spot.directory, &spot.name, Mode::RWXU)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(&spot.directory, &spot.name, flags, Mode::empty())?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
    let marker = File::from(openat(&directory, MARKER, flags, Mode::RUSR | Mode::WUSR)?);
    let marker = LockedFile::from(marker);
    marker.lock().map_err(|_| Errno::WOULDBLOCK)?;
    let text = format!(
        "{FIRST_LINE}\ninode {}\nowner {owner}\nprocess {}\n",
        fstat(directory.as_fd())?.st_ino,
        std::process::id()
    );
    let written = (&*marker).write_all(text.as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    fsync(&marker)?;
    fsync(&spot.directory)?;
    Ok(OwnedDirectory { path: spot.path.clone(), _marker: marker })
}

/// Whether it was created here by this user, and nobody holds it: by its marker, or empty by its name.
fn is_left(path: &Path) -> bool {
    let Ok(status) = fs::symlink_metadata(path) else {
        return false;
    };
    let named = path.file_name().and_then(OsStr::to_str);
    let named = named.is_some_and(|name| name.starts_with(DIRECTORY_PREFIX));
    if !named || !status.is_dir() {
        return false;
    }
    let Ok(marker) = File::options().read(true).write(true).open(path.join(MARKER)) else {
        return fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    };
    let mine = marker.metadata().is_ok_and(|marker| marker.uid() == geteuid().as_raw());
    let text = fs::read_to_string(path.join(MARKER)).unwrap_or_default();
    // A copy of such a directory has another number; a marker that was cut off is of one that is hardly begun.
    let inode = format!("{FIRST_LINE}\ninode {}\n", status.ino());
    let known = text.starts_with(&inode) || text.is_empty();
    mine && known && LockedFile::from(marker).lock().is_ok()
}

/// Nothing is removed across the border of a file system.
fn check_mounts(root: &SysRoot, path: &Path) -> Result<()> {
    let mounts = root.text("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let inside = points.map(Path::new).find(|point| point.starts_with(path));
    inside.map_or(Ok(()), |point| {
        Err(Error::environment(
            format!("{} is not removed: {} is mounted in it", path.display(), point.display()),
            "unmount that first",
        ))
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(
        format!("cannot look into {}: {error}", path.display()),
        "name a directory that is there, and check the rights on it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir()
                .join(format!("assay-gate-directory-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn gate() -> Gate {
        Gate::new(SysRoot::live())
    }

    #[test]
    fn a_directory_is_held_while_its_program_lives_and_found_when_it_does_not() {
        let (scratch, gate) = (Scratch::new("held"), gate());
        let held = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        let path = held.path().to_owned();
        fs::create_dir(path.join("data")).unwrap();
        fs::write(path.join("data/file"), "x").unwrap();
        assert!(gate.left_directories(&scratch.0).unwrap().is_empty());
        assert!(gate.remove_left_directory(&path).is_err());
        drop(held);
        let left = gate.left_directories(&scratch.0).unwrap();
        assert_eq!(left.len(), 1);
        gate.remove_left_directory(&left[0]).unwrap();
        assert!(!path.exists());
        let kept = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        fs::write(kept.path().join("file"), "x").unwrap();
        gate.give_away_directory(&kept).unwrap();
        drop(kept);
        assert!(gate.left_directories(&scratch.0).unwrap().is_empty());
    }

    #[test]
    fn what_was_not_created_here_stays() {
        let (scratch, gate) = (Scratch::new("foreign"), gate());
        let foreign = scratch.0.join(format!("{DIRECTORY_PREFIX}123456789abc"));
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("precious"), "x").unwrap();
        let other = scratch.0.join("other");
        fs::create_dir(&other).unwrap();
        assert!(gate.left_directories(&scratch.0).unwrap().is_empty());
        assert!(gate.remove_left_directory(&foreign).is_err());
        assert!(gate.remove_left_directory(&other).is_err());
        // A copy of one of ours has another number, whatever its marker says.
        let ours = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        fs::copy(ours.path().join(MARKER), foreign.join(MARKER)).unwrap();
        assert!(gate.remove_left_directory(&foreign).is_err());
        assert!(foreign.join("precious").exists());
        gate.remove_directory(&ours).unwrap();
        assert!(!ours.path().exists());
    }

    #[test]
    fn links_are_removed_and_not_what_they_lead_to() {
        let (scratch, gate) = (Scratch::new("links"), gate());
        let outside = scratch.0.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        let ours = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        std::os::unix::fs::symlink(&outside, ours.path().join("link")).unwrap();
        gate.remove_directory(&ours).unwrap();
        assert!(outside.join("precious").exists());
    }

    #[test]
    fn one_that_was_cut_short_is_known_again() {
        let (scratch, gate) = (Scratch::new("short"), gate());
        let empty = scratch.0.join(format!("{DIRECTORY_PREFIX}000000000000"));
        fs::create_dir(&empty).unwrap();
        let begun = scratch.0.join(format!("{DIRECTORY_PREFIX}000000000001"));
        fs::create_dir(&begun).unwrap();
        fs::write(begun.join(MARKER), "").unwrap();
        for left in gate.left_directories(&scratch.0).unwrap() {
            gate.remove_left_directory(&left).unwrap();
        }
        assert!(!empty.exists() && !begun.exists());
        let error = gate.create_directory(&scratch.0, u64::MAX / 2).unwrap_err();
        assert!(error.to_string().contains("space"), "{error}");
        assert!(gate.create_directory(&scratch.0.join("nowhere"), 1).is_err());
    }
}
