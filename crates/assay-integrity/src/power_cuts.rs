//! Judges states after power cuts by the stamps in them: which promise each block was given, and
//! whether it was kept.

use crate::crash::{CrashDevice, CrashModel, CrashState};
use crate::diagnosis::{BlockState, Diagnosis, diagnose};
use crate::generations::Promise;
use crate::pattern::BlockPattern;
use crate::stamp::{SECTOR_BYTES, SectorAddress, WriteStamp};
use crate::write_log::WriteLog;
use assay_model::integrity::FaultKind;
use assay_model::number::{count_of, index_of};
use assay_model::{Error, Result};
use assay_stats::random::Random;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A log whose writes carry stamps of one run.
#[derive(Debug)]
pub struct StampedLog<'a> {
    log: &'a WriteLog,
    pattern: BlockPattern,
    block_bytes: u64,
    /// Number of the target that the stamps name.
    target: u16,
    /// Writes with stamps.
    writes: usize,
}

/// What was promised of each block.
#[derive(Clone, Debug, Default)]
struct Promises {
    /// The last version that is promised and the last one that was issued.
    blocks: HashMap<u64, (u32, u32)>,
    /// Blocks that were written since the last flush.
    pending: Vec<(u64, u32)>,
}

/// What came of many power cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutResults {
    /// States that were looked at.
    pub states: u64,
    /// Of these, states in which a promise was broken.
    pub refuted_states: u64,
    /// Blocks that were compared.
    pub blocks: u64,
    /// Broken promises by kind.
    pub faults: BTreeMap<FaultKind, u64>,
    /// Unpromised blocks that were partly written, which is allowed.
    pub torn_blocks: u64,
    /// What all places have in common at which such a block changes from one version to another,
    /// bytes: the unit that the device writes as a whole, or a multiple of it. 0 where none
    /// was torn.
    pub atomic_unit_bytes: u64,
    /// The first broken promise: completed entries, seed, block.
    pub first: Option<(u64, u64, u64)>,
}

impl<'a> StampedLog<'a> {
    /// Finds the run that wrote a log.
    ///
    /// # Errors
    /// A usage error when no write carries stamps, or the stamps and the content behind them are
    /// not those of this place.
    pub fn new(log: &'a WriteLog) -> Result<Self> {
        let stamped = || {
            log.entries().iter().filter(|entry| entry.is_write()).filter_map(|entry| {
                Some((entry, WriteStamp::read(log.data(entry).get(..SECTOR_BYTES)?)?))
            })
        };
        let Some((entry, first)) = stamped().next() else {
            return Err(Error::usage(
                "the writes in the log have no stamps",
                "record a run with --verify, or use --image to write one state",
            ));
        };
        let of_run = stamped().filter(|(_, stamp)| stamp.run == first.run);
        let block_bytes =
            of_run.clone().fold(0, |common, (entry, _)| divisor(entry.length_bytes, common));
        let (pattern, target) = (BlockPattern::new(first.run, 0.0), first.address.target);
        let here = SectorAddress { target, sector: entry.start_byte / count_of(SECTOR_BYTES) };
        if !pattern.holds(&log.data(entry)[..SECTOR_BYTES], here, first.generation) {
            return Err(Error::usage(
                "the stamps in the log belong to another address, or precede compressible content",
                "record the verified file or device itself, with compressible = 0",
            ));
        }
        Ok(Self { log, pattern, block_bytes, target, writes: of_run.count() })
    }

    /// Writes with stamps.
    pub const fn writes(&self) -> usize {
        self.writes
    }

    /// Cuts the power of a device at `states` places of the log, evenly drawn, each with a state of
    /// its own.
    pub fn cut(&self, model: CrashModel, states: u64, seed: u64) -> CutResults {
        let mut random = Random::part(seed, 0xc07);
        let places = count_of(self.log.entries().len());
        let mut cuts: Vec<u64> = (0..states).map(|_| 1 + random.below(places.max(1))).collect();
        cuts.sort_unstable();
        let (mut device, mut promises) = (CrashDevice::new(self.log, model), Promises::default());
        let mut results = CutResults::default();
        for (number, cut) in (0..).zip(cuts) {
            while count_of(device.completed()) < cut {
                self.promise(device.completed(), &mut promises);
                device.step();
            }
            let seed = seed.wrapping_add(number);
            self.judge(&device, &device.cut(seed), seed, &promises, &mut results);
        }
        results
    }

    /// What an entry promises.
    fn promise(&self, place: usize, promises: &mut Promises) {
        let entry = &self.log.entries()[place];
        if entry.is_flush() {
            promises.flush();
        }
        if !entry.is_write() {
            return;
        }
        let blocks = self.log.data(entry).chunks_exact(index_of(self.block_bytes));
        for (block, data) in (entry.start_byte / self.block_bytes..).zip(blocks) {
            let stamp = WriteStamp::read(data).filter(|stamp| stamp.run == self.pattern.run());
            if let Some(stamp) = stamp {
                promises.write(block, stamp.generation, entry.is_fua());
            }
        }
    }

    fn judge(
        &self,
        device: &CrashDevice<'_>,
        state: &CrashState<'_, '_>,
        seed: u64,
        promises: &Promises,
        results: &mut CutResults,
    ) {
        results.states += 1;
        let sectors = self.block_bytes / count_of(SECTOR_BYTES);
        let touched: BTreeSet<u64> = state.touched().map(|sector| sector / sectors).collect();
        let mut data = vec![0; index_of(self.block_bytes)];
        let mut is_refuted = false;
        for block in touched {
            let Some((oldest, newest)) = promises.blocks.get(&block).copied() else { continue };
            results.blocks += 1;
            state.read(block * self.block_bytes, &mut data);
            match self.state(block, &data, oldest, newest) {
                BlockState::Right(_) => {}
                BlockState::Mixed(boundary_bytes) => results.torn(boundary_bytes),
                BlockState::Wrong(Diagnosis { kind, .. }) => {
                    is_refuted = true;
                    *results.faults.entry(kind).or_default() += 1;
                    let place = (count_of(device.completed()), seed, block);
                    results.first.get_or_insert(place);
                }
            }
        }
        results.refuted_states += u64::from(is_refuted);
    }

    fn state(&self, block: u64, data: &[u8], oldest: u32, newest: u32) -> BlockState {
        let sector = block * self.block_bytes / count_of(SECTOR_BYTES);
        let first = SectorAddress { target: self.target, sector };
        if self.pattern.holds(data, first, newest) {
            return BlockState::Right(newest);
        }
        let promise = Promise { oldest, newest, seen: false, busy: false, reported: false };
        diagnose(&self.pattern, data, first, &promise)
    }
}

impl Promises {
    fn write(&mut self, block: u64, generation: u32, is_durable: bool) {
        let known = self.blocks.entry(block).or_insert((0, generation));
        known.1 = generation;
        if is_durable {
            known.0 = generation;
        } else {
            self.pending.push((block, generation));
        }
    }

    fn flush(&mut self) {
        for (block, generation) in self.pending.drain(..) {
            let known = self.blocks.entry(block).or_insert((0, generation));
            known.0 = known.0.max(generation);
        }
    }
}

impl CutResults {
    fn torn(&mut self, boundary_bytes: u64) {
        self.torn_blocks += 1;
        self.atomic_unit_bytes = divisor(boundary_bytes, self.atomic_unit_bytes);
    }

    /// Whether a promise was broken.
    pub const fn is_refuted(&self) -> bool {
        self.refuted_states > 0
    }
}

/// The greatest common divisor (Euclid).
const fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests;
