//! The kernel's lists of mounted file systems and swap areas.

use crate::root::SysRoot;
use assay_model::stack::{DeviceNumber, Mount};
use std::io;
use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// The kernel's number of the mount.
    pub id: u64,
    /// The directory of the file system that is mounted, `/` unless it is a bind mount or a
    /// subvolume.
    pub directory: String,
    /// The mount.
    pub mount: Mount,
}

/// All mounts that this process sees, in the kernel's order.
///
/// # Errors
/// What the system answered; a line that cannot be understood is an error, because a mount that is
/// overlooked could be overwritten.
pub fn read_mounts(root: &SysRoot) -> io::Result<Vec<MountEntry>> {
    let text = root.text("/proc/self/mountinfo")?;
    text.lines().map(|line| parse_mount(line).ok_or_else(|| malformed(line))).collect()
}

fn malformed(line: &str) -> io::Error {
    io::Error::other(format!("line '{line}' cannot be parsed"))
}

/// The form is described in the manual page `proc_pid_mountinfo(5)`; optional fields end with a
/// lone hyphen.
fn parse_mount(line: &str) -> Option<MountEntry> {
    let (head, tail) = line.split_once(" - ")?;
    let head: Vec<&str> = head.split(' ').collect();
    let mut tail = tail.split(' ');
    let (file_system, source) = (tail.next()?, tail.next()?);
    let options = head.get(5)?.split(',').chain(tail.next()?.split(','));
    let mut all: Vec<String> = Vec::new();
    for option in options.filter(|option| !option.is_empty()) {
        if !all.iter().any(|known| known == option) {
            all.push(option.to_owned());
        }
    }
    Some(MountEntry {
        id: head.first()?.parse().ok()?,
        directory: unescape(head.get(3)?),
        mount: Mount {
            mount_point: unescape(head.get(4)?),
            file_system: unescape(file_system),
            source: unescape(source),
            device: head.get(2)?.parse().ok()?,
            options: all,
        },
    })
}

/// Undoes the kernel's octal escapes of white space and backslash: `\040` is a blank.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = (first == b'\\').then(|| octal_byte(tail)).flatten();
        bytes.push(octal.unwrap_or(first));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

/// The mount that holds a file: by the mount's number where the kernel gives it, else by the device
/// number, else (subvolumes have device numbers of their own) by the longest mount point that the
/// path lies under.
pub fn find_mount(
    mounts: &[MountEntry],
    id: Option<u64>,
    device: DeviceNumber,
    resolved: &Path,
) -> Option<Mount> {
    let under = |entry: &&MountEntry| resolved.starts_with(&entry.mount.mount_point);
    let depth = |entry: &&MountEntry| entry.mount.mount_point.len();
    let by_id = || mounts.iter().find(|entry| Some(entry.id) == id);
    let by_device = || {
        let same = mounts.iter().filter(|entry| entry.mount.device == device);
        same.filter(under).max_by_key(depth)
    };
    let by_path = || mounts.iter().filter(under).max_by_key(depth);
    let found = by_id().or_else(by_device).or_else(by_path)?;
    Some(found.mount.clone())
}

/// Paths of the swap areas in use: devices and files.
///
/// # Errors
/// What the system answered; a kernel without swap has no list, which is not an error.
pub fn read_swaps(root: &SysRoot) -> io::Result<Vec<PathBuf>> {
    let text = match root.text("/proc/swaps") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let first_word =
        |line: &str| line.split_whitespace().next().map(|word| PathBuf::from(unescape(word)));
    Ok(text.lines().skip(1).filter_map(first_word).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::fs;

    const LINES: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 0:40 /@srv /srv rw,noatime shared:1 master:2 - btrfs /dev/sdb1 rw,compress=zstd:1
32 27 8:17 / /my\\040data rw - xfs /dev/sdc1 rw,noquota
33 27 0:50 / /net rw - nfs4 server:/export rw,vers=4.2
";

    fn system(mounts: &str, swaps: &str) -> (Scratch, SysRoot) {
        let scratch = Scratch::new("mounts");
        fs::create_dir_all(scratch.path().join("proc/self")).unwrap();
        fs::write(scratch.path().join("proc/self/mountinfo"), mounts).unwrap();
        fs::write(scratch.path().join("proc/swaps"), swaps).unwrap();
        let root = SysRoot::under(scratch.path());
        (scratch, root)
    }

    #[test]
    fn every_field_of_a_mount_is_read() {
        let (_scratch, root) = system(LINES, "");
        let mounts = read_mounts(&root).unwrap();
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].directory, "/@srv");
        assert_eq!(mounts[1].mount.options, ["rw", "noatime", "compress=zstd:1"]);
        assert_eq!(mounts[2].mount.mount_point, "/my data");
        assert_eq!(mounts[3].mount.source, "server:/export");
    }

    #[test]
    fn a_mount_that_is_not_understood_is_never_overlooked() {
        let (_scratch, root) = system("27 1 254:0 / /", "");
        assert!(read_mounts(&root).is_err());
    }

    #[test]
    fn the_mount_is_found_by_number_device_and_path() {
        let (_scratch, root) = system(LINES, "");
        let mounts = read_mounts(&root).unwrap();
        let find = |id, device: &str, path: &str| {
            find_mount(&mounts, id, device.parse().unwrap(), Path::new(path))
                .map(|mount| mount.mount_point)
        };
        assert_eq!(find(Some(31), "9:9", "/"), Some("/srv".into()));
        assert_eq!(find(None, "254:0", "/var/x"), Some("/".into()));
        assert_eq!(find(None, "0:41", "/srv/x"), Some("/srv".into()));
    }

    #[test]
    fn swap_areas_are_devices_and_files() {
        let swaps =
            "Filename\t\t\t\tType\n/dev/sda2  partition 1 0 -2\n/swap\\040file file 1 0 -3\n";
        let (_scratch, root) = system("", swaps);
        let paths = read_swaps(&root).unwrap();
        assert_eq!(paths, [Path::new("/dev/sda2"), Path::new("/swap file")]);
    }

    #[test]
    fn escapes_at_the_end_are_left_alone() {
        assert_eq!(unescape("a\\134b\\04"), "a\\b\\04");
    }
}
