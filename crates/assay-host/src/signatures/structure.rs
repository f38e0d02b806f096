//! Data that has no magic number in one place: recognised by several fields that fit together.

use super::Image;
use std::io;

/// ZFS keeps four labels of 256 KiB, two at the begin and two at the end of the device.
const ZFS_LABEL_BYTES: u64 = 256 << 10;
/// Where in a label its name-value pairs begin.
const ZFS_PAIRS_AT: u64 = 16 << 10;
/// Each label ends with a ring of uberblocks.
const ZFS_RING_BYTES: u64 = 128 << 10;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// A name, and the test for it.
type Recogniser = (&'static str, fn(&dyn Image) -> io::Result<bool>);

/// All of them.
pub(super) const RECOGNISERS: &[Recogniser] = &[
    ("ZFS pool member", is_zfs),
    ("InnoDB tablespace", is_innodb),
    ("PostgreSQL relation", is_postgres),
];

fn is_zfs(image: &dyn Image) -> io::Result<bool> {
    let usable = image.size() / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
    let labels = [
        0,
        ZFS_LABEL_BYTES,
        usable.saturating_sub(2 * ZFS_LABEL_BYTES),
        usable.saturating_sub(ZFS_LABEL_BYTES),
    ];
    for label in labels {
        if usable >= label + ZFS_LABEL_BYTES && is_zfs_label(image, label)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A label holds the configuration as name-value pairs, which begin with the version, and, but for spares and caches,
/// uberblocks in steps of at least 1 KiB.
fn is_zfs_label(image: &dyn Image, label: u64) -> io::Result<bool> {
    let mut pairs = vec![0; 4096];
    image.read_at(label + ZFS_PAIRS_AT, &mut pairs)?;
    if holds(&pairs[..64], b"version") || holds(&pairs, b"pool_guid") {
        return Ok(true);
    }
    let mut ring = vec![0; usize::try_from(ZFS_RING_BYTES).unwrap_or_default()];
    image.read_at(label + ZFS_LABEL_BYTES - ZFS_RING_BYTES, &mut ring)?;
    let (little, big) = (ZFS_MAGIC.to_le_bytes(), ZFS_MAGIC.to_be_bytes());
    let is_uberblock = |block: &[u8]| block.starts_with(&little) || block.starts_with(&big);
    Ok(ring.chunks_exact(1024).any(is_uberblock))
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

fn big_endian(page: &[u8], offset: usize) -> u32 {
    let bytes = page.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
    u32::from_be_bytes(bytes.unwrap_or_default())
}

fn little_endian(page: &[u8], offset: usize) -> u16 {
    let bytes = page.get(offset..offset + 2).and_then(|bytes| bytes.try_into().ok());
    u16::from_le_bytes(bytes.unwrap_or_default())
}

fn first_bytes(image: &dyn Image) -> io::Result<[u8; 64]> {
    let mut bytes = [0; 64];
    if image.size() >= 64 {
        image.read_at(0, &mut bytes)?;
    }
    Ok(bytes)
}

/// Page 0 of a tablespace: a file space header whose number of the space stands twice.
fn is_innodb(image: &dyn Image) -> io::Result<bool> {
    const FILE_SPACE_HEADER: u32 = 8;
    let page = first_bytes(image)?;
    let is_first = big_endian(&page, 4) == 0;
    let page_type = big_endian(&page, 24) >> 16;
    let same_space = big_endian(&page, 34) == big_endian(&page, 38);
    let has_pages = big_endian(&page, 46) > 0;
    Ok(page_type == FILE_SPACE_HEADER && is_first && same_space && has_pages)
}

/// A page whose header says its size and layout version, and whose pointers are in order.
fn is_postgres(image: &dyn Image) -> io::Result<bool> {
    const HEADER_BYTES: u16 = 24;
    let page = first_bytes(image)?;
    let [flags, lower, upper, special, sized] =
        [10, 12, 14, 16, 18].map(|offset| little_endian(&page, offset));
    let (size, version) = (sized & 0xff00, sized & 0xff);
    let known = size.is_power_of_two() && size >= 1024 && (1..=5).contains(&version);
    let ordered = HEADER_BYTES <= lower && lower <= upper && upper <= special && special <= size;
    Ok(known && ordered && flags <= 7 && special.is_multiple_of(8))
}
