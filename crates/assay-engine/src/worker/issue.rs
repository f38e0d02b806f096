//! What starts now: reads, writes and syncs, as the arrivals allow and the sync policy asks.

use super::{EngineWorker, HeldWrite};
use crate::arrivals::StreamArrivals;
use crate::backend::{BackendIo, BackendWait, IoBackend};
use crate::space::Location;
use assay_model::measurement::Operation;
use assay_model::number::{narrow, real};
use assay_model::workload::{Arrival, SyncPolicy};

/// Places that a verified write tries before it is held back.
const REDRAWS: u32 = 16;
/// After this time a write that was held back tries again.
const HELD_NS: u64 = 50_000;

impl<B: IoBackend> EngineWorker<B> {
    /// Starts what is due and has a slot, a batch at most; the rest follows in the next turn.
    pub(super) fn issue(&mut self, now_ns: u64) {
        let most = self.batch.most(self.queue_depth());
        while self.ios_left > 0 && self.fresh.len() < most {
            if !self.unsynced.due.is_empty() {
                let Some(slot) = self.free.pop() else { return };
                self.start_sync(slot);
                continue;
            }
            if let Some(held) = self.held.take() {
                if !self.start_held(held, now_ns) {
                    return;
                }
                continue;
            }
            let Some(intended_ns) = self.arrivals.take(now_ns, self.free.len()) else {
                return;
            };
            let Some(slot) = self.free.pop() else { return };
            if !self.start_transfer(slot, intended_ns, now_ns) {
                return;
            }
        }
    }

    /// Stamps what was started this turn, as late as possible before the kernel is entered.
    pub(super) fn stamp(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let now_ns = self.backend.now_ns();
        // In virtual time none has passed since the turn began.
        if now_ns > self.clock_ns {
            let before = self.queue_depth() - self.fresh.len();
            self.recorder.outstanding_ns +=
                real(now_ns - self.clock_ns) * assay_model::number::real_len(before);
            self.clock_ns = now_ns;
        }
        let open = self.arrivals.is_open();
        for slot in self.fresh.drain(..) {
            let slot = &mut self.slots[slot as usize];
            slot.submitted_ns = now_ns;
            if open {
                self.recorder.start_error.record(now_ns.saturating_sub(slot.intended_ns));
            }
        }
    }

    /// How long the worker may sleep.
    pub(super) fn wait(&mut self) -> BackendWait {
        let start_ns = self.next_start_ns().filter(|_| self.ios_left > 0);
        let start_ns = match self.held {
            Some(_) => Some(self.clock_ns + HELD_NS),
            None => start_ns,
        };
        let wait = match start_ns.map(|due_ns| due_ns.saturating_sub(self.lead.ns())) {
            None => BackendWait::Until(None),
            Some(awake_ns) if awake_ns <= self.clock_ns => BackendWait::No,
            Some(awake_ns) => BackendWait::Until(Some(awake_ns)),
        };
        if let BackendWait::Until(until_ns) = wait {
            self.lead.sleeps(until_ns);
        }
        self.batch.turned(wait != BackendWait::No);
        wait
    }

    /// When an I/O is due next without any completion.
    pub(crate) fn next_start_ns(&self) -> Option<u64> {
        self.arrivals.next_ns(self.free.len())
    }

    fn start_sync(&mut self, slot: u32) {
        let Some(mut flush) = self.unsynced.due.pop_front() else {
            return;
        };
        let target = flush.targets.pop().unwrap_or_default();
        let io = BackendIo {
            slot,
            operation: Operation::Sync,
            target,
            offset: 0,
            bytes: 0,
            durable: false,
        };
        let place = &mut self.slots[slot as usize];
        place.joined = flush.commits;
        place.rest = flush.targets;
        if let Some(verification) = &mut self.verification {
            verification.begin_sync(slot, target);
        }
        self.push(&io, flush.intended_ns);
    }

    /// Starts a read or a write, or holds a write back whose place is being written; whether it
    /// started.
    #[inline]
    fn start_transfer(&mut self, slot: u32, intended_ns: u64, now_ns: u64) -> bool {
        let read_share = self.plan.stream.read_share.0;
        let read = read_share >= 1.0 || (read_share > 0.0 && self.random.chance(read_share));
        let places = self.sizes.next(&mut self.random) + self.join(slot, now_ns);
        let held = HeldWrite { slot, intended_ns, places };
        if !read && self.verification.is_some() {
            return self.start_held(held, now_ns);
        }
        let at = self.draw(places, now_ns);
        self.start_at(held, at, if read { Operation::Read } else { Operation::Write });
        true
    }

    /// Starts a verified write at the first place drawn that nobody else is writing; else holds it
    /// back.
    fn start_held(&mut self, held: HeldWrite, now_ns: u64) -> bool {
        let bytes = held.places * self.plan.place_bytes();
        for _ in 0..REDRAWS {
            let at = self.draw(held.places, now_ns);
            let Some(verification) = &mut self.verification else { break };
            if verification.begin_write(held.slot, at.target, at.offset, bytes) {
                self.start_at(held, at, Operation::Write);
                return true;
            }
        }
        self.held = Some(held);
        false
    }

    #[inline]
    fn draw(&mut self, places: u64, now_ns: u64) -> Location {
        let place = self.generator.next(places, now_ns - self.times.start_ns);
        let bytes = places * self.plan.place_bytes();
        self.plan.space.locate(place * self.plan.place_bytes(), bytes)
    }

    #[inline]
    fn start_at(&mut self, held: HeldWrite, at: Location, operation: Operation) {
        let HeldWrite { slot, intended_ns, places } = held;
        let bytes = places * self.plan.place_bytes();
        self.plan.bounds[at.target as usize].guard(operation, at.offset, bytes);
        if self.backend.keeps_data() {
            self.prepare(slot, at, bytes, operation);
        }
        self.ios_left -= 1;
        let durable = operation == Operation::Write
            && matches!(self.plan.stream.sync, SyncPolicy::ODsync | SyncPolicy::Fua);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.push(
            &BackendIo { slot, operation, target: at.target, offset: at.offset, bytes, durable },
            intended_ns,
        );
    }

    /// Makes the content of a write, and the buffer of a verified read ready.
    fn prepare(&mut self, slot: u32, at: Location, bytes: u64, operation: Operation) {
        if operation == Operation::Read && self.verification.is_none() {
            return;
        }
        let buffer = &mut self.backend.buffer(slot)[..assay_model::number::index_of(bytes)];
        match (&mut self.verification, operation) {
            (Some(verification), Operation::Read) => {
                verification.begin_read(slot, at.target, at.offset, buffer);
            }
            (Some(verification), _) => verification.fill(slot, buffer),
            (None, _) => self.payload.stamp(buffer),
        }
    }

    /// Group commit: takes the other arrivals that are due into the same write, as far as it may
    /// grow; gives the further places it needs.
    fn join(&mut self, slot: u32, now_ns: u64) -> u64 {
        let joined = &mut self.slots[slot as usize].joined;
        joined.clear();
        let Arrival::Open { group_commit: Some(limit), .. } = self.plan.stream.arrival else {
            return 0;
        };
        let room = limit.0 / self.plan.stream.block_size.max_bytes() - 1;
        if let StreamArrivals::Open(schedule) = &mut self.arrivals {
            joined.extend(
                std::iter::from_fn(|| schedule.take(now_ns))
                    .take(assay_model::number::index_of(room)),
            );
        }
        narrow(u128::from(assay_model::number::count_of(joined.len())))
    }

    #[inline]
    fn push(&mut self, io: &BackendIo, intended_ns: u64) {
        let slot = &mut self.slots[io.slot as usize];
        slot.operation = Some(io.operation);
        slot.intended_ns = intended_ns;
        slot.target = io.target;
        slot.offset = io.offset;
        slot.bytes = io.bytes;
        self.backend.push(io);
        self.fresh.push(io.slot);
    }
}
