//! Reads a target after a cut, past the page cache, and compares every block with what was
//! acknowledged before.

use crate::sys::{self, Buffers, monotonic_ns};
use crate::target::OpenFile;
use assay_integrity::{
    AfterCut, BlockAfterCut, Diagnosis, FaultArea, Faults, FaultyBlock, Sighting, WriteStamp,
};
use assay_model::integrity::{FaultCount, FaultMap, FaultVersions, FoundBy, Sweep};
use assay_model::number::{count_of, index_of, seconds, share};
use assay_model::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of one read.
const PIECE_BYTES: u64 = 1 << 20;
const THREADS: usize = 4;

/// What a target holds after a cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetAfterCut {
    /// Blocks that hold what was promised, or more.
    pub kept_blocks: u64,
    /// Of these, blocks that hold more.
    pub newer_blocks: u64,
    /// Blocks with sectors of several allowed versions.
    pub torn_blocks: u64,
    /// What the places have in common at which these change, bytes; 0 where none was torn.
    pub atomic_unit_bytes: u64,
    /// How many of them change at which byte.
    pub tears: BTreeMap<u64, u64>,
    /// Broken promises by kind.
    pub counts: Vec<FaultCount>,
    /// Blocks whose promise is broken.
    pub broken_blocks: Vec<u64>,
    /// Where they lie.
    pub fault_maps: Vec<FaultMap>,
    /// The first of them, with both versions.
    pub versions: Vec<FaultVersions>,
    /// What was read.
    pub sweep: Sweep,
}

/// What the threads share.
struct AfterCutShared<'a> {
    target: &'a OpenFile,
    after: &'a AfterCut,
    stop: &'a AtomicBool,
    next: AtomicU64,
    found: Mutex<TargetAfterCut>,
    faults: Mutex<Faults>,
}

/// Reads all whole blocks of a target and judges them; `show` hears how far it is, 0..=1.
///
/// # Errors
/// An environment error when memory is short.
pub fn judge_after_cut(
    target: &OpenFile,
    after: &AfterCut,
    stop: &AtomicBool,
    show: &mut dyn FnMut(f64),
) -> Result<TargetAfterCut> {
    let started_ns = monotonic_ns();
    if !target.direct {
        sys::forget_cached(&target.file);
    }
    let area = FaultArea {
        name: target.name.clone(),
        first_byte: target.first_byte,
        blocks: target.length_bytes / after.block_bytes(),
    };
    let shared = AfterCutShared {
        target,
        after,
        stop,
        next: AtomicU64::new(0),
        found: Mutex::default(),
        faults: Mutex::new(Faults::new(vec![area], after.block_bytes())),
    };
    let bytes = index_of(PIECE_BYTES.max(after.block_bytes()));
    let buffers = (0..THREADS).map(|_| Buffers::new(1, bytes)).collect::<std::io::Result<Vec<_>>>();
    let buffers = buffers.map_err(|error| {
        Error::environment(format!("reserving memory for the sweep: {error}"), "free memory")
    })?;
    shared.read_all(buffers, show);
    let mut faults = shared.faults.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = shared.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let broken = found.broken_blocks.iter().copied().collect();
    let last_kept_ns = after.last_kept_ns(&broken);
    faults.find_broken_order(|place| {
        let promised_ns = after.promised_ns(place.block);
        promised_ns.is_some_and(|time_ns| last_kept_ns.is_some_and(|kept_ns| time_ns < kept_ns))
    });
    found.counts = faults.counts();
    found.fault_maps = faults.maps();
    found.versions = faults.kept().cloned().collect();
    found.sweep.complete = !stop.load(Ordering::Relaxed);
    found.sweep.elapsed_s = seconds(monotonic_ns() - started_ns);
    Ok(found)
}

impl AfterCutShared<'_> {
    fn blocks(&self) -> u64 {
        self.target.length_bytes / self.after.block_bytes()
    }

    fn blocks_a_piece(&self) -> u64 {
        (PIECE_BYTES / self.after.block_bytes()).max(1)
    }

    fn found(&self) -> MutexGuard<'_, TargetAfterCut> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_all(&self, buffers: Vec<Buffers>, show: &mut dyn FnMut(f64)) {
        let pieces = self.blocks().div_ceil(self.blocks_a_piece());
        std::thread::scope(|scope| {
            let threads: Vec<_> = buffers
                .into_iter()
                .map(|mut buffers| scope.spawn(move || self.work_off(pieces, buffers.slot(0))))
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                show(share(self.next.load(Ordering::Relaxed).min(pieces), pieces));
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        });
    }

    /// Takes pieces until there is none left.
    fn work_off(&self, pieces: u64, buffer: &mut [u8]) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces || self.stop.load(Ordering::Relaxed) {
                return;
            }
            let first = piece * self.blocks_a_piece();
            let blocks = self.blocks_a_piece().min(self.blocks() - first);
            if self.read(first, blocks, buffer).is_ok() {
                continue;
            }
            for block in first..first + blocks {
                if self.read(block, 1, buffer).is_err() {
                    self.unreadable(block);
                }
            }
        }
    }

    /// Reads some blocks at once and judges them.
    fn read(&self, first: u64, blocks: u64, buffer: &mut [u8]) -> std::result::Result<(), i32> {
        let length = index_of(blocks * self.after.block_bytes());
        let data = &mut buffer[..length];
        WriteStamp::erase(data);
        let offset = self.target.first_byte + first * self.after.block_bytes();
        if sys::read_at(&self.target.file, data, offset)? != length {
            return Err(libc::EIO);
        }
        let mut found = self.found();
        found.sweep.blocks += blocks;
        found.sweep.read_bytes += count_of(length);
        drop(found);
        let all = data.chunks_exact(index_of(self.after.block_bytes()));
        for (block, data) in (first..).zip(all) {
            self.take(block, data);
        }
        Ok(())
    }

    fn take(&self, block: u64, data: &[u8]) {
        let judged = self.after.judge(block, data);
        let mut found = self.found();
        match judged {
            BlockAfterCut::Unpromised => {}
            BlockAfterCut::Kept => found.kept_blocks += 1,
            BlockAfterCut::Newer => {
                found.kept_blocks += 1;
                found.newer_blocks += 1;
            }
            BlockAfterCut::Torn(boundary_bytes, promised) => {
                found.kept_blocks += u64::from(promised);
                found.newer_blocks += u64::from(promised);
                found.torn_blocks += 1;
                *found.tears.entry(boundary_bytes).or_default() += 1;
                found.atomic_unit_bytes = divisor(boundary_bytes, found.atomic_unit_bytes);
            }
            BlockAfterCut::Broken(diagnosis, newest) => {
                drop(found);
                self.report(block, diagnosis, newest, data);
            }
        }
    }

    fn unreadable(&self, block: u64) {
        let promised = self.after.promised(block);
        if promised > 0 {
            self.report(block, Diagnosis::unreadable(), promised, &[]);
        }
    }

    fn report(&self, block: u64, diagnosis: Diagnosis, newest: u32, data: &[u8]) {
        let transient = self.is_right_now(block);
        let place = FaultyBlock { target: 0, block };
        let found_by = FoundBy::Sweep;
        let sighting = Sighting { place, newest, diagnosis, found_by, transient };
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.add(&sighting, &self.after.expected(block), data) {
            drop(faults);
            self.found().broken_blocks.push(block);
        }
    }

    /// Whether a second read of a block, into memory of its own, gives what is allowed.
    fn is_right_now(&self, block: u64) -> bool {
        let length = index_of(self.after.block_bytes());
        let Ok(mut buffers) = Buffers::new(1, length) else { return false };
        let data = &mut buffers.slot(0)[..length];
        let offset = self.target.first_byte + block * self.after.block_bytes();
        sys::read_at(&self.target.file, data, offset) == Ok(length)
            && !matches!(self.after.judge(block, data), BlockAfterCut::Broken(..))
    }
}

/// The greatest common divisor (Euclid).
const fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}
