//! The content of stamped blocks: a slice of one table of random bytes, chosen by run, place and
//! version.
//!
//! Compared and not hashed: a comparison with known bytes is cheaper than any checksum of them, and
//! finds every difference.

use crate::stamp::{SECTOR_BYTES, STAMP_BYTES, SectorAddress, WriteStamp, Writer};
use assay_model::number::index_of;
use assay_stats::random::{Random, mix};

/// Bytes behind the stamp.
pub(crate) const BODY_BYTES: usize = SECTOR_BYTES - STAMP_BYTES;
/// Bytes among which slices begin.
const TABLE_BYTES: usize = 1 << 16;
/// Bytes between the slices of two versions that follow each other. It is eight times an odd
/// number, so that two versions less than 8192 apart never get the same slice.
const STEP_BYTES: u64 = 8 * 2531;

/// What one block is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStamp {
    /// Its first sector.
    pub first: SectorAddress,
    /// Its version.
    pub generation: u32,
    /// Who writes it.
    pub writer: Writer,
}

/// The content of all blocks of a run.
#[derive(Clone, Debug)]
pub struct BlockPattern {
    run: u32,
    table: Vec<u8>,
    /// Bytes of a body that are not zeros.
    filled_bytes: usize,
}

impl BlockPattern {
    /// The content of a run whose sectors end in zeros for this share of their length.
    pub fn new(run: u32, compressible_share: f64) -> Self {
        let mut random = Random::new(0xa55a_7e57_57a3);
        let table =
            (0..(TABLE_BYTES + SECTOR_BYTES) / 8).flat_map(|_| random.next_u64().to_le_bytes());
        let zeros = assay_model::number::index(
            compressible_share * assay_model::number::real_len(SECTOR_BYTES / 8),
        );
        Self { run, table: table.collect(), filled_bytes: BODY_BYTES.saturating_sub(zeros * 8) }
    }

    /// Number of the run.
    pub const fn run(&self) -> u32 {
        self.run
    }

    /// The bytes behind the stamp that are not zeros.
    #[inline]
    pub(crate) fn slice(&self, address: SectorAddress, generation: u32) -> &[u8] {
        let place = mix(address.word() ^ u64::from(self.run) << 20);
        let start = (place & !7).wrapping_add(u64::from(generation).wrapping_mul(STEP_BYTES));
        let start = index_of(start) % TABLE_BYTES;
        &self.table[start..start + self.filled_bytes]
    }

    /// Fills a block of whole sectors.
    #[inline]
    pub fn fill(&self, block: &mut [u8], stamp: &BlockStamp) {
        let BlockStamp { mut first, generation, writer } = *stamp;
        for sector in block.chunks_exact_mut(SECTOR_BYTES) {
            WriteStamp { run: self.run, address: first, generation, writer }.write(sector);
            let (body, zeros) = sector[STAMP_BYTES..].split_at_mut(self.filled_bytes);
            body.copy_from_slice(self.slice(first, generation));
            zeros.fill(0);
            first = first.after(1);
        }
    }

    /// Whether a block holds exactly this version, whoever wrote it.
    #[inline]
    pub fn holds(&self, block: &[u8], first: SectorAddress, generation: u32) -> bool {
        let mut address = first;
        block.chunks_exact(SECTOR_BYTES).all(|sector| {
            let right = WriteStamp::read(sector).is_some_and(|stamp| {
                stamp.run == self.run && stamp.generation == generation && stamp.address == address
            }) && self.has_body(sector, address, generation);
            address = address.after(1);
            right
        })
    }

    /// Whether the bytes behind the stamp are those of a version.
    #[inline]
    pub(crate) fn has_body(&self, sector: &[u8], address: SectorAddress, generation: u32) -> bool {
        let (body, zeros) = sector[STAMP_BYTES..].split_at(self.filled_bytes);
        body == self.slice(address, generation) && zeros.iter().all(|byte| *byte == 0)
    }

    /// What a sector of a version holds behind the stamp.
    pub(crate) fn body(&self, address: SectorAddress, generation: u32) -> [u8; BODY_BYTES] {
        let mut body = [0; BODY_BYTES];
        body[..self.filled_bytes].copy_from_slice(self.slice(address, generation));
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const FIRST: SectorAddress = SectorAddress { target: 0, sector: 4096 };

    fn block(pattern: &BlockPattern, first: SectorAddress, generation: u32) -> Vec<u8> {
        let mut block = vec![0; 8192];
        pattern.fill(&mut block, &BlockStamp { first, generation, writer: Writer::default() });
        block
    }

    #[test]
    fn a_block_holds_its_own_version_and_no_other() {
        let pattern = BlockPattern::new(7, 0.0);
        let block = block(&pattern, FIRST, 3);
        assert!(pattern.holds(&block, FIRST, 3));
        assert!(!pattern.holds(&block, FIRST, 2));
        assert!(!pattern.holds(&block, FIRST.after(16), 3));
        assert!(!BlockPattern::new(8, 0.0).holds(&block, FIRST, 3));
    }

    #[test]
    fn every_bit_of_a_block_counts() {
        let pattern = BlockPattern::new(7, 0.25);
        let right = block(&pattern, FIRST, 3);
        for bit in 0..1024 * 8 {
            let mut wrong = right.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!pattern.holds(&wrong, FIRST, 3), "{bit}");
        }
    }

    #[test]
    fn versions_less_than_8192_apart_never_share_a_slice() {
        let pattern = BlockPattern::new(1, 0.0);
        let starts: HashSet<*const u8> =
            (1..=8192).map(|generation| pattern.slice(FIRST, generation).as_ptr()).collect();
        assert_eq!(starts.len(), 8192);
    }

    #[test]
    fn no_sector_comes_twice() {
        let pattern = BlockPattern::new(1, 0.0);
        let blocks: Vec<Vec<u8>> =
            (0..200).map(|place| block(&pattern, FIRST.after(place * 16), 1)).collect();
        let sectors: HashSet<&[u8]> = blocks.iter().flat_map(|block| block.chunks(512)).collect();
        assert_eq!(sectors.len(), 200 * 16);
    }

    #[test]
    fn the_share_that_compresses_is_the_one_asked_for() {
        for share in [0.25, 0.5, 0.75] {
            let block = block(&BlockPattern::new(1, share), FIRST, 1);
            let zeros = block.chunks(8).filter(|word| word.iter().all(|byte| *byte == 0)).count();
            let found = assay_model::number::real_len(zeros) / 1024.0;
            assert!((found - share).abs() < 0.01, "{share}: {found}");
        }
    }
}
