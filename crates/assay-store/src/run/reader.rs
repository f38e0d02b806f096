//! Reading a run.

use super::{CELLS, EVENTS, MANIFEST, RunStatus};
use crate::cell::{CellReader, PLANS};
use crate::checksum;
use crate::directory::Directory;
use crate::document::{StoredDocument, parse_up_to, parse_versioned, read_text};
use crate::failure::refused;
use crate::id::cell_name;
use crate::lines::LineReader;
use crate::lock::writer_of;
use assay_model::run::{Event, RunManifest};
use assay_model::watch::Moment;
use assay_model::{Error, ErrorKind, Result};
use rustix::fs::FileType;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// A run that is looked at; it takes no lock and never waits.
#[derive(Clone, Debug)]
pub struct RunReader {
    directory: Directory,
    manifest: RunManifest,
}

impl RunReader {
    /// Opens the run in a directory.
    ///
    /// # Errors
    /// A usage error when the directory is not a run or is of a newer form.
    pub fn open(directory: &Path) -> Result<Self> {
        let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        match Directory::open(directory) {
            Ok(directory) => Self::of(directory),
            Err(error) if missing.contains(&error.kind()) => Err(no_run(directory)),
            Err(error) => Err(refused("opening", directory, &error)),
        }
    }

    /// The run in a directory that is held.
    pub(crate) fn of(directory: Directory) -> Result<Self> {
        let text = read_text(&directory, MANIFEST)?.ok_or_else(|| no_run(directory.path()))?;
        let manifest = parse_versioned(&text, &directory.path().join(MANIFEST))?;
        Ok(Self { directory, manifest })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) const fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether its documents have checksums: those of earlier versions have none, and what changed
    /// in them is not noticed.
    pub fn is_checked(&self) -> bool {
        checksum::is_kept(&self.directory)
    }

    /// Its manifest.
    pub const fn manifest(&self) -> &RunManifest {
        &self.manifest
    }

    /// Where it stands at this moment.
    pub fn status(&self) -> RunStatus {
        match (&self.manifest.finish, writer_of(&self.directory)) {
            (Some(finish), _) => RunStatus::Finished(finish.clone()),
            (None, Some(holder)) => RunStatus::Writing(holder),
            (None, None) => RunStatus::Unfinished,
        }
    }

    /// The text of a document, if the run has it.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn document(&self, document: StoredDocument) -> Result<Option<String>> {
        read_text(&self.directory, document.file_name())
    }

    /// A JSON document, if the run has it.
    ///
    /// # Errors
    /// When it is there and cannot be read, or has unknown keys or a newer form.
    pub fn json<T: DeserializeOwned>(&self, document: StoredDocument) -> Result<Option<T>> {
        let path = self.path().join(document.file_name());
        self.document(document)?
            .map(|text| parse_up_to(document.newest_format(), &text, &path))
            .transpose()
    }

    /// What happened, in the order of writing.
    ///
    /// # Errors
    /// When the events cannot be read; each item, when its line is not of this version.
    pub fn events(&self) -> Result<impl Iterator<Item = Result<Event>> + use<>> {
        LineReader::open(&self.directory, EVENTS)
    }

    /// The machine meanwhile, moment by moment; nothing where it was not watched.
    ///
    /// # Errors
    /// When the moments cannot be read; each item, when its line is not of this version.
    pub fn moments(&self) -> Result<impl Iterator<Item = Result<Moment>> + use<>> {
        crate::watch::moments(&self.directory)
    }

    /// Its cells by name.
    pub fn cells(&self) -> Result<Vec<CellReader>> {
        if !self.directory.has(CELLS) {
            return Ok(Vec::new());
        }
        let fail = |error| refused("reading", &self.path().join(CELLS), &error);
        let cells = self.directory.below(CELLS).map_err(fail)?;
        let found = cells.entries().map_err(fail)?.into_iter();
        Ok(found
            .filter(|(name, kind)| *kind == FileType::Directory && cell_name(name) == *name)
            .filter(|(name, _)| {
                let has_plan = |cell: Directory| PLANS.iter().any(|plan| cell.has_file(plan));
                cells.below(name).is_ok_and(has_plan)
            })
            .map(|(name, _)| CellReader::new(&name, &self.directory, &self.manifest))
            .collect())
    }

    /// One cell, by the name it was created with or its directory's.
    ///
    /// # Errors
    /// A usage error that lists the cells when there is none of that name.
    pub fn cell(&self, name: &str) -> Result<CellReader> {
        let wanted = cell_name(name);
        let cells = self.cells()?;
        let names: Vec<String> = cells.iter().map(|cell| cell.name().to_owned()).collect();
        cells.into_iter().find(|cell| cell.name() == wanted).ok_or_else(|| {
            Error::usage(
                format!("the run {} has no cell '{name}'", self.manifest.id),
                format!("its cells are: {}", names.join(", ")),
            )
            .of_kind(ErrorKind::NotFound)
        })
    }

    /// Measured time of all cells, ns.
    pub fn measured_ns(&self) -> Result<u64> {
        self.cells()?.iter().map(CellReader::elapsed_ns).sum()
    }

    /// Bytes that it takes on the disk.
    pub fn disk_bytes(&self) -> u64 {
        self.directory.disk_bytes()
    }
}

fn no_run(directory: &Path) -> Error {
    let error = if directory.is_dir() {
        Error::usage(
            format!("{} is not a run: it has no {MANIFEST}", directory.display()),
            "specify a run by its id, by the first characters of it, by its directory, or 'latest'",
        )
    } else if directory.is_file() {
        Error::usage(
            format!("{} is a file, not a run", directory.display()),
            "read a database's report with `assay profile FILE`; keep the result of another \
             program as a run with `assay runs import FILE`",
        )
    } else {
        Error::usage(
            format!("there is no run at {}", directory.display()),
            "list the runs of the store, or choose another store with --store DIR",
        )
    };
    error.of_kind(ErrorKind::NotFound)
}
