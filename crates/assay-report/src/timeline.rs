//! How a run went over time, in at most as many columns as a picture can show, whatever its length.
//!
//! Intervals are taken one by one. Neighbouring columns are joined two by two when there are too
//! many, so that memory does not grow with time; a column keeps the lowest and highest rate of its
//! intervals and all of its times, so that no outlier is lost and a quantile of a column is a
//! quantile of its I/Os, never a mean of quantiles.

use crate::compact_histogram::CompactHistogram;
use assay_model::measurement::{Interval, Operation};
use assay_model::number::{rate, seconds};
use assay_model::run::IntervalSummary;
use assay_model::{Histogram, Precision};

/// Columns held at most; there are at least half as many once a run was long enough.
pub(crate) const COLUMNS_MAX: usize = 960;

/// A run over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunTimeline {
    /// Neighbouring stretches of time.
    columns: Vec<TimelineColumn>,
    /// Intervals that went into them.
    intervals: u64,
    open: bool,
}

/// Takes the intervals of a run one by one, in their order.
#[derive(Debug, Default)]
pub struct TimelineBuilder {
    /// Full columns.
    columns: Vec<TimelineColumn>,
    /// Intervals a column.
    width: u64,
    /// The one that is not full.
    filling: TimelineFilling,
    intervals: u64,
    open: bool,
}

/// The column that is not full yet.
#[derive(Debug, Default)]
struct TimelineFilling {
    /// Counts and rates.
    column: TimelineColumn,
    /// Times of reads, writes and syncs, joined cheaply and packed when the column is full.
    times: [Histogram; 3],
    intervals: u64,
}

/// A stretch of the measured time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TimelineColumn {
    /// Begin, ns after the measured time began.
    pub(crate) start_ns: u64,
    /// End, ns after the measured time began.
    pub(crate) end_ns: u64,
    /// Reads, writes and syncs.
    operations: [ColumnOperation; 3],
    /// Whether its extremes are those of intervals that were told apart afterwards.
    refined: bool,
}

/// One operation in a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ColumnOperation {
    /// I/Os completed.
    pub(crate) ios: u64,
    /// I/Os that failed.
    pub(crate) errors: u64,
    /// Lowest rate of an interval of the column.
    pub(crate) iops_min: f64,
    /// Highest rate of an interval of the column.
    pub(crate) iops_max: f64,
    /// The times of all of them.
    pub(crate) times: CompactHistogram,
}

/// The place of an operation in a column.
const fn place(operation: Operation) -> usize {
    match operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Sync => 2,
    }
}

impl TimelineBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { width: 1, filling: TimelineFilling::empty(), ..Self::default() }
    }

    /// Adds the interval that follows.
    pub fn add(&mut self, interval: &Interval) {
        self.open |= interval.operations.iter().any(|(_, result)| result.response.is_some());
        self.intervals += 1;
        self.filling.add(interval);
        if self.filling.intervals == self.width {
            self.close();
        }
    }

    /// Ends the column that is being filled, and makes room when there is no more.
    fn close(&mut self) {
        let filled = std::mem::replace(&mut self.filling, TimelineFilling::empty());
        self.columns.push(filled.close());
        if self.columns.len() == COLUMNS_MAX {
            self.columns = paired(std::mem::take(&mut self.columns));
            self.width *= 2;
        }
    }

    /// The run over time; the last column may be shorter than the others.
    pub fn finish(mut self) -> RunTimeline {
        if self.filling.intervals > 0 {
            self.close();
        }
        RunTimeline { columns: self.columns, intervals: self.intervals, open: self.open }
    }
}

impl TimelineFilling {
    /// A column without time.
    fn empty() -> Self {
        let times = [(); 3].map(|()| Histogram::new(Precision::Coarse));
        Self { column: TimelineColumn::default(), times, intervals: 0 }
    }

    fn add(&mut self, interval: &Interval) {
        if self.intervals == 0 {
            self.column.start_ns = interval.start_ns;
        }
        self.column.end_ns = interval.end_ns;
        for operation in Operation::ALL {
            let into = &mut self.column.operations[place(operation)];
            let result = interval.operations.get(operation);
            let iops = rate(result.map_or(0, |result| result.ios), interval.elapsed_s());
            into.widen(iops, iops, self.intervals == 0);
            if let Some(result) = result {
                into.ios += result.ios;
                into.errors += result.errors;
                self.times[place(operation)].merge(result.response());
            }
        }
        self.intervals += 1;
    }

    /// The column with its times packed.
    fn close(mut self) -> TimelineColumn {
        for (operation, times) in self.column.operations.iter_mut().zip(&self.times) {
            operation.times = CompactHistogram::of(times);
        }
        self.column
    }
}

impl ColumnOperation {
    /// Takes the rate of an interval in place of what longer stretches showed.
    fn refine(&mut self, iops: f64, first: bool) {
        if first {
            (self.iops_min, self.iops_max) = (iops, iops);
        }
        self.widen(iops, iops, false);
    }

    /// Takes rates into the range; the first ones make it.
    fn widen(&mut self, lowest: f64, highest: f64, first: bool) {
        self.iops_min = if first { lowest } else { self.iops_min.min(lowest) };
        self.iops_max = self.iops_max.max(highest);
    }
}

impl TimelineColumn {
    /// One operation; its count is 0 where it did not happen.
    pub(crate) const fn operation(&self, operation: Operation) -> &ColumnOperation {
        &self.operations[place(operation)]
    }

    /// Length, s.
    pub(crate) fn elapsed_s(&self) -> f64 {
        seconds(self.end_ns.saturating_sub(self.start_ns))
    }

    /// Adds the column that follows.
    fn join(&mut self, next: &Self) {
        self.end_ns = next.end_ns;
        for (mine, theirs) in self.operations.iter_mut().zip(&next.operations) {
            mine.ios += theirs.ios;
            mine.errors += theirs.errors;
            mine.widen(theirs.iops_min, theirs.iops_max, false);
            mine.times.merge(&theirs.times);
        }
    }
}

/// Neighbours joined two by two.
fn paired(columns: Vec<TimelineColumn>) -> Vec<TimelineColumn> {
    let mut pairs: Vec<TimelineColumn> = Vec::with_capacity(columns.len().div_ceil(2));
    for (index, column) in columns.into_iter().enumerate() {
        match pairs.last_mut() {
            Some(last) if index % 2 == 1 => last.join(&column),
            _ => pairs.push(column),
        }
    }
    pairs
}

impl RunTimeline {
    /// Records how fast and how slow the intervals within a column were, where the columns were
    /// made of longer stretches; to be called once for each interval.
    pub fn refine(&mut self, interval: &IntervalSummary) {
        let after = self.columns.partition_point(|column| column.start_ns <= interval.start_ns);
        let Some(column) = after.checked_sub(1).and_then(|place| self.columns.get_mut(place))
        else {
            return;
        };
        let elapsed_s = seconds(interval.end_ns.saturating_sub(interval.start_ns));
        let first = !column.refined;
        column.refined = true;
        for (place, summary) in [interval.read, interval.write, interval.sync].iter().enumerate() {
            let iops = rate(summary.map_or(0, |summary| summary.ios), elapsed_s);
            column.operations[place].refine(iops, first);
        }
    }

    /// All columns, in their order in time.
    pub(crate) fn columns(&self) -> &[TimelineColumn] {
        &self.columns
    }

    /// Intervals that were taken.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// The kind of time it holds: from the intended start where arrivals are open.
    pub(crate) const fn kind(&self) -> &'static str {
        if self.open { "latency (response time)" } else { "latency (service time)" }
    }

    /// End of the last interval, ns.
    pub(crate) fn end_ns(&self) -> u64 {
        self.columns.last().map_or(0, |column| column.end_ns)
    }

    /// The operations that happened at all.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        let happened = |operation: &Operation| {
            self.columns.iter().any(|column| column.operation(*operation).ios > 0)
        };
        Operation::ALL.into_iter().filter(happened).collect()
    }

    /// The same in at most this many columns.
    pub(crate) fn coarser(&self, columns_max: usize) -> Self {
        let mut columns = self.columns.clone();
        while columns.len() > columns_max.max(1) {
            columns = paired(columns);
        }
        Self { columns, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::{OperationResult, PerOperation};
    use assay_model::run::OperationSummary;
    use proptest::prelude::*;

    fn interval(index: u64, ios: u64) -> Interval {
        let mut write = OperationResult::empty(Precision::Coarse, false);
        write.ios = ios;
        write.service.record_many(1000 * (index + 1), ios);
        Interval {
            index,
            start_ns: index * 500_000_000,
            end_ns: (index + 1) * 500_000_000,
            operations: PerOperation { write: Some(write), ..PerOperation::default() },
            queue_depth_mean: 1.0,
        }
    }

    fn timeline(counts: &[u64]) -> RunTimeline {
        let mut builder = TimelineBuilder::new();
        for (index, ios) in (0..).zip(counts) {
            builder.add(&interval(index, *ios));
        }
        builder.finish()
    }

    #[test]
    fn no_interval_is_no_column() {
        assert_eq!(timeline(&[]).columns(), []);
        assert_eq!(timeline(&[0]).operations(), []);
        assert_eq!(timeline(&[3]).operations(), [Operation::Write]);
    }

    #[test]
    fn intervals_within_a_column_show_its_extremes() {
        let mut long = interval(0, 60);
        long.end_ns = 30_000_000_000;
        let mut builder = TimelineBuilder::new();
        builder.add(&long);
        let mut timeline = builder.finish();
        for (start_s, ios) in [(0u64, 10), (10, 40), (20, 10)] {
            timeline.refine(&IntervalSummary {
                start_ns: start_s * 1_000_000_000,
                end_ns: (start_s + 10) * 1_000_000_000,
                write: Some(OperationSummary { ios, ..OperationSummary::default() }),
                ..IntervalSummary::default()
            });
        }
        let write = timeline.columns()[0].operation(Operation::Write);
        assert!((write.iops_min - 1.0).abs() < 1e-9 && (write.iops_max - 4.0).abs() < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn joining_columns_loses_no_io_and_no_outlier(counts in prop::collection::vec(0u64..50, 1..4000)) {
            let timeline = timeline(&counts);
            let columns = timeline.columns();
            prop_assert!(columns.len() < COLUMNS_MAX);
            let write = |column: &TimelineColumn| column.operation(Operation::Write).clone();
            prop_assert_eq!(columns.iter().map(|column| write(column).ios).sum::<u64>(), counts.iter().sum::<u64>());
            let highest = columns.iter().map(|column| write(column).iops_max).fold(0.0, f64::max);
            prop_assert!((highest - assay_model::number::real(counts.iter().copied().max().unwrap()) * 2.0).abs() < 1e-9);
            prop_assert!(columns.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
            for column in columns {
                let write = write(column);
                let mean = rate(write.ios, column.elapsed_s());
                prop_assert!(write.iops_min <= mean + 1e-9 && mean <= write.iops_max + 1e-9);
                prop_assert_eq!(write.times.ios(), write.ios);
            }
            let coarse = timeline.coarser(7);
            prop_assert!(coarse.columns().len() <= 7);
            prop_assert_eq!(coarse.end_ns(), timeline.end_ns());
        }
    }
}
