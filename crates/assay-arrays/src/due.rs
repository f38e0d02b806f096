//! What is due when: a queue of events in the order of their times, first come first among equals.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Events with what they carry. Times that come in order need no heap: they wait in a line beside it.
pub struct Due<T> {
    line: VecDeque<Entry<T>>,
    heap: BinaryHeap<Entry<T>>,
    arrivals: u64,
}

struct Entry<T> {
    at_ns: u64,
    arrival: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    /// Turned round, because the heap gives the greatest first.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at_ns, other.arrival).cmp(&(self.at_ns, self.arrival))
    }
}

impl<T> Default for Due<T> {
    fn default() -> Self {
        Self { line: VecDeque::new(), heap: BinaryHeap::new(), arrivals: 0 }
    }
}

impl<T> Due<T> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, at_ns: u64, what: T) {
        self.arrivals += 1;
        let entry = Entry { at_ns, arrival: self.arrivals, what };
        if self.line.back().is_none_or(|last| last.at_ns <= at_ns) {
            self.line.push_back(entry);
        } else {
            self.heap.push(entry);
        }
    }

    /// When the next event is due.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let front_ns = self.line.front().map(|entry| entry.at_ns);
        earlier(front_ns, self.heap.peek().map(|entry| entry.at_ns))
    }

    /// The next event, if it is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        if self.next_ns()? > now_ns {
            return None;
        }
        // Entries are ordered backwards: the greater one is due first.
        let from_line = match (self.line.front(), self.heap.peek()) {
            (Some(front), Some(top)) => front > top,
            (front, _) => front.is_some(),
        };
        let entry = if from_line { self.line.pop_front() } else { self.heap.pop() };
        entry.map(|entry| entry.what)
    }
}

/// The earlier of two times that may not be known.
#[inline]
pub fn earlier(left_ns: Option<u64>, right_ns: Option<u64>) -> Option<u64> {
    match (left_ns, right_ns) {
        (Some(left_ns), Some(right_ns)) => Some(left_ns.min(right_ns)),
        (one, None) | (None, one) => one,
    }
}

/// A tag for I/Os that a part makes of its own: no host uses its highest bits, and parts differ by their seeds.
pub const fn own_tag(seed: u64) -> u64 {
    assay_model::random::mix(seed) | 0b11 << 62
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_and_equals_as_they_arrived() {
        let mut due = Due::default();
        for (at_ns, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            due.push(at_ns, name);
        }
        assert_eq!((due.next_ns(), due.pop(2)), (Some(3), None));
        let order: String = std::iter::from_fn(|| due.pop(9)).collect();
        assert_eq!(order, "abcd");
        assert_eq!((earlier(None, Some(2)), earlier(Some(1), Some(2))), (Some(2), Some(1)));
    }
}
