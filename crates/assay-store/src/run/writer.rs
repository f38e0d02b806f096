//! Writing a run: the only hand that does, as long as it holds the lock.

use super::{CELLS, EVENTS, FAULTS, MANIFEST, NewRun, RunReader};
use crate::cell::{CellPlan, CellStart, CellWriter, PLANS};
use crate::checksum;
use crate::directory::Directory;
use crate::document::StoredDocument;
use crate::failure::refused;
use crate::id::{cell_name, run_id};
use crate::lines::LineFile;
use crate::lock::Lock;
use crate::watch::WatchLog;
use assay_model::integrity::FaultVersions;
use assay_model::measurement::Finish;
use assay_model::run::{Event, EventKind, RunManifest};
use assay_model::{Error, Result};
use serde::Serialize;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Ids of one second and kind differ in four random characters; another try is a matter of luck,
/// not of load.
const ATTEMPTS: u32 = 8;

/// A run that is being written. When it is dropped without [`finish`](Self::finish) the run stays
/// unfinished.
#[derive(Debug)]
pub struct RunWriter {
    directory: Directory,
    manifest: RunManifest,
    events: LineFile,
    _lock: Lock,
}

impl RunWriter {
    pub(crate) fn create(store: &Path, new: &NewRun) -> Result<Self> {
        check_link(store)?;
        let fail = |error| refused("creating the store", store, &error);
        fs::create_dir_all(store).map_err(fail)?;
        let store = Directory::open(store).map_err(fail)?;
        let (id, directory) = new_directory(&store, new)?;
        let lock = Lock::take(&directory)?;
        let manifest = RunManifest {
            format: 1,
            id,
            kind: new.kind,
            tool_version: new.tool_version.clone(),
            command: new.command.clone(),
            targets: new.targets.clone(),
            created_unix_ns: new.created_unix_ns,
            finished_unix_ns: None,
            finish: None,
        };
        let writer = Self::hold(directory, manifest, lock)?;
        writer.write_manifest()?;
        store.sync().map_err(|error| refused("syncing", store.path(), &error))?;
        Ok(writer)
    }

    /// Takes the lock of a run that is there, to add documents to it.
    pub(crate) fn reopen(run: &RunReader) -> Result<Self> {
        let lock = Lock::take(run.directory())?;
        // What was read before the lock was held may have been finished since.
        let manifest = RunReader::of(run.directory().clone())?.manifest().clone();
        Self::hold(run.directory().clone(), manifest, lock)
    }

    /// Takes a run up again that ended too early.
    pub(crate) fn resume(run: &RunReader, now_unix_ns: u64) -> Result<Self> {
        let mut writer = Self::reopen(run)?;
        if writer.manifest.finish == Some(Finish::Complete) {
            return Err(Error::usage(
                format!("the run {} is complete", writer.manifest.id),
                "there is nothing left to measure; start a new run",
            ));
        }
        writer.manifest.finish = None;
        writer.manifest.finished_unix_ns = None;
        writer.write_manifest()?;
        writer.event(&Event { at_unix_ns: now_unix_ns, cell: None, what: EventKind::Resumed })?;
        Ok(writer)
    }

    fn hold(directory: Directory, manifest: RunManifest, lock: Lock) -> Result<Self> {
        Ok(Self { events: LineFile::open(&directory, EVENTS)?, directory, manifest, _lock: lock })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Its manifest.
    pub const fn manifest(&self) -> &RunManifest {
        &self.manifest
    }

    /// The same run to read from.
    pub fn reader(&self) -> Result<RunReader> {
        RunReader::of(self.directory.clone())
    }

    /// Puts a document in place, instead of an older one.
    pub fn put(&self, document: StoredDocument, text: &str) -> Result<()> {
        checksum::put(&self.directory, document.file_name(), text.as_bytes())
    }

    /// Puts a JSON document in place, instead of an older one.
    pub fn put_json(&self, document: StoredDocument, value: &impl Serialize) -> Result<()> {
        self.put_value(document.file_name(), value)
    }

    /// Indented, because these are documents that people look into.
    fn put_value(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let path = self.path().join(name);
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|error| refused("writing", &path, &error.into()))?;
        text.push('\n');
        checksum::put(&self.directory, name, text.as_bytes())
    }

    fn write_manifest(&self) -> Result<()> {
        self.put_value(MANIFEST, &self.manifest)
    }

    /// Keeps what happened; it is on the disk when this returns.
    pub fn event(&mut self, event: &Event) -> Result<()> {
        self.events.append(event)?;
        self.events.sync()
    }

    /// Keeps blocks that did not hold what was written to them; they are on the disk when this
    /// returns.
    pub fn keep_faults(&self, faults: &[FaultVersions]) -> Result<()> {
        let mut lines = LineFile::open(&self.directory, FAULTS)?;
        faults.iter().try_for_each(|fault| lines.append(fault))?;
        lines.sync()
    }

    /// The file of moments, open at its end; it may be written by another thread.
    pub fn watch_log(&self) -> Result<WatchLog> {
        WatchLog::open(&self.directory)
    }

    /// Begins a cell; its directory is the name in plain letters.
    ///
    /// # Errors
    /// A usage error when the run has a cell of that name, an environment error when the store
    /// cannot take it.
    pub fn create_cell<'a>(
        &self,
        name: &str,
        plan: impl Into<CellPlan<'a>>,
        start: &CellStart,
    ) -> Result<CellWriter> {
        let cells = self.cells()?;
        let plain = cell_name(name);
        if cells.below(&plain).is_ok_and(|cell| PLANS.iter().any(|plan| cell.has(plan))) {
            return Err(Error::usage(
                format!("the run {} has a cell '{name}' already", self.manifest.id),
                "give every workload of a run a unique name",
            ));
        }
        CellWriter::create(&cells, &plain, plan.into(), start)
    }

    /// The directory of its cells, which is made for the first.
    fn cells(&self) -> Result<Directory> {
        let made = || {
            if !self.directory.has(CELLS) {
                self.directory.make(CELLS)?;
                self.directory.sync()?;
            }
            self.directory.below(CELLS)
        };
        made().map_err(|error| refused("creating", &self.path().join(CELLS), &error))
    }

    /// Takes a cell up again behind its last interval; see
    /// [`elapsed_before_ns`](CellWriter::elapsed_before_ns) for what is left to measure.
    ///
    /// # Errors
    /// A usage error when there is no such cell or it is complete, an environment error when the
    /// store refuses.
    pub fn resume_cell(&self, name: &str, start: &CellStart) -> Result<CellWriter> {
        CellWriter::resume(&self.reader()?.cell(name)?, start)
    }

    /// Ends the run and gives up the lock.
    ///
    /// # Errors
    /// An environment error when the store cannot take it; the run then stays unfinished and
    /// readable.
    pub fn finish(mut self, finish: Finish, now_unix_ns: u64) -> Result<RunReader> {
        self.manifest.finish = Some(finish);
        self.manifest.finished_unix_ns = Some(now_unix_ns);
        self.write_manifest()?;
        self.reader()
    }
}

/// Refuses a store behind a link that another user made: who may make one here would choose where
/// results go.
fn check_link(root: &Path) -> Result<()> {
    let Ok(found) = root.symlink_metadata() else { return Ok(()) };
    let mine = rustix::process::geteuid().as_raw();
    if !found.is_symlink() || [0, mine].contains(&found.uid()) {
        return Ok(());
    }
    let owner = found.uid();
    let why = io::Error::new(
        ErrorKind::InvalidInput,
        format!("it is a symbolic link of another user (uid {owner})"),
    );
    Err(refused("opening the store", root, &why))
}

fn new_directory(store: &Directory, new: &NewRun) -> Result<(String, Directory)> {
    let mut attempt = 1;
    loop {
        let id = run_id(new.created_unix_ns, new.kind)?;
        match store.make(&id).and_then(|()| store.below(&id)) {
            Ok(directory) => return Ok((id, directory)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(refused("creating the run", &store.path().join(&id), &error)),
        }
    }
}
