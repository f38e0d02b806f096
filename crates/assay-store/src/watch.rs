//! The host during a run: `watch.jsonl`, one moment a line.

use crate::directory::Directory;
use crate::lines::{LineFile, LineReader};
use assay_model::Result;
use assay_model::watch::Moment;

/// Its file in the run's directory.
pub(crate) const WATCH: &str = "watch.jsonl";

/// Moments that are being written, independently of whatever else writes to the run.
#[derive(Debug)]
pub struct WatchLog {
    lines: LineFile,
}

impl WatchLog {
    pub(crate) fn open(directory: &Directory) -> Result<Self> {
        let lines = LineFile::open(directory, WATCH)?;
        Ok(Self { lines })
    }

    /// Appends a moment; it survives the program's end at once, and the machine's end after
    /// [`sync`](Self::sync).
    pub fn append(&mut self, moment: &Moment) -> Result<()> {
        self.lines.append(moment)
    }

    /// Waits until all moments are on the disk.
    pub fn sync(&self) -> Result<()> {
        self.lines.sync()
    }
}

pub(crate) fn moments(
    directory: &Directory,
) -> Result<impl Iterator<Item = Result<Moment>> + use<>> {
    LineReader::open(directory, WATCH)
}
