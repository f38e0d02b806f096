//! A queue of events in the order of their times, first come first among equals.

use assay_model::number::narrow;

mod entry;
mod heap;
mod sorted_run;
mod wheel;

use entry::{NEVER, NEVER_NS, QueueEntry};
use heap::Heap;
use sorted_run::SortedRun;
use wheel::Wheel;

/// More events than this at once are cheaper on a wheel than in a heap.
const MANY: usize = 40;
/// Events with what they carry. Times that come nearly in order wait in a line, those of a second
/// kind in another; few others in a heap, many on a wheel.
pub struct EventQueue<T> {
    /// When the first of all is due; beyond all time while nothing waits.
    first_ns: u64,
    lines: [SortedRun<T>; 2],
    heap: Heap<T>,
    wheel: Option<Wheel<T>>,
    arrivals: u64,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            first_ns: NEVER_NS,
            lines: [SortedRun::default(), SortedRun::default()],
            heap: Heap::default(),
            wheel: None,
            arrivals: 0,
        }
    }
}

impl<T: Copy> EventQueue<T> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, at_ns: u64, what: T) {
        self.arrivals += 1;
        self.first_ns = self.first_ns.min(at_ns);
        let entry = QueueEntry { at_ns, arrival: self.arrivals, what };
        if let Some(wheel) = &mut self.wheel {
            return wheel.push(entry);
        }
        let [one, other] = &mut self.lines;
        if let Err(entry) = one.push(entry).or_else(|entry| other.push(entry)) {
            self.heap.push(entry);
            if self.heap.len() > MANY {
                self.turn_into_wheel();
            }
        }
    }

    #[cold]
    fn turn_into_wheel(&mut self) {
        let lines = self.lines.iter_mut();
        let mut entries: Vec<QueueEntry<T>> =
            lines.flat_map(|line| std::iter::from_fn(|| line.pop())).collect();
        entries.extend(std::iter::from_fn(|| self.heap.pop()));
        self.wheel = Some(Wheel::of(entries));
    }

    /// When the next event is due.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        (self.first_ns < NEVER_NS).then_some(self.first_ns)
    }

    /// The next event, if it is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        if self.first_ns > now_ns {
            return None;
        }
        let entry = match &mut self.wheel {
            Some(wheel) => wheel.pop(),
            None => self.take_first(),
        };
        self.first_ns = time_of(match &self.wheel {
            Some(wheel) => wheel.first_key(),
            None => self.keys().into_iter().fold(NEVER, u128::min),
        });
        entry.map(|entry| entry.what)
    }

    /// The first keys of both lines and of the heap.
    #[inline]
    fn keys(&self) -> [u128; 3] {
        let [one, other] = &self.lines;
        [one.first_key(), other.first_key(), self.heap.first_key()]
    }

    /// The next event, out of where it waits.
    #[inline]
    fn take_first(&mut self) -> Option<QueueEntry<T>> {
        let [one, other, heap] = self.keys();
        if one < other.min(heap) {
            self.lines[0].pop()
        } else if other < heap {
            self.lines[1].pop()
        } else {
            self.heap.pop()
        }
    }
}

/// The time of a key.
#[inline]
fn time_of(key: u128) -> u64 {
    narrow(key >> 64)
}

/// The earlier of two times that may not be known.
#[inline]
pub fn earlier(left_ns: Option<u64>, right_ns: Option<u64>) -> Option<u64> {
    match (left_ns, right_ns) {
        (Some(left_ns), Some(right_ns)) => Some(left_ns.min(right_ns)),
        (one, None) | (None, one) => one,
    }
}

/// A tag for I/Os that a part makes of its own: no host uses its highest bits, and parts differ by
/// their seeds.
pub const fn own_tag(seed: u64) -> u64 {
    assay_stats::random::mix(seed) | 0b11 << 62
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_events_come_as_a_sorted_list_has_them() {
        let mut random = assay_stats::random::Random::new(4);
        let (mut due, mut now_ns) = (EventQueue::default(), 0);
        let mut expected = std::collections::BTreeSet::<(u64, u64)>::new();
        for arrival in 0..20_000u64 {
            // Few at first, then many: the heap turns into a wheel, which meets times far away,
            // too.
            let far = if arrival % 97 == 0 { 200_000 } else { 50 + arrival / 20 };
            let at_ns = now_ns + random.below(far);
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
    fn two_kinds_of_times_wait_in_two_lines() {
        let mut random = assay_stats::random::Random::new(5);
        let (mut due, mut expected) = (EventQueue::default(), std::collections::BTreeSet::new());
        for arrival in 0..5000u64 {
            let now_ns = 10 * arrival;
            let kind_ns = if random.chance(0.3) { 40 } else { 300 };
            let at_ns = now_ns + kind_ns + random.below(30);
            due.push(at_ns, arrival);
            expected.insert((at_ns, arrival));
            while let Some(arrival) = due.pop(now_ns) {
                assert_eq!(expected.pop_first().map(|entry| entry.1), Some(arrival));
            }
            assert_eq!(due.next_ns(), expected.first().map(|entry| entry.0));
        }
        assert!(due.wheel.is_none() && due.heap.len() == 0);
    }

    #[test]
    fn events_come_in_order_and_equals_as_they_arrived() {
        let mut due = EventQueue::default();
        for (at_ns, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            due.push(at_ns, name);
        }
        assert_eq!((due.next_ns(), due.pop(2)), (Some(3), None));
        let order: String = std::iter::from_fn(|| due.pop(9)).collect();
        assert_eq!(order, "abcd");
        assert_eq!((earlier(None, Some(2)), earlier(Some(1), Some(2))), (Some(2), Some(1)));
    }
}
