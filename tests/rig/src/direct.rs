//! Direct I/O for tests: opening past the page cache, and buffers that a block device accepts.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Memory, length and offset of direct I/O must be multiples of this on every device the rigs make.
pub const ALIGNMENT_BYTES: usize = 4096;

/// The number of `O_DIRECT` on this architecture, for `custom_flags`.
///
/// # Panics
/// Never on Linux: the flag is a small number.
pub fn o_direct() -> i32 {
    i32::try_from(OFlags::DIRECT.bits())
        .unwrap_or_else(|_| panic!("O_DIRECT is not a small number"))
}

/// Opens `path` for reading and writing with `O_DIRECT`.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(o_direct()).open(path)
}

/// Opens `path` for reading only with `O_DIRECT`.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(o_direct()).open(path)
}

/// Bytes whose first lies on a multiple of [`ALIGNMENT_BYTES`].
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    begin: usize,
    length: usize,
}

impl Buffer {
    /// `length` bytes of value `fill`.
    pub fn new(length: usize, fill: u8) -> Self {
        let memory = vec![fill; length + ALIGNMENT_BYTES];
        let begin = memory.as_ptr().align_offset(ALIGNMENT_BYTES);
        Self { memory, begin, length }
    }

    /// An aligned copy of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut buffer = Self::new(bytes.len(), 0);
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_hold_what_was_asked() {
        for length in [0, 1, 512, 8192] {
            let buffer = Buffer::new(length, 7);
            assert_eq!(buffer.as_ptr().align_offset(ALIGNMENT_BYTES), 0);
            assert_eq!(buffer.to_vec(), vec![7; length]);
        }
        assert_eq!(*Buffer::of(b"abc"), *b"abc");
    }
}
