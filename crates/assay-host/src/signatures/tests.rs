//! Recognition of data on images in memory; the bytes are written out here again, apart from the
//! table.

use super::*;

const SIZE: u64 = 512 << 20;

fn names(image: &dyn Image) -> Vec<&'static str> {
    recognise(image).unwrap().into_iter().map(|found| found.name).collect()
}

fn seen(offset: u64, bytes: &[u8]) -> Vec<&'static str> {
    names(&MemoryImage::new(SIZE).with(offset, bytes))
}

#[test]
fn an_empty_image_carries_nothing() {
    assert!(names(&MemoryImage::new(SIZE)).is_empty());
    assert!(names(&MemoryImage::new(0)).is_empty());
    assert!(names(&MemoryImage::new(511)).is_empty());
}

#[test]
fn marks_at_the_begin_are_found() {
    let cases: &[(u64, &[u8], &str)] = &[
        (0x438, &0xef53_u16.to_le_bytes(), "ext2, ext3 or ext4 file system, or its journal"),
        (0, b"XFSB", "XFS file system"),
        (65_600, b"_BHRfS_M", "btrfs file system"),
        (0x400, &0xf2f5_2010_u32.to_le_bytes(), "F2FS file system"),
        (3, b"NTFS    ", "NTFS file system"),
        (82, b"FAT32   ", "FAT file system"),
        (3, b"EXFAT   ", "exFAT file system"),
        (0x8001, b"CD001", "ISO 9660 file system"),
        (0xff6, b"SWAPSPACE2", "swap area"),
        (512, b"LABELONE", "LVM2 physical volume"),
        (0, b"LUKS\xba\xbe", "LUKS encrypted volume"),
        (0x4000, b"SKUL\xba\xbe", "LUKS encrypted volume (second header)"),
        (4096, &0xa92b_4efc_u32.to_le_bytes(), "md RAID member"),
        (512, b"EFI PART", "GPT partition table"),
        (510, &[0x55, 0xaa], "MBR partition table or boot sector"),
        (512, &0x8256_4557_u32.to_le_bytes(), "BSD disklabel"),
        (32, b"ORCLDISK", "Oracle ASM disk"),
        (0, b"bluestore block device\n", "Ceph BlueStore"),
        (0x10_0000, &0xc001_d00d_u32.to_le_bytes(), "VMware VMFS volume"),
        (0x400, &0xa501_fcf5_u32.to_le_bytes(), "Veritas file system"),
        (0x1_0034, b"ReIsEr2Fs", "ReiserFS file system"),
        (0x8000, b"JFS1", "JFS file system"),
        (0, b"hsqs", "SquashFS file system"),
        (0x400, &0xe0f5_e1e2_u32.to_le_bytes(), "EROFS file system"),
        (28, b"}|{z", "Oracle data, redo or control file"),
    ];
    for (offset, bytes, name) in cases {
        assert_eq!(seen(*offset, bytes), [*name]);
    }
}

#[test]
fn marks_at_the_end_are_found_on_odd_sizes_too() {
    let magic = 0xa92b_4efc_u32.to_le_bytes();
    for size in [SIZE, SIZE + 512, SIZE + 70_000 / 512 * 512] {
        let old = (size & !65_535) - 65_536;
        let new = ((size / 512 - 16) & !7) * 512;
        for offset in [old, new] {
            assert_eq!(names(&MemoryImage::new(size).with(offset, &magic)), ["md RAID member"]);
        }
        let backup = MemoryImage::new(size).with(size - 512, b"EFI PART");
        assert_eq!(names(&backup), ["GPT partition table (backup)"]);
        let drbd = (size & !4095) - 4096 + 60;
        let replica = MemoryImage::new(size).with(drbd, &0x8374_026d_u32.to_be_bytes());
        assert_eq!(names(&replica), ["DRBD replica"]);
    }
}

#[test]
fn every_zfs_label_is_enough() {
    let (label, magic) = (256 << 10, 0x00ba_b10c_u64);
    let size = SIZE + 4096;
    for begin in [0, label, SIZE - 2 * label, SIZE - label] {
        let ring = begin + (128 << 10);
        for bytes in [magic.to_le_bytes(), magic.to_be_bytes()] {
            let image = MemoryImage::new(size).with(ring + 7 * 1024, &bytes);
            assert_eq!(names(&image), ["ZFS pool member"]);
        }
        let pairs = MemoryImage::new(size).with(begin + (16 << 10) + 99, b"pool_guid");
        assert_eq!(names(&pairs), ["ZFS pool member"]);
        let spare = MemoryImage::new(size).with(begin + (16 << 10) + 24, b"version");
        assert_eq!(names(&spare), ["ZFS pool member"]);
    }
}

#[test]
fn copies_far_from_the_begin_are_found() {
    assert_eq!(seen((64 << 20) + 64, b"_BHRfS_M"), ["btrfs file system"]);
    // The copy of an ASM header: block 254 of the second unit of 1 MiB, 4 KiB a block.
    assert_eq!(seen((256 + 254) * 4096 + 32, b"ORCLDISK"), ["Oracle ASM disk"]);
    assert_eq!(seen((1024 + 1022) * 4096 + 32, b"ORCLDISK"), ["Oracle ASM disk"]);
    let large = MemoryImage::new(1 << 40).with((256 << 30) + 64, b"_BHRfS_M");
    assert_eq!(names(&large), ["btrfs file system"]);
}

fn innodb_page() -> Vec<u8> {
    let mut page = vec![0; 64];
    page[0..4].copy_from_slice(&0x1234_5678_u32.to_be_bytes());
    page[24..26].copy_from_slice(&8_u16.to_be_bytes());
    page[34..38].copy_from_slice(&5_u32.to_be_bytes());
    page[38..42].copy_from_slice(&5_u32.to_be_bytes());
    page[46..50].copy_from_slice(&768_u32.to_be_bytes());
    page
}

fn postgres_page() -> Vec<u8> {
    let mut page = vec![0; 64];
    for (offset, value) in [(12, 40_u16), (14, 8000), (16, 8192), (18, 8192 | 4)] {
        page[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
    }
    page
}

#[test]
fn database_pages_are_known_by_their_fields() {
    assert_eq!(seen(0, &innodb_page()), ["InnoDB tablespace"]);
    assert_eq!(seen(0, &postgres_page()), ["PostgreSQL relation"]);
    let mut disordered = postgres_page();
    disordered[12] = 255;
    disordered[13] = 255;
    assert!(seen(0, &disordered).is_empty());
}

#[test]
fn a_partition_is_looked_at_within_its_disk() {
    let disk = MemoryImage::new(SIZE).with((1 << 20) + 1080, b"\x53\xef");
    assert!(names(&disk).is_empty());
    let part = PartImage::new(&disk, 1 << 20, 64 << 20);
    assert_eq!(names(&part), ["ext2, ext3 or ext4 file system, or its journal"]);
    assert_eq!(PartImage::new(&disk, SIZE - 10, 64 << 20).size(), 10);
}

/// An image with a place that cannot be read.
struct Torn(MemoryImage);

impl Image for Torn {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset >= SIZE / 2 {
            return Err(io::Error::other("bad block"));
        }
        self.0.read_at(offset, buffer)
    }
}

#[test]
fn a_place_that_cannot_be_read_is_an_error_and_not_emptiness() {
    assert!(recognise(&Torn(MemoryImage::new(SIZE))).is_err());
    assert!(sample(&Torn(MemoryImage::new(SIZE)), 16, 1).is_err());
}

#[test]
fn sampling_counts_blocks_with_data() {
    let image = MemoryImage::new(SIZE).with(0, b"x").with(SIZE - 1, b"y");
    let seen = sample(&image, 64, 7).unwrap();
    assert_eq!((seen.blocks, seen.used_blocks), (64, 2));
    let empty = sample(&MemoryImage::new(0), 64, 7).unwrap();
    assert_eq!(empty.blocks, 0);
}

#[test]
fn tables_of_partitions_are_told_from_content_and_members() {
    let kinds = |offset, bytes| recognise(&MemoryImage::new(SIZE).with(offset, bytes)).unwrap();
    assert_eq!(kinds(SIZE - 512, b"EFI PART")[0].kind, SignatureKind::Table);
    assert_eq!(kinds(0, b"XFSB")[0].kind, SignatureKind::Content);
    assert_eq!(kinds(512, b"LABELONE")[0].kind, SignatureKind::Member);
}
