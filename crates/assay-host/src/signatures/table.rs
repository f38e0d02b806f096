//! The table of magic numbers by which data on a device is recognised: data, no code.
//!
//! Each row is a fact of a published on-disk format. A row may match too much, never too little: a wrong match
//! costs the user a `wipefs`, a missing one costs the data.

use super::Anchor::{self, End, Start};

/// Magic bytes, and every place at which they mean what `name` says.
#[derive(Debug)]
pub(super) struct Signature {
    /// What lies on the device.
    pub(super) name: &'static str,
    /// The bytes.
    pub(super) magic: &'static [u8],
    /// Where they stand.
    pub(super) places: &'static [Anchor],
}

const fn row(name: &'static str, magic: &'static [u8], places: &'static [Anchor]) -> Signature {
    Signature { name, magic, places }
}

/// `back` bytes before the end of a device whose size is rounded down to `align`.
const fn end(align: u64, back: u64) -> Anchor {
    End { align, back }
}

/// The first sectors, which partition tables, LVM and Amiga disks share.
const SECTORS: &[Anchor] = &[
    Start(0),
    Start(512),
    Start(1024),
    Start(1536),
    Start(2048),
    Start(4096),
    Start(8192),
    Start(12_288),
];

/// The last ten bytes of the first memory page, for page sizes of 4 to 64 KiB.
const PAGE_ENDS: &[Anchor] = &[
    Start(4096 - 10),
    Start(8192 - 10),
    Start(16_384 - 10),
    Start(32_768 - 10),
    Start(65_536 - 10),
];

/// Where a second LUKS2 header may stand.
const SECOND_LUKS: &[Anchor] = &[
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

/// Byte 32 of an ASM disk header and of its copy, the last but one block of allocation unit 1, for units of 1 MiB
/// to 64 MiB with blocks of 4 KiB.
const ASM_HEADERS: &[Anchor] = &[
    Start(32),
    Start((2 << 20) - 8192 + 32),
    Start((4 << 20) - 8192 + 32),
    Start((8 << 20) - 8192 + 32),
    Start((16 << 20) - 8192 + 32),
    Start((32 << 20) - 8192 + 32),
    Start((64 << 20) - 8192 + 32),
    Start((128 << 20) - 8192 + 32),
];

/// All rows, by kind of owner.
pub(super) const TABLE: &[Signature] = &[
    // Databases and their volume managers.
    row("Oracle ASM disk", b"ORCLDISK", ASM_HEADERS),
    row("Oracle ASM disk (cleared)", b"ORCLCLRD", &[Start(32)]),
    row("Oracle data, redo or control file", b"}|{z", &[Start(28)]),
    row("Oracle data, redo or control file", b"z{|}", &[Start(28)]),
    row(
        "OCFS2 cluster file system",
        b"OCFSV2",
        &[Start(1024), Start(2048), Start(4096), Start(8192)],
    ),
    row("OCFS cluster file system", b"OracleCFS", &[Start(8)]),
    // File systems of Linux.
    row("ext2, ext3 or ext4 file system, or its journal", b"\x53\xef", &[Start(1080)]),
    row("XFS file system", b"XFSB", &[Start(0)]),
    row("XFS journal", b"\xfe\xed\xba\xbe", &[Start(0), Start(512)]),
    row(
        "btrfs file system",
        b"_BHRfS_M",
        &[Start(0x1_0040), Start((64 << 20) + 0x40), Start((256 << 30) + 0x40)],
    ),
    row("F2FS file system", b"\x10\x20\xf5\xf2", &[Start(1024), Start(4096 + 1024)]),
    row("ReiserFS file system", b"ReIsErFs", &[Start(65_588), Start(8244), Start(8212)]),
    row("ReiserFS file system", b"ReIsEr2Fs", &[Start(65_588)]),
    row("ReiserFS file system", b"ReIsEr3Fs", &[Start(65_588)]),
    row("Reiser4 file system", b"ReIsEr4", &[Start(65_536)]),
    row("JFS file system", b"JFS1", &[Start(32_768)]),
    row("NILFS2 file system", b"\x34\x34", &[Start(1030)]),
    row("GFS2 cluster file system", b"\x01\x16\x19\x70", &[Start(65_536)]),
    row("SquashFS file system", b"hsqs", &[Start(0)]),
    row("SquashFS file system", b"sqsh", &[Start(0)]),
    row("EROFS file system", b"\xe2\xe1\xf5\xe0", &[Start(1024)]),
    row("cramfs file system", b"\x45\x3d\xcd\x28", &[Start(0), Start(512)]),
    row("cramfs file system", b"\x28\xcd\x3d\x45", &[Start(0), Start(512)]),
    row("romfs file system", b"-rom1fs-", &[Start(0)]),
    row("UBIFS or UBI volume", b"UBI#", &[Start(0)]),
    row(
        "bcachefs file system",
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        &[Start(4096 + 24)],
    ),
    // File systems of others.
    row("NTFS file system", b"NTFS    ", &[Start(3), end(512, 509), end(4096, 4093)]),
    row("exFAT file system", b"EXFAT   ", &[Start(3), Start(12 * 512 + 3), Start(12 * 4096 + 3)]),
    row("ReFS file system", b"\0\0\0ReFS\0", &[Start(0)]),
    row("FAT file system", b"FAT12   ", &[Start(54)]),
    row("FAT file system", b"FAT16   ", &[Start(54)]),
    row("FAT file system", b"FAT32   ", &[Start(82), Start(6 * 512 + 82)]),
    row("FAT file system", b"MSDOS", &[Start(54)]),
    row("FAT file system", b"FAT     ", &[Start(54), Start(82)]),
    row("ISO 9660 file system", b"CD001", &[Start(32_769)]),
    row("High Sierra file system", b"CDROM", &[Start(32_777)]),
    row("UDF file system", b"BEA01", &[Start(32_769)]),
    row("UDF file system", b"NSR02", &[Start(32_769), Start(34_817), Start(36_865), Start(38_913)]),
    row("UDF file system", b"NSR03", &[Start(32_769), Start(34_817), Start(36_865), Start(38_913)]),
    row("HFS+ file system", b"H+\0\x04", &[Start(1024), end(512, 1024)]),
    row("HFS+ file system", b"HX\0\x05", &[Start(1024), end(512, 1024)]),
    row("HFS file system", b"BD\0\0", &[Start(1024)]),
    row("APFS container", b"NXSB", &[Start(32)]),
    row("UFS file system", b"\x54\x19\x01\x00", UFS_SUPERBLOCKS),
    row("UFS file system", b"\x00\x01\x19\x54", UFS_SUPERBLOCKS),
    row("UFS2 file system", b"\x19\x01\x54\x19", UFS_SUPERBLOCKS),
    row("UFS2 file system", b"\x19\x54\x01\x19", UFS_SUPERBLOCKS),
    row("Veritas file system", b"\xf5\xfc\x01\xa5", &[Start(1024)]),
    row("Veritas file system", b"\xa5\x01\xfc\xf5", &[Start(8192)]),
    row("VMware VMFS volume", b"\x0d\xd0\x01\xc0", &[Start(1 << 20)]),
    row("VMware VMFS file system", b"\x5e\xf1\xab\x2f", &[Start(2 << 20)]),
    row("HPFS file system", b"\x49\xe8\x95\xf9", &[Start(8192)]),
    // Swap and hibernation.
    row("swap area", b"SWAPSPACE2", PAGE_ENDS),
    row("swap area", b"SWAP-SPACE", PAGE_ENDS),
    row("hibernated system", b"S1SUSPEND", PAGE_ENDS),
    row("hibernated system", b"S2SUSPEND", PAGE_ENDS),
    row("hibernated system", b"ULSUSPEND", PAGE_ENDS),
    row("hibernated system", b"LINHIB0001", PAGE_ENDS),
    // Volume managers, RAID, encryption, caches.
    row("LVM2 physical volume", b"LABELONE", SECTORS),
    row("LVM1 physical volume", b"HM\x01\0", &[Start(0)]),
    row("LVM1 physical volume", b"HM\x02\0", &[Start(0)]),
    row("LVM snapshot store", b"SnAp", &[Start(0)]),
    row("md RAID member", b"\xfc\x4e\x2b\xa9", MD_SUPERBLOCKS),
    row("md RAID member", b"\xa9\x2b\x4e\xfc", MD_SUPERBLOCKS),
    row("Intel RAID member", b"Intel Raid ISM Cfg Sig. ", &[end(512, 1024), end(4096, 8192)]),
    row("DDF RAID member", b"\xde\x11\xde\x11", DDF_HEADERS),
    row("DDF RAID member", b"\x11\xde\x11\xde", DDF_HEADERS),
    row("NVIDIA RAID member", b"NVIDIA  ", &[end(512, 1024)]),
    row("LUKS encrypted volume", b"LUKS\xba\xbe", &[Start(0)]),
    row("LUKS encrypted volume (second header)", b"SKUL\xba\xbe", SECOND_LUKS),
    row("BitLocker encrypted volume", b"-FVE-FS-", &[Start(3)]),
    row("FAT file system", b"MSWIN4.1", &[Start(3)]),
    row("dm-verity hash area", b"verity\0\0", &[Start(0)]),
    row("dm-integrity volume", b"integrt\0", &[Start(0)]),
    row("VDO volume", b"dmvdo001", &[Start(0)]),
    row("Stratis pool member", b"!Stra0tis\x86\xff\x02^\x41rh", &[Start(516), Start(4096 + 516)]),
    row(
        "bcache device",
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
        &[Start(4096 + 24)],
    ),
    row("DRBD replica", b"\x83\x74\x02\x6a", &[end(4096, 4096 - 60)]),
    row("DRBD replica", b"\x83\x74\x02\x6b", &[end(4096, 4096 - 60)]),
    row("DRBD replica", b"\x83\x74\x02\x6c", &[end(4096, 4096 - 60)]),
    row("DRBD replica", b"\x83\x74\x02\x6d", &[end(4096, 4096 - 60)]),
    row("DRBD proxy log", b"DRBDdlh*", &[Start(0)]),
    row("Ceph BlueStore", b"bluestore block device\n", &[Start(0)]),
    row(
        "Veritas volume manager disk",
        b"PRIV",
        &[Start(512), Start(8192), Start(8704), Start(131_072)],
    ),
    row(
        "Windows dynamic disk",
        b"PRIVHEAD",
        &[Start(3072), Start(5 << 10), end(512, 512), end(512, 1 << 20)],
    ),
    row("AIX disk", b"\xc9\xc2\xd4\xc1", &[Start(0)]),
    // Partition tables.
    row("GPT partition table", b"EFI PART", &[Start(512), Start(1024), Start(2048), Start(4096)]),
    row(
        "GPT partition table (backup)",
        b"EFI PART",
        &[end(512, 512), end(2048, 2048), end(4096, 4096)],
    ),
    row("MBR partition table or boot sector", b"\x55\xaa", &[Start(510)]),
    row("BSD disklabel", b"\x57\x45\x56\x82", BSD_LABELS),
    row("BSD disklabel", b"\x82\x56\x45\x57", BSD_LABELS),
    row("Sun disklabel", b"\xda\xbe", &[Start(508)]),
    row("SGI disklabel", b"\x0b\xe5\xa9\x41", &[Start(0)]),
    row("Mac partition map", b"ER\x02\0", &[Start(0)]),
    row("Mac partition map", b"ER\x08\0", &[Start(0)]),
    row("Mac partition map", b"ER\x10\0", &[Start(0)]),
    row("Mac partition map", b"PM\0\0", &[Start(512), Start(2048), Start(4096)]),
    row("Amiga partition table", b"RDSK", SECTORS),
    row("IBM mainframe disk label", b"\xe5\xd6\xd3\xf1", &[Start(1024), Start(4096), Start(8192)]),
    // Marks of other writers.
    row("tar archive", b"ustar", &[Start(257)]),
    row("gzip data", b"\x1f\x8b\x08", &[Start(0)]),
    row("zstd data", b"\x28\xb5\x2f\xfd", &[Start(0)]),
    row("QCOW disk image", b"QFI\xfb", &[Start(0)]),
    row("VMware disk image", b"KDMV", &[Start(0)]),
    row("VHDX disk image", b"vhdxfile", &[Start(0)]),
    row("SQLite database", b"SQLite format 3\0", &[Start(0)]),
];

/// Byte 1372 of each place where a UFS superblock may begin.
const UFS_SUPERBLOCKS: &[Anchor] =
    &[Start(1372), Start(8192 + 1372), Start(65_536 + 1372), Start(262_144 + 1372)];

/// Formats 1.1, 1.2, 1.0 and 0.90, in this order.
const MD_SUPERBLOCKS: &[Anchor] = &[Start(0), Start(4096), end(4096, 8192), end(65_536, 65_536)];

/// The anchor header, with the copy that some firmware puts elsewhere.
const DDF_HEADERS: &[Anchor] = &[end(512, 512), end(512, 257 * 512)];

/// In the first or second sector, at the places of the ports.
const BSD_LABELS: &[Anchor] =
    &[Start(0), Start(64), Start(128), Start(512), Start(576), Start(640)];
