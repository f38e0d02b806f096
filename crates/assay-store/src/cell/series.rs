//! The intervals of a cell, in numbers or with histograms, read in flat memory.

use super::end_of;
use super::line::{CellLine, Outline};
use crate::lines::LineReader;
use assay_model::Result;
use assay_model::measurement::{Interval, PerOperation, Window};
use assay_model::run::IntervalSummary;

/// Every interval in numbers: those of `intervals.jsonl`, then those that only the tail has.
pub(super) struct Summaries {
    pub(super) lines: LineReader<Outline>,
    pub(super) tail: LineReader<Outline>,
    pub(super) next: u64,
}

impl Summaries {
    fn fresh(&mut self, line: Outline) -> Option<IntervalSummary> {
        let summary = line.interval.filter(|found| found.index >= self.next)?;
        self.next = summary.index + 1;
        Some(summary)
    }
}

impl Iterator for Summaries {
    type Item = Result<IntervalSummary>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next().or_else(|| self.tail.next())? {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            if let Some(summary) = self.fresh(line) {
                return Some(Ok(summary));
            }
        }
    }
}

/// The part of the tail that no joint covers: an interval in numbers with its histograms, or the
/// histograms of several whose numbers stand in `intervals.jsonl`.
pub(super) struct SeriesTail {
    pub(super) lines: LineReader<CellLine>,
    pub(super) next: u64,
}

impl Iterator for SeriesTail {
    type Item = Result<(Option<IntervalSummary>, Window)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.next()? {
                Err(error) => return Some(Err(error)),
                Ok(CellLine { interval, joint: Some(joint), .. })
                    if joint.first_interval >= self.next =>
                {
                    self.next = end_of(joint.first_interval, joint.intervals);
                    return Some(Ok((interval, joint)));
                }
                Ok(_) => {}
            }
        }
    }
}

/// Every joint with the stretch of time that it covers; the tail makes the last one.
pub(super) struct Joints {
    pub(super) lines: LineReader<CellLine>,
    pub(super) tail: Option<LineReader<CellLine>>,
    /// The intervals since the last joint.
    pub(super) covered: Vec<IntervalSummary>,
    /// The first interval that no joint covers yet.
    pub(super) next: u64,
}

impl Joints {
    fn take_in(&mut self, line: CellLine) -> Option<(Interval, Window)> {
        self.covered.extend(line.interval);
        let joint = line.joint?;
        self.next = end_of(joint.first_interval, joint.intervals);
        self.covered.retain(|summary| summary.index >= joint.first_interval);
        let interval = stretch(&self.covered, &joint);
        self.covered.clear();
        Some((interval, joint))
    }

    /// The intervals of a joint, as far as they came by.
    fn numbers_of(&self, joint: &Window) -> impl Iterator<Item = IntervalSummary> {
        let range = joint.first_interval..end_of(joint.first_interval, joint.intervals);
        let mine = self.covered.iter().cloned();
        mine.filter(move |summary| range.contains(&summary.index))
    }

    /// The joint of the whole tail.
    fn of_tail(&self, lines: LineReader<CellLine>) -> Result<Option<(Interval, Window)>> {
        let mut covered = Vec::new();
        let mut all = Window::default();
        let tail = SeriesTail { lines, next: self.next };
        for line in tail {
            let (summary, joint) = line?;
            match summary {
                Some(summary) => covered.push(summary),
                None => covered.extend(self.numbers_of(&joint)),
            }
            all.merge(&joint);
        }
        Ok((all.intervals > 0).then(|| (stretch(&covered, &all), all)))
    }
}

impl Iterator for Joints {
    type Item = Result<(Interval, Window)>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(line) = self.lines.next() {
            match line.map(|line| self.take_in(line)) {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok(found)),
                Err(error) => return Some(Err(error)),
            }
        }
        let tail = self.tail.take()?;
        self.of_tail(tail).transpose()
    }
}

/// One long interval of several that follow one another, with the histograms of their joint.
fn stretch(covered: &[IntervalSummary], joint: &Window) -> Interval {
    let mut operations = PerOperation::default();
    for stream in &joint.streams {
        operations.merge(&stream.operations);
    }
    let measured_s: f64 = covered.iter().map(IntervalSummary::elapsed_s).sum();
    let outstanding_s: f64 =
        covered.iter().map(|summary| summary.queue_depth_mean * summary.elapsed_s()).sum();
    Interval {
        index: joint.first_interval,
        start_ns: covered.first().map_or(0, |first| first.start_ns),
        end_ns: covered.last().map_or(0, |last| last.end_ns),
        operations,
        queue_depth_mean: if measured_s > 0.0 { outstanding_s / measured_s } else { 0.0 },
    }
}
