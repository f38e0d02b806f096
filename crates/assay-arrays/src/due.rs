//! What is due when: a queue of events in the order of their times, first come first among equals.

use assay_model::number::{index_of, narrow};
use std::collections::VecDeque;

/// Children of an entry: four keys fill a line of the processor's cache.
const CHILDREN: usize = 4;
/// Bits of a key that say where the event lies; those above count arrivals.
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// Events with what they carry. Times that come in order need no heap: they wait in a line beside it. The heap holds
/// keys only, each a time, the number of its arrival and the slot of its event.
pub struct Due<T> {
    line: VecDeque<(u64, u64, T)>,
    heap: Vec<u128>,
    slots: Vec<Option<T>>,
    free: Vec<u32>,
    arrivals: u64,
}

impl<T> Default for Due<T> {
    fn default() -> Self {
        Self {
            line: VecDeque::new(),
            heap: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
        }
    }
}

/// The time of a key.
#[inline]
fn time_of(key: u128) -> u64 {
    narrow(key >> 64)
}

/// The part of a key below the time.
#[inline]
fn rest_of(key: u128) -> u64 {
    narrow(key & u128::from(u64::MAX))
}

impl<T> Due<T> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, at_ns: u64, what: T) {
        self.arrivals += 1;
        if self.line.back().is_none_or(|last| last.0 <= at_ns) {
            self.line.push_back((at_ns, self.arrivals, what));
        } else {
            let slot = self.store(what);
            self.rise(u128::from(at_ns) << 64 | u128::from(self.arrivals << SLOT_BITS | slot));
        }
    }

    #[inline]
    fn store(&mut self, what: T) -> u64 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(what);
            return u64::from(slot);
        }
        self.slots.push(Some(what));
        assay_model::number::count_of(self.slots.len() - 1)
    }

    /// Puts a key where it belongs: no parent is later than its children.
    #[inline]
    fn rise(&mut self, key: u128) {
        let mut at = self.heap.len();
        self.heap.push(key);
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Takes the first key away.
    #[inline]
    fn sink(&mut self) -> Option<u128> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        let length = self.heap.len();
        if length == 0 {
            return Some(first);
        }
        let mut at = 0;
        loop {
            let children = at * CHILDREN + 1;
            if children >= length {
                break;
            }
            let mut least = children;
            for child in children + 1..(children + CHILDREN).min(length) {
                if self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if self.heap[least] >= last {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = last;
        Some(first)
    }

    /// When the next event is due.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let front_ns = self.line.front().map(|entry| entry.0);
        earlier(front_ns, self.heap.first().map(|key| time_of(*key)))
    }

    /// The next event, if it is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        let from_line = match (self.line.front(), self.heap.first()) {
            (Some(front), Some(key)) => {
                (front.0, front.1) < (time_of(*key), rest_of(*key) >> SLOT_BITS)
            }
            (front, _) => front.is_some(),
        };
        if from_line {
            let is_due = self.line.front().is_some_and(|front| front.0 <= now_ns);
            return is_due.then(|| self.line.pop_front()).flatten().map(|front| front.2);
        }
        if self.heap.first().is_none_or(|key| time_of(*key) > now_ns) {
            return None;
        }
        let slot = rest_of(self.sink()?) & SLOT_MASK;
        self.free.push(u32::try_from(slot).unwrap_or(0));
        self.slots[index_of(slot)].take()
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
    fn many_events_come_as_a_sorted_list_has_them() {
        let mut random = assay_model::random::Random::new(4);
        let (mut due, mut now_ns) = (Due::default(), 0);
        let mut expected: std::collections::BTreeSet<(u64, u64)> = Default::default();
        for arrival in 0..20_000u64 {
            let at_ns = now_ns + random.below(50);
            due.push(at_ns, arrival);
            expected.insert((at_ns, arrival));
            if random.chance(0.6) {
                now_ns += random.below(40);
            }
            while let Some(arrival) = due.pop(now_ns) {
                assert_eq!(expected.pop_first().map(|entry| entry.1), Some(arrival));
            }
            assert!(expected.first().is_none_or(|entry| entry.0 > now_ns));
            assert_eq!(due.next_ns(), expected.first().map(|entry| entry.0));
        }
    }

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
