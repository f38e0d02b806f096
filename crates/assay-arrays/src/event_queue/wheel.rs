//! Many events: buckets of equal length in a ring, so that an event costs the same however many
//! others wait.
//!
//! Source: R. Brown, "Calendar queues", Communications of the ACM 31 (1988).

use super::entry::{NEVER, QueueEntry};
use super::heap::Heap;
use assay_model::number::{count_of, index_of};

const BUCKETS: usize = 1024;
const WORDS: usize = BUCKETS / 64;
/// More events than this in one bucket, or beyond the ring, mean that buckets are too long or too
/// short.
const CROWD: usize = 256;

/// The ring, the bucket that is open, and what lies beyond the ring.
pub(super) struct Wheel<T> {
    /// Events up to the end of the open bucket, the next one last.
    open: Vec<QueueEntry<T>>,
    buckets: Vec<Vec<QueueEntry<T>>>,
    /// One bit a bucket that holds anything.
    taken: [u64; WORDS],
    /// Number of the open bucket since time began.
    at: u64,
    /// Length of a bucket as a power of two, ns.
    shift: u32,
    beyond: Heap<T>,
    /// Events pushed since the lengths were chosen.
    pushed: u64,
}

impl<T> Wheel<T> {
    /// A wheel of events, at least one.
    pub(super) fn of(entries: Vec<QueueEntry<T>>) -> Self {
        let mut wheel = Self {
            open: Vec::new(),
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            taken: [0; WORDS],
            at: 0,
            shift: 0,
            beyond: Heap::default(),
            pushed: 0,
        };
        wheel.fill(entries);
        wheel
    }

    /// Chooses the length of a bucket by how densely events lie, and puts them in.
    fn fill(&mut self, mut entries: Vec<QueueEntry<T>>) {
        entries.sort_unstable_by_key(QueueEntry::key);
        let middle = entries.len() / 2;
        let time = |at: usize| entries.get(at).map_or(0, |entry| entry.at_ns);
        // The nearer half: the farther one thins out.
        let span_ns = time(middle).saturating_sub(time(0));
        let gap_ns = (span_ns / count_of(middle.max(1))).max(1);
        self.shift = gap_ns.ilog2();
        self.at = time(0) >> self.shift;
        self.pushed = 0;
        for entry in entries {
            self.put(entry);
        }
        self.refill();
    }

    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.open.last().map_or(NEVER, QueueEntry::key)
    }

    #[inline]
    pub(super) fn push(&mut self, entry: QueueEntry<T>) {
        self.pushed += 1;
        if self.open.is_empty() {
            // Nothing waits at all: the ring begins here.
            self.at = entry.at_ns >> self.shift;
        }
        self.put(entry);
    }

    #[inline]
    fn put(&mut self, entry: QueueEntry<T>) {
        let bucket = entry.at_ns >> self.shift;
        if bucket <= self.at {
            let key = entry.key();
            let place =
                self.open.iter().rposition(|other| other.key() > key).map_or(0, |at| at + 1);
            self.open.insert(place, entry);
        } else if bucket - self.at < count_of(BUCKETS) {
            let index = index_of(bucket) % BUCKETS;
            self.taken[index / 64] |= 1 << (index % 64);
            self.buckets[index].push(entry);
        } else {
            self.beyond.push(entry);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<QueueEntry<T>> {
        let entry = self.open.pop();
        if self.open.is_empty() {
            self.refill();
        }
        entry
    }

    /// Opens the next bucket that holds anything; what is beyond the ring comes in when its time is
    /// near.
    fn refill(&mut self) {
        if !self.open.is_empty() {
            return;
        }
        let ring = self.next_taken();
        let beyond = self.beyond.next_ns().map(|at_ns| at_ns >> self.shift);
        let Some(next) = ring.into_iter().chain(beyond).min() else {
            return;
        };
        self.at = next;
        let index = index_of(next) % BUCKETS;
        if ring == Some(next) {
            std::mem::swap(&mut self.open, &mut self.buckets[index]);
            self.taken[index / 64] &= !(1 << (index % 64));
        }
        while self.beyond.next_ns().is_some_and(|at_ns| at_ns >> self.shift <= next) {
            self.open.extend(self.beyond.pop());
        }
        self.open.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.key()));
        let is_crowded = self.open.len() > CROWD || self.beyond.len() > CROWD;
        if is_crowded && self.pushed > 4 * count_of(CROWD) {
            self.rebuild();
        }
    }

    /// The number of the next bucket of the ring that holds anything.
    #[inline]
    fn next_taken(&self) -> Option<u64> {
        let begin = index_of(self.at) % BUCKETS;
        for step in 0..=WORDS {
            let word = (begin / 64 + step) % WORDS;
            let mut bits = self.taken[word];
            if step == 0 {
                bits &= u64::MAX << (begin % 64);
            } else if step == WORDS {
                bits &= !(u64::MAX << (begin % 64));
            }
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (index + BUCKETS - begin) % BUCKETS;
                return Some(self.at + count_of(ahead));
            }
        }
        None
    }

    /// Puts everything into buckets of another length.
    #[cold]
    fn rebuild(&mut self) {
        let mut entries = std::mem::take(&mut self.open);
        for bucket in &mut self.buckets {
            entries.append(bucket);
        }
        self.taken = [0; WORDS];
        entries.extend(std::iter::from_fn(|| self.beyond.pop()));
        self.fill(entries);
    }
}
