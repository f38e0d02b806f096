//! An event in a queue: when it is due, and which came first.

/// A time and a key that no event has.
pub(super) const NEVER_NS: u64 = u64::MAX;
pub(super) const NEVER: u128 = u128::MAX;

/// An event with its time and the number of its arrival.
#[derive(Clone, Copy)]
pub(super) struct QueueEntry<T> {
    pub(super) at_ns: u64,
    pub(super) arrival: u64,
    pub(super) what: T,
}

impl<T> QueueEntry<T> {
    #[inline]
    pub(super) fn key(&self) -> u128 {
        u128::from(self.at_ns) << 64 | u128::from(self.arrival)
    }
}
