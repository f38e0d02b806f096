//! Numbers in a piece of an image, of either byte order; what lies beyond its end is zero.

use super::image::Image;
use std::io;
use std::ops::Deref;

/// A piece of an image.
pub(super) struct ImageFields(Vec<u8>);

impl ImageFields {
    /// These bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }

    /// The bytes of a range, cut where the piece ends.
    pub(super) fn slice(&self, place: usize, length: usize) -> &[u8] {
        let end = (place + length).min(self.0.len());
        self.0.get(place..end).unwrap_or_default()
    }

    /// Whether these bytes stand there.
    pub(super) fn holds_at(&self, place: usize, bytes: &[u8]) -> bool {
        self.slice(place, bytes.len()) == bytes
    }

    /// One byte.
    pub(super) fn byte(&self, place: usize) -> u8 {
        self.0.get(place).copied().unwrap_or_default()
    }

    fn array<const LENGTH: usize>(&self, place: usize) -> [u8; LENGTH] {
        self.slice(place, LENGTH).try_into().unwrap_or([0; LENGTH])
    }

    /// A number of two bytes, the lower first.
    pub(super) fn little_16(&self, place: usize) -> u16 {
        u16::from_le_bytes(self.array(place))
    }

    /// A number of two bytes, the higher first.
    pub(super) fn big_16(&self, place: usize) -> u16 {
        u16::from_be_bytes(self.array(place))
    }

    /// A number of four bytes, the lowest first.
    pub(super) fn little_32(&self, place: usize) -> u32 {
        u32::from_le_bytes(self.array(place))
    }

    /// A number of four bytes, the highest first.
    pub(super) fn big_32(&self, place: usize) -> u32 {
        u32::from_be_bytes(self.array(place))
    }
}

impl Deref for ImageFields {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// `length` bytes from `offset` on, or what there is of them.
pub(super) fn head(image: &dyn Image, offset: u64, length: u64) -> io::Result<ImageFields> {
    let length = length.min(image.size().saturating_sub(offset));
    let mut bytes = vec![0; assay_model::number::index_of(length)];
    if !bytes.is_empty() {
        image.read_at(offset, &mut bytes)?;
    }
    Ok(ImageFields(bytes))
}

/// `length` bytes from `back` before the end on, the size being rounded down to sectors.
pub(super) fn before_end(image: &dyn Image, back: u64, length: u64) -> io::Result<ImageFields> {
    match (image.size() / 512 * 512).checked_sub(back) {
        Some(offset) => head(image, offset, length),
        None => Ok(ImageFields(Vec::new())),
    }
}

/// The last sector.
pub(super) fn last_sector(image: &dyn Image) -> io::Result<ImageFields> {
    before_end(image, 512, 512)
}
