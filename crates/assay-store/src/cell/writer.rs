//! Writing a cell: an interval is safe before the next one begins, and totals keep their full
//! precision.

use super::join::taken_up;
use super::line::{BeginLine, LineRef};
use super::{
    CellExtent, CellPlan, CellReader, CellStart, CellStatus, INTERVALS, MEASUREMENT, TAIL,
    TAIL_BYTES_MAX, WriteDurability, joined, window_intervals,
};
use crate::checksum;
use crate::directory::Directory;
use crate::failure::refused;
use crate::lines::{LineFile, sealed};
use assay_model::measurement::{Finish, Interval, Measurement, PerOperation, Window};
use assay_model::run::IntervalSummary;
use assay_model::{Error, Result};
use std::io::{self, ErrorKind};

/// Less than a second, so that one-second intervals, which are never exact, are synced one by one.
const SYNC_AFTER_NS: u64 = 750_000_000;

/// A cell that is being measured.
///
/// Every interval goes into `intervals.jsonl` in numbers. Its histograms, of full precision and for
/// every stream and target, go into the tail; when a window is full its joint goes into
/// `intervals.jsonl` and the tail is started over. So the size on disk grows with the joints and
/// not with the intervals, and whenever the program is killed, joints and tail add up to the exact
/// total. Memory holds one joint.
#[derive(Debug)]
pub struct CellWriter {
    directory: Directory,
    lines: LineFile,
    tail: LineFile,
    durability: WriteDurability,
    /// Measured time that is on the disk, ns.
    synced_ns: u64,
    /// Intervals of the whole plan, and of one joint.
    planned: u64,
    window: u64,
    /// Bytes of the tail's first line where it joins several intervals.
    tail_joint_bytes: u64,
    pub(super) tail_bytes_max: u64,
    /// The joint of the intervals in the tail.
    pending: Window,
    extent: CellExtent,
    /// Where this sitting began.
    begun: CellExtent,
    /// The result of the sittings before.
    before: Option<Measurement>,
}

impl CellWriter {
    /// Its directory's name, as [`CellReader::name`] gives it.
    pub fn name(&self) -> &str {
        let name = self.directory.path().file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    pub(crate) fn create(
        cells: &Directory,
        name: &str,
        plan: CellPlan<'_>,
        start: &CellStart,
    ) -> Result<Self> {
        let made = match cells.make(name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => cells.below(name),
        };
        let directory =
            made.map_err(|error| refused("creating the cell", &cells.path().join(name), &error))?;
        plan.put(&directory)?;
        cells.sync().map_err(|error| refused("syncing", cells.path(), &error))?;
        let mut cell = Self::open(directory, plan, start.durability)?;
        cell.begin(start, None)?;
        Ok(cell)
    }

    /// Takes up a cell behind its last interval.
    pub(crate) fn resume(reader: &CellReader, start: &CellStart) -> Result<Self> {
        if reader.status()? == CellStatus::Finished(Finish::Complete) {
            return Err(Error::usage(
                format!("the cell '{}' is complete", reader.name()),
                "there is nothing left to measure; start a new run",
            ));
        }
        let before = reader.measurement()?;
        let mut cell = Self::open(reader.directory()?, reader.plan()?.as_plan(), start.durability)?;
        cell.restore(reader)?;
        cell.begin(start, (before.elapsed_ns > 0).then_some(before))?;
        cell.remove(MEASUREMENT)?;
        Ok(cell)
    }

    fn open(directory: Directory, plan: CellPlan<'_>, durability: WriteDurability) -> Result<Self> {
        Ok(Self {
            lines: LineFile::open(&directory, INTERVALS)?,
            tail: LineFile::open(&directory, TAIL)?,
            directory,
            durability,
            synced_ns: 0,
            planned: plan.intervals(),
            window: window_intervals(plan.intervals(), 0),
            tail_joint_bytes: 0,
            tail_bytes_max: TAIL_BYTES_MAX,
            pending: Window::default(),
            extent: CellExtent::default(),
            begun: CellExtent::default(),
            before: None,
        })
    }

    /// Brings the state back in which the cell was left: intervals that only the tail has are
    /// written again.
    fn restore(&mut self, reader: &CellReader) -> Result<()> {
        let progress = reader.progress()?;
        self.extent = progress.lines;
        for line in reader.tail_from(progress.joined)? {
            let (summary, joint) = line?;
            self.pending.merge(&joint);
            if let Some(lost) = summary.filter(|found| found.index >= self.extent.intervals) {
                self.lines.append(&LineRef { interval: Some(&lost), ..LineRef::default() })?;
                self.advance(&lost);
            }
        }
        self.begun = self.extent;
        self.synced_ns = self.extent.elapsed_ns;
        Ok(())
    }

    fn begin(&mut self, start: &CellStart, before: Option<Measurement>) -> Result<()> {
        let mut begin = BeginLine {
            format: 1,
            started_unix_ns: start.started_unix_ns,
            conduct: start.conduct.clone(),
            errors: Vec::new(),
        };
        if let Some(before) = &before {
            begin.errors.clone_from(&before.errors);
            begin.conduct = taken_up(before, &start.conduct);
        }
        self.before = before.map(|before| Measurement { conduct: begin.conduct.clone(), ..before });
        self.lines.append(&LineRef { begin: Some(&begin), ..LineRef::default() })?;
        self.lines.sync()?;
        self.sync_directory()
    }

    fn sync_directory(&self) -> Result<()> {
        self.directory.sync().map_err(|error| refused("syncing", self.directory.path(), &error))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let removed = self.directory.remove_file(name);
        removed.map_err(|error| refused("removing", &self.directory.path().join(name), &error))
    }

    /// The refusal of a step on one of its files.
    fn refused(&self, name: &str, error: &io::Error) -> Error {
        refused("writing", &self.directory.path().join(name), error)
    }

    /// How far the cell has come, sittings before this one included.
    pub const fn extent(&self) -> CellExtent {
        self.extent
    }

    /// The measured time of the sittings before this one, ns: what a resumed workload need not
    /// measure again.
    pub const fn elapsed_before_ns(&self) -> u64 {
        self.begun.elapsed_ns
    }

    /// Keeps one interval: its number, times and outstanding I/Os from `interval`, its I/Os from
    /// `joint`, which has the histograms of that interval at full precision. Both count from 0
    /// in every sitting.
    ///
    /// # Errors
    /// An environment error when the store cannot take it, as on a full disk. What was kept before
    /// stays; the caller ends the measurement and calls [`finish`](Self::finish).
    pub fn append_interval(&mut self, interval: &Interval, joint: &Window) -> Result<()> {
        let summary = self.placed(interval, joint);
        let single = Window { first_interval: summary.index, intervals: 1, ..joint.clone() };
        if self.pending.intervals + 1 < self.window {
            self.append_to_tail(&summary, &single)?;
        } else {
            self.append_joint(&summary, &single)?;
        }
        self.advance(&summary);
        Ok(())
    }

    const fn advance(&mut self, summary: &IntervalSummary) {
        self.extent = CellExtent { intervals: summary.index + 1, elapsed_ns: summary.end_ns };
    }

    /// The interval in numbers, behind those of the sittings before.
    fn placed(&self, interval: &Interval, joint: &Window) -> IntervalSummary {
        let mut all = PerOperation::default();
        for stream in &joint.streams {
            all.merge(&stream.operations);
        }
        let bare = Interval {
            index: self.begun.intervals + interval.index,
            start_ns: self.begun.elapsed_ns + interval.start_ns,
            end_ns: self.begun.elapsed_ns + interval.end_ns,
            queue_depth_mean: interval.queue_depth_mean,
            operations: all,
        };
        IntervalSummary::of(&bare)
    }

    /// The tail is what recovery builds on, so only the tail waits for the disk.
    fn append_to_tail(&mut self, summary: &IntervalSummary, single: &Window) -> Result<()> {
        self.tail.append(&LineRef {
            interval: Some(summary),
            joint: Some(single),
            ..LineRef::default()
        })?;
        if self.must_sync(summary) {
            self.tail.sync()?;
        }
        self.lines.append(&LineRef { interval: Some(summary), ..LineRef::default() })?;
        self.pending.merge(single);
        if self.tail.bytes() > self.tail_joint_bytes + self.tail_bytes_max {
            self.shorten_tail()?;
        }
        Ok(())
    }

    /// Joins the intervals of the tail to one line, which has no place for their numbers: those are
    /// in `intervals.jsonl` and must be safe there first.
    fn shorten_tail(&mut self) -> Result<()> {
        if self.durability == WriteDurability::EveryInterval {
            self.lines.sync()?;
        }
        let line = LineRef { joint: Some(&self.pending), ..LineRef::default() };
        let mut text = Vec::new();
        sealed(&mut text, &line)
            .and_then(|()| self.directory.replace(TAIL, &text))
            .map_err(|error| self.refused(TAIL, &error))?;
        self.tail = LineFile::open(&self.directory, TAIL)?;
        self.tail_joint_bytes = self.tail.bytes();
        Ok(())
    }

    /// The tail goes only when its joint is on the disk.
    fn append_joint(&mut self, summary: &IntervalSummary, single: &Window) -> Result<()> {
        let mut joint = self.pending.clone();
        joint.merge(single);
        let bytes_before = self.lines.bytes();
        self.lines.append(&LineRef {
            interval: Some(summary),
            joint: Some(&joint),
            ..LineRef::default()
        })?;
        let tail_goes =
            self.durability == WriteDurability::EveryInterval && self.pending.intervals > 0;
        if self.must_sync(summary) || tail_goes {
            self.lines.sync()?;
        }
        self.window = window_intervals(self.planned, self.lines.bytes() - bytes_before);
        self.pending = Window::default();
        self.empty_tail()
    }

    /// Another file takes the place of the tail: whoever reads it while it is emptied and filled
    /// again would else find the end of a new line behind the start of an old one.
    fn empty_tail(&mut self) -> Result<()> {
        self.tail_joint_bytes = 0;
        if self.tail.bytes() == 0 {
            return Ok(());
        }
        self.directory.empty(TAIL).map_err(|error| self.refused(TAIL, &error))?;
        if self.durability == WriteDurability::EveryInterval {
            // Lines of the new one are of no use without its name.
            self.sync_directory()?;
        }
        self.tail = LineFile::open(&self.directory, TAIL)?;
        Ok(())
    }

    /// Whether about a second of measured time waits for the disk, this interval included.
    fn must_sync(&mut self, summary: &IntervalSummary) -> bool {
        let waiting_ns = summary.end_ns.saturating_sub(self.synced_ns);
        let must = self.durability == WriteDurability::EveryInterval && waiting_ns >= SYNC_AFTER_NS;
        if must {
            self.synced_ns = summary.end_ns;
        }
        must
    }

    /// Puts the result in place and returns it: what the caller measured in this sitting, behind
    /// the sittings before. Until it is there the cell stays unfinished and readable.
    pub fn finish(mut self, measurement: Measurement) -> Result<Measurement> {
        // On a full disk the tail is as good as its joint, and the result may still find room.
        let joint_is_safe = self.close_window().is_ok();
        let whole = match self.before.take() {
            Some(before) => joined(before, measurement),
            None => measurement,
        };
        let text =
            serde_json::to_vec(&whole).map_err(|error| self.refused(MEASUREMENT, &error.into()))?;
        checksum::put(&self.directory, MEASUREMENT, &text)?;
        if joint_is_safe {
            self.remove(TAIL)?;
        }
        Ok(whole)
    }

    fn close_window(&mut self) -> Result<()> {
        if self.pending.intervals > 0 {
            self.lines.append(&LineRef { joint: Some(&self.pending), ..LineRef::default() })?;
        }
        self.lines.sync()
    }
}
