//! ZFS on a device: four labels with pairs of names and values and a ring of uberblocks each.

use super::image::Image;
use std::io;

/// ZFS keeps four labels of 256 KiB, two at the start and two at the end of the device.
const LABEL_BYTES: u64 = 256 << 10;
/// Where in a label its name-value pairs begin.
const PAIRS_AT: u64 = 16 << 10;
/// Each label ends with a ring of uberblocks.
const RING_BYTES: u64 = 128 << 10;
const MAGIC: u64 = 0x00ba_b10c;

/// Whether one of the labels is there.
pub(super) fn is_member(image: &dyn Image) -> io::Result<bool> {
    let usable = image.size() / LABEL_BYTES * LABEL_BYTES;
    let labels = [
        0,
        LABEL_BYTES,
        usable.saturating_sub(2 * LABEL_BYTES),
        usable.saturating_sub(LABEL_BYTES),
    ];
    for label in labels {
        if usable >= label + LABEL_BYTES && is_label(image, label)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A label holds the configuration as name-value pairs, which begin with the version, and, but for
/// spares and caches, uberblocks in steps of at least 1 KiB.
fn is_label(image: &dyn Image, label: u64) -> io::Result<bool> {
    let mut pairs = vec![0; 4096];
    image.read_at(label + PAIRS_AT, &mut pairs)?;
    if holds(&pairs[..64], b"version") || holds(&pairs, b"pool_guid") {
        return Ok(true);
    }
    let mut ring = vec![0; assay_model::number::index_of(RING_BYTES)];
    image.read_at(label + LABEL_BYTES - RING_BYTES, &mut ring)?;
    let (little, big) = (MAGIC.to_le_bytes(), MAGIC.to_be_bytes());
    let is_uberblock = |block: &[u8]| block.starts_with(&little) || block.starts_with(&big);
    Ok(ring.chunks_exact(1024).any(is_uberblock))
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
