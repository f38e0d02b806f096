//! What a device says of itself: maker, model, serial number and world-wide name.

use crate::device::BlockDevice;
use assay_model::stack::LayerKind;
use std::fs;

/// The serial number, from wherever the driver shows it; `None` where it has none or only zeros.
pub fn serial_of(device: &BlockDevice) -> Option<String> {
    let plain =
        ["device/serial", "serial"].iter().find_map(|name| meaningful(&device.text(name).ok()??));
    plain.or_else(|| vital_product_data(device))
}

/// The world-wide name of a disk, or the UUID of a mapped device or a software RAID.
pub fn world_wide_name_of(device: &BlockDevice) -> Option<String> {
    ["wwid", "device/wwid", "dm/uuid", "md/uuid"]
        .iter()
        .find_map(|name| meaningful(&device.text(name).ok()??))
}

/// Words by which the user can name the device, so that no other is meant: its serial number, else
/// its world-wide name. A partition is named by its disk.
pub fn names_of(device: &BlockDevice, kind: LayerKind) -> Vec<String> {
    let whole = match (kind, device.disk()) {
        (LayerKind::Partition, Ok(Some(disk))) => disk,
        _ => device.clone(),
    };
    let serial = serial_of(&whole);
    let name = world_wide_name_of(&whole);
    serial.into_iter().chain(name).collect()
}

/// SCSI's page 80: four bytes of header, then the serial number.
fn vital_product_data(device: &BlockDevice) -> Option<String> {
    let page = fs::read(device.attribute("device/vpd_pg80")).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let digits = page.get(4..)?;
    meaningful(&String::from_utf8_lossy(&digits[..length.min(digits.len())]))
}

/// A number of zeros or blanks identifies nothing, with or without its type in front
/// (`eui.0000000000000000`).
fn meaningful(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let number = text.rsplit('.').next().unwrap_or(text);
    let is_given = number.chars().any(|c| c.is_alphanumeric() && c != '0');
    is_given.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::SysRoot;
    use crate::testing::FakeSystem;

    fn device(system: &FakeSystem, name: &str) -> BlockDevice {
        BlockDevice::by_name(&SysRoot::under(system.path()), name).unwrap()
    }

    #[test]
    fn the_serial_comes_from_where_the_driver_shows_it() {
        let system = FakeSystem::new("serial")
            .disk("nvme0n1", "259:0", 100)
            .attribute("nvme0n1", "device/serial", "S4EWNF0M123456      ")
            .attribute("nvme0n1", "wwid", "eui.0025385b")
            .disk("vda", "254:0", 100)
            .attribute("vda", "serial", "vol-0123")
            .disk("sda", "8:0", 100)
            .attribute("sda", "device/vpd_pg80", "\0\u{0}\0\u{8}WD-12345")
            .disk("sdb", "8:16", 100)
            .attribute("sdb", "device/serial", "00000000")
            .attribute("sdb", "wwid", "eui.0000000000000000");
        assert_eq!(serial_of(&device(&system, "nvme0n1")).unwrap(), "S4EWNF0M123456");
        assert_eq!(serial_of(&device(&system, "vda")).unwrap(), "vol-0123");
        assert_eq!(serial_of(&device(&system, "sda")).unwrap(), "WD-12345");
        assert_eq!(serial_of(&device(&system, "sdb")), None);
        assert_eq!(world_wide_name_of(&device(&system, "sdb")), None);
        let names = names_of(&device(&system, "nvme0n1"), LayerKind::Nvme);
        assert_eq!(names, ["S4EWNF0M123456", "eui.0025385b"]);
    }

    #[test]
    fn a_partition_is_named_by_its_disk() {
        let system = FakeSystem::new("disk-serial")
            .disk("sda", "8:0", 100)
            .partition("sda", "sda1", "8:1", 8, 10)
            .attribute("sda", "device/serial", "K7");
        assert_eq!(names_of(&device(&system, "sda1"), LayerKind::Partition), ["K7"]);
    }
}
