//! Writes between two syncs: which ones a successful sync covers, and on which a failed one casts
//! doubt.
//!
//! After a failed sync the kernel marks pages clean that never reached the device (Rebello et al.
//! 2020), so that a later sync which succeeds does not cover them: only writing them again does.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The acknowledged writes of one target that no sync has covered, in the order of their
/// completion.
#[derive(Debug, Default)]
pub struct UnsyncedWrites {
    queue: Mutex<UnsyncedQueue>,
}

/// An acknowledged write that no sync has covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsyncedWrite {
    /// Its block.
    pub block: u64,
    /// The version that it wrote.
    pub generation: u32,
    /// The oldest version that was allowed before it.
    pub oldest_before: u32,
}

#[derive(Debug, Default)]
struct UnsyncedQueue {
    writes: VecDeque<UnsyncedWrite>,
    /// Writes that were covered before the first of these.
    covered: u64,
}

impl UnsyncedWrites {
    fn queue(&self) -> MutexGuard<'_, UnsyncedQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of a block was acknowledged.
    #[inline]
    pub fn push(&self, write: UnsyncedWrite) {
        self.queue().writes.push_back(write);
    }

    /// A sync is issued now: it covers what completed before. Give the number back with its result.
    pub fn mark(&self) -> u64 {
        let queue = self.queue();
        queue.covered + assay_model::number::count_of(queue.writes.len())
    }

    /// A sync succeeded: `durable` hears of each write that it covers.
    pub fn cover(&self, mark: u64, mut durable: impl FnMut(UnsyncedWrite)) {
        let mut queue = self.queue();
        while queue.covered < mark
            && let Some(write) = queue.writes.pop_front()
        {
            durable(write);
            queue.covered += 1;
        }
    }

    /// A sync failed: gives every write that was not covered, later ones included, for its error is
    /// reported once only.
    pub fn fail(&self) -> Vec<UnsyncedWrite> {
        let mut queue = self.queue();
        let writes: Vec<UnsyncedWrite> = queue.writes.drain(..).collect();
        queue.covered += assay_model::number::count_of(writes.len());
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn write(block: u64, generation: u32) -> UnsyncedWrite {
        UnsyncedWrite { block, generation, oldest_before: generation - 1 }
    }

    #[test]
    fn a_sync_covers_what_completed_before_it_was_issued() {
        let writes = UnsyncedWrites::default();
        writes.push(write(1, 1));
        writes.push(write(2, 5));
        let mark = writes.mark();
        writes.push(write(3, 6));
        let mut durable = Vec::new();
        writes.cover(mark, |write| durable.push(write));
        assert_eq!(durable, [write(1, 1), write(2, 5)]);
        assert_eq!(writes.fail(), [write(3, 6)]);
        assert_eq!(writes.fail(), []);
    }

    #[test]
    fn a_sync_that_succeeds_after_a_failed_one_covers_nothing_of_before() {
        let writes = UnsyncedWrites::default();
        writes.push(write(1, 1));
        let (first, second) = (writes.mark(), writes.mark());
        assert_eq!(writes.fail(), [write(1, 1)]);
        writes.push(write(2, 1));
        writes.cover(first.max(second), |covered| panic!("{covered:?} is not covered"));
        assert_eq!(writes.fail(), [write(2, 1)]);
    }
}
