//! Removing a run, and nothing that is not part of one.
//!
//! Everything goes through descriptors of directories that were opened without following symbolic links, so
//! nothing outside can be reached, whatever is exchanged meanwhile. All is looked at before anything is removed.

use crate::cell;
use crate::failure::refused;
use crate::files::{TEMPORARY, disk_bytes};
use crate::id::cell_name;
use crate::lock::{self, Lock};
use crate::run::{self, CELLS, MANIFEST, RunReader};
use assay_model::{Error, Result};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::{self, Errno};
use std::path::Path;

/// What was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Id of the run.
    pub id: String,
    /// Bytes that it took on the disk.
    pub bytes: u64,
}

/// A directory of a run, by what may be in it.
#[derive(Clone, Copy)]
enum Room {
    Run,
    Cells,
    Cell,
}

impl Room {
    fn holds_file(self, name: &str) -> bool {
        let whole = name.strip_prefix(TEMPORARY).unwrap_or(name);
        match self {
            Self::Run => run::is_file(whole),
            Self::Cells => false,
            Self::Cell => cell::is_file(whole),
        }
    }

    fn holds_directory(self, name: &str) -> Option<Self> {
        match self {
            Self::Run if name == CELLS => Some(Self::Cells),
            Self::Cells if cell_name(name) == name => Some(Self::Cell),
            _ => None,
        }
    }
}

pub(crate) fn remove(path: &Path) -> Result<Removed> {
    // Both are needed as long as others may ask what this directory is, so they go last.
    const LAST: [&str; 2] = [MANIFEST, lock::FILE_NAME];
    let fail = |error: Errno| refused("removing", path, &error.into());
    let directory = open(CWD, path).map_err(|error| not_a_directory(path, error))?;
    let run = RunReader::open(path)?;
    let _lock = Lock::take(path)?;
    let mut foreign = Vec::new();
    survey(&directory, Room::Run, "", &mut foreign).map_err(fail)?;
    if !foreign.is_empty() {
        return Err(holds_foreign(path, &foreign));
    }
    let bytes = disk_bytes(path);
    empty(&directory, Room::Run, &LAST).map_err(fail)?;
    for name in LAST {
        unlinkat(&directory, name, AtFlags::empty()).map_err(fail)?;
    }
    // Fails, as it should, when something new has come in.
    std::fs::remove_dir(path).map_err(|error| refused("removing", path, &error))?;
    Ok(Removed { id: run.manifest().id.clone(), bytes })
}

fn open(parent: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

fn not_a_directory(path: &Path, error: Errno) -> Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => Error::usage(
            format!("{} is a link or a file, not the directory of a run", path.display()),
            "name the run by its id or by its own directory; links are not followed here",
        ),
        Errno::NOENT => Error::usage(
            format!("there is no run at {}", path.display()),
            "list the runs of the store, or choose another store with --store DIR",
        ),
        other => refused("opening", path, &other.into()),
    }
}

fn holds_foreign(path: &Path, foreign: &[String]) -> Error {
    let shown = foreign.iter().take(5).cloned().collect::<Vec<_>>();
    Error::environment(
        format!(
            "{} holds what is not part of a run: {}; nothing was removed",
            path.display(),
            shown.join(", ")
        ),
        "move it away if you need it, or remove the directory yourself",
    )
}

/// The entries of a directory with their own types: a link is a link here.
fn entries(directory: &OwnedFd) -> io::Result<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            let status = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            found.push((name, FileType::from_raw_mode(status.st_mode)));
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(found)
}

/// Names everything that does not belong.
fn survey(
    directory: &OwnedFd,
    room: Room,
    prefix: &str,
    foreign: &mut Vec<String>,
) -> io::Result<()> {
    for (name, kind) in entries(directory)? {
        match (kind, room.holds_directory(&name)) {
            (FileType::RegularFile, _) if room.holds_file(&name) => {}
            (FileType::Directory, Some(below)) => {
                let prefix = format!("{prefix}{name}/");
                survey(&open(directory, name.as_str())?, below, &prefix, foreign)?;
            }
            _ => foreign.push(format!("{prefix}{name}")),
        }
    }
    Ok(())
}

/// Removes everything that belongs, but for some names.
fn empty(directory: &OwnedFd, room: Room, but: &[&str]) -> io::Result<()> {
    for (name, kind) in entries(directory)? {
        match (kind, room.holds_directory(&name)) {
            (FileType::Directory, Some(below)) => {
                empty(&open(directory, name.as_str())?, below, &[])?;
                unlinkat(directory, name.as_str(), AtFlags::REMOVEDIR)?;
            }
            (FileType::RegularFile, _)
                if room.holds_file(&name) && !but.contains(&name.as_str()) =>
            {
                unlinkat(directory, name.as_str(), AtFlags::empty())?;
            }
            _ => {}
        }
    }
    Ok(())
}
