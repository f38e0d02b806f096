//! A measurement as a series of batches: what intervals of confidence are made of, in memory that
//! does not grow with time.

use crate::last_change::LastChange;
use crate::quantity::Scope;
use assay_model::measurement::{Interval, NamedResult, PerOperation, Window, merge_named};
use assay_model::number::share;
use std::sync::OnceLock;

/// Batches held at most; when they are full, neighbours are joined two by two.
const BATCHES_MAX: usize = 240;
/// Batches of streams and targets held at most; they hold several results each.
const NAMED_MAX: usize = 96;

/// A last interval that lasts for a smaller share of the first one is the rest of an ended load.
const FRAGMENT_SHARE_MAX: f64 = 0.5;

/// A stretch of the measured time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesBatch {
    /// Length, s.
    pub elapsed_s: f64,
    /// All streams together, with coarse histograms.
    pub operations: PerOperation,
}

/// The streams and targets over a stretch of the measured time.
#[derive(Clone, Debug, Default, PartialEq)]
struct NamedBatch {
    intervals: u64,
    streams: Vec<NamedResult>,
    targets: Vec<NamedResult>,
}

/// A measurement as a series of batches of equal length, in their order in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    batches: Vec<SeriesBatch>,
    named: Vec<NamedBatch>,
    /// The last change of level, once it was looked for.
    pub(crate) last_change: OnceLock<Option<LastChange>>,
}

impl Series {
    /// Looks for no change of level: the load itself changes.
    pub fn keep_one_level(&self) {
        self.last_change.get_or_init(|| None);
    }
}

/// Takes intervals and joints one by one.
#[derive(Clone, Debug)]
pub struct SeriesBuilder {
    whole: Joiner<SeriesBatch>,
    named: Joiner<NamedBatch>,
}

/// What can be joined with the one that follows.
trait BatchJoin: Default {
    /// Adds the item that follows.
    fn join(&mut self, next: &Self);
}

/// Keeps at most `items_max` items, each the joint of `width` things that were added.
#[derive(Clone, Debug)]
struct Joiner<Item> {
    items: Vec<Item>,
    items_max: usize,
    width: u64,
    open: Item,
    filled: u64,
}

impl BatchJoin for SeriesBatch {
    fn join(&mut self, next: &Self) {
        self.elapsed_s += next.elapsed_s;
        self.operations.merge(&next.operations);
    }
}

impl BatchJoin for NamedBatch {
    fn join(&mut self, next: &Self) {
        self.intervals += next.intervals;
        merge_named(&mut self.streams, &next.streams);
        merge_named(&mut self.targets, &next.targets);
    }
}

impl<Item: BatchJoin> Joiner<Item> {
    /// Nothing yet, one thing an item.
    fn new(items_max: usize) -> Self {
        Self { items: Vec::new(), items_max, width: 1, open: Item::default(), filled: 0 }
    }

    /// Adds the thing that follows.
    fn add(&mut self, item: &Item) {
        self.open.join(item);
        self.filled += 1;
        if self.filled < self.width {
            return;
        }
        self.filled = 0;
        self.items.push(std::mem::take(&mut self.open));
        if self.items.len() == self.items_max {
            self.halve();
        }
    }

    /// Joins neighbours two by two, so that every item stands for twice as many things.
    fn halve(&mut self) {
        let mut halved: Vec<Item> = Vec::with_capacity(self.items_max);
        for (index, item) in self.items.drain(..).enumerate() {
            match halved.last_mut() {
                Some(last) if index % 2 == 1 => last.join(&item),
                _ => halved.push(item),
            }
        }
        self.items = halved;
        self.width *= 2;
    }
}

impl Joiner<SeriesBatch> {
    /// Whether the last interval is shorter than half of the first.
    fn ends_in_fragment(&self) -> bool {
        let [first, .., last] = self.items.as_slice() else { return false };
        self.width == 1 && last.elapsed_s < FRAGMENT_SHARE_MAX * first.elapsed_s
    }
}

impl Default for SeriesBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SeriesBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { whole: Joiner::new(BATCHES_MAX), named: Joiner::new(NAMED_MAX) }
    }

    /// Adds the interval that follows.
    pub fn add(&mut self, interval: &Interval) {
        let batch = SeriesBatch {
            elapsed_s: interval.elapsed_s(),
            operations: interval.operations.coarsened(),
        };
        self.whole.add(&batch);
    }

    /// Adds the joint that follows; without joints nothing is known of how streams and targets
    /// vary.
    pub fn add_joint(&mut self, joint: &Window) {
        let batch = NamedBatch {
            intervals: joint.intervals,
            streams: coarsened(&joint.streams),
            targets: coarsened(&joint.targets),
        };
        self.named.add(&batch);
    }

    /// The series. A last batch that is shorter than the others is left out: equal lengths are what
    /// makes the batches comparable, and the total is known from the measurement. Neither is the
    /// rest of an interval kept in which the load was ended.
    pub fn finish(mut self) -> Series {
        if self.whole.ends_in_fragment() {
            self.whole.items.pop();
            if self.named.width == 1 {
                self.named.items.pop();
            }
        }
        Series { batches: self.whole.items, named: self.named.items, last_change: OnceLock::new() }
    }
}

/// The same results with coarse histograms.
fn coarsened(results: &[NamedResult]) -> Vec<NamedResult> {
    let one = |result: &NamedResult| NamedResult {
        name: result.name.clone(),
        operations: result.operations.coarsened(),
    };
    results.iter().map(one).collect()
}

impl Series {
    /// All streams together.
    pub fn batches(&self) -> &[SeriesBatch] {
        &self.batches
    }

    /// One stream or target, its batches sharing `elapsed_s` by their number of intervals; empty
    /// without joints.
    pub fn of(&self, scope: Scope, name: &str, elapsed_s: f64) -> Vec<SeriesBatch> {
        let intervals: u64 = self.named.iter().map(|batch| batch.intervals).sum();
        let one = |batch: &NamedBatch| SeriesBatch {
            elapsed_s: elapsed_s * share(batch.intervals, intervals),
            operations: batch.operations_of(scope, name),
        };
        match scope {
            Scope::Whole => self.batches.clone(),
            Scope::Stream | Scope::Target => self.named.iter().map(one).collect(),
        }
    }
}

impl NamedBatch {
    /// The I/Os of one stream or target; none where it has none.
    fn operations_of(&self, scope: Scope, name: &str) -> PerOperation {
        let results = if scope == Scope::Stream { &self.streams } else { &self.targets };
        let found = results.iter().find(|result| result.name == name);
        found.map(|result| result.operations.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Precision;
    use assay_model::measurement::OperationResult;

    fn operations(time_ns: u64) -> PerOperation {
        let mut read = OperationResult::empty(Precision::Fine, false);
        (read.ios, read.bytes) = (1, 8192);
        read.service.record(time_ns);
        PerOperation { read: Some(read), ..PerOperation::default() }
    }

    fn interval(index: u64) -> Interval {
        Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations: operations(index + 1),
            queue_depth_mean: 1.0,
        }
    }

    #[test]
    fn memory_is_bounded_and_nothing_whole_is_lost() {
        for count in [0u64, 1, 239, 240, 241, 5000] {
            let mut builder = SeriesBuilder::new();
            (0..count).for_each(|index| builder.add(&interval(index)));
            let series = builder.finish();
            assert!(series.batches().len() < BATCHES_MAX);
            let ios: u64 = series.batches().iter().map(|batch| batch.operations.ios()).sum();
            let width = series.batches().first().map_or(1, |batch| batch.operations.ios());
            assert!(ios <= count && ios + width > count, "{count}: {ios} in batches of {width}");
            let equal = |batch: &SeriesBatch| batch.operations.ios() == width;
            assert!(series.batches().iter().all(equal));
        }
    }

    #[test]
    fn the_rest_of_an_interval_in_which_the_load_was_ended_is_left_out() {
        let mut builder = SeriesBuilder::new();
        (0..20).for_each(|index| builder.add(&interval(index)));
        let end_ns = 20_000_400_000;
        builder.add(&Interval { end_ns, ..interval(20) });
        let series = builder.finish();
        assert_eq!(series.batches().len(), 20);
        assert!(series.batches().iter().all(|batch| batch.elapsed_s > 0.99));
    }

    #[test]
    fn batches_keep_their_order_in_time() {
        let mut builder = SeriesBuilder::new();
        (0..2000).for_each(|index| builder.add(&interval(index)));
        let firsts: Vec<u64> = builder
            .finish()
            .batches()
            .iter()
            .filter_map(|batch| Some(batch.operations.read.as_ref()?.service.min_ns()))
            .collect();
        assert_eq!(firsts[..3], [1, 17, 33]);
        assert!(firsts.is_sorted());
    }

    #[test]
    fn streams_and_targets_come_from_joints() {
        let mut builder = SeriesBuilder::new();
        for index in 0..6 {
            let named =
                |name: &str| NamedResult { name: name.to_owned(), operations: operations(7) };
            builder.add_joint(&Window {
                first_interval: index * 10,
                intervals: 10,
                streams: vec![named("a"), named("b")],
                targets: vec![named("/x")],
            });
        }
        let series = builder.finish();
        let batches = series.of(Scope::Stream, "b", 60.0);
        assert_eq!((batches.len(), batches[0].operations.ios()), (6, 1));
        assert!((batches[0].elapsed_s - 10.0).abs() < 1e-9);
        assert_eq!(series.of(Scope::Target, "/x", 60.0).len(), 6);
        assert_eq!(series.of(Scope::Target, "/y", 60.0)[0].operations.ios(), 0);
        assert!(series.batches().is_empty());
    }
}
