//! Which kind of device a kernel name and a device-mapper UUID stand for.

use assay_model::stack::LayerKind;

/// Prefixes of the names that drivers give, longest first where one begins another.
const NAMES: &[(&str, LayerKind)] = &[
    ("nvme", LayerKind::Nvme),
    ("mmcblk", LayerKind::Mmc),
    ("dasd", LayerKind::Dasd),
    ("pmem", LayerKind::Pmem),
    ("zram", LayerKind::Zram),
    ("ram", LayerKind::Ram),
    ("nbd", LayerKind::Nbd),
    ("rbd", LayerKind::Rbd),
    ("drbd", LayerKind::Drbd),
    ("ublkb", LayerKind::Ublk),
    ("nullb", LayerKind::Null),
    ("loop", LayerKind::Loop),
    ("bcache", LayerKind::Bcache),
    ("dm-", LayerKind::DeviceMapper),
    ("xvd", LayerKind::Xen),
    ("vd", LayerKind::Virtio),
    ("sd", LayerKind::Scsi),
    ("md", LayerKind::Md),
    ("zd", LayerKind::Zvol),
];

/// Prefixes of the UUIDs that the tools on top of the device mapper give.
const MAPPED: &[(&str, LayerKind)] = &[
    ("LVM-", LayerKind::Lvm),
    ("CRYPT-", LayerKind::Crypt),
    ("mpath-", LayerKind::Multipath),
    ("part", LayerKind::Partition),
];

/// The kind of a whole device; `uuid` is that of its device-mapper table.
pub(super) fn kind_of(name: &str, uuid: Option<&str>) -> LayerKind {
    let find = |table: &[(&str, LayerKind)], text: &str| {
        let hit = table.iter().find(|(prefix, _)| text.starts_with(prefix));
        hit.map(|(_, kind)| *kind)
    };
    let kind = find(NAMES, name).unwrap_or_default();
    match uuid {
        Some(uuid) if kind == LayerKind::DeviceMapper => find(MAPPED, uuid).unwrap_or(kind),
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_driver() {
        for (name, kind) in [
            ("nvme0n1", LayerKind::Nvme),
            ("sdaa", LayerKind::Scsi),
            ("vdb", LayerKind::Virtio),
            ("md127", LayerKind::Md),
            ("mmcblk0", LayerKind::Mmc),
            ("zram0", LayerKind::Zram),
            ("ram0", LayerKind::Ram),
            ("foo", LayerKind::Unknown),
        ] {
            assert_eq!(kind_of(name, None), kind, "{name}");
        }
    }

    #[test]
    fn the_uuid_tells_who_built_a_mapped_device() {
        assert_eq!(kind_of("dm-0", Some("LVM-abc")), LayerKind::Lvm);
        assert_eq!(kind_of("dm-0", Some("CRYPT-LUKS2-x")), LayerKind::Crypt);
        assert_eq!(kind_of("dm-0", Some("mpath-3600")), LayerKind::Multipath);
        assert_eq!(kind_of("dm-0", Some("part1-mpath-3600")), LayerKind::Partition);
        assert_eq!(kind_of("dm-0", None), LayerKind::DeviceMapper);
        assert_eq!(kind_of("sda", Some("LVM-abc")), LayerKind::Scsi);
    }
}
