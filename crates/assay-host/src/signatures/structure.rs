//! Data that has no sure magic number in one place: recognised by several fields that fit together.

use super::fields;
use super::image::Image;
use super::kind::SignatureKind::{self, Content, Member, Table};
use fields::{ImageFields, head, last_sector};
use std::io;

/// A format, and the test for it.
pub(super) struct ImageShape {
    /// What names it on the command line.
    pub(super) word: &'static str,
    /// What lies on the device.
    pub(super) name: &'static str,
    /// What else it concerns.
    pub(super) kind: SignatureKind,
    /// Whether its fields are there.
    pub(super) is_there: fn(&dyn Image) -> io::Result<bool>,
}

const fn shape(
    kind: SignatureKind,
    word: &'static str,
    name: &'static str,
    is_there: fn(&dyn Image) -> io::Result<bool>,
) -> ImageShape {
    ImageShape { word, name, kind, is_there }
}

/// All of them.
pub(super) const SHAPES: &[ImageShape] = &[
    shape(Member, "zfs_member", "ZFS pool member", super::zfs::is_member),
    shape(Content, "innodb", "InnoDB tablespace", is_innodb),
    shape(Content, "postgresql", "PostgreSQL relation", is_postgres),
    shape(Content, "minix", "Minix file system", is_minix),
    shape(Content, "hfs", "HFS file system", is_hfs),
    shape(Content, "hfsplus", "HFS+ file system", is_hfs_plus),
    shape(Content, "vfat", "FAT file system", is_fat),
    shape(Content, "xfs_log", "XFS journal", is_xfs_journal),
    shape(Content, "cs_fvault2", "FileVault encrypted volume", is_file_vault),
    shape(Table, "mac", "Mac partition map", is_mac),
    shape(Table, "atari", "Atari partition table", is_atari),
    shape(Member, "silicon_medley_raid_member", "Silicon Image RAID member", is_silicon),
    shape(Member, "via_raid_member", "VIA RAID member", is_via),
    shape(Member, "jmicron_raid_member", "JMicron RAID member", is_jmicron),
];

/// Page 0 of a tablespace: a file space header whose number of the space stands twice.
fn is_innodb(image: &dyn Image) -> io::Result<bool> {
    const FILE_SPACE_HEADER: u32 = 8;
    let page = head(image, 0, 64)?;
    let is_first = page.big_32(4) == 0;
    let page_type = page.big_32(24) >> 16;
    let same_space = page.big_32(34) == page.big_32(38);
    let has_pages = page.big_32(46) > 0;
    Ok(page_type == FILE_SPACE_HEADER && is_first && same_space && has_pages)
}

/// A page whose header says its size and layout version, and whose pointers are in order.
fn is_postgres(image: &dyn Image) -> io::Result<bool> {
    const HEADER_BYTES: u16 = 24;
    let page = head(image, 0, 64)?;
    let [flags, lower, upper, special, sized] =
        [10, 12, 14, 16, 18].map(|offset| page.little_16(offset));
    let (size, version) = (sized & 0xff00, sized & 0xff);
    let known = size.is_power_of_two() && size >= 1024 && (1..=5).contains(&version);
    let ordered = HEADER_BYTES <= lower && lower <= upper && upper <= special && special <= size;
    Ok(known && ordered && flags <= 7 && special.is_multiple_of(8))
}

/// The superblock of versions 1 and 2 has its number at byte 16, that of version 3 at byte 24;
/// either byte order. Inodes, both maps and a begin of the data are there, and a zone is a block.
fn is_minix(image: &dyn Image) -> io::Result<bool> {
    const OLD: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
    const NEW: u16 = 0x4d5a;
    let block = head(image, 1024, 32)?;
    let in_order = |read: fn(&ImageFields, usize) -> u16| {
        let is_old = OLD.contains(&read(&block, 16))
            && [0, 4, 6, 8].iter().all(|place| read(&block, *place) > 0)
            && read(&block, 10) == 0;
        let is_new = read(&block, 24) == NEW
            && [6, 8, 10].iter().all(|place| read(&block, *place) > 0)
            && block.big_32(0) > 0
            && read(&block, 12) == 0;
        is_old || is_new
    };
    Ok(in_order(ImageFields::little_16) || in_order(ImageFields::big_16))
}

/// A master directory block, or its copy, whose allocation blocks are made of sectors.
fn is_hfs(image: &dyn Image) -> io::Result<bool> {
    let is_directory = |block: &ImageFields| {
        let block_bytes = block.big_32(20);
        block.starts_with(b"BD") && block_bytes > 0 && block_bytes.is_multiple_of(512)
    };
    let copy = fields::before_end(image, 1024, 64)?;
    Ok(is_directory(&head(image, 1024, 64)?) || is_directory(&copy))
}

/// A volume header of any version whose block size is a power of two.
fn is_hfs_plus(image: &dyn Image) -> io::Result<bool> {
    let block = head(image, 1024, 64)?;
    let block_bytes = block.big_32(40);
    let known = block.starts_with(b"H+") || block.starts_with(b"HX");
    Ok(known && block_bytes >= 512 && block_bytes.is_power_of_two())
}

/// A boot sector of the years before a name stood in it, or one that has lost its name: a jump or
/// the mark of a boot sector, and a description of the disk that makes sense.
fn is_fat(image: &dyn Image) -> io::Result<bool> {
    let sector = head(image, 0, 512)?;
    let jumps = sector.starts_with(b"\xeb") || sector.starts_with(b"\xe9");
    let boots = jumps || sector.holds_at(510, b"\x55\xaa");
    let (sector_bytes, media) = (sector.little_16(11), sector.byte(21));
    let sized = (512..=4096).contains(&sector_bytes) && sector_bytes.is_power_of_two();
    let tables = sector.byte(16) > 0 && sector.little_16(14) > 0;
    let length = sector.little_16(22) > 0 || sector.little_32(36) > 0;
    let sectors = sector.little_16(19) > 0 || sector.little_32(32) > 0;
    let described = tables && length && sectors && sector.byte(13).is_power_of_two();
    Ok(boots && sized && described && (media == 0xf0 || media >= 0xf8))
}

/// A record header of version 1 or 2 at the start of one of the first sectors; a file system there
/// has its own journal.
fn is_xfs_journal(image: &dyn Image) -> io::Result<bool> {
    let sectors = head(image, 0, 512 * 512)?;
    let is_record = |sector: &[u8]| {
        let record = ImageFields::of(sector);
        record.starts_with(b"\xfe\xed\xba\xbe") && (1..=2).contains(&record.big_32(8))
    };
    let is_file_system = |sector: &[u8]| sector.starts_with(b"XFSB");
    Ok(sectors.chunks(512).any(is_record) && !sectors.chunks(512).any(is_file_system))
}

/// The header of a physical volume of Apple's Core Storage.
fn is_file_vault(image: &dyn Image) -> io::Result<bool> {
    const VOLUME_HEADER: u16 = 0x10;
    let block = head(image, 0, 128)?;
    let is_header = block.little_16(8) == 1 && block.little_16(10) == VOLUME_HEADER;
    Ok(is_header && block.holds_at(88, b"CS"))
}

/// A driver descriptor, and a map entry of either age in the block behind it.
fn is_mac(image: &dyn Image) -> io::Result<bool> {
    let first = head(image, 0, 8)?;
    let block_bytes = u64::from(first.big_16(2));
    if !first.starts_with(b"ER") || block_bytes < 512 {
        return Ok(false);
    }
    let entry = head(image, block_bytes, 8)?;
    Ok(entry.starts_with(b"PM") || entry.starts_with(b"TS"))
}

/// A root sector whose numbers fit the disk, with at least one partition that does.
fn is_atari(image: &dyn Image) -> io::Result<bool> {
    let (root, sectors) = (head(image, 0, 512)?, image.size() / 512);
    let sector_count = u64::from(root.big_32(0x1c2));
    if sector_count < 2 || sector_count > sectors || sectors > u64::from(i32::MAX.unsigned_abs()) {
        return Ok(false);
    }
    let fits = |place: usize| {
        let (start, length) = (u64::from(root.big_32(place)), u64::from(root.big_32(place + 4)));
        start > 0 && length > 0 && start + length <= sector_count
    };
    let no_bad_blocks = root.big_32(0x1f6) == 0 && root.big_32(0x1fa) == 0;
    let is_partition = |place: usize| {
        let is_active = root.byte(place) & 1 == 1;
        is_active
            && root.slice(place + 1, 3).iter().all(u8::is_ascii_alphanumeric)
            && fits(place + 4)
    };
    let mut partitions = [0x1c6, 0x1d2, 0x1de, 0x1ea].into_iter();
    Ok((no_bad_blocks || fits(0x1f6)) && partitions.any(is_partition))
}

/// One of at most eight disks.
fn is_silicon(image: &dyn Image) -> io::Result<bool> {
    let sector = last_sector(image)?;
    Ok(sector.little_32(0x60) == 0x2f00_0000 && sector.byte(0x116) < 8)
}

/// A description of up to version 2 whose sum is right.
fn is_via(image: &dyn Image) -> io::Result<bool> {
    const SUMMED: usize = 50;
    let sector = last_sector(image)?;
    let sum = sector.slice(0, SUMMED).iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    Ok(sector.starts_with(b"\x55\xaa") && sector.byte(2) <= 2 && sector.byte(SUMMED) == sum)
}

/// A description whose words add up to nothing, or to one.
fn is_jmicron(image: &dyn Image) -> io::Result<bool> {
    let sector = last_sector(image)?;
    let words = (0..128).step_by(2).map(|place| sector.little_16(place));
    let sum = words.fold(0_u16, u16::wrapping_add);
    Ok(sector.starts_with(b"JM") && sum <= 1 && sector.byte(0x30) <= 5)
}
