//! What a store holds, as a list.

use crate::directory::Directory;
use crate::failure::refused;
use crate::id::is_id;
use crate::run::{MANIFEST, RunReader, RunStatus};
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use rustix::fs::FileType;
use std::path::{Path, PathBuf};

/// The runs of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunListing {
    /// The newest first.
    pub runs: Vec<RunSummary>,
    /// Runs that cannot be opened, for example of a newer form.
    pub unreadable: Vec<UnreadableRun>,
    /// Directories of runs that were killed before anything was written down of them, or are about
    /// to begin.
    pub begun: Vec<PathBuf>,
}

/// One run of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// The name to open it by.
    pub id: String,
    /// What people call it, where they do.
    pub label: Option<String>,
    /// Its directory.
    pub path: PathBuf,
    /// What it was made for.
    pub kind: RunKind,
    /// The targets as they were named.
    pub targets: Vec<String>,
    /// When it was begun, nanoseconds since 1970 UTC.
    pub created_unix_ns: u64,
    /// Where it stands.
    pub status: RunStatus,
}

impl RunSummary {
    /// Measured time of all cells, ns; it is read from them, which takes a moment for a long
    /// unfinished run.
    pub fn measured_ns(&self) -> Result<u64> {
        RunReader::open(&self.path)?.measured_ns()
    }

    /// Bytes that it takes on the disk; it is counted each time.
    pub fn disk_bytes(&self) -> u64 {
        Directory::open(&self.path).map_or(0, |directory| directory.disk_bytes())
    }
}

/// A run that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableRun {
    /// Its directory.
    pub path: PathBuf,
    /// Why.
    pub error: Error,
}

/// Names of the directories that hold a manifest, ascending; what is only a link to one is none.
pub(crate) fn names(root: &Path) -> Result<Vec<String>> {
    Ok(directories(root)?.into_iter().map(|(name, _)| name).collect())
}

/// Names of directories that are called as a run and have no manifest.
pub(crate) fn begun(root: &Path) -> Result<Vec<String>> {
    let found = all_directories(root)?.into_iter();
    let begun = found.filter(|(name, directory)| is_id(name) && !directory.has(MANIFEST));
    Ok(begun.map(|(name, _)| name).collect())
}

fn directories(root: &Path) -> Result<Vec<(String, Directory)>> {
    let mut found = all_directories(root)?;
    found.retain(|(_, directory)| directory.has(MANIFEST));
    Ok(found)
}

fn all_directories(root: &Path) -> Result<Vec<(String, Directory)>> {
    if !root.try_exists().map_err(|error| refused("reading the store", root, &error))? {
        return Ok(Vec::new());
    }
    let fail = |error| refused("reading the store", root, &error);
    let store = Directory::open(root).map_err(fail)?;
    let found = store.entries().map_err(fail)?.into_iter();
    let directories = found.filter(|(_, kind)| *kind == FileType::Directory);
    Ok(directories
        .filter_map(|(name, _)| store.below(&name).ok().map(|directory| (name, directory)))
        .collect())
}

pub(crate) fn read(root: &Path) -> Result<RunListing> {
    let mut listing = RunListing::default();
    for (id, directory) in directories(root)? {
        let path = directory.path().to_owned();
        match RunReader::of(directory) {
            Ok(run) => listing.runs.push(summary(id, &run)),
            Err(error) => listing.unreadable.push(UnreadableRun { path, error }),
        }
    }
    listing.begun = begun(root)?.into_iter().map(|name| root.join(name)).collect();
    listing.runs.sort_by(|left, right| newness(right).cmp(&newness(left)));
    Ok(listing)
}

/// Two runs of one second have the order of their begin, not of their random characters.
fn newness(run: &RunSummary) -> (u64, &str) {
    (run.created_unix_ns, &run.id)
}

fn summary(id: String, run: &RunReader) -> RunSummary {
    let manifest = run.manifest();
    RunSummary {
        id,
        label: run.label(),
        path: run.path().to_owned(),
        kind: manifest.kind,
        targets: manifest.targets.clone(),
        created_unix_ns: manifest.created_unix_ns,
        status: run.status(),
    }
}
