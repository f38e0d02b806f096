//! Recognition against a table of formats that was written apart from the program's: names as
//! `blkid` and `wipefs` print them, with the bytes and places of their published descriptions.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_host::signatures::{MemoryImage, recognise};

const SIZE: u64 = 512 << 20;

/// A size that no block but the smallest divides.
const ODD_SIZE: u64 = SIZE + 5 * 512;

fn words(image: &MemoryImage) -> Vec<&'static str> {
    recognise(image).unwrap().into_iter().map(|found| found.word).collect()
}

/// A mark from the start; a negative place is counted from the end, in sectors of 512 bytes rounded
/// down.
fn found(size: u64, place: i64, bytes: &[u8]) -> Vec<&'static str> {
    let offset = match u64::try_from(place) {
        Ok(offset) => offset,
        Err(_) => size / 512 * 512 - place.unsigned_abs(),
    };
    words(&MemoryImage::new(size).with(offset, bytes))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_magic_number_is_found_where_its_format_has_it() {
    #[rustfmt::skip]
    let table: &[(&str, i64, &[u8])] = &[
        ("zonefs", 0, b"SFOZ"),
        ("ubifs", 0, &0x0610_1831_u32.to_le_bytes()),
        ("ubi", 0, b"UBI#"),
        ("nss", 0x1000, b"SPB5"),
        ("mpool", 0, &0x7665_446c_6f6f_706d_u64.to_le_bytes()),
        ("bfs", 0, &0x1bad_face_u32.to_le_bytes()),
        ("befs", 32, &0x4246_5331_u32.to_le_bytes()),
        ("befs", 512 + 32, &0x4246_5331_u32.to_be_bytes()),
        ("exfs", 0, b"EXFS"),
        ("drbd", -4096 + 60, &0x8374_026b_u32.to_be_bytes()),
        ("drbd", -4096 + 60, &0x8374_026c_u32.to_be_bytes()),
        ("drbd", -4096 + 60, &0x8374_026d_u32.to_be_bytes()),
        ("drbdmanage_control_volume", 0, b"$DRBDmgr=q"),
        ("drbdproxy_datalog", 0, b"DRBDdlh*"),
        ("adaptec_raid_member", -512, &0x37fc_4d1e_u32.to_be_bytes()),
        ("promise_fasttrack_raid_member", -63 * 512, b"Promise Technology, Inc."),
        ("promise_fasttrack_raid_member", -16 * 512, b"Promise Technology, Inc."),
        ("promise_fasttrack_raid_member", -3087 * 512, b"Promise Technology, Inc."),
        ("lsi_mega_raid_member", -512, b"$XIDE$"),
        ("hpt37x_raid_member", 4640, &0x5a78_16f0_u32.to_le_bytes()),
        ("hpt37x_raid_member", 4640, &0x5a78_16fd_u32.to_le_bytes()),
        ("hpt45x_raid_member", -11 * 512, &0x5a78_16f3_u32.to_le_bytes()),
        ("hpt45x_raid_member", -11 * 512, &0x5a78_16fd_u32.to_le_bytes()),
        ("isw_raid_member", -1024, b"Intel Raid ISM Cfg Sig. 1.3.00"),
        ("ddf_raid_member", -512, &0xde11_de11_u32.to_be_bytes()),
        ("ddf_raid_member", -257 * 512, &0xde11_de11_u32.to_be_bytes()),
        ("nvidia_raid_member", -1024, b"NVIDIA  "),
        ("scoutfs", 65_540, &0x103c_428b_u32.to_le_bytes()),
        ("gfs2", 65_536, &0x0116_1970_u32.to_be_bytes()),
        ("ocfs", 8192, b"OracleCFS"),
        ("ocfs2", 1024, b"OCFSV2"),
        ("ocfs2", 8192, b"OCFSV2"),
        ("oracleasm", 32, b"ORCLDISKDATA01"),
        ("vmfs", 1 << 20, &0xc001_d00d_u32.to_le_bytes()),
        ("vmfs", 2 << 20, &0x2fab_f15e_u32.to_le_bytes()),
        ("dasd", 1024 + 4, b"\xe5\xd6\xd3\xf1"),
        ("dasd", 8192 + 4, b"\xe5\xd6\xd3\xf1"),
        ("dasd", 1024, b"\xd3\xd5\xe7\xf1"),
        ("dasd", 8192, b"\xc3\xd4\xe2\xf1"),
        ("gpt", 512, b"EFI PART"),
        ("gpt", 4096, b"EFI PART"),
        ("gpt", -512, b"EFI PART"),
        ("mbr", 510, b"\x55\xaa"),
        ("aix", 0, b"\xc9\xc2\xd4\xc1"),
        ("solaris", 524, &0x600d_deee_u32.to_le_bytes()),
        ("unixware", 14_852, &0xcae5_600d_u32.to_le_bytes()),
        ("ultrix", 16_312, &0x0003_2957_u32.to_le_bytes()),
        ("bsd", 512, &0x8256_4557_u32.to_le_bytes()),
        ("sgi", 0, &0x0be5_a941_u32.to_be_bytes()),
        ("sun", 508, &0xdabe_u16.to_be_bytes()),
        ("exfat", 3, b"EXFAT   "),
        ("refs", 3, b"ReFS\0"),
        ("ntfs", 3, b"NTFS    "),
        ("vfat", 82, b"MSWIN"),
        ("vfat", 54, b"MSDOS"),
        ("f2fs", 1024, &0xf2f5_2010_u32.to_le_bytes()),
        ("nilfs2", 1030, &0x3434_u16.to_le_bytes()),
        ("nilfs2", -4096 + 6, &0x3434_u16.to_le_bytes()),
        ("jfs", 32_768, b"JFS1"),
        ("reiserfs", 8212, b"ReIsErFs"),
        ("reiserfs", 65_588, b"ReIsEr3Fs"),
        ("reiser4", 65_536, b"ReIsEr4"),
        ("romfs", 0, b"-rom1fs-"),
        ("squashfs", 0, b"sqsh"),
        ("erofs", 1024, &0xe0f5_e1e2_u32.to_le_bytes()),
        ("cramfs", 0, &0x28cd_3d45_u32.to_be_bytes()),
        ("vxfs", 1024, &0xa501_fcf5_u32.to_le_bytes()),
        ("vxfs", 8192, &0xa501_fcf5_u32.to_be_bytes()),
        ("sysv", 1016, &0xfd18_7e20_u32.to_le_bytes()),
        ("sysv", 9 * 1024 + 1016, &0xfd18_7e20_u32.to_be_bytes()),
        ("sysv", 18 * 1024 + 1016, &0xfd18_7e20_u32.to_le_bytes()),
        ("xenix", 2048, &[0x2b, 0x55, 0x44]),
        ("ufs", 8192 + 1372, &0x0001_1954_u32.to_le_bytes()),
        ("ufs", 65_536 + 1372, &0x1954_0119_u32.to_be_bytes()),
        ("ufs", 1372, &0x0019_5612_u32.to_be_bytes()),
        ("ufs", 262_144 + 1372, &0x0523_1994_u32.to_le_bytes()),
        ("hpfs", 8192, b"\x49\xe8\x95\xf9"),
        ("iso9660", 32_769, b"CD001"),
        ("udf", 32_769, b"BOOT2"),
        ("udf", 34_817, b"NSR02"),
        ("apfs", 32, b"NXSB"),
        ("btrfs", 65_600, b"_BHRfS_M"),
        ("bcachefs", 4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
        ("bcachefs", (2 << 20) + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
        ("bcache", 4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
        ("ceph_bluestore", 0, b"bluestore block device\n00"),
        ("stratis", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
        ("vdo", 0, b"dmvdo001"),
        ("crypto_LUKS", 0, b"LUKS\xba\xbe\0\x01"),
        ("crypto_LUKS", 0x40_0000, b"SKUL\xba\xbe"),
        ("BitLocker", 0, b"\xeb\x58\x90-FVE-FS-"),
        ("LVM2_member", 512, b"LABELONE"),
        ("LVM2_member", 1536 + 24, b"LVM2 001"),
        ("LVM1_member", 0, b"HM\x01\0"),
        ("DM_snapshot_cow", 0, b"SnAp"),
        ("DM_verity_hash", 0, b"verity\0\0"),
        ("DM_integrity", 0, b"integrt\0"),
        ("linux_raid_member", 4096, &0xa92b_4efc_u32.to_le_bytes()),
        ("swap", 4086, b"SWAPSPACE2"),
        ("swap", 65_526, b"SWAP-SPACE"),
        ("swsuspend", 4086, b"S1SUSPEND"),
        ("swsuspend", 0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
        ("xfs", 0, b"XFSB"),
        ("xfs_log", 0, b"\xfe\xed\xba\xbe"),
    ];
    for (word, place, bytes) in table {
        for size in [SIZE, ODD_SIZE] {
            let found = found(size, *place, bytes);
            assert_eq!(found, [*word], "{word} at {place} of {size}");
        }
    }
}

/// Fields at their places in a block.
fn block(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut block = vec![0; length];
    for (place, bytes) in fields {
        block[*place..*place + bytes.len()].copy_from_slice(bytes);
    }
    block
}

#[test]
fn formats_without_a_sure_number_are_known_by_their_fields() {
    let minix = |magic: u16, order: fn(u16) -> [u8; 2]| {
        let fields = [(0, 640), (2, 2000), (4, 1), (6, 1), (8, 23), (16, magic), (18, 1)];
        let fields = fields.map(|(place, value)| (place, order(value)));
        let fields: Vec<(usize, &[u8])> =
            fields.iter().map(|(place, bytes)| (*place, bytes.as_slice())).collect();
        block(32, &fields)
    };
    for magic in [0x137f, 0x138f, 0x2468, 0x2478] {
        assert_eq!(found(SIZE, 1024, &minix(magic, u16::to_le_bytes)), ["minix"]);
        assert_eq!(found(SIZE, 1024, &minix(magic, u16::to_be_bytes)), ["minix"]);
    }
    let third = [(0, 1, 0), (6, 1, 0), (8, 1, 0), (10, 9, 0), (24, 0x5a, 0x4d)];
    for swapped in [false, true] {
        let fields = third
            .map(|(place, low, high)| (place, if swapped { [high, low] } else { [low, high] }));
        let fields: Vec<(usize, &[u8])> =
            fields.iter().map(|(place, bytes)| (*place, bytes.as_slice())).collect();
        assert_eq!(found(SIZE, 1024, &block(32, &fields)), ["minix"]);
    }
    // A date stands behind the two letters.
    let hfs = block(64, &[(0, b"BD\xd1\x23\x45\x67"), (20, &4096_u32.to_be_bytes())]);
    assert_eq!(found(SIZE, 1024, &hfs), ["hfs"]);
    assert_eq!(found(SIZE, -1024, &hfs), ["hfs"]);
    let plus = block(64, &[(0, b"H+\0\x09"), (40, &4096_u32.to_be_bytes())]);
    assert_eq!(found(SIZE, 1024, &plus), ["hfsplus"]);
    let vault = block(128, &[(8, &[1, 0]), (10, &[0x10, 0]), (88, b"CS")]);
    assert_eq!(found(SIZE, 0, &vault), ["cs_fvault2"]);
    let silicon = block(512, &[(0x60, &0x2f00_0000_u32.to_le_bytes()), (0x116, &[1])]);
    assert_eq!(found(SIZE, -512, &silicon), ["silicon_medley_raid_member"]);
    let via = block(512, &[(0, &[0x55, 0xaa, 1, 9]), (50, &[0])]);
    assert!(found(SIZE, -512, &via).is_empty());
    let via = block(
        512,
        &[(0, &[0x55, 0xaa, 1, 9]), (50, &[0x55_u8.wrapping_add(0xaa).wrapping_add(10)])],
    );
    assert_eq!(found(SIZE, -512, &via), ["via_raid_member"]);
    let sum = u16::from_le_bytes(*b"JM").wrapping_add(0x0100);
    let jmicron = block(128, &[(0, b"JM\0\x01"), (4, &sum.wrapping_neg().to_le_bytes())]);
    assert_eq!(found(SIZE, -512, &jmicron), ["jmicron_raid_member"]);
    let fat = block(64, &[(0, b"\xeb\x3c\x90"), (11, &[0, 2, 4, 1, 0, 2, 0, 2, 0, 8, 0xf8, 9, 0])]);
    assert_eq!(found(SIZE, 0, &fat), ["vfat"]);
    let record = block(16, &[(0, b"\xfe\xed\xba\xbe"), (8, &2_u32.to_be_bytes())]);
    assert_eq!(found(SIZE, 300 * 512, &record), ["xfs_log"]);
}

#[test]
fn tables_without_a_sure_number_are_known_by_their_fields() {
    let partition =
        block(12, &[(0, b"\x01GEM"), (4, &2_u32.to_be_bytes()), (8, &900_u32.to_be_bytes())]);
    let atari = block(512, &[(0x1c2, &1000_u32.to_be_bytes()), (0x1d2, &partition)]);
    assert_eq!(found(SIZE, 0, &atari), ["atari"]);
    // A disk larger than the device cannot be on it.
    let large = block(512, &[(0x1c2, &u32::MAX.to_be_bytes()), (0x1d2, &partition)]);
    assert!(found(SIZE, 0, &large).is_empty());
    let map = MemoryImage::new(SIZE).with(0, b"ER\x04\0").with(1024, b"TS");
    assert_eq!(words(&map), ["mac"]);
}

#[test]
fn incompressible_data_are_rarely_taken_for_anything() {
    let mut random = random_bytes(9);
    let mut taken = 0;
    for _ in 0..200 {
        let mut image = MemoryImage::new(8 << 20);
        for place in [0, 1024, 4096, 8192, 32_768, 65_536, (8 << 20) - 8192] {
            let bytes: Vec<u8> = (0..1024).map(|_| random()).collect();
            image = image.with(place, &bytes);
        }
        taken += usize::from(!recognise(&image).unwrap().is_empty());
    }
    assert!(taken <= 2, "{taken} of 200");
}

/// Bytes of a linear congruential generator: enough to look like nothing.
fn random_bytes(seed: u64) -> impl FnMut() -> u8 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    }
}
