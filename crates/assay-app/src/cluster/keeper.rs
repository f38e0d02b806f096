//! What a node writes down on its own host while it measures, for the case that its driver dies.

use assay_cluster::kept::KeptLine;
use assay_cluster::protocol::{Began, KeptRecord, MeasuredPart};
use assay_model::measurement::Measurement;
use assay_model::{Error, Result};
use assay_store::{LeftoverLog, NodeLog};
use std::path::PathBuf;
use std::time::Duration;

/// The variable that names another directory.
const PLACE: &str = "ASSAY_NODE_STATE";
/// Measured time after which what was written goes to the disk, ns.
const SYNC_AFTER_NS: u64 = 750_000_000;
/// A node that measures writes more often.
const FRESH: Duration = Duration::from_secs(60);

/// Keeps the intervals of one run.
pub(super) struct Keeper {
    log: NodeLog,
    run: String,
    host: String,
    synced_ns: u64,
}

impl Keeper {
    /// Begins to keep a run.
    ///
    /// # Errors
    /// That there is no place for it.
    pub(super) fn begin(run: &str, host: &str) -> Result<Self> {
        let log = NodeLog::begin(&place()?, run, host)?;
        Ok(Self { log, run: run.to_owned(), host: host.to_owned(), synced_ns: 0 })
    }

    /// A workload is to begin at this moment; what was kept of the one before goes.
    pub(super) fn begun(&mut self, start_ns: u64) -> Result<()> {
        self.synced_ns = 0;
        self.log.restart()?;
        self.log.append(&KeptLine::Begun(start_ns))
    }

    pub(super) fn interval(&mut self, part: &MeasuredPart) -> Result<()> {
        self.log.append(&KeptLine::Interval(Box::new(part.clone())))?;
        if part.end_ns.saturating_sub(self.synced_ns) < SYNC_AFTER_NS {
            return Ok(());
        }
        self.synced_ns = part.end_ns;
        self.log.sync()
    }

    pub(super) fn ended(&mut self, measurement: &Measurement, began: Option<Began>) -> Result<()> {
        let measurement = Box::new(measurement.clone());
        self.log.append(&KeptLine::Ended { measurement, began })?;
        self.log.sync()
    }

    /// The driver has it all.
    pub(super) fn forget(self) -> Result<()> {
        forget(&self.run, &self.host)
    }
}

/// What a host has kept of a run.
///
/// # Errors
/// That it has kept nothing.
pub(super) fn kept(run: &str, host: &str) -> Result<KeptRecord> {
    let place = place()?;
    let lines: Vec<KeptLine> = NodeLog::read(&place, run, host)?;
    KeptRecord::of(lines).ok_or_else(|| {
        Error::usage(
            format!("{} has no data of the run {run}", place.display()),
            "a host keeps only unfinished runs, for the user who measured them",
        )
    })
}

/// Removes it.
///
/// # Errors
/// What the file system says.
pub(super) fn forget(run: &str, host: &str) -> Result<()> {
    NodeLog::remove(&place()?, run, host)
}

/// What this host has kept of runs that nobody measures any more: their driver died, or this host
/// was lost.
///
/// # Errors
/// What the file system says.
pub fn kept_logs() -> Result<Vec<LeftoverLog>> {
    let mut logs = NodeLog::all(&place()?)?;
    logs.retain(|log| !log.is_fresh(FRESH));
    Ok(logs)
}

/// The user's directory for what programs keep between their runs, by the XDG base directory
/// specification.
fn place() -> Result<PathBuf> {
    let absolute = |name: &str| {
        let given = std::env::var_os(name).map(PathBuf::from);
        given.filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let place = absolute(PLACE).or_else(|| state.map(|state| state.join("assay/nodes")));
    place.ok_or_else(|| {
        Error::environment(
            "there is no directory for the data of a node",
            format!("set HOME, XDG_STATE_HOME or {PLACE} on the host"),
        )
    })
}
