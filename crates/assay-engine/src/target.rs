//! What is measured: opened files or devices with the byte range that I/O may touch.

use crate::passthrough::Passthrough;
use assay_model::measurement::Operation;
use std::fs::File;

/// An opened file or device. Whoever opened it has decided what may be done with it.
#[derive(Debug)]
pub struct OpenFile {
    /// Its name in results, usually the path.
    pub name: String,
    /// Open for reading, and for writing where `writable`.
    pub file: File,
    /// The first byte that I/O may touch.
    pub first_byte: u64,
    /// Bytes that I/O may touch from there.
    pub length_bytes: u64,
    /// What offsets and sizes must be multiples of.
    pub alignment_bytes: u64,
    /// Whether the safety gate allowed writing.
    pub writable: bool,
    /// Whether the page cache is passed by.
    pub direct: bool,
    /// The way past the block layer for what is measured, where it was asked for; `file` is the
    /// block device then.
    pub passthrough: Option<Passthrough>,
}

/// Whether one of the targets is reached past the block layer.
pub fn has_passthrough(targets: &[OpenFile]) -> bool {
    targets.iter().any(|target| target.passthrough.is_some())
}

/// The part of a target that the submit path checks against.
#[derive(Clone, Copy, Debug)]
pub struct TargetBounds {
    first_byte: u64,
    end_byte: u64,
    writable: bool,
}

impl OpenFile {
    /// What may be touched.
    pub const fn bounds(&self) -> TargetBounds {
        TargetBounds {
            first_byte: self.first_byte,
            end_byte: self.first_byte + self.length_bytes,
            writable: self.writable,
        }
    }
}

impl TargetBounds {
    /// Bounds of a made-up device of `length_bytes`, where everything is allowed.
    pub const fn simulated(length_bytes: u64) -> Self {
        Self { first_byte: 0, end_byte: length_bytes, writable: true }
    }

    /// The first byte.
    pub const fn first_byte(&self) -> u64 {
        self.first_byte
    }

    /// Bytes that may be touched.
    pub const fn length_bytes(&self) -> u64 {
        self.end_byte - self.first_byte
    }

    /// Ends the program when an I/O would leave the range or write without leave: the last wall
    /// before the kernel.
    ///
    /// # Panics
    /// Then.
    #[inline]
    pub fn guard(&self, operation: Operation, offset: u64, bytes: u64) {
        let inside = offset >= self.first_byte && offset + bytes <= self.end_byte;
        let allowed = operation == Operation::Read || self.writable;
        assert!(
            inside && allowed,
            "{operation:?} of {bytes} bytes at {offset} is outside what was admitted: {self:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_stops_writes_without_leave_and_anything_outside() {
        let bounds = TargetBounds { first_byte: 4096, end_byte: 8192, writable: false };
        bounds.guard(Operation::Read, 4096, 4096);
        for (operation, offset, bytes) in
            [(Operation::Write, 4096, 512), (Operation::Read, 0, 512), (Operation::Read, 8192, 1)]
        {
            assert!(std::panic::catch_unwind(|| bounds.guard(operation, offset, bytes)).is_err());
        }
    }
}
