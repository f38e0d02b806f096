//! The decision on block devices, on made-up systems with images in memory: nothing is granted by
//! accident.

use super::*;
use crate::signatures::MemoryImage;
use crate::testing::FakeSystem;
use proptest::prelude::*;

const SECTORS: u64 = 131_072;
const SIZE: u64 = SECTORS * 512;

fn plain() -> FakeSystem {
    FakeSystem::new("decision").disk("sdb", "8:16", SECTORS)
}

fn with_serial() -> FakeSystem {
    plain().attribute("sdb", "device/serial", "WD-K7").attribute("sdb", "device/wwid", "naa.5001")
}

/// The gate's three questions in its order; the answer is what was seen.
fn decide(
    system: &FakeSystem,
    name: &str,
    token: &str,
    image: &dyn Image,
    disk: Option<&dyn Image>,
) -> Result<String, Error> {
    let root = SysRoot::under(system.path());
    let device = BlockDevice::by_name(&root, name).unwrap();
    let node = device.node();
    let candidate = DeviceCandidate::read(&root, device, &node)?;
    candidate.check_use()?;
    let seen = candidate.check_content(image, disk, None)?.join("; ");
    if candidate.is_named_by(token) {
        return Ok(seen);
    }
    Err(candidate.refuse_token(Some(token), seen))
}

fn message(system: &FakeSystem, name: &str, token: &str, image: &dyn Image) -> String {
    decide(system, name, token, image, None).unwrap_err().message().to_owned()
}

#[test]
fn an_empty_unused_device_is_granted_to_its_serial_number() {
    let empty = MemoryImage::new(SIZE);
    for token in ["WD-K7", " WD-K7 ", "naa.5001"] {
        let seen = decide(&with_serial(), "sdb", token, &empty, None).unwrap();
        assert_eq!(seen, "all of 256 sampled blocks are zeros");
    }
}

#[test]
fn a_size_names_only_a_device_without_serial_number() {
    let empty = MemoryImage::new(SIZE);
    for token in ["64MiB", "67108864", "67108864B", "65536KiB"] {
        assert!(decide(&plain(), "sdb", token, &empty, None).is_ok(), "{token}");
        let refused = decide(&with_serial(), "sdb", token, &empty, None).unwrap_err();
        assert_eq!(
            refused.hint(),
            "this device is 'WD-K7'; check that /dev/sdb is the right device"
        );
    }
}

#[test]
fn tokens_that_are_not_exact_are_wrong() {
    let empty = MemoryImage::new(SIZE);
    for token in
        ["", "yes", "64", "64MB", "67108863", "0x4000000", "WD-K", "wd-k7", "WD-K7x", "/dev/sdb"]
    {
        assert!(decide(&plain(), "sdb", token, &empty, None).is_err(), "{token}");
        assert!(decide(&with_serial(), "sdb", token, &empty, None).is_err(), "{token}");
    }
}

#[test]
fn unknown_data_is_told_and_does_not_stop_the_named_device() {
    let used = MemoryImage::new(SIZE).with(0, b"anything");
    let seen = decide(&plain(), "sdb", "64MiB", &used, None).unwrap();
    assert_eq!(seen, "1 of 256 sampled blocks hold data of unknown kind");
}

#[test]
fn known_data_stops_even_the_named_device() {
    let occupied = MemoryImage::new(SIZE).with(0, b"XFSB").with(SIZE - 512, b"EFI PART");
    assert_eq!(
        message(&with_serial(), "sdb", "WD-K7", &occupied),
        "refusing to write to /dev/sdb: it contains: XFS file system, GPT partition table (backup)"
    );
}

#[test]
fn data_in_a_partition_whose_table_is_gone_is_found() {
    let system = plain().partition("sdb", "sdb1", "8:17", 2048, 65_536);
    let image = MemoryImage::new(SIZE).with((1 << 20) + 1080, b"\x53\xef");
    assert_eq!(
        message(&system, "sdb", "64MiB", &image),
        "refusing to write to /dev/sdb: partition /dev/sdb1 contains: ext2, ext3 or ext4 file \
         system, or its journal"
    );
}

#[test]
fn a_partition_is_refused_when_its_disk_as_a_whole_is_a_member() {
    let system = with_serial().partition("sdb", "sdb1", "8:17", 2048, 65_536);
    let part = MemoryImage::new(65_536 * 512);
    let table = MemoryImage::new(SIZE).with(512, b"EFI PART").with(510, &[0x55, 0xaa]);
    assert!(decide(&system, "sdb1", "WD-K7", &part, Some(&table)).is_ok());
    let member = table.with(4096, &0xa92b_4efc_u32.to_le_bytes());
    let refused = decide(&system, "sdb1", "WD-K7", &part, Some(&member)).unwrap_err();
    assert_eq!(
        refused.message(),
        "refusing to write to /dev/sdb1: the whole disk around it contains: md RAID member"
    );
}

#[test]
fn a_user_is_told_before_a_token_is_asked_for() {
    let system = plain().partition("sdb", "sdb1", "8:17", 2048, 65_536).mount(
        "8:17",
        "/data",
        "ext4",
        "/dev/sdb1",
        "rw",
    );
    let error = decide(&system, "sdb", "wrong", &MemoryImage::new(SIZE), None).unwrap_err();
    assert_eq!(
        error.message(),
        "refusing to write to /dev/sdb: partition /dev/sdb1 is mounted at /data"
    );
    assert_eq!(
        error.hint(),
        "specify a directory under /data to measure with a file, or unmount it"
    );
}

#[test]
fn a_read_only_device_is_refused() {
    let system = plain().attribute("sdb", "ro", "1");
    let message = message(&system, "sdb", "64MiB", &MemoryImage::new(SIZE));
    assert_eq!(message, "refusing to write to /dev/sdb: it is read-only");
}

#[test]
fn a_list_that_cannot_be_read_stops_everything() {
    let system = plain().file("proc/self/mountinfo", "nonsense");
    let message = message(&system, "sdb", "64MiB", &MemoryImage::new(SIZE));
    assert!(message.contains("the list of its users cannot be read"), "{message}");
}

#[test]
fn a_replaced_device_has_another_identity() {
    let identity = |system: &FakeSystem| {
        let root = SysRoot::under(system.path());
        let device = BlockDevice::by_name(&root, "sdb").unwrap();
        DeviceCandidate::read(&root, device, "sdb").unwrap().identity()
    };
    let system = with_serial().attribute("sdb", "diskseq", "5");
    let first = identity(&system);
    assert_eq!(identity(&system), first);
    assert_ne!(identity(&with_serial().attribute("sdb", "diskseq", "6")), first);
    assert_ne!(identity(&system.attribute("sdb", "size", "9")), first);
}

#[test]
fn a_mapped_device_is_named_by_its_uuid_or_its_size() {
    let system = plain().stacked("dm-0", "252:0", SECTORS, &["sdb"]).attribute(
        "dm-0",
        "dm/uuid",
        "mpath-3600a",
    );
    let empty = MemoryImage::new(SIZE);
    assert!(decide(&system, "dm-0", "mpath-3600a", &empty, None).is_ok());
    assert!(decide(&system, "dm-0", "64MiB", &empty, None).is_ok());
    let held = message(&system, "sdb", "64MiB", &empty);
    assert_eq!(held, "refusing to write to /dev/sdb: it is held by multipath device /dev/dm-0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_but_the_serial_number_is_ever_a_token(token in "\\PC{0,24}", serial in "[A-Z0-9]{4,12}") {
        let system = plain().attribute("sdb", "device/serial", &format!("S{serial}"));
        let granted = decide(&system, "sdb", &token, &MemoryImage::new(SIZE), None).is_ok();
        prop_assert_eq!(granted, token.trim() == format!("S{serial}"));
    }

    #[test]
    fn a_mark_among_arbitrary_data_is_never_overlooked(
        noise in proptest::collection::vec((0..SIZE - 8, any::<[u8; 8]>()), 0..20),
        mark in 0usize..5,
    ) {
        let marks: [(u64, &[u8]); 5] = [
            (0, b"XFSB"),
            (1080, b"\x53\xef"),
            (512, b"LABELONE"),
            (SIZE - 512, b"EFI PART"),
            (32, b"ORCLDISK"),
        ];
        let mut image = MemoryImage::new(SIZE);
        for (offset, bytes) in noise {
            image = image.with(offset, &bytes);
        }
        let image = image.with(marks[mark].0, marks[mark].1);
        prop_assert!(decide(&plain(), "sdb", "64MiB", &image, None).is_err());
    }
}
