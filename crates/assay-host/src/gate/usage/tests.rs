//! Users of devices on made-up systems: each must be found, and nothing else.

use super::*;
use crate::testing::FakeSystem;

fn system() -> FakeSystem {
    FakeSystem::new("usage")
        .disk("sda", "8:0", 9000)
        .partition("sda", "sda1", "8:1", 8, 1000)
        .partition("sda", "sda2", "8:2", 2000, 1000)
        .disk("sdb", "8:16", 9000)
}

fn use_of(system: &FakeSystem, name: &str) -> Option<(Option<String>, RefusedUsage)> {
    let root = SysRoot::under(system.path());
    let device = BlockDevice::by_name(&root, name).unwrap();
    let in_use = examine(&root, &device).unwrap().in_use?;
    Some((in_use.relation, in_use.usage))
}

fn mounted(at: &str) -> RefusedUsage {
    RefusedUsage::Mounted { mount_point: at.into() }
}

fn held(by: &str) -> RefusedUsage {
    RefusedUsage::Held { by: by.into() }
}

#[test]
fn an_unused_disk_is_free() {
    assert_eq!(use_of(&system(), "sda"), None);
    assert_eq!(use_of(&system(), "sda1"), None);
}

#[test]
fn a_mount_counts_for_the_device_its_disk_and_not_its_sibling() {
    let system = system().mount("8:1", "/data", "ext4", "/dev/sda1", "rw");
    assert_eq!(use_of(&system, "sda1"), Some((None, mounted("/data"))));
    let relation = Some("partition /dev/sda1".to_owned());
    assert_eq!(use_of(&system, "sda"), Some((relation, mounted("/data"))));
    assert_eq!(use_of(&system, "sda2"), None);
    assert_eq!(use_of(&system, "sdb"), None);
}

#[test]
fn a_mounted_disk_counts_for_its_partitions() {
    let system = system().mount("8:0", "/old", "ext4", "/dev/sda", "rw");
    let relation = Some("the whole disk /dev/sda".to_owned());
    assert_eq!(use_of(&system, "sda2"), Some((relation, mounted("/old"))));
}

#[test]
fn a_mount_is_known_by_its_node_when_the_number_is_made_up() {
    let system = system().link("dev/disk/by-uuid/1-2", "../../sda2").mount(
        "0:44",
        "/pool",
        "btrfs",
        "/dev/disk/by-uuid/1-2",
        "rw",
    );
    assert_eq!(use_of(&system, "sda2"), Some((None, mounted("/pool"))));
}

#[test]
fn every_device_of_a_btrfs_is_in_use() {
    let system = system().file("sys/fs/btrfs/0aa1/devices/sdb", "").mount(
        "0:44",
        "/pool",
        "btrfs",
        "/dev/sda2",
        "rw",
    );
    let by = mounted("some directory as part of btrfs 0aa1");
    assert_eq!(use_of(&system, "sdb"), Some((None, by)));
}

#[test]
fn swap_counts_like_a_mount() {
    let system = system().swap("/dev/sda2");
    assert_eq!(use_of(&system, "sda2"), Some((None, RefusedUsage::Swap)));
    let relation = Some("partition /dev/sda2".to_owned());
    assert_eq!(use_of(&system, "sda"), Some((relation, RefusedUsage::Swap)));
    assert_eq!(use_of(&system, "sda1"), None);
}

#[test]
fn a_swap_area_that_cannot_be_found_stops_everything() {
    let system = system().swap("/dev/vanished");
    let root = SysRoot::under(system.path());
    let device = BlockDevice::by_name(&root, "sdb").unwrap();
    assert!(examine(&root, &device).is_err());
}

#[test]
fn holders_are_named_by_what_they_are() {
    for (name, uuid, by) in [
        ("dm-0", "LVM-x", "LVM volume /dev/dm-0"),
        ("dm-0", "CRYPT-LUKS2-x", "encrypted volume /dev/dm-0"),
        ("dm-0", "mpath-3", "multipath device /dev/dm-0"),
        ("md0", "", "RAID /dev/md0"),
        ("bcache0", "", "cache device /dev/bcache0"),
    ] {
        let system =
            system().stacked(name, "252:0", 900, &["sda1"]).attribute(name, "dm/uuid", uuid);
        assert_eq!(use_of(&system, "sda1"), Some((None, held(by))));
        let relation = Some("partition /dev/sda1".to_owned());
        assert_eq!(use_of(&system, "sda"), Some((relation, held(by))));
        assert_eq!(use_of(&system, name), None);
        assert_eq!(use_of(&system, "sda2"), None);
    }
}

#[test]
fn a_loop_on_a_device_holds_it() {
    let system =
        system().disk("loop3", "7:3", 100).attribute("loop3", "loop/backing_file", "/dev/sdb");
    assert_eq!(use_of(&system, "sdb"), Some((None, held("loop device /dev/loop3"))));
}

#[test]
fn what_lies_below_the_target_is_looked_at_for_mounts() {
    let system = system()
        .stacked("dm-0", "252:0", 900, &["sda1"])
        .stacked("dm-1", "252:1", 900, &["sda1"])
        .stacked("dm-2", "252:2", 900, &["dm-1"])
        .mount("8:0", "/odd", "ext4", "/dev/sda", "rw");
    let relation = Some("the device below /dev/sda".to_owned());
    assert_eq!(use_of(&system, "dm-0"), Some((relation, mounted("/odd"))));
}

#[test]
fn a_disk_that_is_mounted_over_another_path_is_in_use() {
    let system = system()
        .disk("sdc", "8:32", 9000)
        .attribute("sda", "device/wwid", "naa.5001")
        .attribute("sdc", "device/wwid", "naa.5001")
        .attribute("sdb", "device/wwid", "naa.5002")
        .mount("8:1", "/data", "ext4", "/dev/sda1", "rw");
    let relation = Some("a partition over another path, /dev/sda1".to_owned());
    assert_eq!(use_of(&system, "sdc"), Some((relation, mounted("/data"))));
    assert_eq!(use_of(&system, "sdb"), None);
    let held_twin = system.stacked("dm-0", "252:0", 900, &["sda"]);
    assert!(use_of(&held_twin, "sdc").is_some());
}

#[test]
fn volumes_beside_the_target_do_not_matter() {
    let system = system()
        .stacked("dm-0", "252:0", 400, &["sda1"])
        .stacked("dm-1", "252:1", 400, &["sda1"])
        .mount("252:1", "/other", "ext4", "/dev/dm-1", "rw");
    assert_eq!(use_of(&system, "dm-0"), None);
    assert_eq!(use_of(&system, "dm-1"), Some((None, mounted("/other"))));
}

fn opened(flags: &str) -> FakeSystem {
    system()
        .file("proc/4711/comm", "oracle\n")
        .link("proc/4711/fd/5", "/dev/sdb")
        .file("proc/4711/fdinfo/5", &format!("pos:\t0\nflags:\t{flags}\n"))
}

#[test]
fn a_program_that_writes_to_the_device_is_named() {
    let by = RefusedUsage::Open { by: "process 4711 (oracle)".into() };
    assert_eq!(use_of(&opened("0140002"), "sdb"), Some((None, by)));
    assert_eq!(use_of(&opened("0140000"), "sdb"), None);
    let unknown = system().link("proc/9/fd/5", "/dev/sdb").file("proc/9/comm", "x");
    assert!(use_of(&unknown, "sdb").is_some());
}

#[test]
fn without_lists_nothing_is_concluded() {
    let system = system().file("proc/self/mountinfo", "nonsense\n");
    let root = SysRoot::under(system.path());
    let device = BlockDevice::by_name(&root, "sdb").unwrap();
    assert!(examine(&root, &device).is_err());
}

#[test]
fn a_file_under_a_loop_or_the_swapper_is_in_use() {
    let system = system()
        .disk("loop3", "7:3", 100)
        .attribute("loop3", "loop/backing_file", "/images/a")
        .swap("/swapfile");
    let root = SysRoot::under(system.path());
    let user = |name: &str| file_user(&root, |path| path == Path::new(name)).unwrap();
    assert_eq!(user("/images/a").as_deref(), Some("loop device /dev/loop3"));
    assert_eq!(user("/swapfile").as_deref(), Some("the swapper"));
    assert_eq!(user("/images/b"), None);
}
