//! What lies under a path: the mount and every layer of block devices down to the hardware.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// The kernel's number of a device, written `8:16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Number of the driver.
    pub major: u32,
    /// Number of the device within the driver.
    pub minor: u32,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Where it is mounted.
    pub mount_point: String,
    /// Type of the file system, for example `ext4`.
    pub file_system: String,
    /// What is mounted: a device, a server's export or a name.
    pub source: String,
    /// Device number of its files; the major is 0 where no single device lies under it.
    pub device: DeviceNumber,
    /// Options of the mount and of the file system, in the kernel's words.
    pub options: Vec<String>,
}

/// What a layer of the stack is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// `NVMe` namespace.
    Nvme,
    /// SCSI, SAS, SATA, iSCSI or Fibre Channel disk.
    Scsi,
    /// Paravirtual disk of KVM and others.
    Virtio,
    /// Paravirtual disk of Xen.
    Xen,
    /// SD card or eMMC.
    Mmc,
    /// IBM mainframe disk.
    Dasd,
    /// Persistent memory.
    Pmem,
    /// Compressed memory.
    Zram,
    /// Memory.
    Ram,
    /// Network block device.
    Nbd,
    /// Ceph image.
    Rbd,
    /// Replicated device.
    Drbd,
    /// ZFS volume.
    Zvol,
    /// Device served by a program in user space.
    Ublk,
    /// Device that stores nothing.
    Null,
    /// Part of a disk.
    Partition,
    /// File as a device.
    Loop,
    /// LVM logical volume.
    Lvm,
    /// Encrypted device (dm-crypt).
    Crypt,
    /// Several paths to one device.
    Multipath,
    /// Any other device-mapper table.
    DeviceMapper,
    /// Linux software RAID.
    Md,
    /// SSD cache over a slower device.
    Bcache,
    /// A device of a kind that is not known here.
    #[default]
    Unknown,
}

/// Settings and limits of a device's request queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// I/O scheduler in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// I/O schedulers on offer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedulers: Vec<String>,
    /// Requests that may be queued, a hardware queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Commands that a SCSI device accepts at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_depth: Option<u64>,
    /// Hardware queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_queues: Option<u64>,
    /// Largest request that is sent, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes_max: Option<u64>,
    /// Whether the kernel believes in a spindle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `write back` or `write through`, as the device says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Whether a write can be forced to stable media (FUA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_unit_access: Option<bool>,
    /// Largest write that the device promises to keep whole over a power cut, bytes; 0 where it
    /// promises nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic_write_bytes_max: Option<u64>,
    /// Smallest addressable unit, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit that is written without reading first, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Smallest I/O that the device likes, bytes; a RAID's chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_io_bytes: Option<u64>,
    /// I/O that the device likes best, bytes; a RAID's stripe; 0 when it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_io_bytes: Option<u64>,
    /// Largest discard, bytes; 0 where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_bytes_max: Option<u64>,
    /// Read-ahead of buffered reads, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// Whether files can be mapped straight to the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dax: Option<bool>,
    /// Whether completions can be polled for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polling: Option<bool>,
    /// Time after which the kernel gives a request up, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
    /// Latency that write-back throttling aims at, ns; 0 when it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writeback_target_ns: Option<u64>,
    /// Where completions run: 0 anywhere, 1 near the submitter, 2 on the submitter's CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_affinity: Option<u64>,
    /// Zone model of a zoned device: `none`, `host-aware` or `host-managed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<String>,
}

/// State of a Linux software RAID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RaidLayer {
    /// Level, for example `raid10`.
    pub level: String,
    /// Members that it should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<u64>,
    /// Members that are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Chunk, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// `idle`, `resync`, `recover`, `check`, `repair` or `reshape`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// Paths to one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Paths {
    /// Paths that are configured.
    pub configured: u64,
    /// Paths whose device says that it is running; not every driver says.
    pub running: u64,
}

/// One block device of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BlockLayer {
    /// The kernel's name, for example `nvme0n1p2`.
    pub name: String,
    /// The kernel's number.
    pub device: DeviceNumber,
    /// What it is.
    pub kind: LayerKind,
    /// Names of the layers directly below it; empty at the bottom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lower: Vec<String>,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Whether the kernel refuses to write to it.
    pub read_only: bool,
    /// Begin of a partition on its disk, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
    /// Bytes by which it is off its device's physical blocks; -1 when the kernel cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<i64>,
    /// Name of a device-mapper table, for example `vg0-data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapped_name: Option<String>,
    /// File under a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// Maker, as the device says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Model, as the device says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Version of the firmware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Serial number, as the device says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// World-wide name or UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_wide_name: Option<String>,
    /// NUMA node that it is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u64>,
    /// Its request queue; a partition uses its disk's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// State of a software RAID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid: Option<RaidLayer>,
    /// Paths of a multipath device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
}

/// From a path to the hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BlockStack {
    /// The path as it was given.
    pub path: String,
    /// The path without symbolic links.
    pub resolved_path: String,
    /// The file system that a file or directory lies on; none for a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount: Option<Mount>,
    /// All block devices under it, from the top down; empty where no device can be found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<BlockLayer>,
}

impl BlockStack {
    /// The layer of this kernel name.
    pub fn layer(&self, name: &str) -> Option<&BlockLayer> {
        self.layers.iter().find(|layer| layer.name == name)
    }

    /// The devices at the bottom: what the kernel knows of the hardware.
    pub fn leaves(&self) -> impl Iterator<Item = &BlockLayer> {
        self.layers.iter().filter(|layer| layer.lower.is_empty())
    }
}

impl BlockLayer {
    /// The path of its node, for example `/dev/sda1`.
    pub fn node(&self) -> String {
        format!("/dev/{}", self.name)
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = crate::Error;
    fn from_str(text: &str) -> crate::Result<Self> {
        let parsed = text.trim().split_once(':').and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            crate::Error::usage(
                format!("'{}' is not a device number", text.trim()),
                "write for example 8:16",
            )
        })
    }
}

impl Serialize for DeviceNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error: crate::Error| {
            de::Error::custom(format!("{}; {}", error.message(), error.hint()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_number_reads_back_as_written() {
        let number: DeviceNumber = "259:7\n".parse().unwrap();
        assert_eq!((number.major, number.minor), (259, 7));
        assert_eq!(number.to_string(), "259:7");
        let error = "vda".parse::<DeviceNumber>().unwrap_err();
        assert_eq!(error.message(), "'vda' is not a device number");
    }

    #[test]
    fn leaves_are_the_layers_with_nothing_below() {
        let stack = BlockStack {
            layers: vec![
                BlockLayer {
                    name: "md0".into(),
                    lower: vec!["sda".into()],
                    ..BlockLayer::default()
                },
                BlockLayer { name: "sda".into(), ..BlockLayer::default() },
            ],
            ..BlockStack::default()
        };
        let leaves: Vec<_> = stack.leaves().map(BlockLayer::node).collect();
        assert_eq!(leaves, ["/dev/sda"]);
        assert_eq!(stack.layer("md0").unwrap().lower, ["sda"]);
    }

    #[test]
    fn unknown_keys_are_refused() {
        let text = r#"{"path":"/x","resolved_path":"/x","colour":"red"}"#;
        assert!(serde_json::from_str::<BlockStack>(text).is_err());
    }
}
