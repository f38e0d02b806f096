//! Block devices as sysfs shows them, and how they lie on one another: disks, partitions, holders
//! and slaves.

use crate::root::{SysRoot, has_gone, names_in, text_of};
use assay_model::stack::DeviceNumber;
use rustix::fs::FileType;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The kernel counts sizes and begins in units of this many bytes, whatever the device's own block
/// is.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// The number in a `stat` structure.
pub(crate) fn number_of(device: rustix::fs::Dev) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

/// One block device of the described system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its directory in sysfs, without symbolic links.
    directory: PathBuf,
    /// The kernel's name; a slash in the node's name is an exclamation mark here.
    name: String,
    /// The kernel's number.
    number: DeviceNumber,
}

impl BlockDevice {
    /// The device of this number.
    ///
    /// # Errors
    /// What the system answered; `NotFound` where it has no such device.
    pub fn by_number(root: &SysRoot, number: DeviceNumber) -> io::Result<Self> {
        Self::at(&root.path(format!("/sys/dev/block/{number}")))
    }

    /// The device of this kernel name.
    ///
    /// # Errors
    /// What the system answered; `NotFound` where it has no such device.
    pub fn by_name(root: &SysRoot, name: &str) -> io::Result<Self> {
        Self::at(&root.path("/sys/class/block").join(name))
    }

    /// The device of a node such as `/dev/sda1`, or of a symbolic link to one such as
    /// `/dev/mapper/vg0-data`.
    ///
    /// # Errors
    /// What the system answered; `NotFound` where the path leads to no node under `/dev`.
    pub fn by_node(root: &SysRoot, node: &Path) -> io::Result<Self> {
        let resolved = fs::canonicalize(root.path(node))?;
        let status = rustix::fs::stat(&resolved)?;
        if FileType::from_raw_mode(status.st_mode) == FileType::BlockDevice {
            return Self::by_number(root, number_of(status.st_rdev));
        }
        let nodes = fs::canonicalize(root.path("/dev"))?;
        let name =
            resolved.strip_prefix(nodes).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        Self::by_name(root, &name.to_string_lossy().replace('/', "!"))
    }

    fn at(place: &Path) -> io::Result<Self> {
        let directory = fs::canonicalize(place)?;
        let name = directory.file_name().unwrap_or_default();
        let text = text_of(&directory.join("dev"))?;
        let number = text
            .parse()
            .map_err(|_| io::Error::other(format!("'{text}' is not a device number")))?;
        Ok(Self { name: name.to_string_lossy().into_owned(), number, directory })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's number.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// The path of its node, for example `/dev/sda1`.
    pub fn node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// Its directory in sysfs, without symbolic links.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The place of one of its attributes, for example `queue/scheduler`.
    pub(crate) fn attribute(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// One of its attributes as text; `None` where it has no such attribute.
    pub(crate) fn text(&self, name: &str) -> io::Result<Option<String>> {
        match text_of(&self.attribute(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if has_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One of its attributes as a number.
    pub(crate) fn number_in(&self, name: &str) -> io::Result<u64> {
        let text = text_of(&self.attribute(name))?;
        text.parse().map_err(|_| io::Error::other(format!("{}/{name} says '{text}'", self.name)))
    }

    /// Size, bytes.
    pub fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.number_in("size")?.saturating_mul(SECTOR_BYTES))
    }

    /// Begin on its disk, bytes; 0 for a whole disk.
    pub fn start_bytes(&self) -> io::Result<u64> {
        if !self.is_partition() {
            return Ok(0);
        }
        Ok(self.number_in("start")?.saturating_mul(SECTOR_BYTES))
    }

    /// Whether the kernel refuses to write to it.
    pub fn is_read_only(&self) -> io::Result<bool> {
        Ok(self.number_in("ro")? != 0)
    }

    /// Whether it is a part of a disk.
    pub fn is_partition(&self) -> bool {
        self.attribute("partition").exists()
    }

    /// The disk that a partition is a part of.
    pub fn disk(&self) -> io::Result<Option<Self>> {
        match self.directory.parent() {
            Some(parent) if self.is_partition() => Self::at(parent).map(Some),
            _ => Ok(None),
        }
    }

    /// The partitions of a disk.
    pub fn partitions(&self) -> io::Result<Vec<Self>> {
        let places = names_in(&self.directory)?;
        places
            .iter()
            .map(|name| self.directory.join(name))
            .filter(|place| place.join("partition").exists())
            .map(|place| Self::at(&place))
            .collect()
    }

    /// The devices that are built on it: device mapper, software RAID, caches.
    pub fn holders(&self) -> io::Result<Vec<Self>> {
        self.linked("holders")
    }

    /// The devices that it is built on.
    pub fn slaves(&self) -> io::Result<Vec<Self>> {
        self.linked("slaves")
    }

    fn linked(&self, list: &str) -> io::Result<Vec<Self>> {
        let place = self.attribute(list);
        let names = names_in(&place)?;
        names.iter().map(|name| Self::at(&place.join(name))).collect()
    }

    /// The file or device under a loop device.
    pub fn backing_file(&self) -> io::Result<Option<String>> {
        self.text("loop/backing_file")
    }

    /// All whole disks of the described system; one that goes while they are listed is not among
    /// them.
    pub fn all_disks(root: &SysRoot) -> io::Result<Vec<Self>> {
        let place = root.path("/sys/block");
        let names = names_in(&place)?;
        let disks = names.iter().map(|name| Self::at(&place.join(name)));
        disks.filter(|disk| !disk.as_ref().is_err_and(has_gone)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeSystem;

    fn names(devices: &[BlockDevice]) -> Vec<&str> {
        devices.iter().map(BlockDevice::name).collect()
    }

    #[test]
    fn relations_lead_up_and_down() {
        let system = FakeSystem::new("relations")
            .disk("sda", "8:0", 1000)
            .partition("sda", "sda1", "8:1", 8, 100)
            .stacked("dm-0", "252:0", 100, &["sda1"]);
        let root = SysRoot::under(system.path());
        let disk = BlockDevice::by_number(&root, "8:0".parse().unwrap()).unwrap();
        let part = BlockDevice::by_name(&root, "sda1").unwrap();
        assert_eq!(names(&disk.partitions().unwrap()), ["sda1"]);
        assert_eq!(part.disk().unwrap(), Some(disk.clone()));
        assert_eq!(disk.disk().unwrap(), None);
        assert_eq!(names(&part.holders().unwrap()), ["dm-0"]);
        let mapped = BlockDevice::by_name(&root, "dm-0").unwrap();
        assert_eq!(names(&mapped.slaves().unwrap()), ["sda1"]);
        assert_eq!(part.start_bytes().unwrap(), 8 * 512);
        assert_eq!(part.size_bytes().unwrap(), 100 * 512);
        assert_eq!(names(&BlockDevice::all_disks(&root).unwrap()), ["dm-0", "sda"]);
    }

    #[test]
    fn a_link_to_a_node_leads_to_the_device() {
        let system = FakeSystem::new("nodes")
            .disk("cciss!c0d0", "104:0", 1000)
            .link("dev/disk/by-id/wwn-1", "../../cciss/c0d0");
        let root = SysRoot::under(system.path());
        let device = BlockDevice::by_node(&root, Path::new("/dev/disk/by-id/wwn-1")).unwrap();
        assert_eq!(device.node(), "/dev/cciss/c0d0");
        assert!(BlockDevice::by_node(&root, Path::new("/dev/nothing")).is_err());
        assert!(BlockDevice::by_node(&root, Path::new("/sys/block")).is_err());
    }

    #[test]
    fn a_disk_that_goes_while_disks_are_listed_is_left_out() {
        let system = FakeSystem::new("going")
            .disk("sda", "8:0", 1000)
            .link("sys/block/loop9", "../devices/virtual/block/loop9");
        let root = SysRoot::under(system.path());
        assert_eq!(names(&BlockDevice::all_disks(&root).unwrap()), ["sda"]);
        assert!(has_gone(&io::Error::from_raw_os_error(19)));
        assert!(!has_gone(&io::Error::from_raw_os_error(13)));
    }

    #[test]
    fn an_attribute_that_is_no_number_is_an_error() {
        let system =
            FakeSystem::new("number").disk("sda", "8:0", 1000).attribute("sda", "ro", "maybe");
        let root = SysRoot::under(system.path());
        let disk = BlockDevice::by_name(&root, "sda").unwrap();
        assert_eq!(disk.is_read_only().unwrap_err().to_string(), "sda/ro says 'maybe'");
    }
}
