//! Few events: a binary heap.

use super::entry::{NEVER, QueueEntry};

/// Events in a binary heap that is kept as a list.
pub(super) struct Heap<T> {
    entries: Vec<QueueEntry<T>>,
}

impl<T> Default for Heap<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Heap<T> {
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.entries.first().map_or(NEVER, QueueEntry::key)
    }

    #[inline]
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.entries.first().map(|entry| entry.at_ns)
    }

    /// No parent is later than its children.
    pub(super) fn push(&mut self, entry: QueueEntry<T>) {
        let mut at = self.entries.len();
        self.entries.push(entry);
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.entries[parent].key() <= self.entries[at].key() {
                break;
            }
            self.entries.swap(parent, at);
            at = parent;
        }
    }

    pub(super) fn pop(&mut self) -> Option<QueueEntry<T>> {
        let last = self.entries.len().checked_sub(1)?;
        self.entries.swap(0, last);
        let first = self.entries.pop();
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= last {
                return first;
            }
            let is_right = right < last && self.entries[right].key() < self.entries[left].key();
            let child = if is_right { right } else { left };
            if self.entries[at].key() <= self.entries[child].key() {
                return first;
            }
            self.entries.swap(at, child);
            at = child;
        }
    }
}
