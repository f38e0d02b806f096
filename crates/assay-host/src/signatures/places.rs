//! A mark, and the places that several formats, or several marks of one, have in common: data, no
//! code.

use MagicAnchor::{End, Start};

/// Where magic bytes stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MagicAnchor {
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

impl MagicAnchor {
    pub(super) fn offset(self, size: u64) -> Option<u64> {
        match self {
            Self::Start(offset) => Some(offset),
            Self::End { align, back } => (size / align * align).checked_sub(back),
        }
    }
}

/// Magic bytes, and every place at which they mean the format.
#[derive(Debug)]
pub(super) struct MagicMark {
    /// The bytes.
    pub(super) magic: &'static [u8],
    /// Where they stand.
    pub(super) places: &'static [MagicAnchor],
}

pub(super) const fn mark(magic: &'static [u8], places: &'static [MagicAnchor]) -> MagicMark {
    MagicMark { magic, places }
}

/// `back` bytes before the end of a device whose size is rounded down to `align`.
pub(super) const fn end(align: u64, back: u64) -> MagicAnchor {
    End { align, back }
}

/// The start of the device.
pub(super) const FIRST: &[MagicAnchor] = &[Start(0)];

/// The last sector, where firmware of RAID controllers keeps its description.
pub(super) const LAST_SECTOR: &[MagicAnchor] = &[end(512, 512)];

/// The first sectors, which partition tables, LVM and Amiga disks share.
pub(super) const SECTORS: &[MagicAnchor] = &[
    Start(0),
    Start(512),
    Start(1024),
    Start(1536),
    Start(2048),
    Start(4096),
    Start(8192),
    Start(12_288),
];

/// Where the second words of an LVM2 label stand in the first four sectors.
pub(super) const LVM_TYPES: &[MagicAnchor] =
    &[Start(24), Start(512 + 24), Start(1024 + 24), Start(1536 + 24)];

/// The last ten bytes of the first memory page, for page sizes of 4 to 64 KiB.
pub(super) const PAGE_ENDS: &[MagicAnchor] = &[
    Start(4096 - 10),
    Start(8192 - 10),
    Start(16_384 - 10),
    Start(32_768 - 10),
    Start(65_536 - 10),
];

/// Where a second LUKS2 header may stand.
pub(super) const SECOND_LUKS: &[MagicAnchor] = &[
    Start(0x4000),
    Start(0x8000),
    Start(0x1_0000),
    Start(0x2_0000),
    Start(0x4_0000),
    Start(0x8_0000),
    Start(0x10_0000),
    Start(0x20_0000),
    Start(0x40_0000),
];

/// Byte 32 of an ASM disk header and of its copy, the last but one block of allocation unit 1, for
/// units of 1 MiB to 64 MiB with blocks of 4 KiB.
pub(super) const ASM_HEADERS: &[MagicAnchor] = &[
    Start(32),
    Start((2 << 20) - 8192 + 32),
    Start((4 << 20) - 8192 + 32),
    Start((8 << 20) - 8192 + 32),
    Start((16 << 20) - 8192 + 32),
    Start((32 << 20) - 8192 + 32),
    Start((64 << 20) - 8192 + 32),
    Start((128 << 20) - 8192 + 32),
];

/// Byte 1372 of each place where a UFS superblock may begin.
pub(super) const UFS_SUPERBLOCKS: &[MagicAnchor] =
    &[Start(1372), Start(8192 + 1372), Start(65_536 + 1372), Start(262_144 + 1372)];

/// Formats 1.1, 1.2, 1.0 and 0.90, in this order.
pub(super) const MD_SUPERBLOCKS: &[MagicAnchor] =
    &[Start(0), Start(4096), end(4096, 8192), end(65_536, 65_536)];

/// The anchor header, with the copy that some firmware puts elsewhere.
pub(super) const DDF_HEADERS: &[MagicAnchor] = &[end(512, 512), end(512, 257 * 512)];

/// In the first or second sector, at the places of the ports.
pub(super) const BSD_LABELS: &[MagicAnchor] =
    &[Start(0), Start(64), Start(128), Start(512), Start(576), Start(640)];

/// Volume structure descriptors of optical disks, for sectors of 2 KiB and 4 KiB.
pub(super) const VOLUME_DESCRIPTORS: &[MagicAnchor] =
    &[Start(32_769), Start(34_817), Start(36_865), Start(38_913), Start(40_961)];

/// Sectors from the end at which Promise controllers of different years keep their description.
pub(super) const PROMISE_SECTORS: &[MagicAnchor] = &[
    end(512, 63 * 512),
    end(512, 255 * 512),
    end(512, 256 * 512),
    end(512, 16 * 512),
    end(512, 399 * 512),
    end(512, 591 * 512),
    end(512, 675 * 512),
    end(512, 735 * 512),
    end(512, 911 * 512),
    end(512, 974 * 512),
    end(512, 991 * 512),
    end(512, 951 * 512),
    end(512, 3087 * 512),
];

/// The label is the third block of 512 bytes to 4 KiB; in one of its layouts a key of four bytes
/// stands before it.
pub(super) const DASD_LABELS: &[MagicAnchor] = &[
    Start(1024),
    Start(1028),
    Start(2048),
    Start(2052),
    Start(4096),
    Start(4100),
    Start(8192),
    Start(8196),
];

/// Byte 504 of the superblock of System V, which begins half a block into block 0, 9, 15 or 18.
pub(super) const SYSV_SUPERBLOCKS: &[MagicAnchor] = &[
    Start(512 + 504),
    Start(9 * 1024 + 512 + 504),
    Start(15 * 1024 + 512 + 504),
    Start(18 * 1024 + 512 + 504),
];

/// Byte 24 of each place where a bcachefs superblock may begin.
pub(super) const BCACHEFS_SUPERBLOCKS: &[MagicAnchor] =
    &[Start(4096 + 24), Start((2 << 20) + 24), end(512, (1 << 20) - 24)];

/// Byte 60 of the last block of 4 KiB.
pub(super) const DRBD_SUPERBLOCKS: &[MagicAnchor] = &[end(4096, 4096 - 60), end(512, 4096 - 60)];
