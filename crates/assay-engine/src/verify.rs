//! Verification under load: what each block should hold, shared by all workers of a run and by the
//! sweep after it.

use crate::sys::{self, Buffers};
use crate::target::OpenFile;
use assay_integrity::{
    BegunWrite, BlockPattern, BlockStamp, BlockState, Diagnosis, FaultArea, Faults, FaultyBlock,
    Generations, Promise, SECTOR_BYTES, SectorAddress, Sighting, SimulatedContent, UnsyncedWrite,
    UnsyncedWrites, Writer, diagnose,
};
use assay_ledger::{Acknowledgement, LedgerRecorder};
use assay_model::integrity::{
    FaultVersions, FoundBy, Integrity, Sweep, VerificationCost, VerificationCoverage,
};
use assay_model::number::{count_of, index_of, real};
use assay_model::workload::Workload;
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

mod sweep;
mod tally;

pub(crate) use tally::TimedWork;
use tally::VerifyTally;

/// Memory for the versions of all blocks.
const TABLE_BYTES_MAX: u64 = 16 << 30;

/// What every block of a run's targets should hold.
#[derive(Debug)]
pub struct Verifier {
    pattern: BlockPattern,
    block_bytes: u64,
    checked_share: f64,
    areas: Vec<Area>,
    targets: Arc<[OpenFile]>,
    faults: Mutex<Faults>,
    tally: VerifyTally,
    /// Takes what is acknowledged of the first target, where a ledger is kept.
    ledger: Option<LedgerRecorder>,
}

/// What makes a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MadeDurable {
    /// Nothing that is known.
    Never,
    /// A sync of its stream.
    BySync,
    /// Its own completion.
    ByItself,
}

/// One target.
#[derive(Debug)]
struct Area {
    number: u16,
    first_byte: u64,
    generations: Generations,
    unsynced: UnsyncedWrites,
    /// Writes and syncs that failed: while their number changes, nothing is said of a read.
    failures: AtomicU64,
}

/// Blocks of one transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SweepExtent {
    pub(crate) target: usize,
    pub(crate) first_block: u64,
    pub(crate) blocks: u64,
}

/// What was known of one block when a read of it was issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issued {
    promise: Promise,
    failures: u64,
}

impl Issued {
    /// Whether this run had written the block.
    pub(crate) const fn is_written(&self) -> bool {
        self.promise.newest > 0
    }
}

impl Area {
    /// Notes that the last version was read, although an older one would have been right, too.
    fn see_again(&self, block: u64, generation: u32, promise: &Promise) {
        if !promise.busy && generation == promise.newest && promise.is_strict() {
            self.generations.see(block, generation);
        }
    }

    /// A write of a block was acknowledged.
    fn complete(&self, block: u64, write: &BegunWrite, durable: MadeDurable) {
        let failures = self.failures.load(Ordering::Acquire);
        let oldest_before = self.generations.complete(block, write.oldest_before);
        if durable != MadeDurable::BySync {
            return;
        }
        let generation = write.generation;
        self.unsynced.push(UnsyncedWrite { block, generation, oldest_before });
        // A sync that failed just now may not have found the write among those that it casts doubt
        // on.
        if self.failures.load(Ordering::Acquire) != failures {
            self.generations.doubt(block, oldest_before);
        }
    }

    fn address(&self, block: u64, block_bytes: u64) -> SectorAddress {
        let sector = (self.first_byte + block * block_bytes) / count_of(SECTOR_BYTES);
        SectorAddress { target: self.number, sector }
    }
}

impl Verifier {
    /// Refuses workloads that cannot be verified.
    ///
    /// # Errors
    /// A usage error that says why.
    pub fn check(workload: &Workload) -> Result<()> {
        block_bytes(workload)?;
        compressible_share(workload).map(drop)
    }

    /// For a workload on these targets. `run` keeps the data of one run apart from that of another;
    /// `checked_share` of the reads are compared with what was written.
    ///
    /// # Errors
    /// A usage error when the workload's content or transfers cannot carry stamps, or the table of
    /// versions needs too much memory.
    pub fn new(
        workload: &Workload,
        targets: &Arc<[OpenFile]>,
        run: u32,
        checked_share: f64,
    ) -> Result<Self> {
        let block_bytes = block_bytes(workload)?;
        let named = targets.iter().map(|target| FaultArea {
            name: target.name.clone(),
            first_byte: target.first_byte,
            blocks: target.length_bytes / block_bytes,
        });
        let verifier = Self::on(workload, named.collect(), run, checked_share)?;
        Ok(Self { targets: Arc::clone(targets), ..verifier })
    }

    /// For a workload on a simulated device of `length_bytes`; blocks of it are not read a second
    /// time.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn simulated(
        workload: &Workload,
        name: String,
        length_bytes: u64,
        run: u32,
        checked_share: f64,
    ) -> Result<Self> {
        let blocks = length_bytes / block_bytes(workload)?;
        Self::on(workload, vec![FaultArea { name, first_byte: 0, blocks }], run, checked_share)
    }

    fn on(
        workload: &Workload,
        named: Vec<FaultArea>,
        run: u32,
        checked_share: f64,
    ) -> Result<Self> {
        let block_bytes = block_bytes(workload)?;
        let compressible_share = compressible_share(workload)?;
        check_memory(named.iter().map(|area| area.blocks).sum(), block_bytes)?;
        let area = |(number, named): (u16, &FaultArea)| Area {
            number,
            first_byte: named.first_byte,
            generations: Generations::new(named.blocks),
            unsynced: UnsyncedWrites::default(),
            failures: AtomicU64::new(0),
        };
        Ok(Self {
            pattern: BlockPattern::new(run, compressible_share),
            block_bytes,
            checked_share,
            areas: (0..).zip(&named).map(area).collect(),
            targets: Arc::new([]),
            faults: Mutex::new(Faults::new(named, block_bytes)),
            tally: VerifyTally::default(),
            ledger: None,
        })
    }

    /// An empty simulated device for what this run writes.
    pub(crate) fn simulated_content(&self, may_lose: bool) -> SimulatedContent {
        SimulatedContent::new(self.pattern.clone(), self.block_bytes, may_lose)
    }

    /// The same, with a ledger of what is acknowledged of the first target.
    pub fn with_ledger(self, ledger: LedgerRecorder) -> Self {
        Self { ledger: Some(ledger), ..self }
    }

    /// Ends the ledger where there is one: it takes no more, and is given back.
    pub fn end_ledger(&mut self) -> Option<LedgerRecorder> {
        self.ledger.take()
    }

    /// The number in the stamps.
    pub const fn run(&self) -> u32 {
        self.pattern.run()
    }

    /// Bytes of a block.
    pub const fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    pub(crate) const fn checked_share(&self) -> f64 {
        self.checked_share
    }

    pub(crate) const fn tally(&self) -> &VerifyTally {
        &self.tally
    }

    /// The blocks of a transfer.
    pub(crate) fn extent(&self, target: u32, offset: u64, bytes: u64) -> SweepExtent {
        let target = target as usize;
        let first_block = (offset - self.areas[target].first_byte) / self.block_bytes;
        SweepExtent { target, first_block, blocks: bytes / self.block_bytes }
    }

    /// Begins a write of all blocks of an extent, or of none where one is being written.
    pub(crate) fn begin_write(&self, extent: SweepExtent, begun: &mut Vec<BegunWrite>) -> bool {
        let generations = &self.areas[extent.target].generations;
        begun.clear();
        for block in extent.first_block..extent.first_block + extent.blocks {
            let Some(write) = generations.begin(block) else {
                for (block, write) in (extent.first_block..).zip(begun.drain(..)) {
                    generations.cancel(block, &write);
                }
                return false;
            };
            begun.push(write);
        }
        true
    }

    /// Fills the buffer of a write that has begun.
    pub(crate) fn fill(
        &self,
        extent: SweepExtent,
        begun: &[BegunWrite],
        worker: u16,
        sequence: u64,
        buffer: &mut [u8],
    ) {
        let sectors = u8::try_from(buffer.len() / SECTOR_BYTES).unwrap_or(u8::MAX);
        let writer = Writer { worker, sequence, sectors };
        let blocks = buffer.chunks_exact_mut(index_of(self.block_bytes));
        for ((block, data), write) in (extent.first_block..).zip(blocks).zip(begun) {
            let first = self.areas[extent.target].address(block, self.block_bytes);
            self.pattern.fill(data, &BlockStamp { first, generation: write.generation, writer });
        }
    }

    /// A write has ended.
    pub(crate) fn end_write(
        &self,
        extent: SweepExtent,
        begun: &[BegunWrite],
        succeeded: bool,
        durable: MadeDurable,
    ) {
        let area = &self.areas[extent.target];
        for (block, write) in (extent.first_block..).zip(begun) {
            if succeeded {
                area.complete(block, write, durable);
            } else {
                area.failures.fetch_add(1, Ordering::AcqRel);
                area.generations.fail(block, write.oldest_before);
            }
        }
        if let (true, MadeDurable::ByItself, Some(ledger)) = (succeeded, durable, &self.ledger) {
            let acknowledged: Vec<Acknowledgement> = (extent.first_block..)
                .zip(begun)
                .map(|(place, write)| Acknowledgement { place, version: write.generation })
                .collect();
            ledger.acknowledge(&acknowledged);
        }
        self.tally.add_write();
    }

    /// A sync of a target is issued.
    pub(crate) fn begin_sync(&self, target: usize) -> u64 {
        self.areas[target].unsynced.mark()
    }

    /// It has ended.
    pub(crate) fn end_sync(&self, target: usize, mark: u64, succeeded: bool) {
        let area = &self.areas[target];
        if succeeded {
            return self.cover(area, mark);
        }
        area.failures.fetch_add(1, Ordering::AcqRel);
        for write in area.unsynced.fail() {
            area.generations.doubt(write.block, write.oldest_before);
        }
    }

    fn cover(&self, area: &Area, mark: u64) {
        let Some(ledger) = &self.ledger else { return area.unsynced.cover(mark, drop) };
        let mut acknowledged = Vec::new();
        area.unsynced.cover(mark, |write| {
            let UnsyncedWrite { block, generation, .. } = write;
            acknowledged.push(Acknowledgement { place: block, version: generation });
        });
        ledger.acknowledge(&acknowledged);
    }

    /// What is known of a block now.
    pub(crate) fn issue(&self, target: usize, block: u64) -> Issued {
        let area = &self.areas[target];
        let failures = area.failures.load(Ordering::Acquire);
        Issued { promise: area.generations.promise(block), failures }
    }

    /// Compares a block that was read with what it should hold.
    #[inline]
    pub(crate) fn compare(
        &self,
        place: FaultyBlock,
        issued: Issued,
        data: &[u8],
        found_by: FoundBy,
    ) {
        let area = &self.areas[place.target];
        let promise = issued.promise.until(&area.generations.promise(place.block));
        let first = area.address(place.block, self.block_bytes);
        let quick = promise.is_strict() && self.pattern.holds(data, first, promise.newest);
        if quick {
            area.generations.see(place.block, promise.newest);
            return self.tally.add_checked(&promise, false);
        }
        match diagnose(&self.pattern, data, first, &promise) {
            BlockState::Right(0) if promise.newest == 0 => self.tally.add_unwritten(),
            BlockState::Right(generation) => {
                area.see_again(place.block, generation, &promise);
                self.tally.add_checked(&promise, false);
            }
            BlockState::Mixed(_) => self.tally.add_checked(&promise, true),
            BlockState::Wrong(_) if area.failures.load(Ordering::Acquire) != issued.failures => {
                self.tally.add_checked(&promise, true);
            }
            BlockState::Wrong(diagnosis) => {
                self.tally.add_checked(&promise, false);
                self.report(place, &promise, diagnosis, data, found_by);
            }
        }
    }

    /// A read of a block failed in a way that only the medium explains.
    pub(crate) fn unreadable(&self, place: FaultyBlock, found_by: FoundBy) {
        let promise = self.areas[place.target].generations.promise(place.block);
        if promise.newest > 0 {
            self.report(place, &promise, Diagnosis::unreadable(), &[], found_by);
        }
    }

    fn report(
        &self,
        place: FaultyBlock,
        promise: &Promise,
        diagnosis: Diagnosis,
        data: &[u8],
        found_by: FoundBy,
    ) {
        let area = &self.areas[place.target];
        if !area.generations.report(place.block, promise.newest) {
            return;
        }
        let first = area.address(place.block, self.block_bytes);
        let mut expected = vec![0; index_of(self.block_bytes)];
        let (generation, writer) = (promise.newest, Writer::default());
        self.pattern.fill(&mut expected, &BlockStamp { first, generation, writer });
        let transient = self.is_right_now(place);
        let newest = promise.newest;
        let sighting = Sighting { place, newest, diagnosis, found_by, transient };
        self.faults().add(&sighting, &expected, data);
    }

    /// Whether a second read of a block, into memory of its own, gives what is allowed.
    fn is_right_now(&self, place: FaultyBlock) -> bool {
        let Some(target) = self.targets.get(place.target) else { return false };
        let Ok(mut buffers) = Buffers::new(1, index_of(self.block_bytes)) else { return false };
        let issued = self.issue(place.target, place.block);
        let area = &self.areas[place.target];
        let offset = area.first_byte + place.block * self.block_bytes;
        let data = &mut buffers.slot(0)[..index_of(self.block_bytes)];
        if sys::read_at(&target.file, data, offset) != Ok(data.len()) {
            return false;
        }
        let promise = issued.promise.until(&area.generations.promise(place.block));
        let first = area.address(place.block, self.block_bytes);
        !matches!(diagnose(&self.pattern, data, first, &promise), BlockState::Wrong(_))
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first faults, with both versions of their blocks.
    pub fn versions(&self) -> Vec<FaultVersions> {
        self.faults().kept().cloned().collect()
    }

    /// Blocks with a fault so far.
    pub fn found_blocks(&self) -> u64 {
        self.faults().counts().iter().map(|count| count.blocks).sum()
    }

    /// What came of it; `worker_time_ns` is the time of all workers together.
    pub fn finish(&self, sweep: Sweep, worker_time_ns: u64) -> Integrity {
        let mut coverage = VerificationCoverage::default();
        for area in &self.areas {
            let [written, verified, unknown] = area.generations.census();
            coverage.blocks += area.generations.blocks();
            coverage.written_blocks += written;
            coverage.verified_blocks += verified;
            coverage.unknown_blocks += unknown;
        }
        self.tally.cover(&mut coverage);
        let tables = self.areas.iter().map(|area| area.generations.table_bytes());
        let (stamping, checking) = self.tally.times();
        let spent_ns = stamping.total_ns() + checking.total_ns();
        let faults = self.faults();
        Integrity {
            format: 1,
            run: self.pattern.run(),
            block_bytes: self.block_bytes,
            checked_share: self.checked_share,
            coverage,
            sweep,
            cost: VerificationCost {
                stamp_mean_ns: stamping.mean_ns(),
                check_mean_ns: checking.mean_ns(),
                worker_share: spent_ns / real(worker_time_ns.max(1)),
                table_bytes: tables.sum(),
            },
            counts: faults.counts(),
            faults: faults.kept().map(|versions| versions.fault.clone()).collect(),
            fault_maps: faults.maps(),
            simulated_loss: None,
            durability: None,
        }
    }
}

/// The largest size that all transfers are multiples of.
fn block_bytes(workload: &Workload) -> Result<u64> {
    let streams = workload.streams.iter();
    let sizes = streams.flat_map(|stream| &stream.block_size.parts).map(|part| part.size.0);
    let block_bytes = sizes.fold(0, divisor);
    if block_bytes > 0 && block_bytes.is_multiple_of(count_of(SECTOR_BYTES)) {
        return Ok(block_bytes);
    }
    Err(Error::usage(
        format!(
            "verification needs whole sectors, but the block sizes of '{}' are multiples of \
             {block_bytes} B",
            workload.name
        ),
        "use block sizes that are multiples of 512 B",
    ))
}

/// The greatest common divisor (Euclid).
const fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// One share for all streams that write: they write to the same blocks.
fn compressible_share(workload: &Workload) -> Result<f64> {
    let mut writing = workload.streams.iter().filter(|stream| stream.writes());
    let Some(first) = writing.clone().next() else {
        return Err(Error::usage(
            format!(
                "verification compares reads with earlier writes, but '{}' does not write",
                workload.name
            ),
            "use a workload that writes, or omit --verify",
        ));
    };
    let content = first.content;
    if content.duplicate.0 > 0.0 {
        return Err(Error::usage(
            format!(
                "stream '{}' writes repeated content, which does not identify its block",
                first.name
            ),
            "verify with duplicate = 0",
        ));
    }
    if writing.any(|stream| stream.content != content) {
        return Err(Error::usage(
            "the streams write different kinds of content",
            "verify with the same content in all streams",
        ));
    }
    Ok(content.compressible.0)
}

fn check_memory(blocks: u64, block_bytes: u64) -> Result<()> {
    if blocks <= TABLE_BYTES_MAX / 4 {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "verification needs 4 bytes of memory per block of {block_bytes} B, but the targets \
             have {blocks}"
        ),
        "verify a smaller target, or use larger blocks",
    ))
}
