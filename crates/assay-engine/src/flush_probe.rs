//! Times single writes and flushes on a target: what a device does when it is asked to make data
//! durable.

use crate::backend::BackendIo;
use crate::nvme;
use crate::passthrough::Passthrough;
use crate::sys::{self, Buffers, NamespaceCommand, monotonic_ns};
use crate::target::OpenFile;
use assay_model::measurement::Operation;
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;
use std::io;

/// Bytes of the largest write that goes out at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Writes at random places of a target, which the safety gate has allowed, and times it.
#[derive(Debug)]
pub struct FlushProbe<'a> {
    target: &'a OpenFile,
    buffers: Buffers,
    random: Random,
}

impl<'a> FlushProbe<'a> {
    /// A probe with content of its own.
    ///
    /// # Errors
    /// What the system says, usually that memory is short.
    pub fn new(target: &'a OpenFile, seed: u64) -> io::Result<Self> {
        let mut buffers = Buffers::new(1, index_of(PIECE_BYTES))?;
        let mut random = Random::new(seed);
        for word in buffers.slot(0).chunks_exact_mut(8) {
            word.copy_from_slice(&random.next_u64().to_le_bytes());
        }
        Ok(Self { target, buffers, random })
    }

    /// Writes this many bytes in pieces of up to 1 MiB at random places; the time of the last
    /// piece, ns.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, bytes: u64, durable: bool) -> io::Result<u64> {
        let (mut left, mut last_ns) = (bytes, 0);
        while left > 0 {
            let length = left.min(self.piece_bytes_max());
            let places = (self.target.length_bytes / length).max(1);
            let offset = self.target.first_byte + self.random.below(places) * length;
            last_ns = self.write_piece(offset, length, durable)?;
            left -= length;
        }
        Ok(last_ns)
    }

    fn piece_bytes_max(&self) -> u64 {
        let passthrough = self.target.passthrough.as_ref();
        passthrough.map_or(PIECE_BYTES, |it| it.transfer_bytes_max().min(PIECE_BYTES))
    }

    fn write_piece(&mut self, offset: u64, length: u64, durable: bool) -> io::Result<u64> {
        self.target.bounds().guard(Operation::Write, offset, length);
        let piece = &mut self.buffers.slot(0)[..index_of(length)];
        let started_ns = monotonic_ns();
        let written = match &self.target.passthrough {
            None => sys::write_at(&self.target.file, piece, offset, durable),
            Some(passthrough) => {
                let io = command(Operation::Write, offset, length, durable);
                sys::submit_nvme(&way(passthrough), &io, piece).map(|()| index_of(length))
            }
        };
        let elapsed_ns = monotonic_ns() - started_ns;
        match written {
            Ok(written) if count_of(written) == length => Ok(elapsed_ns),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(errno) => Err(io::Error::from_raw_os_error(nvme::system_errno(errno))),
        }
    }

    /// Flushes; the time that it took, ns. Past the block layer it is the drive's own command: the
    /// kernel leaves `fdatasync` out where it takes the write cache for protected.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&self) -> io::Result<u64> {
        let started_ns = monotonic_ns();
        match &self.target.passthrough {
            None => self.target.file.sync_data()?,
            Some(passthrough) => {
                let io = command(Operation::Sync, 0, 0, false);
                let flushed = sys::submit_nvme(&way(passthrough), &io, &[]);
                flushed.map_err(|errno| io::Error::from_raw_os_error(nvme::system_errno(errno)))?;
            }
        }
        Ok(monotonic_ns() - started_ns)
    }

    /// The monotonic clock, ns.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns()
    }
}

fn way(passthrough: &Passthrough) -> NamespaceCommand<'_> {
    NamespaceCommand {
        file: passthrough.file(),
        namespace: passthrough.id(),
        block_bytes: passthrough.block_bytes(),
    }
}

fn command(operation: Operation, offset: u64, bytes: u64, durable: bool) -> BackendIo {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    BackendIo { slot: 0, operation, target: 0, offset, bytes, durable }
}
