//! NVMe namespaces by their character devices: which block device is the same namespace, and its
//! driver's information of it.

use crate::device::BlockDevice;
use crate::root::SysRoot;
use assay_model::stack::DeviceNumber;
use std::fs;
use std::io;

/// The class of these devices in sysfs.
const CLASS: &str = "nvme-generic";

/// The block device of the namespace whose character device has this number; `None` where it is
/// another character device.
///
/// # Errors
/// What the system answered; `NotFound` where the namespace has no block device, as other sets of
/// commands have none.
pub(crate) fn block_device_of(
    root: &SysRoot,
    number: DeviceNumber,
) -> io::Result<Option<BlockDevice>> {
    let Ok(directory) = fs::canonicalize(root.path(format!("/sys/dev/char/{number}"))) else {
        return Ok(None);
    };
    let class = fs::canonicalize(directory.join("subsystem")).unwrap_or_default();
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let Some(rest) = name.strip_prefix("ng").filter(|_| class.ends_with(CLASS)) else {
        return Ok(None);
    };
    let device = BlockDevice::by_name(root, &format!("nvme{rest}"))?;
    // Both hang on the same controller or, with several paths, on the same subsystem.
    if device.is_partition() || device.directory().parent() != directory.parent() {
        return Err(io::Error::other(format!("{} is not the same namespace", device.node())));
    }
    Ok(Some(device))
}

/// What the driver says of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamespaceQueue {
    /// Its number on the controller.
    pub(crate) id: u32,
    /// The most that the driver moves by one command, bytes: what the drive allows (MDTS), or
    /// less.
    pub(crate) transfer_bytes_max: u64,
    /// Whether completions can be polled for.
    pub(crate) polls: bool,
}

impl NamespaceQueue {
    /// Reads it from the block device.
    ///
    /// # Errors
    /// What the system answered.
    pub(crate) fn read(device: &BlockDevice) -> io::Result<Self> {
        let id = device.number_in("nsid")?;
        Ok(Self {
            id: u32::try_from(id).map_err(io::Error::other)?,
            transfer_bytes_max: device.number_in("queue/max_hw_sectors_kb")?.saturating_mul(1024),
            polls: device.text("queue/io_poll")?.as_deref() == Some("1"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeSystem;

    fn root(system: &FakeSystem) -> SysRoot {
        SysRoot::under(system.path())
    }

    fn found(system: &FakeSystem, number: &str) -> Result<Option<String>, String> {
        let found = block_device_of(&root(system), number.parse().unwrap());
        found.map(|device| device.map(|device| device.node())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_character_device_leads_to_the_block_device_of_its_namespace() {
        let system = FakeSystem::new("namespace")
            .disk("nvme0n1", "259:0", 1000)
            .disk("nvme0n2", "259:1", 1000)
            .namespace("ng0n1", "240:0")
            .namespace("ng0n2", "240:1");
        assert_eq!(found(&system, "240:0"), Ok(Some("/dev/nvme0n1".to_owned())));
        assert_eq!(found(&system, "240:1"), Ok(Some("/dev/nvme0n2".to_owned())));
        assert_eq!(found(&system, "1:3"), Ok(None));
    }

    #[test]
    fn a_namespace_without_block_device_or_of_another_controller_is_an_error() {
        let alone = FakeSystem::new("alone").namespace("ng0n1", "240:0");
        assert!(found(&alone, "240:0").is_err());
        let apart = FakeSystem::new("apart").namespace("ng0n1", "240:0");
        let apart =
            apart.file("sys/other/nvme0n1/dev", "259:0").file("sys/other/nvme0n1/size", "1");
        let place = apart.path().join("sys/other/nvme0n1");
        let apart = apart.link("sys/class/block/nvme0n1", place.to_str().unwrap());
        assert_eq!(
            found(&apart, "240:0"),
            Err("/dev/nvme0n1 is not the same namespace".to_owned())
        );
    }

    #[test]
    fn a_device_of_another_class_is_no_namespace() {
        let system = FakeSystem::new("class").disk("nvme0n1", "259:0", 1000);
        let system = system.character("ng0n1", "10:1", "misc").character("nvme0", "243:0", "nvme");
        assert_eq!(found(&system, "10:1"), Ok(None));
        assert_eq!(found(&system, "243:0"), Ok(None));
    }

    #[test]
    fn the_driver_says_how_much_a_command_moves_and_whether_it_polls() {
        let system = FakeSystem::new("limits")
            .disk("nvme0n1", "259:0", 1000)
            .attribute("nvme0n1", "nsid", "7")
            .attribute("nvme0n1", "queue/max_hw_sectors_kb", "512");
        let device = BlockDevice::by_name(&root(&system), "nvme0n1").unwrap();
        let queue = NamespaceQueue { id: 7, transfer_bytes_max: 512 << 10, polls: false };
        assert_eq!(NamespaceQueue::read(&device).unwrap(), queue);
        let system = system.attribute("nvme0n1", "queue/io_poll", "1");
        assert!(NamespaceQueue::read(&device).unwrap().polls);
        drop(system);
    }
}
