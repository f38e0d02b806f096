//! What a cell is asked for: a workload of I/O on storage, or a step of load on a database server.

use super::{STEP, WORKLOAD};
use crate::checksum;
use crate::directory::Directory;
use crate::document::read_text;
use assay_model::load::LoadStep;
use assay_model::workload::parse_workload;
use assay_model::{Error, Result, Workload};

/// What a cell is asked for.
#[derive(Clone, Copy, Debug)]
pub enum CellPlan<'a> {
    /// I/O on storage.
    Workload(&'a Workload),
    /// A step of a ladder of sessions on a database server.
    Step(&'a LoadStep),
}

/// The same, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadedPlan {
    /// I/O on storage; earlier versions wrote one for each step of a database load, too.
    Workload(Box<Workload>),
    /// A step of a ladder of sessions on a database server.
    Step(Box<LoadStep>),
}

impl<'a> From<&'a Workload> for CellPlan<'a> {
    fn from(workload: &'a Workload) -> Self {
        Self::Workload(workload)
    }
}

impl<'a> From<&'a LoadStep> for CellPlan<'a> {
    fn from(step: &'a LoadStep) -> Self {
        Self::Step(step)
    }
}

impl CellPlan<'_> {
    /// Writes it into a new cell.
    pub(super) fn put(self, cell: &Directory) -> Result<()> {
        let (name, text) = match self {
            Self::Workload(workload) => (WORKLOAD, toml::to_string(workload)),
            Self::Step(step) => (STEP, toml::to_string(step)),
        };
        let text = text.map_err(|error| {
            Error::usage(format!("the plan of the cell cannot be written as TOML: {error}"), "")
        })?;
        checksum::put(cell, name, text.as_bytes())
    }

    /// Intervals when it runs as long as planned.
    pub(super) fn intervals(self) -> u64 {
        match self {
            Self::Workload(workload) => workload.duration.0.div_ceil(workload.interval.0.max(1)),
            Self::Step(step) => step.planned_intervals(),
        }
    }
}

impl LoadedPlan {
    /// Reads that of a cell; `None` where it has none.
    pub(super) fn read(cell: &Directory) -> Result<Option<Self>> {
        let at = |name: &str| cell.path().join(name).display().to_string();
        if let Some(text) = read_text(cell, STEP)? {
            let step = LoadStep::parse(&text).map_err(|error| error.context(at(STEP)))?;
            return Ok(Some(Self::Step(Box::new(step))));
        }
        let workload = |text: String| {
            let parsed = parse_workload(&text).map_err(|error| error.context(at(WORKLOAD)))?;
            Ok(Self::Workload(Box::new(parsed)))
        };
        read_text(cell, WORKLOAD)?.map(workload).transpose()
    }

    /// As it is written.
    pub(super) fn as_plan(&self) -> CellPlan<'_> {
        match self {
            Self::Workload(workload) => CellPlan::Workload(workload),
            Self::Step(step) => CellPlan::Step(step),
        }
    }

    /// What measurements of it are called.
    pub fn title(&self) -> String {
        match self {
            Self::Workload(workload) => workload.name.clone(),
            Self::Step(step) => step.kind.title(step.sessions),
        }
    }
}
