//! The table of magic numbers by which data on a device is recognised: data, no code.
//!
//! Each row is a fact of a published on-disk format. A row may match too much, never too little: a
//! wrong match costs the user a word on the command line, a missing one costs the data.

use super::kind::SignatureKind::{self, Content, Member, Table};
use super::places::MagicAnchor::Start;
use super::places::{
    ASM_HEADERS, BCACHEFS_SUPERBLOCKS, BSD_LABELS, DASD_LABELS, DDF_HEADERS, DRBD_SUPERBLOCKS,
    FIRST, LAST_SECTOR, LVM_TYPES, MD_SUPERBLOCKS, MagicMark, PAGE_ENDS, PROMISE_SECTORS,
    SECOND_LUKS, SECTORS, SYSV_SUPERBLOCKS, UFS_SUPERBLOCKS, VOLUME_DESCRIPTORS, end, mark,
};

/// A format, and all marks by which it is known.
#[derive(Debug)]
pub(super) struct Format {
    /// What names it on the command line, as `blkid` calls it where it knows it.
    pub(super) word: &'static str,
    /// What lies on the device.
    pub(super) name: &'static str,
    /// What else it concerns.
    pub(super) kind: SignatureKind,
    /// Where its marks stand.
    pub(super) marks: &'static [MagicMark],
}

const fn format(
    kind: SignatureKind,
    word: &'static str,
    name: &'static str,
    marks: &'static [MagicMark],
) -> Format {
    Format { word, name, kind, marks }
}

/// All formats, by kind of owner.
pub(super) const TABLE: &[Format] = &[
    // Databases and their volume managers.
    format(Member, "oracleasm", "Oracle ASM disk", &[mark(b"ORCLDISK", ASM_HEADERS)]),
    format(Member, "oracleasm", "Oracle ASM disk (cleared)", &[mark(b"ORCLCLRD", &[Start(32)])]),
    format(
        Member,
        "oracle",
        "Oracle data, redo or control file",
        &[mark(b"}|{z", &[Start(28)]), mark(b"z{|}", &[Start(28)])],
    ),
    format(
        Member,
        "ocfs2",
        "OCFS2 cluster file system",
        &[mark(b"OCFSV2", &[Start(1024), Start(2048), Start(4096), Start(8192)])],
    ),
    format(
        Member,
        "ocfs",
        "OCFS cluster file system",
        &[mark(b"OracleCFS", &[Start(8), Start(8192)])],
    ),
    // File systems of Linux.
    format(
        Content,
        "ext4",
        "ext2, ext3 or ext4 file system, or its journal",
        &[mark(b"\x53\xef", &[Start(1080)])],
    ),
    format(Content, "xfs", "XFS file system", &[mark(b"XFSB", FIRST)]),
    format(
        Content,
        "xfs_log",
        "XFS journal",
        &[mark(b"\xfe\xed\xba\xbe", &[Start(0), Start(512)])],
    ),
    format(
        Content,
        "btrfs",
        "btrfs file system",
        &[mark(
            b"_BHRfS_M",
            &[
                Start(0x40),
                Start(0x1_0040),
                Start((64 << 20) + 0x40),
                Start((256 << 20) + 0x40),
                Start((256 << 30) + 0x40),
            ],
        )],
    ),
    format(
        Content,
        "f2fs",
        "F2FS file system",
        &[mark(b"\x10\x20\xf5\xf2", &[Start(1024), Start(4096 + 1024)])],
    ),
    format(
        Content,
        "reiserfs",
        "ReiserFS file system",
        &[
            mark(b"ReIsErFs", &[Start(65_588), Start(8244), Start(8212)]),
            mark(b"ReIsEr2Fs", &[Start(65_588)]),
            mark(b"ReIsEr3Fs", &[Start(65_588)]),
        ],
    ),
    format(Content, "reiser4", "Reiser4 file system", &[mark(b"ReIsEr4", &[Start(65_536)])]),
    format(Content, "jfs", "JFS file system", &[mark(b"JFS1", &[Start(32_768), Start(61_440)])]),
    format(Content, "jfs", "JFS journal", &[mark(b"\x21\x43\x65\x87", &[Start(4096)])]),
    format(
        Content,
        "nilfs2",
        "NILFS2 file system",
        &[mark(b"\x34\x34", &[Start(1030), end(512, 4096 - 6)])],
    ),
    format(
        Member,
        "gfs2",
        "GFS or GFS2 cluster file system",
        &[mark(b"\x01\x16\x19\x70", &[Start(65_536)])],
    ),
    format(
        Member,
        "scoutfs",
        "ScoutFS cluster file system",
        &[mark(b"\x8b\x42\x3c\x10", &[Start(65_540)])],
    ),
    format(
        Content,
        "squashfs",
        "SquashFS file system",
        &[mark(b"hsqs", FIRST), mark(b"sqsh", FIRST)],
    ),
    format(Content, "erofs", "EROFS file system", &[mark(b"\xe2\xe1\xf5\xe0", &[Start(1024)])]),
    format(
        Content,
        "cramfs",
        "cramfs file system",
        &[
            mark(b"\x45\x3d\xcd\x28", &[Start(0), Start(512)]),
            mark(b"\x28\xcd\x3d\x45", &[Start(0), Start(512)]),
        ],
    ),
    format(Content, "romfs", "romfs file system", &[mark(b"-rom1fs-", FIRST)]),
    format(Content, "ubi", "UBI volume", &[mark(b"UBI#", FIRST)]),
    format(
        Content,
        "ubifs",
        "UBIFS file system",
        &[mark(b"\x31\x18\x10\x06", FIRST), mark(b"\x06\x10\x18\x31", FIRST)],
    ),
    format(
        Content,
        "jffs2",
        "JFFS2 file system",
        &[mark(b"\x85\x19\x03\x20", FIRST), mark(b"\x19\x85\x20\x03", FIRST)],
    ),
    format(Content, "zonefs", "zonefs file system", &[mark(b"SFOZ", FIRST)]),
    format(Content, "exfs", "EXFS file system", &[mark(b"EXFS", FIRST)]),
    format(
        Member,
        "bcachefs",
        "bcachefs file system",
        &[mark(
            b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
            BCACHEFS_SUPERBLOCKS,
        )],
    ),
    // File systems of others.
    format(
        Content,
        "ntfs",
        "NTFS file system",
        &[mark(b"NTFS    ", &[Start(3), end(512, 509), end(4096, 4093)])],
    ),
    format(
        Content,
        "exfat",
        "exFAT file system",
        &[mark(b"EXFAT   ", &[Start(3), Start(12 * 512 + 3), Start(12 * 4096 + 3)])],
    ),
    format(Content, "refs", "ReFS file system", &[mark(b"\0\0\0ReFS\0", FIRST)]),
    format(
        Content,
        "vfat",
        "FAT file system",
        &[
            mark(b"FAT12   ", &[Start(54)]),
            mark(b"FAT16   ", &[Start(54)]),
            mark(b"FAT32   ", &[Start(82), Start(6 * 512 + 82)]),
            mark(b"MSDOS", &[Start(54)]),
            mark(b"MSWIN", &[Start(82)]),
            mark(b"FAT     ", &[Start(54), Start(82)]),
            mark(b"MSWIN4.1", &[Start(3)]),
        ],
    ),
    format(Content, "iso9660", "ISO 9660 file system", &[mark(b"CD001", VOLUME_DESCRIPTORS)]),
    format(Content, "iso9660", "High Sierra file system", &[mark(b"CDROM", &[Start(32_777)])]),
    format(
        Content,
        "udf",
        "UDF file system",
        &[
            mark(b"BEA01", VOLUME_DESCRIPTORS),
            mark(b"NSR02", VOLUME_DESCRIPTORS),
            mark(b"NSR03", VOLUME_DESCRIPTORS),
            mark(b"BOOT2", VOLUME_DESCRIPTORS),
            mark(b"CDW02", VOLUME_DESCRIPTORS),
            mark(b"TEA01", VOLUME_DESCRIPTORS),
        ],
    ),
    format(
        Content,
        "hfsplus",
        "HFS+ file system",
        &[
            mark(b"H+\0\x04", &[Start(1024), end(512, 1024)]),
            mark(b"HX\0\x05", &[Start(1024), end(512, 1024)]),
        ],
    ),
    format(Content, "apfs", "APFS container", &[mark(b"NXSB", &[Start(32)])]),
    format(
        Content,
        "ufs",
        "UFS file system",
        &[
            mark(b"\x00\x01\x19\x54", UFS_SUPERBLOCKS),
            mark(b"\x54\x19\x01\x00", UFS_SUPERBLOCKS),
            mark(b"\x00\x19\x56\x12", UFS_SUPERBLOCKS),
            mark(b"\x12\x56\x19\x00", UFS_SUPERBLOCKS),
            mark(b"\x00\x09\x50\x14", UFS_SUPERBLOCKS),
            mark(b"\x14\x50\x09\x00", UFS_SUPERBLOCKS),
            mark(b"\x00\x61\x21\x95", UFS_SUPERBLOCKS),
            mark(b"\x95\x21\x61\x00", UFS_SUPERBLOCKS),
            mark(b"\x05\x23\x19\x94", UFS_SUPERBLOCKS),
            mark(b"\x94\x19\x23\x05", UFS_SUPERBLOCKS),
        ],
    ),
    format(
        Content,
        "ufs",
        "UFS2 file system",
        &[mark(b"\x19\x01\x54\x19", UFS_SUPERBLOCKS), mark(b"\x19\x54\x01\x19", UFS_SUPERBLOCKS)],
    ),
    format(
        Content,
        "vxfs",
        "Veritas file system",
        &[mark(b"\xf5\xfc\x01\xa5", &[Start(1024)]), mark(b"\xa5\x01\xfc\xf5", &[Start(8192)])],
    ),
    format(Member, "vmfs", "VMware VMFS volume", &[mark(b"\x0d\xd0\x01\xc0", &[Start(1 << 20)])]),
    format(
        Member,
        "vmfs",
        "VMware VMFS file system",
        &[mark(b"\x5e\xf1\xab\x2f", &[Start(2 << 20)])],
    ),
    format(Content, "hpfs", "HPFS file system", &[mark(b"\x49\xe8\x95\xf9", &[Start(8192)])]),
    format(
        Content,
        "befs",
        "BeFS file system",
        &[mark(b"BFS1", &[Start(32), Start(544)]), mark(b"1SFB", &[Start(32), Start(544)])],
    ),
    format(Content, "bfs", "SCO BFS file system", &[mark(b"\xce\xfa\xad\x1b", FIRST)]),
    format(
        Content,
        "sysv",
        "System V file system",
        &[mark(b"\x20\x7e\x18\xfd", SYSV_SUPERBLOCKS), mark(b"\xfd\x18\x7e\x20", SYSV_SUPERBLOCKS)],
    ),
    format(
        Content,
        "xenix",
        "Xenix file system",
        &[mark(b"\x2b\x55\x44", &[Start(2048)]), mark(b"\x44\x55\x2b", &[Start(2048)])],
    ),
    format(Content, "nss", "NetWare storage pool", &[mark(b"SPB5", &[Start(4096)])]),
    format(Member, "mpool", "mpool volume", &[mark(b"mpoolDev", FIRST), mark(b"veDloopm", FIRST)]),
    // Swap and hibernation.
    format(
        Content,
        "swap",
        "swap area",
        &[mark(b"SWAPSPACE2", PAGE_ENDS), mark(b"SWAP-SPACE", PAGE_ENDS)],
    ),
    format(
        Content,
        "swsuspend",
        "hibernated system",
        &[
            mark(b"S1SUSPEND", PAGE_ENDS),
            mark(b"S2SUSPEND", PAGE_ENDS),
            mark(b"ULSUSPEND", PAGE_ENDS),
            mark(b"LINHIB0001", PAGE_ENDS),
            mark(b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c", FIRST),
        ],
    ),
    // Volume managers, RAID, encryption, caches.
    format(
        Member,
        "LVM2_member",
        "LVM2 physical volume",
        &[mark(b"LABELONE", SECTORS), mark(b"LVM2 001", LVM_TYPES)],
    ),
    format(
        Member,
        "LVM1_member",
        "LVM1 physical volume",
        &[mark(b"HM\x01\0", FIRST), mark(b"HM\x02\0", FIRST)],
    ),
    format(Member, "DM_snapshot_cow", "LVM snapshot store", &[mark(b"SnAp", FIRST)]),
    format(
        Member,
        "linux_raid_member",
        "md RAID member",
        &[mark(b"\xfc\x4e\x2b\xa9", MD_SUPERBLOCKS), mark(b"\xa9\x2b\x4e\xfc", MD_SUPERBLOCKS)],
    ),
    format(
        Member,
        "isw_raid_member",
        "Intel RAID member",
        &[mark(b"Intel Raid ISM Cfg Sig. ", &[end(512, 1024), end(4096, 8192)])],
    ),
    format(
        Member,
        "ddf_raid_member",
        "DDF RAID member",
        &[mark(b"\xde\x11\xde\x11", DDF_HEADERS), mark(b"\x11\xde\x11\xde", DDF_HEADERS)],
    ),
    format(
        Member,
        "nvidia_raid_member",
        "NVIDIA RAID member",
        &[mark(b"NVIDIA  ", &[end(512, 1024)])],
    ),
    format(
        Member,
        "adaptec_raid_member",
        "Adaptec RAID member",
        &[mark(b"\x37\xfc\x4d\x1e", LAST_SECTOR)],
    ),
    format(
        Member,
        "promise_fasttrack_raid_member",
        "Promise RAID member",
        &[mark(b"Promise Technology, Inc.", PROMISE_SECTORS)],
    ),
    format(Member, "lsi_mega_raid_member", "LSI RAID member", &[mark(b"$XIDE$", LAST_SECTOR)]),
    format(
        Member,
        "hpt37x_raid_member",
        "HighPoint RAID member",
        &[
            mark(b"\xf0\x16\x78\x5a", &[Start(9 * 512 + 32)]),
            mark(b"\xfd\x16\x78\x5a", &[Start(9 * 512 + 32)]),
        ],
    ),
    format(
        Member,
        "hpt45x_raid_member",
        "HighPoint RAID member",
        &[
            mark(b"\xf3\x16\x78\x5a", &[end(512, 11 * 512)]),
            mark(b"\xfd\x16\x78\x5a", &[end(512, 11 * 512)]),
        ],
    ),
    format(Content, "crypto_LUKS", "LUKS encrypted volume", &[mark(b"LUKS\xba\xbe", FIRST)]),
    format(
        Content,
        "crypto_LUKS",
        "LUKS encrypted volume (second header)",
        &[mark(b"SKUL\xba\xbe", SECOND_LUKS)],
    ),
    format(Content, "BitLocker", "BitLocker encrypted volume", &[mark(b"-FVE-FS-", &[Start(3)])]),
    format(Content, "DM_verity_hash", "dm-verity hash area", &[mark(b"verity\0\0", FIRST)]),
    format(Content, "DM_integrity", "dm-integrity volume", &[mark(b"integrt\0", FIRST)]),
    format(Content, "vdo", "VDO volume", &[mark(b"dmvdo001", FIRST)]),
    format(
        Member,
        "stratis",
        "Stratis pool member",
        &[mark(b"!Stra0tis\x86\xff\x02^\x41rh", &[Start(516), Start(4096 + 516)])],
    ),
    format(
        Member,
        "bcache",
        "bcache device",
        &[mark(
            b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
            &[Start(4096 + 24)],
        )],
    ),
    format(
        Member,
        "drbd",
        "DRBD replica",
        &[
            mark(b"\x83\x74\x02\x6a", DRBD_SUPERBLOCKS),
            mark(b"\x83\x74\x02\x6b", DRBD_SUPERBLOCKS),
            mark(b"\x83\x74\x02\x6c", DRBD_SUPERBLOCKS),
            mark(b"\x83\x74\x02\x6d", DRBD_SUPERBLOCKS),
        ],
    ),
    format(Member, "drbdproxy_datalog", "DRBD proxy log", &[mark(b"DRBDdlh*", FIRST)]),
    format(
        Member,
        "drbdmanage_control_volume",
        "DRBD control volume",
        &[mark(b"$DRBDmgr=q", FIRST)],
    ),
    format(Member, "ceph_bluestore", "Ceph BlueStore", &[mark(b"bluestore block device", FIRST)]),
    format(
        Member,
        "vxvm",
        "Veritas volume manager disk",
        &[mark(b"PRIV", &[Start(512), Start(8192), Start(8704), Start(131_072)])],
    ),
    format(
        Member,
        "ldm",
        "Windows dynamic disk",
        &[mark(b"PRIVHEAD", &[Start(3072), Start(5 << 10), end(512, 512), end(512, 1 << 20)])],
    ),
    // Partition tables.
    format(Table, "aix", "AIX disk", &[mark(b"\xc9\xc2\xd4\xc1", FIRST)]),
    format(
        Table,
        "gpt",
        "GPT partition table",
        &[mark(b"EFI PART", &[Start(512), Start(1024), Start(2048), Start(4096)])],
    ),
    format(
        Table,
        "gpt",
        "GPT partition table (backup)",
        &[mark(b"EFI PART", &[end(512, 512), end(2048, 2048), end(4096, 4096)])],
    ),
    format(Table, "mbr", "MBR partition table or boot sector", &[mark(b"\x55\xaa", &[Start(510)])]),
    format(
        Table,
        "bsd",
        "BSD disklabel",
        &[mark(b"\x57\x45\x56\x82", BSD_LABELS), mark(b"\x82\x56\x45\x57", BSD_LABELS)],
    ),
    format(Table, "sun", "Sun disklabel", &[mark(b"\xda\xbe", &[Start(508)])]),
    format(Table, "sgi", "SGI disklabel", &[mark(b"\x0b\xe5\xa9\x41", FIRST)]),
    format(
        Table,
        "solaris",
        "Solaris x86 disklabel",
        &[mark(b"\xee\xde\x0d\x60", &[Start(512 + 12)])],
    ),
    format(
        Table,
        "unixware",
        "UnixWare disklabel",
        &[mark(b"\x0d\x60\xe5\xca", &[Start(29 * 512 + 4)])],
    ),
    format(
        Table,
        "ultrix",
        "Ultrix disklabel",
        &[
            mark(b"\x57\x29\x03\0", &[Start(16_384 - 72)]),
            mark(b"\0\x03\x29\x57", &[Start(16_384 - 72)]),
        ],
    ),
    format(
        Table,
        "mac",
        "Mac partition map",
        &[
            mark(b"ER\x02\0", FIRST),
            mark(b"ER\x08\0", FIRST),
            mark(b"ER\x10\0", FIRST),
            mark(b"PM\0\0", &[Start(512), Start(2048), Start(4096)]),
        ],
    ),
    format(Table, "amiga", "Amiga partition table", &[mark(b"RDSK", SECTORS)]),
    format(
        Table,
        "dasd",
        "IBM mainframe disk label",
        &[
            mark(b"\xe5\xd6\xd3\xf1", DASD_LABELS),
            mark(b"\xd3\xd5\xe7\xf1", DASD_LABELS),
            mark(b"\xc3\xd4\xe2\xf1", DASD_LABELS),
        ],
    ),
    // Marks of other writers.
    format(Content, "tar", "tar archive", &[mark(b"ustar", &[Start(257)])]),
    format(Content, "gzip", "gzip data", &[mark(b"\x1f\x8b\x08", FIRST)]),
    format(Content, "zstd", "zstd data", &[mark(b"\x28\xb5\x2f\xfd", FIRST)]),
    format(Content, "qcow", "QCOW disk image", &[mark(b"QFI\xfb", FIRST)]),
    format(Content, "vmdk", "VMware disk image", &[mark(b"KDMV", FIRST)]),
    format(Content, "vhdx", "VHDX disk image", &[mark(b"vhdxfile", FIRST)]),
    format(Content, "sqlite", "SQLite database", &[mark(b"SQLite format 3\0", FIRST)]),
];
