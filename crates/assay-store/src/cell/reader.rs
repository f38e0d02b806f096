//! Reading a cell, finished or not, while it is written or after the program was killed.

use super::line::CellLine;
use super::progress::{CellProgress, progress};
use super::series::{Joints, SeriesTail, Summaries};
use super::{CellExtent, CellStatus, INTERVALS, LoadedPlan, MEASUREMENT, TAIL, WORKLOAD};
use crate::directory::Directory;
use crate::document::read_text;
use crate::failure::{damaged, refused};
use crate::lines::LineReader;
use crate::run::{CELLS, EVENTS};
use assay_model::measurement::{ErrorCount, Finish, Interval, Window};
use assay_model::run::{Event, EventKind, IntervalSummary, RunManifest};
use assay_model::{Error, Result, Workload};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A cell of a run.
#[derive(Clone, Debug)]
pub struct CellReader {
    name: String,
    path: PathBuf,
    /// The run's directory; a study has more cells than a program may hold open.
    run: Directory,
    /// The run's targets and its begin, which recovery needs.
    pub(super) manifest: RunManifest,
}

/// The small part of `measurement.json`.
#[derive(Deserialize)]
struct CellHead {
    elapsed_ns: u64,
    finish: Finish,
}

impl CellReader {
    pub(crate) fn new(name: &str, run: &Directory, manifest: &RunManifest) -> Self {
        Self {
            name: name.to_owned(),
            path: run.path().join(CELLS).join(name),
            run: run.clone(),
            manifest: manifest.clone(),
        }
    }

    /// Its directory, held.
    pub(super) fn directory(&self) -> Result<Directory> {
        let found = self.run.below(CELLS).and_then(|cells| cells.below(&self.name));
        found.map_err(|error| refused("opening", &self.path, &error))
    }

    /// Its name, which is its directory's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was asked for.
    ///
    /// # Errors
    /// When the document cannot be read or is not of this version.
    pub fn plan(&self) -> Result<LoadedPlan> {
        let plan = LoadedPlan::read(&self.directory()?)?;
        plan.ok_or_else(|| damaged(&self.path.join(WORKLOAD), "the file is missing"))
    }

    /// What was issued on storage.
    ///
    /// # Errors
    /// When the document cannot be read or is not of this version, or when this is a step of a
    /// database load.
    pub fn workload(&self) -> Result<Workload> {
        match self.plan()? {
            LoadedPlan::Workload(workload) => Ok(*workload),
            LoadedPlan::Step(step) => Err(Error::usage(
                format!("the cell '{}' is a step of load {}", self.name, step.kind.name()),
                "specify a cell that has a workload of I/O",
            )),
        }
    }

    /// Whether the cell has its result.
    pub fn status(&self) -> Result<CellStatus> {
        Ok(match self.head()? {
            Some(head) => CellStatus::Finished(head.finish),
            None => CellStatus::Unfinished,
        })
    }

    /// Measured time, ns; quick for a finished cell, else as quick as
    /// [`summaries`](Self::summaries).
    pub fn elapsed_ns(&self) -> Result<u64> {
        match self.head()? {
            Some(head) => Ok(head.elapsed_ns),
            None => Ok(self.extent()?.elapsed_ns),
        }
    }

    /// How far the intervals go.
    pub fn extent(&self) -> Result<CellExtent> {
        Ok(self.progress()?.extent)
    }

    fn head(&self) -> Result<Option<CellHead>> {
        let path = self.path.join(MEASUREMENT);
        let head = |text: String| {
            serde_json::from_str(&text).map_err(|error| damaged(&path, &error.to_string()))
        };
        read_text(&self.directory()?, MEASUREMENT)?.map(head).transpose()
    }

    /// Every interval in numbers, in flat memory; the quick way through a long run.
    ///
    /// # Errors
    /// When the cell cannot be read; each item, when its line is not of this version.
    pub fn summaries(&self) -> Result<impl Iterator<Item = Result<IntervalSummary>>> {
        Ok(Summaries { lines: self.lines()?, tail: self.tail()?, next: 0 })
    }

    /// Every joint with the stretch of time that it covers, in flat memory: per interval in cells
    /// of up to [`WINDOWS_MAX`](super::WINDOWS_MAX) intervals, else that many parts of the
    /// planned time. What no joint covers yet comes as one more. The joints add up to the exact
    /// total.
    ///
    /// # Errors
    /// When the cell cannot be read; each item, when its line is not of this version.
    pub fn joints(&self) -> Result<impl Iterator<Item = Result<(Interval, Window)>>> {
        Ok(Joints { lines: self.lines()?, tail: Some(self.tail()?), covered: Vec::new(), next: 0 })
    }

    /// The stretches of [`joints`](Self::joints) as intervals with full histograms, all streams
    /// together; their index is that of the first interval in them.
    pub fn intervals(&self) -> Result<impl Iterator<Item = Result<Interval>>> {
        Ok(self.joints()?.map(|item| item.map(|(interval, _)| interval)))
    }

    pub(super) fn progress(&self) -> Result<CellProgress> {
        progress(self.lines()?, self.tail()?)
    }

    /// The tail from an interval on.
    pub(super) fn tail_from(
        &self,
        next: u64,
    ) -> Result<impl Iterator<Item = Result<(Option<IntervalSummary>, Window)>>> {
        Ok(SeriesTail { lines: self.tail::<CellLine>()?, next })
    }

    /// The errors that events reported since a moment.
    pub(super) fn errors_since(&self, unix_ns: u64) -> Result<Vec<ErrorCount>> {
        let mut errors = Vec::new();
        for event in LineReader::<Event>::open(&self.run, EVENTS)? {
            let event = event?;
            let ours = event.cell.as_deref() == Some(&self.name) && event.at_unix_ns >= unix_ns;
            if let (true, EventKind::Errors(count)) = (ours, event.what) {
                errors.push(count);
            }
        }
        Ok(errors)
    }

    fn lines<T: DeserializeOwned>(&self) -> Result<LineReader<T>> {
        LineReader::open(&self.directory()?, INTERVALS)
    }

    fn tail<T: DeserializeOwned>(&self) -> Result<LineReader<T>> {
        LineReader::open(&self.directory()?, TAIL)
    }
}
