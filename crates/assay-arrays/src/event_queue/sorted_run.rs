//! Events that come nearly in the order of their times: a line that a late one enters a few places
//! from its end.

use super::entry::{NEVER, QueueEntry};

/// An event is inserted in front of at most this number of others; one that is farther from its
/// place does not belong here.
const NEAR: usize = 8;
/// Places of events that have left are freed when there are this many.
const LEFT: usize = 64;

/// Events in the order of their keys, behind those that have left.
pub(super) struct SortedRun<T> {
    entries: Vec<QueueEntry<T>>,
    head: usize,
}

impl<T> Default for SortedRun<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), head: 0 }
    }
}

impl<T: Copy> SortedRun<T> {
    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.entries.get(self.head).map_or(NEVER, QueueEntry::key)
    }

    /// Puts an event to its place where that is near the end; gives it back where it is not.
    #[inline]
    pub(super) fn push(&mut self, entry: QueueEntry<T>) -> Result<(), QueueEntry<T>> {
        if self.entries.last().is_none_or(|last| last.at_ns <= entry.at_ns) {
            self.entries.push(entry);
            return Ok(());
        }
        let end = self.entries.len();
        let near = self.head.max(end.saturating_sub(NEAR + 1));
        let earlier = self.entries[near..].iter().rposition(|other| other.at_ns <= entry.at_ns);
        let place = match earlier {
            Some(earlier) => near + earlier + 1,
            None if near == self.head => near,
            None => return Err(entry),
        };
        self.entries.insert(place, entry);
        Ok(())
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<QueueEntry<T>> {
        let entry = self.entries.get(self.head).copied()?;
        self.head += 1;
        if self.head == self.entries.len() {
            self.entries.clear();
            self.head = 0;
        } else if self.head >= LEFT {
            self.entries.copy_within(self.head.., 0);
            self.entries.truncate(self.entries.len() - self.head);
            self.head = 0;
        }
        Some(entry)
    }
}
