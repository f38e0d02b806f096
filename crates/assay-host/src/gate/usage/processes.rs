//! Which devices other processes have open or mapped for writing, by the numbers of the devices:
//! through which node, under which name, in which root directory or mount namespace does not
//! matter.

use super::super::refusal::RefusedUsage;
use crate::device::{BlockDevice, number_of};
use crate::namespace::block_device_of;
use crate::root::{SysRoot, names_in};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, stat, statx};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::Path;

/// How a process writes to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsageWay {
    Open,
    Mapped,
}

/// What was seen of all other processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    users: Vec<(BlockDevice, UsageWay, String)>,
    /// How many do not show their open files.
    hidden: u64,
    /// How many do not show what they have mapped.
    hidden_maps: u64,
}

impl Processes {
    /// The use of a device by the first process that writes to it.
    pub(super) fn usage(&self, device: &BlockDevice) -> Option<RefusedUsage> {
        let (_, way, by) = self.users.iter().find(|(used, ..)| used == device)?;
        Some(match way {
            UsageWay::Open => RefusedUsage::Open { by: by.clone() },
            UsageWay::Mapped => RefusedUsage::Mapped { by: by.clone() },
        })
    }

    /// What could not be looked at, in sentences.
    pub(super) fn unseen(&self) -> Vec<String> {
        let lists = [("open files", self.hidden), ("mapped files", self.hidden_maps)];
        let hidden = lists.into_iter().filter(|(_, count)| *count > 0);
        let unseen = hidden.map(|(what, count)| {
            format!("{what} of {count} other processes could not be inspected")
        });
        unseen.collect()
    }
}

/// Looks at all processes but this one.
///
/// # Errors
/// What the system answered when there is no list of processes.
pub(super) fn read_processes(root: &SysRoot) -> io::Result<Processes> {
    let own = std::process::id().to_string();
    let is_process = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own;
    let mut seen = Processes::default();
    for number in names_in(&root.path("/proc"))?.into_iter().filter(is_process) {
        let place = root.path("/proc").join(&number);
        match names_in(&place.join("fd")) {
            Ok(files) => {
                let open = open_in(root, &place, &files);
                seen.hidden += u64::from(open.is_hidden);
                seen.note(root, &number, UsageWay::Open, open.devices);
            }
            Err(error) => seen.hidden += u64::from(!is_over(&error)),
        }
        match fs::read(place.join("maps")) {
            Ok(maps) => {
                let mapped = mapped_in(root, &place, &String::from_utf8_lossy(&maps));
                seen.note(root, &number, UsageWay::Mapped, mapped);
            }
            Err(error) if is_over(&error) => {}
            Err(_) => seen.hidden_maps += 1,
        }
    }
    Ok(seen)
}

/// Whether there is nothing to look at: the process has ended, or a made-up system has no such
/// list.
fn is_over(error: &io::Error) -> bool {
    let has_ended = error.raw_os_error() == Some(Errno::SRCH.raw_os_error());
    has_ended || error.kind() == io::ErrorKind::NotFound
}

impl Processes {
    fn note(&mut self, root: &SysRoot, process: &str, way: UsageWay, devices: Vec<BlockDevice>) {
        if devices.is_empty() {
            return;
        }
        let command = root.text(format!("/proc/{process}/comm")).unwrap_or_default();
        let by = format!("process {process} ({command})");
        self.users.extend(devices.into_iter().map(|device| (device, way, by.clone())));
    }
}

/// What was seen of the open files of a process.
struct OpenFiles {
    devices: Vec<BlockDevice>,
    /// Whether one of them may not be looked at.
    is_hidden: bool,
}

fn open_in(root: &SysRoot, process: &Path, files: &[String]) -> OpenFiles {
    let mut open = OpenFiles { devices: Vec::new(), is_hidden: false };
    for file in files {
        match device_at(root, &process.join("fd").join(file)) {
            Ok(Some(device)) if for_writing(process, file) => open.devices.push(device),
            Err(Errno::ACCESS | Errno::PERM) => open.is_hidden = true,
            // It is something else, or was closed meanwhile.
            Ok(_) | Err(_) => {}
        }
    }
    open
}

/// Whether an open file may be written through; what cannot be read counts as yes.
fn for_writing(process: &Path, file: &str) -> bool {
    const ACCESS_MODE: u32 = 3;
    let Ok(text) = fs::read_to_string(process.join("fdinfo").join(file)) else {
        return true;
    };
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok());
    flags.is_none_or(|flags| flags & ACCESS_MODE != 0)
}

/// Devices behind shared mappings that can be written: a line is `begin-end rights offset device
/// inode path`.
fn mapped_in(root: &SysRoot, process: &Path, maps: &str) -> Vec<BlockDevice> {
    let device_of = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (range, rights) = (fields.next()?, fields.next()?);
        let is_written = rights.as_bytes().get(1) == Some(&b'w') && rights.ends_with('s');
        let path = fields.nth(3).filter(|path| is_written && path.starts_with('/'))?;
        let (link, inside) = (process.join("map_files").join(range), path.trim_start_matches('/'));
        // Who may not follow the link of the mapping follows its name where that process sees it.
        let named = || device_at(root, &process.join("root").join(inside)).ok().flatten();
        let found = device_at(root, &link).ok().flatten().or_else(named);
        found.or_else(|| BlockDevice::by_node(root, Path::new(path)).ok())
    };
    maps.lines().filter_map(device_of).collect()
}

/// The device behind a link of the kernel or a node, also behind the character device of an NVMe
/// namespace; none where it is anything else.
fn device_at(root: &SysRoot, link: &Path) -> rustix::io::Result<Option<BlockDevice>> {
    match device_number_at(link) {
        Ok(Some((FileType::BlockDevice, number))) => {
            Ok(BlockDevice::by_number(root, number_of(number)).ok())
        }
        Ok(Some((_, number))) => Ok(block_device_of(root, number_of(number)).ok().flatten()),
        // In a made-up system a node is an empty file, known by its name.
        other => {
            let node = fs::read_link(link).ok().filter(|node| node.starts_with("/dev"));
            let device = node.and_then(|node| BlockDevice::by_node(root, &node).ok());
            device.map_or_else(|| other.map(|_| None), |device| Ok(Some(device)))
        }
    }
}

/// The kind and number of a device, without asking a server of files that may never answer.
fn device_number_at(link: &Path) -> rustix::io::Result<Option<(FileType, rustix::fs::Dev)>> {
    let device = |mode, number| {
        let kind = FileType::from_raw_mode(mode);
        let is_device = matches!(kind, FileType::BlockDevice | FileType::CharacterDevice);
        is_device.then_some((kind, number))
    };
    match statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE) {
        // Kernels before 4.11 have no such call.
        Err(Errno::NOSYS) => stat(link).map(|status| device(status.st_mode, status.st_rdev)),
        status => status.map(|status| {
            device(status.stx_mode.into(), makedev(status.stx_rdev_major, status.stx_rdev_minor))
        }),
    }
}
