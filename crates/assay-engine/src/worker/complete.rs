//! What a completion means: a record, a failure, and the commits that waited for it.

use super::{EngineWorker, Flush, Message};
use crate::backend::{Completion, IoBackend};
use crate::nvme::system_errno;
use crate::recorder::{TargetFailure, TimedOperation};
use assay_model::measurement::Operation;
use assay_model::workload::SyncPolicy;

/// Failures in a row that mean the target has gone.
const FAILURES_MAX: u64 = 1000;

impl<B: IoBackend> EngineWorker<B> {
    pub(super) fn reap(&mut self, now_ns: u64) {
        let mut completed = std::mem::take(&mut self.completed);
        self.backend.reap(&mut completed);
        for completion in completed.drain(..) {
            self.complete(completion, now_ns);
        }
        self.completed = completed;
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) {
        let slot = &mut self.slots[completion.slot as usize];
        let Some(operation) = slot.operation.take() else {
            return;
        };
        self.free.push(completion.slot);
        let (start_ns, done_ns) = completion.stamps_ns.unwrap_or((slot.submitted_ns, now_ns));
        let done = TimedOperation {
            operation,
            target: slot.target,
            bytes: u64::from(slot.bytes),
            service_ns: done_ns.saturating_sub(start_ns),
            response_ns: done_ns.saturating_sub(slot.intended_ns),
        };
        let whole = u32::try_from(completion.result) == Ok(slot.bytes);
        if let Some(verification) = &mut self.verification {
            let buffer = &self.backend.buffer(completion.slot)
                [..self.slots[completion.slot as usize].bytes as usize];
            verification.end(completion.slot, operation, whole, completion.result, buffer);
        }
        self.arrivals.completed(done_ns);
        // What completes after the measured time is in no interval.
        match (self.ended, whole) {
            (true, _) => {}
            (false, true) => self.succeeded(&done, completion.slot, done_ns),
            (false, false) => self.failed(operation, completion),
        }
    }

    #[inline]
    fn succeeded(&mut self, done: &TimedOperation, slot: u32, done_ns: u64) {
        self.failures_in_row = 0;
        if done.operation == Operation::Sync && !self.slots[slot as usize].rest.is_empty() {
            return self.flush_on(done, slot);
        }
        self.recorder.record(done);
        if done.operation != Operation::Sync {
            self.batch.completed(done.service_ns);
        }
        if done.operation != Operation::Read && self.arrivals.is_open() {
            self.committed(done.operation, slot, done_ns);
        }
        if done.operation == Operation::Write {
            self.written(done.target, done_ns);
        }
    }

    /// A write counts once it completed: a sync that overtakes it does not cover it.
    fn written(&mut self, target: u32, done_ns: u64) {
        let SyncPolicy::Fdatasync { every } = self.plan.stream.sync else {
            return;
        };
        self.unsynced.write_to(target);
        if self.unsynced.writes >= every {
            self.unsynced.flush(done_ns);
        }
    }

    /// One target of several is synced: the commits wait for the next one.
    fn flush_on(&mut self, done: &TimedOperation, slot: u32) {
        self.recorder.record_part(done);
        let slot = &mut self.slots[slot as usize];
        self.unsynced.due.push_back(Flush {
            targets: std::mem::take(&mut slot.rest),
            intended_ns: slot.intended_ns,
            commits: std::mem::take(&mut slot.joined),
        });
    }

    /// Further commits of a write or sync respond with it; those of a write that needs a sync wait
    /// for it too.
    fn committed(&mut self, operation: Operation, slot: u32, done_ns: u64) {
        let slot = &mut self.slots[slot as usize];
        for intended_ns in &slot.joined {
            let response_ns = done_ns.saturating_sub(*intended_ns);
            self.recorder.respond(operation, slot.target, response_ns);
        }
        if operation == Operation::Write
            && matches!(self.plan.stream.sync, SyncPolicy::Fdatasync { .. })
        {
            self.unsynced.commits.push(slot.intended_ns);
            self.unsynced.commits.append(&mut slot.joined);
        }
    }

    fn failed(&mut self, operation: Operation, completion: Completion) {
        let slot = &mut self.slots[completion.slot as usize];
        // The commits of a sync that failed are lost; its other targets come with the next flush.
        self.unsynced.targets.append(&mut slot.rest);
        let errno = if completion.result < 0 { -completion.result } else { 0 };
        self.recorder.fail(TargetFailure {
            operation,
            target: slot.target,
            errno,
            ios: 1,
            first_offset: slot.offset,
        });
        self.failures_in_row += 1;
        if ends_the_run(system_errno(errno)) || self.failures_in_row == FAILURES_MAX {
            let target = slot.target;
            self.send(Message::Fatal { operation, target, errno });
        }
    }
}

/// Errors after which going on makes no sense: the device has gone, the space is used up, writing
/// became forbidden.
const fn ends_the_run(errno: i32) -> bool {
    matches!(
        errno,
        libc::ENODEV
            | libc::ENXIO
            | libc::ENOSPC
            | libc::EDQUOT
            | libc::EROFS
            | libc::EBADF
            | libc::ENOTCONN
            | libc::ESHUTDOWN
    )
}
