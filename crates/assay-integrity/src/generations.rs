//! The table of versions: for each block which one is the last, and which ones a read may return.

use assay_model::number::{count_of, index_of};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A write of the block is on its way.
const BUSY: u32 = 1 << 31;
/// The last version was read and was right.
const SEEN: u32 = 1 << 30;
/// A write or a sync failed: older versions are allowed, too.
const DOUBT: u32 = 1 << 29;
/// A fault of the last version was reported.
const REPORTED: u32 = 1 << 28;
const GENERATION: u32 = REPORTED - 1;

/// Four bytes a block, and a little more for the few blocks of which several versions are allowed.
#[derive(Debug)]
pub struct Generations {
    entries: Box<[AtomicU32]>,
    /// The oldest version that is allowed of each block in doubt.
    doubts: Mutex<HashMap<u64, u32>>,
}

/// A write that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunWrite {
    /// The version that it writes.
    pub generation: u32,
    /// The oldest version that was allowed before it.
    pub oldest_before: u32,
    entry_before: u32,
}

/// Which versions of a block a read may return: from `oldest` to `newest`, counted from 1; 0 is
/// what was there before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The oldest version that is allowed.
    pub oldest: u32,
    /// The newest one: of a write on its way, where there is one.
    pub newest: u32,
    /// Whether the last version was read before.
    pub seen: bool,
    /// Whether a write of the block is on its way, or was at any time while it was read.
    pub busy: bool,
    /// Whether a fault of the last version was reported before.
    pub reported: bool,
}

/// The version after another one; after the last number comes 1 again.
const fn next(generation: u32) -> u32 {
    if generation == GENERATION { 1 } else { generation + 1 }
}

/// The version before another one.
const fn previous(generation: u32) -> u32 {
    generation.saturating_sub(1)
}

impl Promise {
    /// By how many writes a version is older than the newest one; `None` of one that was never
    /// written.
    pub const fn age(&self, generation: u32) -> Option<u32> {
        if generation == 0 {
            return Some(self.newest);
        }
        if generation > GENERATION {
            return None;
        }
        let age = (self.newest + GENERATION - generation) % GENERATION;
        if age > GENERATION / 2 || (age > 0 && self.newest == 0) { None } else { Some(age) }
    }

    /// Whether a read may return a version.
    pub fn allows(&self, generation: u32) -> bool {
        let oldest = self.age(self.oldest).unwrap_or(0);
        self.age(generation).is_some_and(|age| age <= oldest)
    }

    /// All versions that a read may return, the newest first; 0 stands for what was there before
    /// the run.
    pub fn versions(&self) -> impl Iterator<Item = u32> + use<> {
        let Self { oldest, newest, .. } = *self;
        (0..=self.age(oldest).unwrap_or(0)).map(move |age| match newest.checked_sub(age) {
            Some(generation) if generation > 0 || oldest == 0 => generation,
            _ => newest + GENERATION - age,
        })
    }

    /// Whether exactly one version is allowed, and it is of this run.
    pub const fn is_strict(&self) -> bool {
        self.oldest == self.newest && self.newest > 0
    }

    /// What a read may return that began under this promise and ended under a later one.
    pub fn until(&self, later: &Self) -> Self {
        let age = |generation| later.age(generation).unwrap_or(0);
        let oldest = if age(self.oldest) > age(later.oldest) { self.oldest } else { later.oldest };
        let busy = self.busy || later.busy || self.newest != later.newest;
        Self { oldest, busy, ..*later }
    }
}

impl Generations {
    /// A table of this many blocks that nobody has written yet.
    pub fn new(blocks: u64) -> Self {
        let entries = (0..blocks).map(|_| AtomicU32::new(0)).collect();
        Self { entries, doubts: Mutex::default() }
    }

    /// Blocks of the table.
    pub fn blocks(&self) -> u64 {
        count_of(self.entries.len())
    }

    /// Memory that it takes, bytes.
    pub fn table_bytes(&self) -> u64 {
        let doubts = count_of(self.doubts().capacity()) * 16;
        self.blocks() * 4 + doubts
    }

    fn doubts(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, block: u64) -> &AtomicU32 {
        &self.entries[index_of(block)]
    }

    fn oldest(&self, block: u64, entry: u32) -> u32 {
        let generation = entry & GENERATION;
        let in_doubt = (entry & DOUBT != 0).then(|| self.doubts().get(&block).copied()).flatten();
        let written = if entry & BUSY == 0 { generation } else { previous(generation) };
        in_doubt.unwrap_or(written)
    }

    /// Begins a write of a block; `None` while another one is on its way.
    #[inline]
    pub fn begin(&self, block: u64) -> Option<BegunWrite> {
        let place = self.entry(block);
        let entry_before = place.load(Ordering::Acquire);
        if entry_before & BUSY != 0 {
            return None;
        }
        let generation = next(entry_before & GENERATION);
        let entry = BUSY | entry_before & DOUBT | generation;
        let swapped =
            place.compare_exchange(entry_before, entry, Ordering::AcqRel, Ordering::Relaxed);
        swapped.ok()?;
        Some(BegunWrite {
            generation,
            oldest_before: self.oldest(block, entry_before),
            entry_before,
        })
    }

    /// Takes a write back that was never issued.
    pub fn cancel(&self, block: u64, begun: &BegunWrite) {
        let take_back = |entry: u32| Some(begun.entry_before | entry & DOUBT);
        // A doubt that came meanwhile stays; the closure never refuses.
        let _ = self.entry(block).fetch_update(Ordering::AcqRel, Ordering::Acquire, take_back);
    }

    /// A write of a block was acknowledged: its version is the only one that is read. Gives the
    /// oldest version that the medium may hold until a sync covers the write: a sync that
    /// failed while it was on its way may have lost what had been there when it began.
    #[inline]
    pub fn complete(&self, block: u64, oldest_before: u32) -> u32 {
        let before = self.entry(block).fetch_and(!(BUSY | DOUBT), Ordering::AcqRel);
        if before & DOUBT == 0 {
            return oldest_before;
        }
        let promise = Self::promise_of(before, oldest_before);
        let known = self.doubts().remove(&block);
        let is_older = |known: &u32| promise.age(*known) > promise.age(oldest_before);
        known.filter(is_older).unwrap_or(oldest_before)
    }

    /// A write of a block failed: any version from the last acknowledged one on is allowed, until
    /// it is written again.
    pub fn fail(&self, block: u64, begun_oldest: u32) {
        self.doubt(block, begun_oldest);
        self.entry(block).fetch_and(!BUSY, Ordering::AcqRel);
    }

    /// Allows versions from `oldest` on, until the block is written again.
    pub fn doubt(&self, block: u64, oldest: u32) {
        let mut doubts = self.doubts();
        let promise = Self::promise_of(self.entry(block).load(Ordering::Acquire), oldest);
        let known = doubts.entry(block).or_insert(oldest);
        if promise.age(oldest) > promise.age(*known) {
            *known = oldest;
        }
        self.entry(block).fetch_or(DOUBT, Ordering::AcqRel);
    }

    const fn promise_of(entry: u32, oldest: u32) -> Promise {
        Promise {
            oldest,
            newest: entry & GENERATION,
            seen: entry & SEEN != 0,
            busy: entry & BUSY != 0,
            reported: entry & REPORTED != 0,
        }
    }

    /// Which versions a read that is issued or has completed now may return.
    #[inline]
    pub fn promise(&self, block: u64) -> Promise {
        let entry = self.entry(block).load(Ordering::Acquire);
        Self::promise_of(entry, self.oldest(block, entry))
    }

    /// The last version was read and was right; whether that is news.
    #[inline]
    pub fn see(&self, block: u64, generation: u32) -> bool {
        self.mark(block, generation, SEEN)
    }

    /// A fault of a version is reported; whether that is news. It is where the block has been
    /// written again since.
    pub fn report(&self, block: u64, generation: u32) -> bool {
        let entry = self.entry(block).load(Ordering::Acquire);
        entry & GENERATION != generation || self.mark(block, generation, REPORTED)
    }

    fn mark(&self, block: u64, generation: u32, mark: u32) -> bool {
        let place = self.entry(block);
        let entry = place.load(Ordering::Acquire);
        if entry & GENERATION != generation || entry & mark != 0 {
            return false;
        }
        place.compare_exchange(entry, entry | mark, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Blocks that were written, of these those whose last version was read and right, and those in
    /// doubt.
    pub fn census(&self) -> [u64; 3] {
        let mut found = [0; 3];
        for entry in &self.entries {
            let entry = entry.load(Ordering::Acquire);
            let written = entry & GENERATION != 0;
            let seen = written && entry & (SEEN | REPORTED) == SEEN;
            let unknown = written && entry & (BUSY | DOUBT) != 0;
            for (count, holds) in found.iter_mut().zip([written, seen, unknown]) {
                *count += u64::from(holds);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_four_bytes() {
        let table = Generations::new(1 << 16);
        let bytes = assay_model::number::real(table.table_bytes());
        assert!(bytes / 65_536.0 <= 4.1, "{bytes}");
    }

    #[test]
    fn a_read_during_a_write_may_return_both_versions() {
        let table = Generations::new(2);
        let first = table.begin(1).unwrap();
        assert_eq!((first.generation, first.oldest_before), (1, 0));
        assert_eq!(table.begin(1), None);
        let issued = table.promise(1);
        assert!(issued.allows(0) && issued.allows(1) && !issued.allows(2));
        assert_eq!(issued.versions().collect::<Vec<u32>>(), [1, 0]);
        table.complete(1, 0);
        let done = table.promise(1);
        assert!(done.is_strict() && done.allows(1) && !done.allows(0));
        assert!(issued.until(&done).allows(0));
    }

    #[test]
    fn a_read_that_a_write_overtakes_may_return_what_was_there_when_it_began() {
        let table = Generations::new(1);
        let write = || {
            table.begin(0).unwrap();
            table.complete(0, 0);
        };
        write();
        let issued = table.promise(0);
        write();
        write();
        let whole = issued.until(&table.promise(0));
        assert_eq!((whole.oldest, whole.newest, whole.busy), (1, 3, true));
        assert!(!issued.busy && !issued.until(&issued).busy);
        assert!((1..=3).all(|generation| whole.allows(generation)) && !whole.allows(0));
    }

    #[test]
    fn a_failed_write_leaves_doubt_until_the_block_is_written_again() {
        let table = Generations::new(1);
        table.begin(0).unwrap();
        table.complete(0, 0);
        for _ in 0..3 {
            let begun = table.begin(0).unwrap();
            table.fail(0, begun.oldest_before);
        }
        let promise = table.promise(0);
        assert_eq!((promise.oldest, promise.newest), (1, 4));
        table.begin(0).unwrap();
        assert!(table.promise(0).allows(1));
        table.complete(0, 0);
        assert!(table.promise(0).is_strict());
        assert_eq!(table.census(), [1, 0, 0]);
    }

    #[test]
    fn what_was_seen_is_forgotten_with_the_next_write() {
        let table = Generations::new(1);
        table.begin(0).unwrap();
        table.complete(0, 0);
        assert!(table.see(0, 1) && !table.see(0, 1) && !table.see(0, 7));
        assert!(table.promise(0).seen);
        table.begin(0).unwrap();
        assert!(!table.promise(0).seen);
    }

    #[test]
    fn numbers_that_begin_again_are_no_step_back() {
        let table = Generations::new(1);
        table.entry(0).store(GENERATION - 1, Ordering::Relaxed);
        let issued = table.promise(0);
        for expected in [GENERATION, 1, 2] {
            assert_eq!(table.begin(0).unwrap().generation, expected);
            table.complete(0, 0);
        }
        let whole = issued.until(&table.promise(0));
        let allowed = [2, 1, GENERATION, GENERATION - 1];
        assert!(allowed.iter().all(|one| whole.allows(*one)));
        assert_eq!(whole.versions().collect::<Vec<u32>>(), allowed);
        assert!(!whole.allows(GENERATION - 2) && !whole.allows(3));
    }

    #[test]
    fn a_version_of_the_future_has_no_age() {
        let table = Generations::new(1);
        table.begin(0).unwrap();
        table.complete(0, 0);
        assert_eq!(table.promise(0).age(2), None);
        assert_eq!(Generations::new(1).promise(0).age(5), None);
    }

    /// The second of two failed syncs may bring back what the first one lost while the write was on
    /// its way.
    #[test]
    fn a_sync_that_fails_during_a_write_is_remembered_when_the_write_completes() {
        let table = Generations::new(1);
        let first = table.begin(0).unwrap();
        assert_eq!(table.complete(0, first.oldest_before), 0);
        let second = table.begin(0).unwrap();
        assert_eq!(second.oldest_before, 1);
        table.doubt(0, first.oldest_before);
        let oldest = table.complete(0, second.oldest_before);
        assert!(oldest == 0 && table.promise(0).is_strict());
        table.doubt(0, oldest);
        assert!(table.promise(0).allows(0));
    }
}
