//! Removing a run, and nothing that is not part of one.
//!
//! Everything goes through descriptors of directories that were opened without following symbolic
//! links, so nothing outside can be reached, whatever is exchanged meanwhile. All is looked at
//! before anything is removed.

use crate::cell;
use crate::directory::{Directory, TEMPORARY};
use crate::failure::refused;
use crate::id::{cell_name, is_id};
use crate::lock::{self, Lock};
use crate::run::{self, CELLS, MANIFEST, RunReader};
use assay_model::{Error, Result};
use rustix::fs::FileType;
use std::io::{self, ErrorKind};
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
    let fail = |error: io::Error| refused("removing", path, &error);
    let directory = Directory::open_itself(path).map_err(|error| not_a_directory(path, &error))?;
    let id = id_of(path, &directory)?;
    let mut foreign = Vec::new();
    survey(&directory, Room::Run, "", &mut foreign).map_err(fail)?;
    if !foreign.is_empty() {
        return Err(holds_foreign(path, &foreign));
    }
    let _lock = Lock::take(&directory)?;
    let bytes = directory.disk_bytes();
    empty(&directory, Room::Run, &LAST).map_err(fail)?;
    for name in LAST {
        directory.remove_file(name).map_err(fail)?;
    }
    // Fails, as it should, when something new has come in.
    std::fs::remove_dir(path).map_err(fail)?;
    Ok(Removed { id, bytes })
}

/// The id of a run; of one that was killed before it was described its directory's name.
fn id_of(path: &Path, directory: &Directory) -> Result<String> {
    let name =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if is_id(&name) && !directory.has(MANIFEST) {
        return Ok(name);
    }
    Ok(RunReader::of(directory.clone())?.manifest().id.clone())
}

fn not_a_directory(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotADirectory => Error::usage(
            format!("{} is a link or a file, not a run directory", path.display()),
            "specify the run by its id or its directory; links are not followed here",
        ),
        ErrorKind::NotFound => Error::usage(
            format!("there is no run at {}", path.display()),
            "list the runs of the store, or choose another store with --store DIR",
        )
        .of_kind(assay_model::ErrorKind::NotFound),
        _ => refused("opening", path, error),
    }
}

fn holds_foreign(path: &Path, foreign: &[String]) -> Error {
    let shown = foreign.iter().take(5).cloned().collect::<Vec<_>>();
    Error::environment(
        format!(
            "{} contains files that are not part of a run: {}; nothing was removed",
            path.display(),
            shown.join(", ")
        ),
        "move it away if you need it, or remove the directory yourself",
    )
}

/// Names everything that does not belong.
fn survey(
    directory: &Directory,
    room: Room,
    prefix: &str,
    foreign: &mut Vec<String>,
) -> io::Result<()> {
    for (name, kind) in directory.entries()? {
        match (kind, room.holds_directory(&name)) {
            (FileType::RegularFile, _) if room.holds_file(&name) => {}
            (FileType::Directory, Some(below)) => {
                let prefix = format!("{prefix}{name}/");
                survey(&directory.below(&name)?, below, &prefix, foreign)?;
            }
            _ => foreign.push(format!("{prefix}{name}")),
        }
    }
    Ok(())
}

/// Removes everything that belongs, but for some names.
fn empty(directory: &Directory, room: Room, but: &[&str]) -> io::Result<()> {
    for (name, kind) in directory.entries()? {
        match (kind, room.holds_directory(&name)) {
            (FileType::Directory, Some(below)) => {
                empty(&directory.below(&name)?, below, &[])?;
                directory.remove_directory(&name)?;
            }
            (FileType::RegularFile, _)
                if room.holds_file(&name) && !but.contains(&name.as_str()) =>
            {
                directory.remove_file(&name)?;
            }
            _ => {}
        }
    }
    Ok(())
}
