//! From a path to the physical devices: mount, partitions, loop, device mapper, software RAID,
//! disks.

mod identity;
mod kind;
mod layer;

pub use identity::{names_of, serial_of, world_wide_name_of};
pub(crate) use layer::layer_kind;

use crate::device::{BlockDevice, number_of};
use crate::mounts::{MountEntry, find_mount, read_mounts};
use crate::namespace::block_device_of;
use crate::root::{Survey, names_in};
use assay_model::stack::{BlockStack, DeviceNumber, LayerKind, Mount};
use assay_model::{Error, Result};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use std::fs;
use std::path::{Path, PathBuf};

/// What has been found so far on the way down.
struct Walk<'a> {
    survey: &'a Survey<'a>,
    mounts: Vec<MountEntry>,
    stack: BlockStack,
}

/// Follows a path of the running system down to the devices at the bottom. What cannot be read is
/// noted in the survey; a file system without a block device (network, memory) ends the stack at
/// its mount.
///
/// # Errors
/// An environment error when the path does not exist or may not be looked at.
pub fn read_stack(survey: &Survey, path: &Path) -> Result<BlockStack> {
    let refused = |error: std::io::Error| {
        Error::environment(
            format!("cannot inspect {}: {error}", path.display()),
            "check the spelling of the path and the permissions of its directories",
        )
    };
    let resolved = fs::canonicalize(path).map_err(refused)?;
    let status = rustix::fs::stat(&resolved).map_err(|error| refused(error.into()))?;
    let mut walk = Walk::new(survey, path, &resolved);
    if let Some(number) = device_number(survey, &status) {
        walk.descend(number);
    } else {
        let id = mount_id(&resolved);
        let mount = find_mount(&walk.mounts, id, number_of(status.st_dev), &resolved);
        walk.enter_mount(mount, 0);
    }
    Ok(walk.stack)
}

/// The number of the block device that a node stands for: its own, or that of the same NVMe
/// namespace.
fn device_number(survey: &Survey, status: &rustix::fs::Stat) -> Option<DeviceNumber> {
    let number = number_of(status.st_rdev);
    match FileType::from_raw_mode(status.st_mode) {
        FileType::BlockDevice => Some(number),
        FileType::CharacterDevice => {
            block_device_of(survey.root(), number).ok()?.map(|device| device.number())
        }
        _ => None,
    }
}

/// The stack of one device of the described system.
pub fn read_device_stack(survey: &Survey, number: DeviceNumber) -> BlockStack {
    let node = match BlockDevice::by_number(survey.root(), number) {
        Ok(device) => device.node(),
        Err(_) => number.to_string(),
    };
    let mut walk = Walk::new(survey, Path::new(&node), Path::new(&node));
    walk.descend(number);
    walk.stack
}

/// The stack of one mounted file system of the described system.
pub fn read_mount_stack(survey: &Survey, mount_point: &Path) -> BlockStack {
    let mut walk = Walk::new(survey, mount_point, mount_point);
    let mount = find_mount(&walk.mounts, None, DeviceNumber::default(), mount_point);
    walk.enter_mount(mount, 0);
    walk.stack
}

/// The kernel's number of the mount, from Linux 5.8 on.
fn mount_id(path: &Path) -> Option<u64> {
    let status = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::MNT_ID);
    known.then_some(status.stx_mnt_id)
}

/// An overlay in an overlay in an overlay is not followed further.
const OVERLAYS_MAX: u32 = 8;

impl<'a> Walk<'a> {
    fn new(survey: &'a Survey<'a>, path: &Path, resolved: &Path) -> Self {
        let mounts = read_mounts(survey.root()).unwrap_or_else(|error| {
            survey.note("mounted file systems", error.to_string());
            Vec::new()
        });
        let stack = BlockStack {
            path: path.display().to_string(),
            resolved_path: resolved.display().to_string(),
            ..BlockStack::default()
        };
        Self { survey, mounts, stack }
    }

    /// Takes the mount into the stack, if it is the first, and goes on to the devices under it.
    fn enter_mount(&mut self, mount: Option<Mount>, depth: u32) {
        let Some(mount) = mount else {
            self.survey.note("mount of the path", "no mounted file system matches");
            return;
        };
        for number in self.devices_of(&mount) {
            self.descend(number);
        }
        if mount.file_system == "overlay" && depth < OVERLAYS_MAX {
            let upper = mount.options.iter().find_map(|option| option.strip_prefix("upperdir="));
            let below = upper.map(PathBuf::from);
            let below = below
                .and_then(|upper| find_mount(&self.mounts, None, DeviceNumber::default(), &upper));
            self.enter_mount(below, depth + 1);
        }
        // An overlay is entered from the outside in: the outermost mount is set last and stays.
        self.stack.mount = Some(mount);
    }

    /// The device of the mount's number; a file system over several devices has a number of its
    /// own.
    fn devices_of(&self, mount: &Mount) -> Vec<DeviceNumber> {
        if mount.device.major != 0 {
            return vec![mount.device];
        }
        let source = BlockDevice::by_node(self.survey.root(), Path::new(&mount.source)).ok();
        let Some(source) = source else {
            return Vec::new();
        };
        let members = self.btrfs_members(&source);
        if members.is_empty() {
            return vec![source.number()];
        }
        members.iter().map(BlockDevice::number).collect()
    }

    /// All devices of the btrfs that this one belongs to.
    fn btrfs_members(&self, one: &BlockDevice) -> Vec<BlockDevice> {
        let root = self.survey.root();
        let place = root.path("/sys/fs/btrfs");
        let members = |uuid: String| -> Vec<BlockDevice> {
            let names = names_in(&place.join(uuid).join("devices")).unwrap_or_default();
            names.iter().filter_map(|name| BlockDevice::by_name(root, name).ok()).collect()
        };
        let systems = names_in(&place).unwrap_or_default();
        let mut systems = systems.into_iter().map(members);
        systems.find(|devices| devices.contains(one)).unwrap_or_default()
    }

    /// Adds the device and all below it, from the top down, each once.
    fn descend(&mut self, number: DeviceNumber) {
        let root = self.survey.root();
        let device = match BlockDevice::by_number(root, number) {
            Ok(device) => device,
            Err(error) => {
                self.survey.note(format!("block device {number}"), error.to_string());
                return;
            }
        };
        if self.stack.layer(device.name()).is_some() {
            return;
        }
        let place = self.stack.layers.len();
        self.stack.layers.push(layer::read_layer(self.survey, &device));
        let kind = self.stack.layers[place].kind;
        let below = if kind == LayerKind::Loop {
            self.below_loop(&device)
        } else {
            self.directly_below(&device)
        };
        self.stack.layers[place].lower =
            below.iter().map(|device| device.name().to_owned()).collect();
        for device in below {
            self.descend(device.number());
        }
    }

    fn directly_below(&self, device: &BlockDevice) -> Vec<BlockDevice> {
        let found = match device.disk() {
            Ok(None) => device.slaves(),
            other => other.map(|disk| disk.into_iter().collect()),
        };
        found.unwrap_or_else(|error| {
            self.survey.note(format!("{}: devices below", device.node()), error.to_string());
            Vec::new()
        })
    }

    /// The device that a loop's backing file lies on; a backing file may also be a device itself.
    fn below_loop(&self, device: &BlockDevice) -> Vec<BlockDevice> {
        let root = self.survey.root();
        let Ok(Some(backing)) = device.backing_file() else {
            return Vec::new();
        };
        if let Ok(below) = BlockDevice::by_node(root, Path::new(&backing)) {
            return vec![below];
        }
        let mount = find_mount(&self.mounts, None, DeviceNumber::default(), Path::new(&backing));
        let numbers = mount.map(|mount| self.devices_of(&mount)).unwrap_or_default();
        let known = |number: &DeviceNumber| BlockDevice::by_number(root, *number).ok();
        numbers.iter().filter_map(known).collect()
    }
}

#[cfg(test)]
mod tests;
