//! What a device with a volatile cache holds after its power was cut: every state follows from a
//! log, a cut and a seed.
//!
//! Durable is what completed before a flush that has completed, and what was written with FUA; the
//! rest lies in the cache and each of its units is kept or lost by itself. Sources: Linux,
//! `Documentation/block/writeback_cache_control`; Zheng et al., FAST 2013, for what real devices do
//! instead.

use crate::write_log::{LogEntry, WriteLog};
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;
use std::collections::{HashMap, VecDeque};

/// The unit of places.
const SECTOR: u64 = 512;

/// What a device does with flushes, FUA and units on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheBehaviour {
    /// What the kernel's documentation asks for.
    Conforming,
    /// Flushes do nothing; what does not fit into a cache of this many bytes is written out, the
    /// oldest first.
    IgnoresFlush(u64),
    /// FUA is an ordinary write.
    IgnoresFua,
    /// A flush reaches every other write only, as one queue of two.
    FlushesOneQueue,
    /// A unit on its way is destroyed, with what it held before: zeros in its place.
    Zeroes,
    /// The same, with bytes that nobody wrote.
    Garbles,
}

impl CacheBehaviour {
    /// All of them, with a cache of 1 MiB where that matters.
    pub const ALL: [Self; 6] = [
        Self::Conforming,
        Self::IgnoresFlush(1 << 20),
        Self::IgnoresFua,
        Self::FlushesOneQueue,
        Self::Zeroes,
        Self::Garbles,
    ];

    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conforming => "conforming",
            Self::IgnoresFlush(_) => "ignores flush",
            Self::IgnoresFua => "ignores FUA",
            Self::FlushesOneQueue => "flushes one of two queues",
            Self::Zeroes => "zeroes units in flight",
            Self::Garbles => "garbles units in flight",
        }
    }
}

/// In which order cached writes reach the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheOrder {
    /// In any.
    #[default]
    Any,
    /// As they came: of the cache a first part is kept.
    Fifo,
}

/// A device that loses its power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrashModel {
    /// What it does with flushes.
    pub behaviour: CacheBehaviour,
    /// In which order it writes.
    pub order: CacheOrder,
    /// Bytes that it writes as a whole: a multiple of 512.
    pub unit_bytes: u64,
    /// Neighbours within this many bytes share their fate, as in an erase block; 0 where units are
    /// independent.
    pub region_bytes: u64,
    /// Share of the cuts after which nothing is lost.
    pub clean_share: f64,
}

impl Default for CrashModel {
    fn default() -> Self {
        Self {
            behaviour: CacheBehaviour::Conforming,
            order: CacheOrder::Any,
            unit_bytes: 512,
            region_bytes: 0,
            clean_share: 0.1,
        }
    }
}

/// Where the content of a sector comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectorSource {
    /// An entry of the log.
    Entry(usize),
    Zeros,
    Garbage,
}

/// A device on its way through a log.
#[derive(Debug)]
pub struct CrashDevice<'a> {
    log: &'a WriteLog,
    model: CrashModel,
    /// What is on the medium; sectors that were never written are missing.
    medium: HashMap<u64, usize>,
    /// Entries that lie in the cache.
    cache: VecDeque<usize>,
    cached_bytes: u64,
    next: usize,
}

/// What the device holds after a cut.
#[derive(Debug)]
pub struct CrashState<'a, 'b> {
    device: &'b CrashDevice<'a>,
    lost_or_kept: HashMap<u64, Option<SectorSource>>,
    seed: u64,
}

impl<'a> CrashDevice<'a> {
    /// A device before the first entry.
    pub fn new(log: &'a WriteLog, model: CrashModel) -> Self {
        let (medium, cache) = (HashMap::new(), VecDeque::new());
        Self { log, model, medium, cache, cached_bytes: 0, next: 0 }
    }

    /// Entries that have completed.
    pub const fn completed(&self) -> usize {
        self.next
    }

    /// Carries out the next entry; whether there was one.
    pub fn step(&mut self) -> bool {
        let Some(entry) = self.log.entries().get(self.next) else { return false };
        if entry.is_flush() {
            self.flush();
        }
        if entry.is_write() {
            self.write(entry);
        }
        self.next += 1;
        true
    }

    fn write(&mut self, entry: &LogEntry) {
        let is_durable = entry.is_fua() && self.model.behaviour != CacheBehaviour::IgnoresFua;
        if is_durable {
            // A conforming device orders it behind what its cache holds of the same sectors.
            let (start, end) = (entry.start_byte, entry.start_byte + entry.length_bytes);
            let entries = self.log.entries();
            let overlapped: Vec<usize> = self
                .cache
                .iter()
                .copied()
                .filter(|cached| overlaps(&entries[*cached], start, end))
                .collect();
            for cached in overlapped {
                self.write_out(cached);
            }
            return self.put(self.next);
        }
        self.cache.push_back(self.next);
        self.cached_bytes += entry.length_bytes;
        if let CacheBehaviour::IgnoresFlush(capacity_bytes) = self.model.behaviour {
            while self.cached_bytes > capacity_bytes
                && let Some(oldest) = self.cache.front().copied()
            {
                self.write_out(oldest);
            }
        }
    }

    fn flush(&mut self) {
        let reached = |place: &usize| match self.model.behaviour {
            CacheBehaviour::IgnoresFlush(_) => false,
            CacheBehaviour::FlushesOneQueue => place.is_multiple_of(2),
            _ => true,
        };
        let reached: Vec<usize> = self.cache.iter().copied().filter(reached).collect();
        for cached in reached {
            self.write_out(cached);
        }
    }

    fn write_out(&mut self, cached: usize) {
        self.cache.retain(|other| *other != cached);
        self.cached_bytes -= self.log.entries()[cached].length_bytes;
        self.put(cached);
    }

    /// The newest data of each sector stay, in whatever order they are written out.
    fn put(&mut self, place: usize) {
        for sector in sectors(&self.log.entries()[place]) {
            let held = self.medium.entry(sector).or_insert(place);
            *held = (*held).max(place);
        }
    }

    /// Cuts the power; the same seed gives the same state.
    pub fn cut(&self, seed: u64) -> CrashState<'a, '_> {
        let mut random = Random::part(seed, count_of(self.next));
        let mut lost_or_kept = HashMap::new();
        let is_clean = random.chance(self.model.clean_share);
        let kept = random.below(count_of(self.cache.len()) + 1);
        let mut regions = HashMap::new();
        for (place, cached) in (0..).zip(&self.cache) {
            let entry = &self.log.entries()[*cached];
            for unit in units(entry, self.model.unit_bytes) {
                let alone = random.chance(0.5);
                let fate = match self.model.order {
                    _ if is_clean => true,
                    CacheOrder::Fifo if place != kept => place < kept,
                    _ if self.model.region_bytes == 0 => alone,
                    _ => *regions
                        .entry(unit * self.model.unit_bytes / self.model.region_bytes)
                        .or_insert(alone),
                };
                self.settle(*cached, unit, fate, &mut lost_or_kept);
            }
        }
        CrashState { device: self, lost_or_kept, seed }
    }

    /// What becomes of a unit of a cached entry.
    fn settle(
        &self,
        cached: usize,
        unit: u64,
        is_kept: bool,
        states: &mut HashMap<u64, Option<SectorSource>>,
    ) {
        let entry = &self.log.entries()[cached];
        let first = (unit * self.model.unit_bytes).max(entry.start_byte) / SECTOR;
        let end = ((unit + 1) * self.model.unit_bytes).min(entry.start_byte + entry.length_bytes);
        let source = match (is_kept, self.model.behaviour) {
            (true, _) => Some(SectorSource::Entry(cached)),
            (false, CacheBehaviour::Zeroes) => Some(SectorSource::Zeros),
            (false, CacheBehaviour::Garbles) => Some(SectorSource::Garbage),
            (false, _) => None,
        };
        for sector in first..end / SECTOR {
            let newer = self.medium.get(&sector).is_some_and(|held| *held > cached);
            let state = states.entry(sector).or_insert(None);
            if source.is_some() && !newer {
                *state = source;
            }
        }
    }
}

fn overlaps(entry: &LogEntry, start: u64, end: u64) -> bool {
    entry.start_byte < end && entry.start_byte + entry.length_bytes > start
}

fn sectors(entry: &LogEntry) -> std::ops::Range<u64> {
    entry.start_byte / SECTOR..(entry.start_byte + entry.length_bytes) / SECTOR
}

fn units(entry: &LogEntry, unit_bytes: u64) -> std::ops::Range<u64> {
    entry.start_byte / unit_bytes..(entry.start_byte + entry.length_bytes).div_ceil(unit_bytes)
}

impl CrashState<'_, '_> {
    /// Sectors whose content the cut may have changed.
    pub fn touched(&self) -> impl Iterator<Item = u64> + '_ {
        self.lost_or_kept.keys().copied()
    }

    /// Reads whole sectors; what was never written reads as zeros.
    pub fn read(&self, start_byte: u64, buffer: &mut [u8]) {
        for (sector, bytes) in
            (start_byte / SECTOR..).zip(buffer.chunks_exact_mut(index_of(SECTOR)))
        {
            let cached = self.lost_or_kept.get(&sector).copied().flatten();
            let of_medium =
                || self.device.medium.get(&sector).map(|place| SectorSource::Entry(*place));
            match cached.or_else(of_medium) {
                Some(SectorSource::Entry(place)) => {
                    let entry = &self.device.log.entries()[place];
                    let within = index_of(sector * SECTOR - entry.start_byte);
                    let data = self.device.log.data(entry);
                    bytes.copy_from_slice(&data[within..within + index_of(SECTOR)]);
                }
                Some(SectorSource::Garbage) => garble(bytes, self.seed ^ sector),
                Some(SectorSource::Zeros) | None => bytes.fill(0),
            }
        }
    }

    /// Writes what the cut may have changed and what was durable to an image, through `write`: byte
    /// and sector.
    ///
    /// # Errors
    /// What `write` says.
    pub fn write_image<E>(
        &self,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut all: Vec<u64> =
            self.device.medium.keys().chain(self.lost_or_kept.keys()).copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut bytes = [0; 512];
        all.into_iter().try_for_each(|sector| {
            self.read(sector * SECTOR, &mut bytes);
            write(sector * SECTOR, &bytes)
        })
    }
}

fn garble(bytes: &mut [u8], seed: u64) {
    let mut random = Random::new(seed);
    for word in bytes.chunks_mut(8) {
        word.copy_from_slice(&random.next_u64().to_le_bytes()[..word.len()]);
    }
}
