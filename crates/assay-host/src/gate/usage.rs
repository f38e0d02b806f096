//! Whether a block device, or one that shares its blocks, is in use by anybody.

mod processes;

use super::refusal::{InUse, RefusedUsage};
use crate::device::BlockDevice;
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
enum BlockRelation {
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
struct StackMember {
    device: BlockDevice,
    relation: BlockRelation,
}

impl StackMember {
    fn shown(&self) -> Option<String> {
        let word = match self.relation {
            BlockRelation::Target => return None,
            BlockRelation::Partition => "partition",
            BlockRelation::Disk => "the whole disk",
            BlockRelation::Below => "the device below",
            BlockRelation::Twin => "another path to it,",
            BlockRelation::TwinPartition => "a partition over another path,",
        };
        Some(format!("{word} {}", self.device.node()))
    }
}

/// The lists in which users of devices stand.
struct Users<'a> {
    root: &'a SysRoot,
    mounts: Vec<MountEntry>,
    swaps: Vec<BlockDevice>,
    loops: Vec<(BlockDevice, BlockDevice)>,
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
pub(super) fn examine(root: &SysRoot, target: &BlockDevice) -> io::Result<Examined> {
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

fn family(root: &SysRoot, target: &BlockDevice) -> io::Result<Vec<StackMember>> {
    let member = |device, relation| StackMember { device, relation };
    let mut family = vec![member(target.clone(), BlockRelation::Target)];
    let partitions = target.partitions()?;
    family.extend(partitions.into_iter().map(|part| member(part, BlockRelation::Partition)));
    family.extend(target.disk()?.map(|disk| member(disk, BlockRelation::Disk)));
    let mut below = lower_devices(target)?;
    below.retain(|device| family.iter().all(|known| known.device != *device));
    family.extend(below.into_iter().map(|device| member(device, BlockRelation::Below)));
    for twin in twins(root, target)? {
        let partitions = twin.partitions()?;
        let seen_twice = |part| member(part, BlockRelation::TwinPartition);
        family.extend(partitions.into_iter().map(seen_twice));
        family.push(member(twin, BlockRelation::Twin));
    }
    Ok(family)
}

/// Other disks with the same world-wide name: the same disk, where no multipath layer joins its
/// paths.
fn twins(root: &SysRoot, target: &BlockDevice) -> io::Result<Vec<BlockDevice>> {
    let own = target.disk()?.unwrap_or_else(|| target.clone());
    let Some(name) = world_wide_name_of(&own) else {
        return Ok(Vec::new());
    };
    let mut disks = BlockDevice::all_disks(root)?;
    disks.retain(|disk| *disk != own && world_wide_name_of(disk).as_ref() == Some(&name));
    Ok(disks)
}

/// All devices on which the target is built, and the disks of those that are partitions.
fn lower_devices(target: &BlockDevice) -> io::Result<Vec<BlockDevice>> {
    let mut found: Vec<BlockDevice> = Vec::new();
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
    fn usage(&self, member: &StackMember) -> io::Result<Option<RefusedUsage>> {
        let device = &member.device;
        if let Some(mount_point) = self.mount_point(device)? {
            return Ok(Some(RefusedUsage::Mounted { mount_point }));
        }
        if self.swaps.contains(device) {
            return Ok(Some(RefusedUsage::Swap));
        }
        if member.relation == BlockRelation::Below {
            return Ok(None);
        }
        let holder = device.holders()?.into_iter().next();
        let held = holder.map(|holder| described(&holder)).or_else(|| self.loop_on(device));
        Ok(held.map(|by| RefusedUsage::Held { by }).or_else(|| self.processes.usage(device)))
    }

    /// Where a file system on the device is mounted: by number, by node, or as one of several
    /// devices of a btrfs.
    fn mount_point(&self, device: &BlockDevice) -> io::Result<Option<String>> {
        let is_source = |mount: &MountEntry| {
            let source = Path::new(&mount.mount.source);
            source.starts_with("/dev")
                && BlockDevice::by_node(self.root, source).is_ok_and(|source| source == *device)
        };
        let on_device =
            |mount: &&MountEntry| mount.mount.device == device.number() || is_source(mount);
        let found = self.mounts.iter().find(on_device);
        match found {
            Some(mount) => Ok(Some(mount.mount.mount_point.clone())),
            None => self.btrfs(device),
        }
    }

    fn btrfs(&self, device: &BlockDevice) -> io::Result<Option<String>> {
        let place = self.root.path("/sys/fs/btrfs");
        let systems = names_in(&place)?.into_iter();
        let mut holding =
            systems.filter(|uuid| place.join(uuid).join("devices").join(device.name()).exists());
        Ok(holding.next().map(|uuid| format!("some directory as part of btrfs {uuid}")))
    }

    fn loop_on(&self, device: &BlockDevice) -> Option<String> {
        let on_it = |(_, backing): &&(BlockDevice, BlockDevice)| backing == device;
        let (holder, _) = self.loops.iter().find(on_it)?;
        Some(described(holder))
    }
}

fn described(holder: &BlockDevice) -> String {
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
fn swap_devices(root: &SysRoot) -> io::Result<Vec<BlockDevice>> {
    let paths = read_swaps(root)?;
    let nodes = paths.iter().filter(|path| path.starts_with("/dev"));
    nodes.map(|path| BlockDevice::by_node(root, path)).collect()
}

/// What loop devices lie on.
struct LoopDevices {
    /// Those over a device, with that device.
    found: Vec<(BlockDevice, BlockDevice)>,
    /// Those over something that cannot be found here, in sentences.
    unseen: Vec<String>,
}

/// A file that was deleted, or that only another mount namespace has, may have been the node of a
/// device.
fn loop_devices(root: &SysRoot) -> io::Result<LoopDevices> {
    let mut loops = LoopDevices { found: Vec::new(), unseen: Vec::new() };
    for disk in BlockDevice::all_disks(root)? {
        let Some(backing) = disk.backing_file()? else {
            continue;
        };
        if let Ok(below) = BlockDevice::by_node(root, Path::new(&backing)) {
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
    for disk in BlockDevice::all_disks(root)? {
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
