//! Load in batches of equal length: neighbours of one cycle are joined two by two when there are
//! too many.

use assay_model::measurement::{Interval, PerOperation};
use assay_model::number::{rate, seconds};

/// Batches held at most: eight hours in minutes.
const BATCHES_MAX: usize = 960;
/// Load in a batch at the beginning, s.
const SHORTEST_S: f64 = 10.0;
/// From this length on, batches are only joined for lack of room.
const WANTED_S: f64 = 60.0;
/// Below this number, batches shorter than wanted are kept: a short soak has few.
const FEW: usize = 120;

/// A stretch of load within one cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct CycleBatch {
    /// The cycle.
    pub(super) cycle: u32,
    /// Begin, s since the load began.
    pub(super) at_s: f64,
    /// Length, s.
    pub(super) elapsed_s: f64,
    /// What was done, with coarse histograms.
    pub(super) operations: PerOperation,
}

impl CycleBatch {
    pub(super) fn of(cycle: u32, cycle_s: f64, interval: &Interval) -> Self {
        Self {
            cycle,
            at_s: cycle_s + seconds(interval.start_ns),
            elapsed_s: interval.elapsed_s(),
            operations: interval.operations.coarsened(),
        }
    }

    /// Adds the stretch that follows.
    pub(super) fn join(&mut self, next: &Self) {
        if self.elapsed_s <= 0.0 {
            *self = next.clone();
            return;
        }
        self.elapsed_s += next.elapsed_s;
        self.operations.merge(&next.operations);
    }

    pub(super) fn iops(&self) -> f64 {
        rate(self.operations.ios(), self.elapsed_s)
    }
}

/// Batches so far.
#[derive(Debug)]
pub(super) struct Batches {
    items: Vec<CycleBatch>,
    open: CycleBatch,
    length_s: f64,
}

impl Batches {
    pub(super) const fn new() -> Self {
        Self {
            items: Vec::new(),
            open: CycleBatch {
                cycle: 0,
                at_s: 0.0,
                elapsed_s: 0.0,
                operations: PerOperation { read: None, write: None, sync: None },
            },
            length_s: SHORTEST_S,
        }
    }

    /// Adds a stretch; what a cycle leaves over at its end is not long enough to be compared, and
    /// is left out.
    pub(super) fn add(&mut self, next: &CycleBatch) {
        if self.open.cycle != next.cycle {
            self.open = CycleBatch::default();
        }
        self.open.join(next);
        if self.open.elapsed_s < self.length_s - 1e-6 {
            return;
        }
        self.items.push(std::mem::take(&mut self.open));
        self.open.cycle = next.cycle;
        let many = self.items.len() >= FEW && self.length_s < WANTED_S;
        if many || self.items.len() >= BATCHES_MAX {
            self.halve();
        }
    }

    /// Joins neighbours of one cycle; what is left alone is left out, unless all would be.
    fn halve(&mut self) {
        let mut halved: Vec<CycleBatch> = Vec::with_capacity(BATCHES_MAX);
        let mut waiting: Option<CycleBatch> = None;
        for item in self.items.drain(..) {
            match waiting.take().filter(|first| first.cycle == item.cycle) {
                Some(mut first) => {
                    first.join(&item);
                    halved.push(first);
                }
                None => waiting = Some(item),
            }
        }
        self.items = halved;
        self.length_s *= 2.0;
    }

    pub(super) fn items(&self) -> &[CycleBatch] {
        &self.items
    }
}
