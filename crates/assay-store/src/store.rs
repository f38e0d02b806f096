//! The directory that holds runs, and how a person names one of them.

use crate::directory::Directory;
use crate::document::StoredDocument;
use crate::listing::{self, RunListing};
use crate::remove::{self, Removed};
use crate::run::{MANIFEST, NewRun, RunReader, RunWriter};
use assay_model::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The name of the newest run.
const LATEST: &str = "latest";

/// A directory of runs; it need not be there before the first run is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    /// The label of the runs that begin here.
    label: Option<String>,
}

impl Store {
    /// The store at a directory; nothing is touched.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), label: None }
    }

    /// The same store, which gives its new runs this label; without one they have their ids alone.
    ///
    /// # Errors
    /// A usage error when it cannot be a label.
    pub fn labelled(self, label: Option<&str>) -> Result<Self> {
        label.map_or(Ok(()), |label| {
            crate::label::check(label)?;
            self.check_no_id(label)
        })?;
        Ok(Self { label: label.map(str::to_owned), ..self })
    }

    /// Refuses a label with which the id of a run here begins: that id would name the run.
    fn check_no_id(&self, label: &str) -> Result<()> {
        match self.names()?.iter().find(|id| id.starts_with(label)) {
            None => Ok(()),
            Some(id) => Err(Error::usage(
                format!("'{label}' is already the beginning of the id of the run {id}"),
                "choose another name",
            )),
        }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins a run, and the store with it where it is missing.
    pub fn create(&self, new: &NewRun) -> Result<RunWriter> {
        let writer = RunWriter::create(&self.root, new)?;
        if let Some(label) = &self.label {
            writer.put(StoredDocument::Label, &format!("{label}\n"))?;
        }
        Ok(writer)
    }

    /// Gives a run a label, instead of an earlier one.
    ///
    /// # Errors
    /// As for [`reopen`](Self::reopen); a usage error when it cannot be a label.
    pub fn label(&self, name: &str, label: &str) -> Result<()> {
        crate::label::check(label)?;
        self.check_no_id(label)?;
        self.reopen(name)?.put(StoredDocument::Label, &format!("{label}\n"))
    }

    /// Opens a run to read: its id, the first characters of it, its label, `latest`, or the path of
    /// its directory.
    ///
    /// # Errors
    /// A usage error when no run or more than one is meant, or when it is of a newer form.
    pub fn open(&self, name: &str) -> Result<RunReader> {
        RunReader::open(&self.resolve(name)?)
    }

    /// Opens a run to add documents to it, for example a page; cells of complete runs stay as they
    /// are.
    ///
    /// # Errors
    /// As for [`open`](Self::open); an environment error when it is being written, with who writes
    /// it.
    pub fn reopen(&self, name: &str) -> Result<RunWriter> {
        RunWriter::reopen(&self.open(name)?)
    }

    /// Takes a run up again that was killed, interrupted or failed.
    ///
    /// # Errors
    /// As for [`reopen`](Self::reopen); a usage error when it is complete.
    pub fn resume(&self, name: &str, now_unix_ns: u64) -> Result<RunWriter> {
        RunWriter::resume(&self.open(name)?, now_unix_ns)
    }

    /// All runs, the newest first; directories that are not runs are passed over. A store that is
    /// not there has none.
    pub fn runs(&self) -> Result<RunListing> {
        listing::read(&self.root)
    }

    /// Removes a run and nothing else: only files that a run consists of, never through a symbolic
    /// link.
    ///
    /// # Errors
    /// As for [`open`](Self::open); an environment error when the run is being written, or when its
    /// directory holds anything that is not ours: then nothing is removed.
    pub fn remove(&self, name: &str) -> Result<Removed> {
        remove::remove(&self.resolve(name)?)
    }

    /// The directory of the run that is meant.
    fn resolve(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() {
            return Err(Error::usage(
                "the name of the run is empty",
                "a variable of the shell may be unset; specify a run by its id, the first \
                 characters of it, or 'latest'",
            ));
        }
        if name == LATEST {
            return self.latest();
        }
        if name.contains('/') || name == "." || name == ".." {
            return Ok(PathBuf::from(name));
        }
        if self.names()?.iter().any(|known| known == name) {
            return Ok(self.root.join(name));
        }
        // A run that was killed before it was described can be removed by its whole id.
        if listing::begun(&self.root)?.iter().any(|known| known == name) {
            return Ok(self.root.join(name));
        }
        self.by_prefix(name)
    }

    fn by_prefix(&self, prefix: &str) -> Result<PathBuf> {
        let names = self.names()?;
        let found: Vec<&String> = names.iter().filter(|name| name.starts_with(prefix)).collect();
        match found.as_slice() {
            [only] => Ok(self.root.join(only)),
            [] if is_run(Path::new(prefix)) => Ok(PathBuf::from(prefix)),
            [] => self.by_label(prefix, &names),
            several => Err(Error::usage(
                format!("'{prefix}' is the beginning of {} run ids", several.len()),
                format!("use one of them: {}", last_few(&names, prefix)),
            )),
        }
    }

    fn by_label(&self, label: &str, names: &[String]) -> Result<PathBuf> {
        let runs = self.runs()?.runs;
        let found: Vec<_> = runs.iter().filter(|run| run.label.as_deref() == Some(label)).collect();
        match found.as_slice() {
            [only] => Ok(only.path.clone()),
            [] => Err(self.unknown(label, names)),
            several => {
                let ids: Vec<&str> = several.iter().take(5).map(|run| run.id.as_str()).collect();
                Err(Error::usage(
                    format!("'{label}' is the name of {} runs", several.len()),
                    format!("write the id of one of them: {}", ids.join(", ")),
                ))
            }
        }
    }

    fn latest(&self) -> Result<PathBuf> {
        self.runs()?
            .runs
            .first()
            .map(|newest| newest.path.clone())
            .ok_or_else(|| self.unknown(LATEST, &[]))
    }

    /// Names of the directories that are runs, ascending.
    fn names(&self) -> Result<Vec<String>> {
        listing::names(&self.root)
    }

    fn unknown(&self, name: &str, names: &[String]) -> Error {
        let root = self.root.display();
        let error = match (self.root.is_dir(), names.is_empty()) {
            (false, _) => Error::usage(
                format!("there is no run '{name}': no store at {root}"),
                "choose the store with --store DIR, or run a measurement first",
            ),
            (true, true) => Error::usage(
                format!("there is no run '{name}' in {root}"),
                "the store has no runs; choose another with --store DIR",
            ),
            (true, false) => Error::usage(
                format!("there is no run '{name}' in {root}"),
                format!("the newest are: {}, or 'latest'", last_few(names, "")),
            ),
        };
        error.of_kind(ErrorKind::NotFound)
    }
}

fn is_run(path: &Path) -> bool {
    Directory::open(path).is_ok_and(|directory| directory.has_file(MANIFEST))
}

/// The newest names that begin with a prefix, as many as fit on a line.
fn last_few(names: &[String], prefix: &str) -> String {
    let found = names.iter().rev().filter(|name| name.starts_with(prefix));
    found.take(5).cloned().collect::<Vec<_>>().join(", ")
}
