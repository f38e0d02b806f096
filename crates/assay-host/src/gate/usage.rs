//! Whether a block device, or one that shares its blocks, is in use by anybody.

mod processes;

use super::refusal::{InUse, Usage};
use crate::device::Device;
use crate::mounts::{MountEntry, read_mounts, read_swaps};
use crate::root::{SysRoot, names_in};
use crate::stack::{layer_kind, world_wide_name_of};
use assay_model::stack::LayerKind;
use processes::{Processes, read_processes};
use std::fs;
use std::io;
use std::path::Path;

/// How a device shares blocks with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// It is the target.
    Target,
    /// It is a part of the target.
    Partition,
    /// The target is a part of it.
    Disk,
    /// The target is built on it.
    Below,
    /// It is the target's disk, seen over another path.
    Twin,
    /// It is a part of the target's disk, seen over another path.
    TwinPartition,
}

/// A device that shares blocks with the target.
#[derive(Clone, Debug)]
struct Member {
    device: Device,
    relation: Relation,
}

impl Member {
    fn shown(&self) -> Option<String> {
        let word = match self.relation {
            Relation::Target => return None,
            Relation::Partition => "partition",
            Relation::Disk => "the whole disk",
            Relation::Below => "the device below",
            Relation::Twin => "another path to it,",
            Relation::TwinPartition => "a partition over another path,",
        };
        Some(format!("{word} {}", self.device.node()))
    }
}

/// The lists in which users of devices stand.
struct Users<'a> {
    root: &'a SysRoot,
    mounts: Vec<MountEntry>,
    swaps: Vec<Device>,
    loops: Vec<(Device, Device)>,
    processes: Processes,
}

/// What was found besides a use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Examined {
    /// The first use that was found.
    pub(super) in_use: Option<InUse>,
    /// What could not be looked at, in sentences.
    pub(super) unseen: Vec<String>,
}

/// Looks for a user of the device, of its partitions, of its disk and of the devices below it.
///
/// # Errors
/// What could not be read: then the device cannot be shown to be unused.
pub(super) fn examine(root: &SysRoot, target: &Device) -> io::Result<Examined> {
    let (processes, loops) = (read_processes(root)?, loop_devices(root)?);
    let mut unseen = processes.unseen();
    unseen.extend(loops.unseen);
    let users = Users {
        root,
        mounts: read_mounts(root)?,
        swaps: swap_devices(root)?,
        loops: loops.found,
        processes,
    };
    let mut in_use = None;
    for member in family(root, target)? {
        if in_use.is_none() {
            in_use = users.usage(&member)?.map(|usage| InUse { relation: member.shown(), usage });
        }
    }
    Ok(Examined { in_use, unseen })
}

fn family(root: &SysRoot, target: &Device) -> io::Result<Vec<Member>> {
    let member = |device, relation| Member { device, relation };
    let mut family = vec![member(target.clone(), Relation::Target)];
    let partitions = target.partitions()?;
    family.extend(partitions.into_iter().map(|part| member(part, Relation::Partition)));
    family.extend(target.disk()?.map(|disk| member(disk, Relation::Disk)));
    let mut below = lower_devices(target)?;
    below.retain(|device| family.iter().all(|known| known.device != *device));
    family.extend(below.into_iter().map(|device| member(device, Relation::Below)));
    for twin in twins(root, target)? {
        let partitions = twin.partitions()?;
        let seen_twice = |part| member(part, Relation::TwinPartition);
        family.extend(partitions.into_iter().map(seen_twice));
        family.push(member(twin, Relation::Twin));
    }
    Ok(family)
}

/// Other disks with the same world-wide name: the same disk, where no multipath layer joins its
/// paths.
fn twins(root: &SysRoot, target: &Device) -> io::Result<Vec<Device>> {
    let own = target.disk()?.unwrap_or_else(|| target.clone());
    let Some(name) = world_wide_name_of(&own) else {
        return Ok(Vec::new());
    };
    let mut disks = Device::all_disks(root)?;
    disks.retain(|disk| *disk != own && world_wide_name_of(disk).as_ref() == Some(&name));
    Ok(disks)
}

/// All devices on which the target is built, and the disks of those that are partitions.
fn lower_devices(target: &Device) -> io::Result<Vec<Device>> {
    let mut found: Vec<Device> = Vec::new();
    let mut open = vec![target.clone()];
    while let Some(device) = open.pop() {
        for lower in device.slaves()?.into_iter().chain(device.disk()?) {
            if !found.contains(&lower) {
                found.push(lower.clone());
                open.push(lower);
            }
        }
    }
    Ok(found)
}

impl Users<'_> {
    /// What is below the target is held by the target itself, and may carry other devices as well.
    fn usage(&self, member: &Member) -> io::Result<Option<Usage>> {
        let device = &member.device;
        if let Some(mount_point) = self.mount_point(device)? {
            return Ok(Some(Usage::Mounted { mount_point }));
        }
        if self.swaps.contains(device) {
            return Ok(Some(Usage::Swap));
        }
        if member.relation == Relation::Below {
            return Ok(None);
        }
        let holder = device.holders()?.into_iter().next();
        let held = holder.map(|holder| described(&holder)).or_else(|| self.loop_on(device));
        Ok(held.map(|by| Usage::Held { by }).or_else(|| self.processes.usage(device)))
    }

    /// Where a file system on the device is mounted: by number, by node, or as one of several
    /// devices of a btrfs.
    fn mount_point(&self, device: &Device) -> io::Result<Option<String>> {
        let is_source = |mount: &MountEntry| {
            let source = Path::new(&mount.mount.source);
            source.starts_with("/dev")
                && Device::by_node(self.root, source).is_ok_and(|source| source == *device)
        };
        let on_device =
            |mount: &&MountEntry| mount.mount.device == device.number() || is_source(mount);
        let found = self.mounts.iter().find(on_device);
        match found {
            Some(mount) => Ok(Some(mount.mount.mount_point.clone())),
            None => self.btrfs(device),
        }
    }

    fn btrfs(&self, device: &Device) -> io::Result<Option<String>> {
        let place = self.root.path("/sys/fs/btrfs");
        let systems = names_in(&place)?.into_iter();
        let mut holding =
            systems.filter(|uuid| place.join(uuid).join("devices").join(device.name()).exists());
        Ok(holding.next().map(|uuid| format!("some directory as part of btrfs {uuid}")))
    }

    fn loop_on(&self, device: &Device) -> Option<String> {
        let on_it = |(_, backing): &&(Device, Device)| backing == device;
        let (holder, _) = self.loops.iter().find(on_it)?;
        Some(described(holder))
    }
}

fn described(holder: &Device) -> String {
    let uuid = holder.text("dm/uuid").ok().flatten();
    let kind = match layer_kind(holder, uuid.as_deref()) {
        LayerKind::Lvm => "LVM volume",
        LayerKind::Crypt => "encrypted volume",
        LayerKind::Multipath => "multipath device",
        LayerKind::Md => "RAID",
        LayerKind::Loop => "loop device",
        LayerKind::Bcache => "cache device",
        _ => "device",
    };
    format!("{kind} {}", holder.node())
}

/// Swap areas that are devices; a swap file is protected by the mount that it lies on.
fn swap_devices(root: &SysRoot) -> io::Result<Vec<Device>> {
    let paths = read_swaps(root)?;
    let nodes = paths.iter().filter(|path| path.starts_with("/dev"));
    nodes.map(|path| Device::by_node(root, path)).collect()
}

/// What loop devices lie on.
struct Loops {
    /// Those over a device, with that device.
    found: Vec<(Device, Device)>,
    /// Those over something that cannot be found here, in sentences.
    unseen: Vec<String>,
}

/// A file that was deleted, or that only another mount namespace has, may have been the node of a
/// device.
fn loop_devices(root: &SysRoot) -> io::Result<Loops> {
    let mut loops = Loops { found: Vec::new(), unseen: Vec::new() };
    for disk in Device::all_disks(root)? {
        let Some(backing) = disk.backing_file()? else {
            continue;
        };
        if let Ok(below) = Device::by_node(root, Path::new(&backing)) {
            loops.found.push((disk, below));
        } else if fs::metadata(root.path(&backing)).is_err() {
            let node = disk.node();
            loops.unseen.push(format!("the device below {node} could not be inspected: {backing}"));
        }
    }
    Ok(loops)
}

/// The loop device or swap area that uses this file, if any does.
pub(super) fn file_user(
    root: &SysRoot,
    same_file: impl Fn(&Path) -> bool,
) -> io::Result<Option<String>> {
    for disk in Device::all_disks(root)? {
        if disk.backing_file()?.is_some_and(|backing| same_file(Path::new(&backing))) {
            return Ok(Some(described(&disk)));
        }
    }
    let swaps = read_swaps(root)?;
    let swap = swaps.iter().find(|path| !path.starts_with("/dev") && same_file(path));
    Ok(swap.map(|_| "the swapper".to_owned()))
}

#[cfg(test)]
mod tests;
