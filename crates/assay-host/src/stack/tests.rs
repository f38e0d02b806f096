//! The walk from a path to the hardware, on made-up systems.

use super::*;
use crate::root::SysRoot;
use crate::testing::FakeSystem;
use assay_model::stack::{BlockLayer, Paths};

fn stack_of(system: &FakeSystem, number: &str) -> BlockStack {
    let root = SysRoot::under(system.path());
    read_device_stack(&Survey::new(&root), number.parse().unwrap())
}

fn mount_stack(system: &FakeSystem, point: &str) -> BlockStack {
    let root = SysRoot::under(system.path());
    read_mount_stack(&Survey::new(&root), Path::new(point))
}

fn names(stack: &BlockStack) -> Vec<&str> {
    stack.layers.iter().map(|layer| layer.name.as_str()).collect()
}

fn kinds(stack: &BlockStack) -> Vec<LayerKind> {
    stack.layers.iter().map(|layer| layer.kind).collect()
}

#[test]
fn lvm_on_nvme_goes_through_the_partition() {
    let system = FakeSystem::new("lvm")
        .disk("nvme0n1", "259:0", 4_000_000)
        .partition("nvme0n1", "nvme0n1p2", "259:2", 2048, 3_000_000)
        .stacked("dm-3", "252:3", 2_000_000, &["nvme0n1p2"])
        .attribute("dm-3", "dm/uuid", "LVM-Xx")
        .attribute("dm-3", "dm/name", "vg0-data")
        .mount("252:3", "/data", "xfs", "/dev/mapper/vg0-data", "rw,noatime");
    let stack = mount_stack(&system, "/data");
    assert_eq!(names(&stack), ["dm-3", "nvme0n1p2", "nvme0n1"]);
    assert_eq!(kinds(&stack), [LayerKind::Lvm, LayerKind::Partition, LayerKind::Nvme]);
    assert_eq!(stack.layers[0].mapped_name.as_deref(), Some("vg0-data"));
    assert_eq!(stack.layers[1].start_bytes, Some(1 << 20));
    assert_eq!(stack.mount.unwrap().file_system, "xfs");
}

#[test]
fn multipath_has_its_paths_and_their_state() {
    let system = FakeSystem::new("mpath")
        .disk("sda", "8:0", 1000)
        .attribute("sda", "device/state", "running")
        .disk("sdb", "8:16", 1000)
        .attribute("sdb", "device/state", "offline")
        .stacked("dm-0", "252:0", 1000, &["sda", "sdb"])
        .attribute("dm-0", "dm/uuid", "mpath-3600a0b80");
    let stack = stack_of(&system, "252:0");
    assert_eq!(kinds(&stack), [LayerKind::Multipath, LayerKind::Scsi, LayerKind::Scsi]);
    assert_eq!(stack.layers[0].lower, ["sda", "sdb"]);
    let paths = stack.layers[0].paths;
    assert_eq!(paths, Some(Paths { configured: 2, running: 1 }));
    assert_eq!(stack.leaves().count(), 2);
}

#[test]
fn a_shared_disk_below_two_members_is_listed_once() {
    let system = FakeSystem::new("md")
        .disk("sda", "8:0", 9000)
        .partition("sda", "sda1", "8:1", 8, 1000)
        .partition("sda", "sda2", "8:2", 2000, 1000)
        .stacked("md0", "9:0", 1000, &["sda1", "sda2"])
        .attribute("md0", "md/level", "raid1")
        .attribute("md0", "md/raid_disks", "2")
        .attribute("md0", "md/degraded", "1")
        .attribute("md0", "md/sync_action", "recover");
    let stack = stack_of(&system, "9:0");
    assert_eq!(names(&stack), ["md0", "sda1", "sda", "sda2"]);
    let raid = stack.layers[0].raid.clone().unwrap();
    assert_eq!((raid.level.as_str(), raid.members, raid.missing), ("raid1", Some(2), Some(1)));
}

#[test]
fn a_loop_leads_to_the_disk_of_its_file() {
    let system = FakeSystem::new("loop")
        .disk("vda", "254:0", 9000)
        .disk("loop0", "7:0", 100)
        .attribute("loop0", "loop/backing_file", "/images/a.img")
        .disk("loop1", "7:1", 100)
        .attribute("loop1", "loop/backing_file", "/dev/vda")
        .mount("254:0", "/", "ext4", "/dev/vda", "rw");
    let stack = stack_of(&system, "7:0");
    assert_eq!(names(&stack), ["loop0", "vda"]);
    assert_eq!(stack.layers[0].backing_file.as_deref(), Some("/images/a.img"));
    assert_eq!(names(&stack_of(&system, "7:1")), ["loop1", "vda"]);
}

#[test]
fn btrfs_over_two_devices_shows_both() {
    let system = FakeSystem::new("btrfs")
        .disk("sda", "8:0", 9000)
        .disk("sdb", "8:16", 9000)
        .file("sys/fs/btrfs/features/x", "1")
        .file("sys/fs/btrfs/0aa1/devices/sda/x", "")
        .file("sys/fs/btrfs/0aa1/devices/sdb/x", "")
        .mount("0:40", "/pool", "btrfs", "/dev/sda", "rw,compress=zstd:1");
    assert_eq!(names(&mount_stack(&system, "/pool")), ["sda", "sdb"]);
}

#[test]
fn an_overlay_is_followed_to_its_upper_directory() {
    let system = FakeSystem::new("overlay")
        .disk("vda", "254:0", 9000)
        .mount("254:0", "/", "ext4", "/dev/vda", "rw")
        .mount("0:50", "/merged", "overlay", "overlay", "rw,lowerdir=/l,upperdir=/up,workdir=/w");
    let stack = mount_stack(&system, "/merged");
    assert_eq!(names(&stack), ["vda"]);
    assert_eq!(stack.mount.unwrap().file_system, "overlay");
}

#[test]
fn a_network_file_system_has_no_devices() {
    let system = FakeSystem::new("nfs").mount("0:50", "/net", "nfs4", "filer:/vol", "rw,vers=4.2");
    let stack = mount_stack(&system, "/net");
    assert!(stack.layers.is_empty());
    assert_eq!(stack.mount.unwrap().source, "filer:/vol");
}

fn nvme() -> BlockLayer {
    let system = FakeSystem::new("queue")
        .disk("nvme0n1", "259:0", 4_000_000)
        .attribute("nvme0n1", "queue/scheduler", "[none] mq-deadline")
        .attribute("nvme0n1", "queue/nr_requests", "1023")
        .attribute("nvme0n1", "queue/max_sectors_kb", "128")
        .attribute("nvme0n1", "queue/rotational", "0")
        .attribute("nvme0n1", "queue/write_cache", "write back")
        .attribute("nvme0n1", "queue/read_ahead_kb", "128")
        .attribute("nvme0n1", "queue/io_timeout", "30000")
        .attribute("nvme0n1", "queue/wbt_lat_usec", "2000")
        .attribute("nvme0n1", "mq/0/cpu_list", "0")
        .attribute("nvme0n1", "mq/1/cpu_list", "1")
        .attribute("nvme0n1", "device/model", "FAST 1TB      ")
        .attribute("nvme0n1", "device/firmware_rev", "2B2Q")
        .attribute("nvme0n1", "device/nvme0/state", "live")
        .attribute("nvme0n1", "device/nvme1/state", "connecting")
        .attribute("nvme0n1", "device/numa_node", "-1");
    stack_of(&system, "259:0").layers.remove(0)
}

#[test]
fn a_queue_is_told_in_base_units() {
    let layer = nvme();
    let queue = layer.queue.unwrap();
    assert_eq!(queue.scheduler.as_deref(), Some("none"));
    assert_eq!(queue.schedulers, ["none", "mq-deadline"]);
    assert_eq!(queue.request_bytes_max, Some(128 << 10));
    assert_eq!(queue.read_ahead_bytes, Some(128 << 10));
    assert_eq!(queue.timeout_ns, Some(30_000_000_000));
    assert_eq!(queue.writeback_target_ns, Some(2_000_000));
    assert_eq!((queue.hardware_queues, queue.rotational), (Some(2), Some(false)));
    assert_eq!(queue.polling, None);
}

#[test]
fn a_device_says_what_it_is() {
    let layer = nvme();
    assert_eq!(layer.model.as_deref(), Some("FAST 1TB"));
    assert_eq!(layer.firmware.as_deref(), Some("2B2Q"));
    assert_eq!(layer.numa_node, None);
    assert_eq!(layer.paths, Some(Paths { configured: 2, running: 1 }));
    assert_eq!(layer.size_bytes, 4_000_000 * 512);
}

#[test]
fn what_is_not_a_number_is_noted() {
    let system = FakeSystem::new("noted").disk("sda", "8:0", 100).attribute(
        "sda",
        "queue/nr_requests",
        "many",
    );
    let root = SysRoot::under(system.path());
    let survey = Survey::new(&root);
    let stack = read_device_stack(&survey, "8:0".parse().unwrap());
    assert_eq!(stack.layers[0].queue.as_ref().unwrap().requests, None);
    assert_eq!(survey.unreadable()[0].reason, "unexpected content 'many'");
}

#[test]
fn the_running_system_has_a_mount_under_every_path() {
    let root = SysRoot::live();
    let survey = Survey::new(&root);
    let stack = read_stack(&survey, Path::new("/proc")).unwrap();
    assert_eq!(stack.mount.unwrap().file_system, "proc");
    let error = read_stack(&survey, Path::new("/nothing/here")).unwrap_err();
    assert!(error.message().starts_with("cannot inspect /nothing/here"), "{error}");
}
