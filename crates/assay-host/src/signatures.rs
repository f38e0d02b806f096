//! Recognises data on a device before it is overwritten: file systems, partition tables, volume managers, databases.

mod fields;
mod places;
mod structure;
mod table;
mod zfs;

use crate::draw::Draw;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where magic bytes stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    /// At this offset.
    Start(u64),
    /// `back` bytes before the end, the size being rounded down to `align` first.
    End {
        /// Bytes to which the size is rounded.
        align: u64,
        /// Distance from there.
        back: u64,
    },
}

impl Anchor {
    fn offset(self, size: u64) -> Option<u64> {
        match self {
            Self::Start(offset) => Some(offset),
            Self::End { align, back } => (size / align * align).checked_sub(back),
        }
    }
}

/// Bytes that can be read at any place: a device, a part of one, or an image in memory.
pub trait Image {
    /// Size, bytes.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes at `offset`; the range lies within the size.
    ///
    /// # Errors
    /// What the system answered.
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

/// What else data concerns, besides the device that it lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: a file system, an image, a volume of its own.
    Content,
    /// A table that divides a disk into partitions, so that it must be expected on a disk that has some.
    Table,
    /// A part of something that other disks or other hosts have parts of: a volume group, an array, a pool, a
    /// cluster. Nobody can see from here whether it is in use there.
    Member,
}

/// Data that was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The word that names it on the command line, for example `xfs`.
    pub word: &'static str,
    /// What it is, for example `XFS file system`.
    pub name: &'static str,
    /// What else it concerns.
    pub kind: Kind,
    /// Where its mark stands, bytes.
    pub offset: u64,
}

/// Everything that is recognised, each name once; empty when the image carries no known mark.
///
/// # Errors
/// What the system answered when a place could not be read: then nothing can be said of the image.
pub fn recognise(image: &dyn Image) -> io::Result<Vec<Match>> {
    let mut found: Vec<Match> = Vec::new();
    let mut note = |known: Match| {
        if !found.iter().any(|one| one.name == known.name) {
            found.push(known);
        }
    };
    for format in table::TABLE {
        for mark in format.marks {
            if let Some(offset) = place_of(image, mark)? {
                note(Match { word: format.word, name: format.name, kind: format.kind, offset });
            }
        }
    }
    for shape in structure::SHAPES {
        if (shape.is_there)(image)? {
            note(Match { word: shape.word, name: shape.name, kind: shape.kind, offset: 0 });
        }
    }
    Ok(found)
}

fn place_of(image: &dyn Image, mark: &places::Mark) -> io::Result<Option<u64>> {
    let length = assay_model::number::count_of(mark.magic.len());
    let mut bytes = vec![0; mark.magic.len()];
    for place in mark.places {
        let offset = place.offset(image.size());
        let fits = |offset: &u64| offset.checked_add(length).is_some_and(|end| end <= image.size());
        if let Some(offset) = offset.filter(fits) {
            image.read_at(offset, &mut bytes)?;
            if bytes == mark.magic {
                return Ok(Some(offset));
            }
        }
    }
    Ok(None)
}

/// What sampling saw of a device's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Blocks that were read.
    pub blocks: u64,
    /// Blocks of these that hold anything but zeros.
    pub used_blocks: u64,
}

/// Bytes a block that is sampled.
pub const SAMPLE_BYTES: u64 = 4096;

/// Reads `blocks` blocks, the first and last among them and the others spread over equal parts of the image, one in
/// each at random, and counts those that hold data.
///
/// # Errors
/// What the system answered.
pub fn sample(image: &dyn Image, blocks: u64, seed: u64) -> io::Result<Sampling> {
    let total = image.size() / SAMPLE_BYTES;
    let mut counted = Sampling { blocks: 0, used_blocks: 0 };
    let mut buffer = [0; 4096];
    for block in Draw::new(seed).spread(total, blocks) {
        image.read_at(block * SAMPLE_BYTES, &mut buffer)?;
        counted.blocks += 1;
        counted.used_blocks += u64::from(buffer.iter().any(|byte| *byte != 0));
    }
    Ok(counted)
}

#[cfg(test)]
mod tests;
