//! How far the files of a cell go, also after the program was killed.

use super::line::{BeginLine, Outline};
use super::{CellExtent, end_of};
use crate::document::check_format;
use crate::lines::LineReader;
use assay_model::Result;

/// How far the files of a cell go.
#[derive(Debug, Default)]
pub(super) struct CellProgress {
    /// What `intervals.jsonl` alone has.
    pub(super) lines: CellExtent,
    /// What it has together with the tail.
    pub(super) extent: CellExtent,
    /// The first interval that no joint covers.
    pub(super) joined: u64,
    /// Lines that could not be read.
    pub(super) damaged: u64,
    pub(super) first_begin_unix_ns: Option<u64>,
    pub(super) last_begin: Option<BeginLine>,
}

/// Reads both files through without their histograms.
pub(super) fn progress(
    mut lines: LineReader<Outline>,
    mut tail: LineReader<Outline>,
) -> Result<CellProgress> {
    let mut found = CellProgress::default();
    for line in lines.by_ref() {
        found.take_in(line?)?;
    }
    found.lines = found.extent;
    for line in tail.by_ref() {
        found.reach(line?);
    }
    found.damaged = lines.damaged() + tail.damaged();
    Ok(found)
}

impl CellProgress {
    fn take_in(&mut self, line: Outline) -> Result<()> {
        if let Some(joint) = &line.joint {
            self.joined = end_of(joint.first_interval, joint.intervals);
        }
        if let Some(begin) = &line.begin {
            check_format(begin.format, "the cell")?;
            self.first_begin_unix_ns.get_or_insert(begin.started_unix_ns);
            self.last_begin.clone_from(&line.begin);
        }
        self.reach(line);
        Ok(())
    }

    fn reach(&mut self, line: Outline) {
        if let Some(summary) = line.interval
            && summary.index >= self.extent.intervals
        {
            self.extent = CellExtent { intervals: summary.index + 1, elapsed_ns: summary.end_ns };
        }
    }
}
