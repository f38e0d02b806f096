//! The stamp at the start of every sector: which run wrote it, where it belongs, and which version
//! of its block it is.

/// The smallest unit that storage reads and writes.
pub const SECTOR_BYTES: usize = 512;
/// Bytes of a stamp.
pub(crate) const STAMP_BYTES: usize = 32;
/// The bytes of a stamp that say who wrote it, with the checksum that depends on them.
pub(crate) const WRITER_BYTES: std::ops::Range<usize> = 20..STAMP_BYTES;
/// The first bytes of every stamp, with the version of its form in the last of them.
const MAGIC: u32 = u32::from_le_bytes(*b"AsS1");

/// Where a sector belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectorAddress {
    /// Number of the target in its run.
    pub target: u16,
    /// Sector of the target, below 2^48.
    pub sector: u64,
}

/// Who wrote a sector, and with what else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// Number of the worker, below 2^12.
    pub worker: u16,
    /// Number of the write among those of the worker, below 2^44.
    pub sequence: u64,
    /// Sectors that were written with it; 255 stands for more.
    pub sectors: u8,
}

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStamp {
    /// Number of the run.
    pub run: u32,
    /// Where it belongs.
    pub address: SectorAddress,
    /// Version of its block.
    pub generation: u32,
    /// Who wrote it.
    pub writer: Writer,
}

impl SectorAddress {
    pub(crate) const fn word(self) -> u64 {
        (self.target as u64) << 48 | self.sector & ((1 << 48) - 1)
    }

    /// The sector this much further on.
    pub const fn after(self, sectors: u64) -> Self {
        Self { sector: self.sector + sectors, ..self }
    }
}

impl Writer {
    const fn word(self) -> u64 {
        (self.worker as u64 & 0xfff) << 52
            | (self.sequence & ((1 << 44) - 1)) << 8
            | self.sectors as u64
    }

    fn of_word(word: u64) -> Self {
        let [sectors, ..] = word.to_le_bytes();
        let worker = u16::try_from(word >> 52).unwrap_or_default();
        Self { worker, sequence: word >> 8 & ((1 << 44) - 1), sectors }
    }
}

impl WriteStamp {
    /// Writes it to the start of a sector.
    #[inline]
    pub(crate) fn write(&self, sector: &mut [u8]) {
        let head = u64::from(MAGIC) | u64::from(self.run) << 32;
        let (address, writer) = (self.address.word(), self.writer.word());
        sector[..8].copy_from_slice(&head.to_le_bytes());
        sector[8..16].copy_from_slice(&address.to_le_bytes());
        sector[16..20].copy_from_slice(&self.generation.to_le_bytes());
        sector[20..28].copy_from_slice(&writer.to_le_bytes());
        let checksum = checksum([head, address, u64::from(self.generation), writer]);
        sector[28..STAMP_BYTES].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The stamp of a sector; `None` where there is none, or its checksum is wrong.
    #[inline]
    pub fn read(sector: &[u8]) -> Option<Self> {
        let (head, address, generation, writer) =
            (long(sector, 0), long(sector, 8), word(sector, 16), long(sector, 20));
        let sum = checksum([head, address, u64::from(generation), writer]);
        if head & 0xffff_ffff != u64::from(MAGIC) || word(sector, 28) != sum {
            return None;
        }
        Some(Self {
            run: word(sector, 4),
            address: SectorAddress {
                target: u16::from_le_bytes([sector[14], sector[15]]),
                sector: address & ((1 << 48) - 1),
            },
            generation,
            writer: Writer::of_word(writer),
        })
    }

    /// Makes a buffer hold no stamp, so that a read that moves nothing is noticed.
    #[inline]
    pub fn erase(buffer: &mut [u8]) {
        for sector in buffer.chunks_mut(SECTOR_BYTES) {
            let end = sector.len().min(8);
            sector[..end].fill(0x5a);
        }
    }
}

/// What every stamp of a place begins with, whatever its version.
pub(crate) fn known_bytes(run: u32, address: SectorAddress) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&run.to_le_bytes());
    bytes[8..].copy_from_slice(&address.word().to_le_bytes());
    bytes
}

/// Whether the first bytes are those of a stamp of this run, whatever follows.
pub(crate) fn begins_as(sector: &[u8], run: u32) -> bool {
    word(sector, 0) == MAGIC && word(sector, 4) == run
}

/// The version that a stamp names, be its checksum right or wrong.
pub(crate) fn raw_generation(sector: &[u8]) -> u32 {
    word(sector, 16)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

/// 32 bits over the fields. Every step is a bijection of the 64-bit state, so that a change within
/// one field always changes the state, and escapes the last fold with probability 2^-32. A CRC
/// without instructions of the processor costs more than all the content of the sector.
#[inline]
fn checksum(fields: [u64; 4]) -> u32 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for field in fields {
        state = (state ^ field).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    state ^= state >> 32;
    let [first, second, third, fourth, ..] = state.to_le_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stamp_is_read_as_it_was_written(
            run in any::<u32>(),
            target in any::<u16>(),
            sector in 0u64..1 << 48,
            generation in any::<u32>(),
            worker in 0u16..1 << 12,
            sequence in 0u64..1 << 44,
            sectors in any::<u8>(),
        ) {
            let address = SectorAddress { target, sector };
            let writer = Writer { worker, sequence, sectors };
            let stamp = WriteStamp { run, address, generation, writer };
            let mut bytes = [0; SECTOR_BYTES];
            stamp.write(&mut bytes);
            prop_assert_eq!(WriteStamp::read(&bytes), Some(stamp));
        }

        #[test]
        fn no_single_bit_of_a_stamp_changes_unnoticed(bit in 0usize..256, generation in any::<u32>()) {
            let address = SectorAddress { target: 3, sector: 77 };
            let stamp = WriteStamp { run: 5, address, generation, writer: Writer::default() };
            let mut bytes = [0; SECTOR_BYTES];
            stamp.write(&mut bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(WriteStamp::read(&bytes), None);
        }
    }

    #[test]
    fn an_erased_buffer_has_no_stamp() {
        let mut bytes = [0; 2 * SECTOR_BYTES];
        let stamp = WriteStamp {
            run: 1,
            address: SectorAddress::default(),
            generation: 1,
            writer: Writer::default(),
        };
        bytes.chunks_mut(SECTOR_BYTES).for_each(|sector| stamp.write(sector));
        WriteStamp::erase(&mut bytes);
        assert!(bytes.chunks(SECTOR_BYTES).all(|sector| WriteStamp::read(sector).is_none()));
    }
}
