//! A volatile cache before the medium, and what is left of it when the power fails: every state
//! follows from the writes and a seed.
//!
//! Durable is what completed before a flush arrived that has completed; each unit of the rest is
//! kept or lost by itself. FUSE passes a durable write on as a write and a flush; a disk at a
//! socket hears of each durable write.

use crate::random::Random;
use crate::store::Store;
use assay_model::number::{count_of, index_of};
use assay_model::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// What a device does with flushes and with units on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lie {
    /// What the kernel's documentation asks for.
    #[default]
    None,
    /// Flushes do nothing; what does not fit into a cache of this size is written out, the oldest
    /// first.
    IgnoresFlush(Bytes),
    /// A flush reaches every other write only, as one queue of two.
    FlushesOneQueue,
    /// A unit that is lost takes with it what it held before: zeros in its place.
    Zeroes,
    /// The same, with bytes that nobody wrote.
    Garbles,
}

/// A volatile cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// What is written as a whole.
    pub unit: Bytes,
    /// What it does otherwise than it should.
    #[serde(default)]
    pub lie: Lie,
}

/// Share of the cuts after which nothing is lost.
const CLEAN_SHARE: f64 = 0.1;

/// A write that is not on the medium.
#[derive(Debug)]
struct Cached {
    number: u64,
    inode: u64,
    offset: u64,
    bytes: Vec<u8>,
}

/// The cache of a rig with the medium behind it. What files hold for readers is in the tree.
#[derive(Debug)]
pub(crate) struct VolatileCache {
    cache: Cache,
    /// Files as they are on the medium; those that were never written since they are missing are
    /// as in the tree.
    medium: HashMap<u64, Store>,
    cached: VecDeque<Cached>,
    cached_bytes: u64,
    completed: u64,
}

impl VolatileCache {
    pub(crate) fn new(cache: Cache) -> Self {
        let (medium, cached) = (HashMap::new(), VecDeque::new());
        Self { cache, medium, cached, cached_bytes: 0, completed: 0 }
    }

    /// A flush arrives: it covers what has completed. Give the number back when it is carried out.
    pub(crate) const fn mark(&self) -> u64 {
        self.completed
    }

    /// A write is about to change a file, which is as it was.
    pub(crate) fn before_write(&mut self, inode: u64, store: &Store) {
        self.medium.entry(inode).or_insert_with(|| store.clone());
    }

    /// The write was carried out.
    pub(crate) fn write(&mut self, inode: u64, offset: u64, bytes: Vec<u8>) {
        let number = self.completed;
        self.completed += 1;
        self.cached_bytes += count_of(bytes.len());
        self.cached.push_back(Cached { number, inode, offset, bytes });
        if let Lie::IgnoresFlush(capacity) = self.cache.lie {
            while self.cached_bytes > capacity.0
                && let Some(oldest) = self.cached.pop_front()
            {
                self.write_out(&oldest);
            }
        }
    }

    /// A flush is carried out.
    pub(crate) fn flush(&mut self, mark: u64) {
        let reached = |cached: &Cached| match self.cache.lie {
            Lie::IgnoresFlush(_) => false,
            Lie::FlushesOneQueue => cached.number.is_multiple_of(2) && cached.number < mark,
            _ => cached.number < mark,
        };
        let (reached, rest): (Vec<Cached>, Vec<Cached>) = self.cached.drain(..).partition(reached);
        self.cached = rest.into();
        for cached in &reached {
            self.write_out(cached);
        }
    }

    /// A write that must be durable was carried out: what is cached of its place goes to the
    /// medium, in its order, unless flushes do nothing; then this does nothing either.
    pub(crate) fn make_durable(&mut self, inode: u64, place: Range<u64>) {
        if let Lie::IgnoresFlush(_) = self.cache.lie {
            return;
        }
        let is_of_it = |cached: &Cached| {
            let end = cached.offset + count_of(cached.bytes.len());
            cached.inode == inode && cached.offset < place.end && place.start < end
        };
        let (of_it, rest): (Vec<Cached>, Vec<Cached>) = self.cached.drain(..).partition(is_of_it);
        self.cached = rest.into();
        for cached in &of_it {
            self.write_out(cached);
        }
    }

    /// In the order of completion, so that the newest is on top.
    fn write_out(&mut self, cached: &Cached) {
        self.cached_bytes -= count_of(cached.bytes.len());
        if let Some(medium) = self.medium.get_mut(&cached.inode) {
            medium.write(cached.number, cached.offset, &cached.bytes);
        }
    }

    /// A file is cut or extended, which is durable at once.
    pub(crate) fn resize(&mut self, inode: u64, change: impl FnOnce(&mut Store)) {
        if let Some(medium) = self.medium.get_mut(&inode) {
            change(medium);
        }
    }

    /// The power fails: gives what files hold now, which is what the medium holds and what of the
    /// cache chance leaves.
    pub(crate) fn cut(&mut self, seed: u64) -> HashMap<u64, Store> {
        let mut random = Random::new(seed);
        let is_clean = random.unit() < CLEAN_SHARE;
        for cached in self.cached.drain(..) {
            let Some(medium) = self.medium.get_mut(&cached.inode) else { continue };
            for (offset, bytes) in units(&cached, self.cache.unit.0) {
                let is_kept = random.unit() < 0.5 || is_clean;
                match (is_kept, self.cache.lie) {
                    (true, _) => medium.write(cached.number, offset, bytes),
                    (false, Lie::Zeroes) => {
                        medium.write(cached.number, offset, &vec![0; bytes.len()]);
                    }
                    (false, Lie::Garbles) => {
                        let garbage: Vec<u8> =
                            bytes.iter().map(|_| random.next_u64().to_le_bytes()[0]).collect();
                        medium.write(cached.number, offset, &garbage);
                    }
                    (false, _) => {}
                }
            }
        }
        self.cached_bytes = 0;
        std::mem::take(&mut self.medium)
    }
}

/// A write in pieces that are written as a whole.
fn units(cached: &Cached, unit_bytes: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let end = cached.offset + count_of(cached.bytes.len());
    let mut at = cached.offset;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let next = ((at / unit_bytes + 1) * unit_bytes).min(end);
            let within = index_of(at - cached.offset)..index_of(next - cached.offset);
            let piece = (at, &cached.bytes[within]);
            at = next;
            piece
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Content, Version};

    const INODE: u64 = 2;

    /// A file of zeros with a cache before it.
    struct Scratch {
        file: Store,
        cache: VolatileCache,
    }

    impl Scratch {
        fn new(lie: Lie) -> Self {
            let cache = VolatileCache::new(Cache { unit: Bytes(512), lie });
            Self { file: Store::new(1 << 20, Content::Zeros, 0), cache }
        }

        fn write(&mut self, offset: u64, byte: u8) {
            self.cache.before_write(INODE, &self.file);
            self.file.write(0, offset, &[byte; 4096]);
            self.cache.write(INODE, offset, vec![byte; 4096]);
        }

        fn flush(&mut self) {
            let mark = self.cache.mark();
            self.cache.flush(mark);
        }

        fn after_cut(mut self, seed: u64) -> Vec<u8> {
            self.cache.cut(seed)[&INODE].read(0, 1 << 20, Version::Current)
        }
    }

    #[test]
    fn what_was_flushed_is_there_and_of_the_rest_each_unit_is_old_or_new() {
        let mut seen = [0u32; 2];
        for seed in 0..50 {
            let mut scratch = Scratch::new(Lie::None);
            scratch.write(0, 1);
            scratch.flush();
            scratch.write(0, 2);
            scratch.write(8192, 3);
            let left = scratch.after_cut(seed);
            for sector in left[..4096].chunks(512) {
                assert!(sector == [1; 512] || sector == [2; 512]);
                seen[usize::from(sector[0]) - 1] += 1;
            }
            assert!(left[8192..12_288].chunks(512).all(|one| one == [0; 512] || one == [3; 512]));
        }
        assert!(seen.iter().all(|times| *times > 100), "{seen:?}");
    }

    #[test]
    fn a_flush_covers_what_completed_before_it_arrived() {
        let survived = (0..50).filter(|seed| {
            let mut scratch = Scratch::new(Lie::None);
            let mark = scratch.cache.mark();
            scratch.write(0, 1);
            scratch.cache.flush(mark);
            scratch.after_cut(*seed)[..4096] == [1; 4096]
        });
        assert!(survived.count() < 25);
    }

    #[test]
    fn the_lies_lose_what_was_flushed() {
        let garbled = |byte: &u8| *byte != 1 && *byte != 0;
        for lie in [Lie::IgnoresFlush(Bytes(1 << 20)), Lie::FlushesOneQueue] {
            let lost = (0..20).filter(|seed| {
                let mut scratch = Scratch::new(lie);
                (0..8).for_each(|block| scratch.write(block * 4096, 1));
                scratch.flush();
                scratch.after_cut(*seed)[..8 * 4096].iter().any(|byte| *byte != 1)
            });
            assert!(lost.count() >= 15, "{lie:?}");
        }
        let left = (0..9).map(|seed| {
            let mut scratch = Scratch::new(Lie::Garbles);
            scratch.write(0, 1);
            scratch.after_cut(seed)
        });
        assert!(left.flatten().any(|byte| garbled(&byte)));
    }

    #[test]
    fn a_cache_that_is_full_writes_its_oldest_out() {
        for seed in 0..20 {
            let mut scratch = Scratch::new(Lie::IgnoresFlush(Bytes(8192)));
            (0..10).for_each(|block| scratch.write(block * 4096, 1));
            assert!(scratch.after_cut(seed)[..8 * 4096].iter().all(|byte| *byte == 1));
        }
    }
}
