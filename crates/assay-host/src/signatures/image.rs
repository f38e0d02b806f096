//! Bytes that can be read at any place: a device, a part of one, or an image in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that can be read at any place: a device, a part of one, or an image in memory.
pub trait Image {
    /// Size, bytes.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes at `offset`; the range lies within the size.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// An open device or file.
#[derive(Debug)]
pub struct FileImage<'a> {
    file: &'a File,
    size: u64,
}

impl<'a> FileImage<'a> {
    /// The first `size` bytes of a file.
    pub fn new(file: &'a File, size: u64) -> Self {
        Self { file, size }
    }
}

impl Image for FileImage<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

/// A range of another image, such as a partition of a disk.
#[derive(Clone, Copy)]
pub struct PartImage<'a> {
    whole: &'a dyn Image,
    start: u64,
    size: u64,
}

impl<'a> PartImage<'a> {
    /// The range from `start` on, cut where the whole ends.
    pub fn new(whole: &'a dyn Image, start: u64, size: u64) -> Self {
        let size = size.min(whole.size().saturating_sub(start));
        Self { whole, start, size }
    }
}

impl Image for PartImage<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.whole.read_at(self.start + offset, buffer)
    }
}

/// An image in memory: zeros with patches, so that it can be as large as a real device.
#[derive(Clone, Debug, Default)]
pub struct MemoryImage {
    size: u64,
    bytes: BTreeMap<u64, u8>,
}

impl MemoryImage {
    /// Zeros.
    pub fn new(size: u64) -> Self {
        Self { size, bytes: BTreeMap::new() }
    }

    /// The same with these bytes at `offset`.
    pub fn with(mut self, offset: u64, bytes: &[u8]) -> Self {
        self.bytes.extend((offset..).zip(bytes.iter().copied()));
        self
    }
}

impl Image for MemoryImage {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset + assay_model::number::count_of(buffer.len());
        if end > self.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.fill(0);
        for (place, byte) in self.bytes.range(offset..end) {
            buffer[assay_model::number::index_of(place - offset)] = *byte;
        }
        Ok(())
    }
}
