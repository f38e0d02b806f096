//! What is written: data that no device can compress or find twice, unless that is asked for.
//!
//! Every buffer holds the same random pattern; a stamp of 16 bytes in each sector of 512 bytes
//! makes each write new at any granularity a device deduplicates by. Writing a stamp costs a
//! nanosecond, filling a microsecond.

use assay_model::number::{count, index_of};
use assay_model::workload::Content;
use assay_stats::random::{Random, mix};

const BLOCK_BYTES: usize = 4096;
const SECTOR_BYTES: usize = 512;
/// Different contents that duplicates are drawn from.
const POOL: u64 = 64;

/// Stamps the writes of one worker.
#[derive(Debug)]
pub struct Payload {
    random: Random,
    duplicate: f64,
    /// Bytes of each block that are not zeros: a multiple of 16, at least 16.
    filled_bytes: usize,
    sequence: u64,
}

impl Payload {
    /// The content of a stream's writes; equal `seed` and `worker` write equal data.
    pub fn new(content: &Content, seed: u64, worker: u64) -> Self {
        let zeros = count(content.compressible.0 * 256.0).min(255);
        Self {
            random: Random::part(mix(seed), worker),
            duplicate: content.duplicate.0,
            filled_bytes: BLOCK_BYTES - index_of(zeros) * 16,
            sequence: Random::part(seed, worker).next_u64(),
        }
    }

    /// Fills a fresh buffer with the pattern.
    pub fn fill(&self, buffer: &mut [u8]) {
        let mut pattern = Random::new(0xa55a_7e57);
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            for (index, word) in block.chunks_exact_mut(8).enumerate() {
                let value = if index * 8 < self.filled_bytes { pattern.next_u64() } else { 0 };
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Makes the buffer's content new, or one of the pool's.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
        self.sequence = self.sequence.wrapping_add(1);
        let repeated = self.duplicate > 0.0 && self.random.chance(self.duplicate);
        let content = if repeated { self.random.below(POOL) } else { mix(self.sequence) };
        for (index, sector) in (0u64..).zip(buffer.chunks_mut(SECTOR_BYTES)) {
            let within = index_of(index) % (BLOCK_BYTES / SECTOR_BYTES) * SECTOR_BYTES;
            if within < self.filled_bytes && sector.len() >= 16 {
                sector[..8].copy_from_slice(&content.to_le_bytes());
                sector[8..16].copy_from_slice(&mix(content ^ index).to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::real_len;
    use assay_model::units::Share;
    use std::collections::HashSet;

    fn written(content: &Content, writes: usize) -> Vec<Vec<u8>> {
        let (mut payload, mut buffer) = (Payload::new(content, 1, 0), vec![0; 8192]);
        payload.fill(&mut buffer);
        (0..writes)
            .map(|_| {
                payload.stamp(&mut buffer);
                buffer.clone()
            })
            .collect()
    }

    fn compressed_share(data: &[u8]) -> f64 {
        real_len(miniz_oxide::deflate::compress_to_vec(data, 6).len()) / real_len(data.len())
    }

    #[test]
    fn nothing_compresses_and_no_sector_comes_twice() {
        let data = written(&Content::default(), 300);
        let sectors: HashSet<&[u8]> = data.iter().flat_map(|write| write.chunks(512)).collect();
        assert_eq!(sectors.len(), 300 * 16);
        assert!(compressed_share(&data[7]) > 0.99);
    }

    #[test]
    fn compressibility_is_the_share_asked_for() {
        for share in [0.25, 0.5, 0.75] {
            let content = Content { compressible: Share(share), ..Content::default() };
            let kept = compressed_share(&written(&content, 1)[0]);
            assert!((kept - (1.0 - share)).abs() < 0.02, "{share}: {kept}");
        }
    }

    #[test]
    fn duplicates_are_the_share_asked_for() {
        let content = Content { duplicate: Share(0.5), ..Content::default() };
        let data = written(&content, 4000);
        let new = data.iter().collect::<HashSet<_>>().len();
        assert!((1900..2200).contains(&new), "{new}");
    }
}
