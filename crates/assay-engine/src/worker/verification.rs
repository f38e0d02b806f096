//! What a worker knows of its I/Os in flight to verify them: versions that its writes began, and
//! what its reads may return.

use crate::nvme::system_errno;
use crate::sys::{is_of_medium, monotonic_ns};
use crate::verify::{Issued, MadeDurable, SweepExtent, TimedWork, Verifier};
use assay_integrity::{BegunWrite, FaultyBlock, WriteStamp};
use assay_model::integrity::FoundBy;
use assay_model::measurement::Operation;
use assay_model::number::count_of;
use assay_model::workload::SyncPolicy;
use assay_stats::random::Random;
use std::sync::Arc;

/// One I/O in flight.
#[derive(Debug, Default)]
struct PendingCheck {
    extent: SweepExtent,
    begun: Vec<BegunWrite>,
    issued: Vec<Issued>,
    /// What a sync covers.
    mark: u64,
}

/// A worker's hand in the verification of a run.
#[derive(Debug)]
pub(super) struct WorkerVerification {
    verifier: Arc<Verifier>,
    worker: u16,
    sequence: u64,
    random: Random,
    pending: Vec<PendingCheck>,
    /// What makes the writes of the stream durable.
    durable: MadeDurable,
    stamping: TimedWork,
    checking: TimedWork,
}

impl WorkerVerification {
    pub(super) fn new(
        verifier: Arc<Verifier>,
        worker: usize,
        slots: u32,
        sync: SyncPolicy,
        seed: u64,
    ) -> Self {
        Self {
            verifier,
            worker: u16::try_from(worker).unwrap_or(u16::MAX),
            sequence: 0,
            random: Random::part(seed ^ 0x7e57, count_of(worker)),
            pending: (0..slots).map(|_| PendingCheck::default()).collect(),
            durable: match sync {
                SyncPolicy::None => MadeDurable::Never,
                SyncPolicy::Fdatasync { .. } => MadeDurable::BySync,
                SyncPolicy::ODsync | SyncPolicy::Fua => MadeDurable::ByItself,
            },
            stamping: TimedWork::default(),
            checking: TimedWork::default(),
        }
    }

    /// Begins a write, unless one of its blocks is being written.
    pub(super) fn begin_write(&mut self, slot: u32, target: u32, offset: u64, bytes: u64) -> bool {
        let pending = &mut self.pending[slot as usize];
        pending.extent = self.verifier.extent(target, offset, bytes);
        let begun = self.verifier.begin_write(pending.extent, &mut pending.begun);
        if !begun {
            self.verifier.tally().add_redrawn();
        }
        begun
    }

    /// Fills the buffer of a write that has begun.
    pub(super) fn fill(&mut self, slot: u32, buffer: &mut [u8]) {
        self.sequence += 1;
        let started_ns = self.stamping.is_due().then(monotonic_ns);
        let PendingCheck { extent, begun, .. } = &self.pending[slot as usize];
        self.verifier.fill(*extent, begun, self.worker, self.sequence, buffer);
        self.stamping.add(started_ns.map(|started_ns| monotonic_ns() - started_ns));
    }

    /// Begins a read: what its buffer holds is made no answer to it.
    pub(super) fn begin_read(&mut self, slot: u32, target: u32, offset: u64, buffer: &mut [u8]) {
        let pending = &mut self.pending[slot as usize];
        pending.extent = self.verifier.extent(target, offset, count_of(buffer.len()));
        pending.issued.clear();
        let SweepExtent { target, first_block, blocks } = pending.extent;
        let share = self.verifier.checked_share();
        if share < 1.0 && !self.random.chance(share) {
            return (0..blocks).for_each(|_| self.verifier.tally().add_skipped());
        }
        let all = first_block..first_block + blocks;
        pending.issued.extend(all.map(|block| self.verifier.issue(target, block)));
        WriteStamp::erase(buffer);
    }

    /// Begins a sync.
    pub(super) fn begin_sync(&mut self, slot: u32, target: u32) {
        let target = target as usize;
        let pending = &mut self.pending[slot as usize];
        pending.extent = SweepExtent { target, ..SweepExtent::default() };
        pending.mark = self.verifier.begin_sync(target);
    }

    /// An I/O has ended: `result` is the bytes moved or the negative error number, `buffer` what a
    /// whole read brought.
    pub(super) fn end(
        &mut self,
        slot: u32,
        operation: Operation,
        whole: bool,
        result: i32,
        buffer: &[u8],
    ) {
        let pending = &self.pending[slot as usize];
        let extent = pending.extent;
        match operation {
            Operation::Write => {
                self.verifier.end_write(extent, &pending.begun, whole, self.durable);
            }
            Operation::Sync => self.verifier.end_sync(extent.target, pending.mark, whole),
            Operation::Read if whole => self.check(slot, buffer),
            Operation::Read if extent.blocks == 1 && is_of_medium(system_errno(-result)) => {
                let place = FaultyBlock { target: extent.target, block: extent.first_block };
                self.verifier.unreadable(place, FoundBy::Read);
            }
            // Which of several blocks cannot be read is found out by the sweep.
            Operation::Read => {}
        }
    }

    fn check(&mut self, slot: u32, buffer: &[u8]) {
        let started_ns = self.checking.is_due().then(monotonic_ns);
        let PendingCheck { extent, issued, .. } = &self.pending[slot as usize];
        if issued.is_empty() {
            return;
        }
        let block_bytes = buffer.len() / issued.len();
        let blocks = (extent.first_block..).zip(issued).zip(buffer.chunks_exact(block_bytes));
        for ((block, issued), data) in blocks {
            let place = FaultyBlock { target: extent.target, block };
            self.verifier.compare(place, *issued, data, FoundBy::Read);
        }
        self.checking.add(started_ns.map(|started_ns| monotonic_ns() - started_ns));
    }
}

impl Drop for WorkerVerification {
    fn drop(&mut self) {
        self.verifier.tally().merge(&self.stamping, &self.checking);
    }
}
