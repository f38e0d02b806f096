//! Directories for programs that write many files, such as a database server: created here, known
//! again by the marker in them, and removed with everything in them. Everything goes by
//! descriptors: what is exchanged by name meanwhile is neither removed nor taken for ours.

use super::SafetyGate;
use super::create::{check_space, new_owner};
use super::lock::LockedFile;
use super::mark::{DirectoryMark, MarkVerdict};
use super::refusal::failed;
use super::spot::Spot;
use crate::root::SysRoot;
use assay_dbserver::HeldServer;
use assay_model::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Begin of the names of such directories.
pub const DIRECTORY_PREFIX: &str = "assay-directory-";
/// The marker in such a directory.
const MARKER: &str = "assay-marker";
/// No marker is longer, bytes.
const MARKER_BYTES_MAX: u64 = 4096;
/// Others may write into what has one of these bits.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A directory that was created here and is held by this program.
#[derive(Debug)]
pub struct OwnedDirectory {
    held: HeldServer,
    parent: HeldServer,
    name: String,
    /// Locked as long as this program lives, where the file system has locks.
    marker: LockedFile,
}

impl OwnedDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// The directory itself.
    pub const fn held(&self) -> &HeldServer {
        &self.held
    }
}

/// An Assay directory whose program ended without removing it.
#[derive(Debug)]
pub struct LeftoverDirectory {
    /// The directory, with the lock of its marker as long as this value lives.
    directory: OwnedDirectory,
}

impl LeftoverDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory itself.
    pub const fn held(&self) -> &HeldServer {
        self.directory.held()
    }
}

/// What a directory holds besides what is used.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// What was left behind and can be removed.
    pub directories: Vec<LeftoverDirectory>,
    /// What this user's runs made and of which it cannot be known whether it is used, and why.
    pub unknown: Vec<(PathBuf, String)>,
}

impl SafetyGate {
    /// Creates a directory in another one, for this user alone, after a look at the space that is
    /// wanted in it.
    ///
    /// # Errors
    /// An environment error when the space does not suffice or the system refuses; then nothing is
    /// left behind.
    pub fn create_directory(&self, parent: &Path, wanted_bytes: u64) -> Result<OwnedDirectory> {
        let owner = new_owner(parent)?.to_string();
        let name = format!("{DIRECTORY_PREFIX}{}", &owner[..12]);
        let parent = parent.canonicalize().map_err(|error| unreadable(parent, &error))?;
        check_space(&Spot::within(&parent, OsStr::new(&name))?, wanted_bytes)?;
        let made = make(self.root(), &parent, &name, &owner);
        made.map_err(|error| failed(&parent.join(&name), "creating it", error))
    }

    /// Assay directories in `parent` whose programs ended without removing them. Nothing is waited
    /// for: what is locked is used.
    ///
    /// # Errors
    /// An environment error when `parent` cannot be read.
    pub fn left_directories(&self, parent: &Path) -> Result<Leftovers> {
        let look = || -> rustix::io::Result<Leftovers> {
            let held = HeldServer::named(parent)?;
            let mut found = Leftovers::default();
            for (name, _) in held.entries()? {
                let name = name.to_str().filter(|name| name.starts_with(DIRECTORY_PREFIX));
                let Some((directory, mark)) = name.and_then(|name| known(&held, name)) else {
                    continue;
                };
                match mark.judge(self.root(), is_locked(&directory.marker)) {
                    MarkVerdict::Left => found.directories.push(LeftoverDirectory { directory }),
                    MarkVerdict::Used => {}
                    MarkVerdict::Unknown(why) => {
                        found.unknown.push((directory.path().to_owned(), why));
                    }
                }
            }
            Ok(found)
        };
        look().map_err(|error| unreadable(parent, &error.into()))
    }

    /// Removes a directory that is held, with everything in it; its marker goes last, so that it is
    /// known again when this is cut short.
    ///
    /// # Errors
    /// An environment error when something in it cannot be removed or another file system is
    /// mounted in it.
    pub fn remove_directory(&self, directory: &OwnedDirectory) -> Result<()> {
        let path = directory.path();
        check_mounts(self.root(), path)?;
        let removed = directory
            .held
            .empty(MARKER)
            .and_then(|()| directory.held.unlink(MARKER))
            .and_then(|()| directory.parent.remove_held(&directory.name, &directory.held));
        removed.map_err(|error| {
            let why = match error {
                Errno::STALE => {
                    "its name now refers to something else; its content is gone".to_owned()
                }
                Errno::XDEV => "another file system is mounted in it".to_owned(),
                error => std::io::Error::from(error).to_string(),
            };
            Error::environment(
                format!("removing {}: {why}", path.display()),
                "remove it by hand; it is no longer needed",
            )
        })
    }

    /// Leaves a directory to the user: without its marker Assay never removes it.
    pub fn give_away_directory(&self, directory: &OwnedDirectory) -> Result<()> {
        let removed = directory.held.unlink(MARKER);
        removed.map_err(|error| unreadable(&directory.path().join(MARKER), &error.into()))
    }

    /// Removes one of the [`left_directories`](Self::left_directories).
    pub fn remove_left_directory(&self, left: &LeftoverDirectory) -> Result<()> {
        self.remove_directory(&left.directory)
    }
}

/// The directory with its locked marker; what fails takes it away again.
fn make(
    root: &SysRoot,
    parent: &Path,
    name: &str,
    owner: &str,
) -> rustix::io::Result<OwnedDirectory> {
    let parent = HeldServer::named(parent)?;
    let held = parent.new_directory(name)?;
    let marked = mark(root, &held, owner);
    let marker = marked.inspect_err(|_| {
        // Only what is empty goes this way.
        let _ = held.unlink(MARKER).and_then(|()| parent.remove_held(name, &held));
    })?;
    fsync(&parent)?;
    Ok(OwnedDirectory { held, parent, name: name.to_owned(), marker })
}

fn mark(root: &SysRoot, held: &HeldServer, owner: &str) -> rustix::io::Result<LockedFile> {
    let marker = LockedFile::from(held.new_file(MARKER)?);
    // Where there are no locks the text says who is at it.
    let _ = flock(&marker, FlockOperation::NonBlockingLockExclusive);
    let text = DirectoryMark::new(root, owner, held.status()?.st_ino).to_string();
    let written = (&*marker).write_all(text.as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    fsync(&marker)?;
    Ok(marker)
}

/// A directory of this user with its marker in it: both belong to him, nobody else may write there,
/// and the text of the marker is of this very directory.
fn known(parent: &HeldServer, name: &str) -> Option<(OwnedDirectory, DirectoryMark)> {
    let held = parent.directory(name).ok()?;
    let status = held.status().ok()?;
    let user = geteuid().as_raw();
    if status.st_uid != user || status.st_mode & WRITABLE_BY_OTHERS != 0 {
        return None;
    }
    let marker = held.file(MARKER, OFlags::RDWR, Mode::empty()).ok()?;
    let of_marker = marker.metadata().ok()?;
    let is_plain = of_marker.uid() == user
        && of_marker.nlink() == 1
        && of_marker.mode() & WRITABLE_BY_OTHERS == 0
        && (1..=MARKER_BYTES_MAX).contains(&of_marker.len());
    let mut text = String::new();
    (&marker).take(MARKER_BYTES_MAX).read_to_string(&mut text).ok().filter(|_| is_plain)?;
    let mark = DirectoryMark::parse(&text)?;
    let own = name.strip_prefix(DIRECTORY_PREFIX)?;
    let is_of_this = mark.inode == status.st_ino && mark.owner.get(..12) == Some(own);
    let (parent, name) = (parent.clone(), name.to_owned());
    is_of_this
        .then_some((OwnedDirectory { held, parent, name, marker: LockedFile::from(marker) }, mark))
}

/// Whether somebody holds the marker; nothing where the file system has no locks.
fn is_locked(marker: &LockedFile) -> Option<bool> {
    match flock(marker, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(false),
        Err(Errno::WOULDBLOCK) => Some(true),
        Err(_) => None,
    }
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
        format!("cannot read {}: {error}", path.display()),
        "specify an existing directory, and check its permissions",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    struct ScratchDirectory(PathBuf);

    impl ScratchDirectory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir()
                .join(format!("assay-gate-directory-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for ScratchDirectory {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn gate() -> SafetyGate {
        SafetyGate::new(SysRoot::live())
    }

    fn left(gate: &SafetyGate, scratch: &ScratchDirectory) -> Vec<LeftoverDirectory> {
        gate.left_directories(&scratch.0).unwrap().directories
    }

    /// As a program leaves it that is killed.
    #[expect(clippy::needless_pass_by_value, reason = "what is left is given up")]
    fn leave(directory: OwnedDirectory) {
        let marker = directory.path().join(MARKER);
        let gone = |line: &str| match line.strip_prefix("process ") {
            Some(_) => "process 0\n".to_owned(),
            None => format!("{line}\n"),
        };
        let text = fs::read_to_string(&marker).unwrap();
        fs::write(&marker, text.lines().map(gone).collect::<String>()).unwrap();
    }

    #[test]
    fn a_directory_is_held_while_its_program_lives_and_found_when_it_does_not() {
        let (scratch, gate) = (ScratchDirectory::new("held"), gate());
        let held = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        let path = held.path().to_owned();
        fs::create_dir(path.join("data")).unwrap();
        fs::write(path.join("data/file"), "x").unwrap();
        assert!(left(&gate, &scratch).is_empty());
        // A second look leaves the lock where it is.
        assert!(left(&gate, &scratch).is_empty());
        leave(held);
        let found = left(&gate, &scratch);
        assert_eq!(found.len(), 1);
        assert!(found[0].held().disk_bytes() > 0);
        gate.remove_left_directory(&found[0]).unwrap();
        assert!(!path.exists());
        let kept = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        fs::write(kept.path().join("file"), "x").unwrap();
        gate.give_away_directory(&kept).unwrap();
        drop(kept);
        assert!(left(&gate, &scratch).is_empty());
    }

    #[test]
    fn what_was_not_created_here_stays() {
        let (scratch, gate) = (ScratchDirectory::new("foreign"), gate());
        let foreign = scratch.0.join(format!("{DIRECTORY_PREFIX}123456789abc"));
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("precious"), "x").unwrap();
        let other = scratch.0.join("other");
        fs::create_dir(&other).unwrap();
        assert!(left(&gate, &scratch).is_empty());
        // A copy of an Assay directory has another number, whatever its marker says.
        let ours = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        fs::copy(ours.path().join(MARKER), foreign.join(MARKER)).unwrap();
        assert!(left(&gate, &scratch).is_empty());
        assert!(foreign.join("precious").exists());
        gate.remove_directory(&ours).unwrap();
        assert!(!ours.path().exists());
    }

    #[test]
    fn links_are_removed_and_not_what_they_lead_to() {
        let (scratch, gate) = (ScratchDirectory::new("links"), gate());
        let outside = scratch.0.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        let ours = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        std::os::unix::fs::symlink(&outside, ours.path().join("link")).unwrap();
        gate.remove_directory(&ours).unwrap();
        assert!(outside.join("precious").exists());
    }

    #[test]
    fn what_says_nothing_of_itself_is_nobodys() {
        let (scratch, gate) = (ScratchDirectory::new("short"), gate());
        let empty = scratch.0.join(format!("{DIRECTORY_PREFIX}000000000000"));
        fs::create_dir(&empty).unwrap();
        let begun = scratch.0.join(format!("{DIRECTORY_PREFIX}000000000001"));
        fs::create_dir(&begun).unwrap();
        fs::write(begun.join(MARKER), "").unwrap();
        fs::write(begun.join("thesis"), "three years").unwrap();
        let linked = scratch.0.join(format!("{DIRECTORY_PREFIX}000000000002"));
        fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(begun.join("thesis"), linked.join(MARKER)).unwrap();
        assert!(left(&gate, &scratch).is_empty());
        let error = gate.create_directory(&scratch.0, u64::MAX / 2).unwrap_err();
        assert!(error.to_string().contains("space"), "{error}");
        assert!(gate.create_directory(&scratch.0.join("nowhere"), 1).is_err());
    }

    #[test]
    fn what_others_may_write_into_or_another_host_made_is_never_left() {
        let (scratch, gate) = (ScratchDirectory::new("others"), gate());
        let made = gate.create_directory(&scratch.0, 1 << 20).unwrap();
        let path = made.path().to_owned();
        leave(made);
        let marker = path.join(MARKER);
        let text = fs::read_to_string(&marker).unwrap();
        assert_eq!(left(&gate, &scratch).len(), 1);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(left(&gate, &scratch).is_empty());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let changed = |name: &str, to: &str| {
            let line = |line: &str| match line.split_once(' ') {
                Some((known, _)) if known == name => format!("{name} {to}\n"),
                _ => format!("{line}\n"),
            };
            fs::write(&marker, text.lines().map(line).collect::<String>()).unwrap();
        };
        changed("boot", "another");
        assert_eq!(left(&gate, &scratch).len(), 1, "an earlier boot of this host");
        let there = text.replace("\nhost ", "\nhost another-");
        fs::write(&marker, there).unwrap();
        assert_eq!(left(&gate, &scratch).len(), 1, "this kernel, whatever the host is called");
        let there = fs::read_to_string(&marker).unwrap().replace("\nboot ", "\nboot 0");
        fs::write(&marker, there).unwrap();
        let found = gate.left_directories(&scratch.0).unwrap();
        assert!(found.directories.is_empty() && found.unknown.len() == 1, "{found:?}");
        changed("process", &std::process::id().to_string());
        assert_eq!(left(&gate, &scratch).len(), 0, "the process runs");
    }
}
