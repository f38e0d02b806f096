//! `io_uring`: reads, writes and syncs of files and block devices.

use super::ring::{Ring, UringOptions, build, entries};
use super::{BackendIo, BackendWait, Completion, IoBackend};
use crate::target::OpenFile;
use assay_model::measurement::Operation;
use assay_model::{Error, Result};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// A worker's ring.
pub struct UringBackend(Ring<squeue::Entry, cqueue::Entry>);

impl UringBackend {
    /// A ring for `slots` I/Os of up to `slot_bytes` on the targets; made in the thread that uses
    /// it.
    ///
    /// # Errors
    /// When the kernel denies the ring or memory is short.
    pub fn new(
        targets: Arc<[OpenFile]>,
        slots: usize,
        slot_bytes: usize,
        options: UringOptions,
    ) -> Result<Self> {
        let entries = entries(slots);
        let ring = build(entries, options).map_err(|error| {
            Error::environment(
                format!("setting up a ring of {entries} entries: {error}"),
                "use fewer outstanding I/Os, or --backend posix",
            )
        })?;
        let files: Vec<RawFd> = targets.iter().map(|target| target.file.as_raw_fd()).collect();
        Ok(Self(Ring::new(ring, targets, &files, slots, slot_bytes, options)?))
    }
}

/// A read, a write or a sync with its data at an address; `is_registered` says whether that lies in
/// a registered buffer.
pub(super) fn entry(io: &BackendIo, address: *mut u8, is_registered: bool) -> squeue::Entry {
    let file = Fixed(io.target);
    let flags = if io.durable { libc::RWF_DSYNC } else { 0 };
    let entry = match (io.operation, is_registered) {
        (Operation::Sync, _) => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        (Operation::Read, true) => {
            opcode::ReadFixed::new(file, address, io.bytes, 0).offset(io.offset).build()
        }
        (Operation::Read, false) => {
            opcode::Read::new(file, address, io.bytes).offset(io.offset).build()
        }
        (Operation::Write, true) => opcode::WriteFixed::new(file, address, io.bytes, 0)
            .offset(io.offset)
            .rw_flags(flags)
            .build(),
        (Operation::Write, false) => {
            opcode::Write::new(file, address, io.bytes).offset(io.offset).rw_flags(flags).build()
        }
    };
    entry.user_data(u64::from(io.slot))
}

impl IoBackend for UringBackend {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.0.buffer(slot)
    }

    #[inline]
    fn push(&mut self, io: &BackendIo) {
        let entry = entry(io, self.0.address(io.slot), self.0.has_fixed_buffers());
        self.0.push(&entry);
    }

    fn enter(&mut self, wait: BackendWait) -> Result<()> {
        self.0.enter(wait)
    }

    #[inline]
    fn reap(&mut self, completed: &mut Vec<Completion>) {
        self.0.reap(completed);
    }

    fn enters(&self) -> u64 {
        self.0.enters()
    }

    fn features(&self) -> Vec<String> {
        self.0.features(self.0.has_fixed_buffers())
    }
}
