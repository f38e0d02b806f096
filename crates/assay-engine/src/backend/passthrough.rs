//! `io_uring` past the block layer: commands to NVMe namespaces in entries of 128 bytes, next to
//! I/Os of ordinary targets.

use super::ring::{Ring, UringOptions, build, entries};
use super::{BackendIo, BackendWait, Completion, IoBackend, uring};
use crate::nvme::{self, URING_COMMAND_IO};
use crate::passthrough::{Passthrough, refusal};
use crate::target::OpenFile;
use assay_model::measurement::Operation;
use assay_model::{Error, Result};
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// How long the first read of a namespace is waited for.
const PATIENCE_NS: u64 = 5_000_000_000;

/// A worker's ring with wide entries.
pub struct PassthroughBackend {
    ring: Ring<squeue::Entry128, cqueue::Entry32>,
    /// Whether commands name registered buffers; kernels before 6.1 take plain ones only.
    fixed_buffers: bool,
    /// Bytes of the command in each slot; `None` where an ordinary I/O is in it.
    commands: Vec<Option<u32>>,
}

impl PassthroughBackend {
    /// A ring for `slots` I/Os of up to `slot_bytes` on the targets; made in the thread that uses
    /// it. One block of each namespace is read, because the kernel says only in the completion
    /// whether it takes commands.
    ///
    /// # Errors
    /// When the kernel denies the ring or takes no commands, and when memory is short.
    pub fn new(
        targets: Arc<[OpenFile]>,
        slots: usize,
        slot_bytes: usize,
        options: UringOptions,
    ) -> Result<Self> {
        let ring = build(entries(slots), options).map_err(|error| no_ring(&error))?;
        let file = |target: &OpenFile| match &target.passthrough {
            Some(passthrough) => passthrough.file().as_raw_fd(),
            None => target.file.as_raw_fd(),
        };
        let files: Vec<RawFd> = targets.iter().map(file).collect();
        let ring = Ring::new(ring, targets, &files, slots, slot_bytes, options)?;
        let fixed_buffers = ring.has_fixed_buffers();
        let mut backend = Self { ring, fixed_buffers, commands: vec![None; slots] };
        backend.try_namespaces()?;
        Ok(backend)
    }

    /// Reads a block of each namespace, with registered buffers and, where the kernel does not know
    /// them here, without.
    fn try_namespaces(&mut self) -> Result<()> {
        for index in 0..self.ring.targets().len() {
            let Some(read) = self.first_read(index) else { continue };
            let mut result = self.answer(&read)?;
            if result == -libc::EINVAL && self.fixed_buffers {
                self.fixed_buffers = false;
                result = self.answer(&read)?;
            }
            if result < 0 {
                return Err(refusal(&self.ring.targets()[index].name, -result));
            }
        }
        Ok(())
    }

    fn first_read(&self, index: usize) -> Option<BackendIo> {
        let target = &self.ring.targets()[index];
        let bytes = u32::try_from(target.passthrough.as_ref()?.block_bytes()).ok()?;
        Some(BackendIo {
            slot: 0,
            operation: Operation::Read,
            target: u32::try_from(index).ok()?,
            offset: target.first_byte,
            bytes,
            durable: false,
        })
    }

    fn answer(&mut self, io: &BackendIo) -> Result<i32> {
        self.push(io);
        let until_ns = self.now_ns() + PATIENCE_NS;
        let mut completed: Vec<Completion> = Vec::new();
        while completed.is_empty() {
            if self.now_ns() > until_ns {
                let name = &self.ring.targets()[io.target as usize].name;
                return Err(refusal(name, libc::ETIMEDOUT));
            }
            self.enter(BackendWait::Until(None))?;
            self.reap(&mut completed);
        }
        Ok(completed[0].result)
    }

    fn passthrough(&self, io: &BackendIo) -> Option<&Passthrough> {
        self.ring.targets()[io.target as usize].passthrough.as_ref()
    }

    fn entry(&self, io: &BackendIo) -> squeue::Entry128 {
        let address = self.ring.address(io.slot);
        let Some(namespace) = self.passthrough(io) else {
            return uring::entry(io, address, self.ring.has_fixed_buffers()).into();
        };
        let address = assay_model::number::count_of(address.expose_provenance());
        let command = nvme::command(io, namespace.id(), namespace.block_bytes(), address);
        let is_fixed = self.fixed_buffers && io.operation != Operation::Sync;
        opcode::UringCmd80::new(Fixed(io.target), URING_COMMAND_IO)
            .cmd(command)
            .buf_index(is_fixed.then_some(0))
            .build()
            .user_data(u64::from(io.slot))
    }
}

/// Why a ring for commands cannot be had.
fn no_ring(error: &std::io::Error) -> Error {
    let why = if error.raw_os_error() == Some(libc::EINVAL) {
        "this kernel does not support io_uring entries of 128 bytes (Linux 5.19 or newer)"
            .to_owned()
    } else {
        error.to_string()
    };
    Error::environment(
        format!("setting up a ring for NVMe commands: {why}"),
        "specify the block device of the namespace, such as /dev/nvme0n1",
    )
}

impl IoBackend for PassthroughBackend {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.ring.now_ns()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.ring.buffer(slot)
    }

    #[inline]
    fn push(&mut self, io: &BackendIo) {
        self.commands[io.slot as usize] = self.passthrough(io).map(|_| io.bytes);
        let entry = self.entry(io);
        self.ring.push(&entry);
    }

    fn enter(&mut self, wait: BackendWait) -> Result<()> {
        self.ring.enter(wait)
    }

    #[inline]
    fn reap(&mut self, completed: &mut Vec<Completion>) {
        let before = completed.len();
        self.ring.reap(completed);
        for completion in &mut completed[before..] {
            if let Some(bytes) = self.commands[completion.slot as usize] {
                completion.result = nvme::outcome(completion.result, bytes);
            }
        }
    }

    fn enters(&self) -> u64 {
        self.ring.enters()
    }

    fn features(&self) -> Vec<String> {
        let mut features = self.ring.features(self.fixed_buffers);
        features.push("NVMe commands that bypass the block layer".to_owned());
        features
    }
}
