//! What one sector holds, found from its bytes alone and the versions that it may have had.

use crate::pattern::{BODY_BYTES, BlockPattern, BlockStamp};
use crate::stamp::{
    SECTOR_BYTES, STAMP_BYTES, SectorAddress, WRITER_BYTES, WriteStamp, Writer, begins_as,
    known_bytes, raw_generation,
};
use assay_model::number::{count_of, index_of};

/// Versions before and behind the one that a sector names that its bytes are compared with.
const NEIGHBOURS: u32 = 16;
/// Bytes that a processor or a bus moves at once.
const LINE_BYTES: usize = 64;
/// Most inverted bits that are called so.
const BITS_MAX: usize = 2;
/// A shorter end of another version is believed of its neighbours alone: one byte in 256 is equal
/// by chance.
const SURE_BYTES: usize = 8;

/// What a sector holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SectorContent {
    /// A version of its block, whole.
    Version(u32),
    /// A sector of this run that belongs elsewhere.
    Elsewhere(SectorAddress, u32),
    /// A sector of another run.
    OtherRun(u32, SectorAddress),
    /// Bytes of two versions; the byte is where the first of them ends, unknown within the stamp.
    Shorn { generation: u32, byte: usize },
    /// A version with these bits inverted.
    Flipped { generation: u32, bits: Vec<usize> },
    /// One byte value all over.
    Filled,
    /// No stamp of anybody.
    Unstamped,
    /// A stamp, and a body that no version explains.
    Damaged { generation: u32 },
}

/// Finds what a sector holds that belongs to `address`; `newest` is the last version of its block.
pub(crate) fn look(
    pattern: &BlockPattern,
    sector: &[u8],
    address: SectorAddress,
    newest: u32,
) -> SectorContent {
    match WriteStamp::read(sector) {
        Some(stamp) if stamp.run != pattern.run() => {
            SectorContent::OtherRun(stamp.run, stamp.address)
        }
        Some(stamp) if stamp.address != address => {
            SectorContent::Elsewhere(stamp.address, stamp.generation)
        }
        Some(stamp) => of_version(pattern, sector, address, stamp.generation),
        None => unstamped(pattern, sector, address, newest),
    }
}

/// A sector whose stamp is right.
fn of_version(
    pattern: &BlockPattern,
    sector: &[u8],
    address: SectorAddress,
    generation: u32,
) -> SectorContent {
    let (body, expected) = (&sector[STAMP_BYTES..], pattern.body(address, generation));
    if body == expected {
        return SectorContent::Version(generation);
    }
    let others = neighbours(generation)
        .find_map(|(other, near)| shorn_at(body, &expected, &pattern.body(address, other), near));
    if let Some(byte) = others {
        return SectorContent::Shorn { generation, byte: STAMP_BYTES + byte };
    }
    match inverted_bits(body, &expected) {
        Some(bits) => {
            let bits = bits.into_iter().map(|bit| bit + STAMP_BYTES * 8).collect();
            SectorContent::Flipped { generation, bits }
        }
        None => SectorContent::Damaged { generation },
    }
}

/// Versions near another one, the nearest first, and whether they are its neighbours.
fn neighbours(generation: u32) -> impl Iterator<Item = (u32, bool)> {
    (1..=NEIGHBOURS).flat_map(move |step| {
        [generation.checked_sub(step), generation.checked_add(step)]
            .into_iter()
            .flatten()
            .map(move |other| (other, step == 1))
    })
}

/// Where a body changes from one version to the other: at one byte, or from line to line.
fn shorn_at(
    body: &[u8],
    one: &[u8; BODY_BYTES],
    other: &[u8; BODY_BYTES],
    near: bool,
) -> Option<usize> {
    let first = body.iter().zip(one).position(|(byte, right)| byte != right)?;
    let last = body.iter().zip(one).rposition(|(byte, right)| byte != right)?;
    let is_long = near || last + 1 - first >= SURE_BYTES;
    if is_long && body[first..] == other[first..] {
        return Some(first);
    }
    // The first line of a sector is shared with the stamp.
    let head = LINE_BYTES - STAMP_BYTES;
    let lines = std::iter::once(0..head)
        .chain((head..BODY_BYTES).step_by(LINE_BYTES).map(|at| at..at + LINE_BYTES));
    let mut of_either = lines
        .map(|line| body[line.clone()] == one[line.clone()] || body[line.clone()] == other[line]);
    (is_long && of_either.all(|whole| whole)).then_some(first)
}

/// The bits that differ, where they are few.
fn inverted_bits(found: &[u8], expected: &[u8]) -> Option<Vec<usize>> {
    let mut bits = Vec::new();
    for (place, (byte, right)) in found.iter().zip(expected).enumerate() {
        let mut differing = byte ^ right;
        while differing != 0 {
            if bits.len() == BITS_MAX {
                return None;
            }
            bits.push(place * 8 + index_of(u64::from(differing.trailing_zeros())));
            differing &= differing - 1;
        }
    }
    Some(bits)
}

/// A sector whose stamp is missing or wrong.
fn unstamped(
    pattern: &BlockPattern,
    sector: &[u8],
    address: SectorAddress,
    newest: u32,
) -> SectorContent {
    if sector.iter().all(|byte| *byte == sector[0]) {
        return SectorContent::Filled;
    }
    if let Some(flipped) = repaired(pattern, sector, address) {
        return flipped;
    }
    let candidates =
        std::iter::once(newest).chain(neighbours(newest).map(|(generation, _)| generation));
    let body = |generation: &u32| pattern.has_body(sector, address, *generation);
    match candidates.filter(|generation| *generation > 0).find(body) {
        // The body is of one version, and the stamp neither of it nor of anything else.
        Some(generation) if begins_as(sector, pattern.run()) => {
            SectorContent::Shorn { generation, byte: STAMP_BYTES / 2 }
        }
        Some(generation) => SectorContent::Damaged { generation },
        None => SectorContent::Unstamped,
    }
}

/// The sector with one or two bits of its stamp put right, where that makes it one of this place.
fn repaired(
    pattern: &BlockPattern,
    sector: &[u8],
    address: SectorAddress,
) -> Option<SectorContent> {
    // Most sectors without a stamp never had one: there is nothing to search for.
    inverted_bits(&sector[..16], &known_bytes(pattern.run(), address))?;
    let mut stamp = [0; SECTOR_BYTES];
    stamp.copy_from_slice(sector);
    let try_stamp = |bytes: &[u8], bits: &[usize]| {
        let read = WriteStamp::read(bytes)
            .filter(|stamp| stamp.run == pattern.run() && stamp.address == address)?;
        let expected = pattern.body(address, read.generation);
        let of_body = inverted_bits(&sector[STAMP_BYTES..], &expected)?;
        let all: Vec<usize> =
            bits.iter().copied().chain(of_body.iter().map(|bit| bit + STAMP_BYTES * 8)).collect();
        let generation = read.generation;
        let named = raw_generation(sector);
        if named != generation && named.abs_diff(generation) <= NEIGHBOURS {
            // Two versions that follow each other differ in few bits of their numbers.
            return Some(SectorContent::Shorn { generation, byte: STAMP_BYTES / 2 });
        }
        (all.len() <= BITS_MAX).then_some(SectorContent::Flipped { generation, bits: all })
    };
    let invert = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 1 << (bit % 8);
    for first in 0..STAMP_BYTES * 8 {
        invert(&mut stamp, first);
        if let Some(found) = try_stamp(&stamp, &[first]) {
            return Some(found);
        }
        for second in 0..first {
            invert(&mut stamp, second);
            if let Some(found) = try_stamp(&stamp, &[second, first]) {
                return Some(found);
            }
            invert(&mut stamp, second);
        }
        invert(&mut stamp, first);
    }
    None
}

/// Whether each byte of a sector is that of one of these versions. Who wrote them is not known, so
/// that this part of the stamp is not compared.
pub(crate) fn is_mixture(
    pattern: &BlockPattern,
    sector: &[u8],
    address: SectorAddress,
    mut versions: impl Iterator<Item = u32>,
) -> bool {
    let mut expected = [0; SECTOR_BYTES];
    let mut unexplained: Vec<usize> =
        (0..WRITER_BYTES.start).chain(WRITER_BYTES.end..SECTOR_BYTES).collect();
    versions.any(|generation| {
        let writer = Writer::default();
        pattern.fill(&mut expected, &BlockStamp { first: address, generation, writer });
        unexplained.retain(|at| sector[*at] != expected[*at]);
        unexplained.is_empty()
    })
}

/// The first and the last byte of a block that differ from what is expected.
pub(crate) fn difference(found: &[u8], expected: &[u8]) -> Option<(u64, u64)> {
    let differs = |(byte, right): (&u8, &u8)| byte != right;
    let first = found.iter().zip(expected).position(differs)?;
    let last = found.iter().zip(expected).rposition(differs)?;
    Some((count_of(first), count_of(last)))
}
