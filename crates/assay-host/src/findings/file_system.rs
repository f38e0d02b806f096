//! Rules on mounted file systems.

use super::rule::FindingRule;
use assay_model::environment::Severity::{Critical, Notice, Warning};
use assay_model::environment::{Finding, Space, Storage};
use assay_model::number::{real, share};
use assay_model::stack::Mount;
use assay_model::units::show_bytes;

const ACCESS_TIME: FindingRule = FindingRule::new(
    "access_time",
    Notice,
    "the first read of a file writes its access time",
    "mount with noatime",
);
const NO_BARRIER: FindingRule = FindingRule::new(
    "no_barrier",
    Critical,
    "fsync does not flush the device's write cache: commits are fast and are lost, or the file \
     system is damaged, at a power cut",
    "mount without nobarrier or barrier=0; commit latency measured now is not that of safe commits",
);
const JOURNALED_DATA: FindingRule = FindingRule::new(
    "journaled_data",
    Warning,
    "all data is written twice, first to the journal, and direct I/O is not possible",
    "mount with data=ordered; databases keep their own log",
);
const ONLINE_DISCARD: FindingRule = FindingRule::new(
    "online_discard",
    Notice,
    "deleting files sends discards immediately, which causes latency peaks on some devices",
    "mount without discard and run fstrim at quiet hours",
);
const SYNCHRONOUS: FindingRule = FindingRule::new(
    "synchronous_mount",
    Warning,
    "every write waits for the device, even if the program does not request it",
    "mount without sync",
);
const NEARLY_FULL: FindingRule = FindingRule::new(
    "nearly_full",
    Warning,
    "free space is scattered, and flash has little space for garbage collection: writes slow down",
    "free some space before measuring",
);
const COPY_ON_WRITE: FindingRule = FindingRule::new(
    "copy_on_write",
    Warning,
    "every overwrite goes to a new location: random writes fragment files, need more metadata \
     writes, and make later scans random",
    "on btrfs set chattr +C on the database's directory before files are made; on ZFS set \
     recordsize to the database's block",
);
const COMPRESSED: FindingRule = FindingRule::new(
    "compression",
    Warning,
    "compressible data needs less I/O, so throughput depends on the content and on the CPU",
    "measure with incompressible data, and with data like yours",
);
const NETWORK: FindingRule = FindingRule::new(
    "network_file_system",
    Warning,
    "latency includes the network and the server's cache; counters and settings of the devices \
     are on the server",
    "check the server too; for NFS check rsize, wsize, nconnect and hard",
);
const IN_MEMORY: FindingRule = FindingRule::new(
    "memory_file_system",
    Critical,
    "the files are in memory: this does not measure storage, and nothing there survives a power \
     cut",
    "choose a directory on the storage in question",
);
const OVERLAY: FindingRule = FindingRule::new(
    "overlay",
    Warning,
    "the directory is in the layers of a container: the first write to a file copies it, and every \
     open goes through the layers",
    "measure on a volume that is mounted into the container",
);
const USER_SPACE: FindingRule = FindingRule::new(
    "user_space_file_system",
    Warning,
    "every I/O passes through a user-space program, which often limits concurrency",
    "measure the storage below it too",
);
const READ_ONLY: FindingRule = FindingRule::new(
    "read_only_mount",
    Notice,
    "no file can be created on it",
    "measure reads of an existing file, or choose another directory",
);
const NO_DEVICE: FindingRule = FindingRule::new(
    "no_device_found",
    Notice,
    "the kernel does not show the devices below this file system, so they cannot be inspected",
    "use the file system's own tool, for example zpool status",
);

pub(super) const RULES: &[&FindingRule] = &[
    &ACCESS_TIME,
    &NO_BARRIER,
    &JOURNALED_DATA,
    &ONLINE_DISCARD,
    &SYNCHRONOUS,
    &NEARLY_FULL,
    &COPY_ON_WRITE,
    &COMPRESSED,
    &NETWORK,
    &IN_MEMORY,
    &OVERLAY,
    &USER_SPACE,
    &READ_ONLY,
    &NO_DEVICE,
];

const NETWORKED: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "lustre",
    "gpfs",
    "beegfs",
    "orangefs",
    "9p",
    "afs",
    "glusterfs",
    "virtiofs",
    "fuse.glusterfs",
];
const COPYING: [&str; 3] = ["btrfs", "zfs", "bcachefs"];
/// Share of the file system that should stay free.
const FREE_SHARE_MIN: f64 = 0.1;

pub(super) fn find(storage: &Storage, findings: &mut Vec<Finding>) {
    let Some(mount) = &storage.stack.mount else {
        return;
    };
    findings.extend(by_option(mount));
    findings.extend(by_type(mount, storage.stack.layers.is_empty()));
    findings.extend(storage.space.and_then(|space| nearly_full(mount, space)));
}

fn about(mount: &Mount, what: &str) -> String {
    format!("{}: {what}", mount.mount_point)
}

fn option<'a>(mount: &'a Mount, names: &[&str]) -> Option<&'a str> {
    let matches = |option: &&String| names.contains(&option.as_str());
    mount.options.iter().find(matches).map(String::as_str)
}

fn by_option(mount: &Mount) -> Vec<Finding> {
    let table: [(&FindingRule, &[&str]); 6] = [
        (&NO_BARRIER, &["nobarrier", "barrier=0"]),
        (&JOURNALED_DATA, &["data=journal"]),
        (&ONLINE_DISCARD, &["discard", "discard=async", "discard=sync"]),
        (&SYNCHRONOUS, &["sync"]),
        (&ACCESS_TIME, &["strictatime"]),
        (&READ_ONLY, &["ro"]),
    ];
    let found = |(rule, names): (&FindingRule, &[&str])| {
        let value = option(mount, names)?;
        Some(rule.found(about(mount, "mount option"), value))
    };
    let compressed = mount.options.iter().find(|option| option.starts_with("compress"));
    let compressed =
        compressed.map(|option| COMPRESSED.found(about(mount, "mount option"), option.clone()));
    let named = table.into_iter().filter_map(found);
    named.chain(compressed).chain(access_time(mount)).collect()
}

/// Without any word on it, a file system of a device keeps times of access strictly.
fn access_time(mount: &Mount) -> Option<Finding> {
    let lenient = option(mount, &["noatime", "relatime", "strictatime", "ro"]).is_some();
    let strict = mount.device.major != 0 && !lenient;
    strict.then(|| ACCESS_TIME.found(about(mount, "mount option"), "neither noatime nor relatime"))
}

fn by_type(mount: &Mount, without_devices: bool) -> Vec<Finding> {
    let kind = mount.file_system.as_str();
    let user_space = kind.starts_with("fuse") && !NETWORKED.contains(&kind);
    let known = [
        (COPYING.contains(&kind), &COPY_ON_WRITE),
        (NETWORKED.contains(&kind), &NETWORK),
        (matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"), &IN_MEMORY),
        (kind == "overlay", &OVERLAY),
        (user_space, &USER_SPACE),
        (kind == "zfs" && without_devices, &NO_DEVICE),
    ];
    let holds = known.into_iter().filter(|(holds, _)| *holds);
    holds.map(|(_, rule)| rule.found(about(mount, "type of file system"), kind)).collect()
}

fn nearly_full(mount: &Mount, space: Space) -> Option<Finding> {
    let free = share(space.free_bytes, space.capacity_bytes);
    let value = format!("{} free, {:.1}%", show_bytes(real(space.free_bytes)), free * 100.0);
    (space.capacity_bytes > 0 && free < FREE_SHARE_MIN)
        .then(|| NEARLY_FULL.found(about(mount, "free space"), value))
}
