//! Writes between two syncs: which ones a successful sync covers, and on which a failed one casts doubt.
//!
//! After a failed sync the kernel marks pages clean that never reached the device (Rebello et al. 2020), so that a later
//! sync which succeeds does not cover them: only writing them again does.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The acknowledged writes of one target that no sync has covered, in the order of their completion.
#[derive(Debug, Default)]
pub struct UnsyncedWrites {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Blocks with the oldest version that was allowed before the write.
    writes: VecDeque<(u64, u32)>,
    /// Writes that were covered before the first of these.
    covered: u64,
}

impl UnsyncedWrites {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of a block was acknowledged.
    #[inline]
    pub fn push(&self, block: u64, oldest_before: u32) {
        self.queue().writes.push_back((block, oldest_before));
    }

    /// A sync is issued now: it covers what completed before. Give the number back with its result.
    pub fn mark(&self) -> u64 {
        let queue = self.queue();
        queue.covered + assay_model::number::count_of(queue.writes.len())
    }

    /// A sync succeeded.
    pub fn cover(&self, mark: u64) {
        let mut queue = self.queue();
        while queue.covered < mark && queue.writes.pop_front().is_some() {
            queue.covered += 1;
        }
    }

    /// A sync failed: gives every write that was not covered, later ones included, for its error is reported once only.
    pub fn fail(&self) -> Vec<(u64, u32)> {
        let mut queue = self.queue();
        let writes: Vec<(u64, u32)> = queue.writes.drain(..).collect();
        queue.covered += assay_model::number::count_of(writes.len());
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_covers_what_completed_before_it_was_issued() {
        let writes = UnsyncedWrites::default();
        writes.push(1, 0);
        writes.push(2, 4);
        let mark = writes.mark();
        writes.push(3, 5);
        writes.cover(mark);
        assert_eq!(writes.fail(), [(3, 5)]);
        assert_eq!(writes.fail(), []);
    }

    #[test]
    fn a_sync_that_succeeds_after_a_failed_one_covers_nothing_of_before() {
        let writes = UnsyncedWrites::default();
        writes.push(1, 0);
        let (first, second) = (writes.mark(), writes.mark());
        assert_eq!(writes.fail(), [(1, 0)]);
        writes.push(2, 0);
        writes.cover(first.max(second));
        assert_eq!(writes.fail(), [(2, 0)]);
    }
}
