//! Made-up systems for tests: trees of files with the form of sysfs, procfs and `/dev`, in a
//! directory of their own.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests outside the crate, each of which uses a part of it"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A directory that is removed with this value.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new empty directory; `name` helps to recognise it.
    pub fn new(name: &str) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = format!("assay-host-{name}-{}-{number}", std::process::id());
        let place = std::env::temp_dir().join(own);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        Self(fs::canonicalize(place).unwrap())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A system that is put together device by device; sizes and begins are in sectors of 512 bytes.
#[derive(Debug)]
pub struct FakeSystem {
    scratch: Scratch,
}

impl FakeSystem {
    /// A system without devices, mounts and swap.
    pub fn new(name: &str) -> Self {
        let system = Self { scratch: Scratch::new(name) };
        for place in ["sys/block", "sys/class/block", "sys/dev/block", "sys/devices", "dev"] {
            fs::create_dir_all(system.path().join(place)).unwrap();
        }
        system
            .file("proc/self/mountinfo", "")
            .file("proc/swaps", "Filename Type Size Used Priority\n")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// A file of this system.
    pub fn file(self, place: &str, text: &str) -> Self {
        let place = self.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
        self
    }

    /// A symbolic link of this system.
    pub fn link(self, place: &str, target: &str) -> Self {
        let place = self.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(target, place).unwrap();
        self
    }

    /// A whole disk.
    pub fn disk(self, name: &str, number: &str, sectors: u64) -> Self {
        let directory = format!("sys/devices/{name}");
        let absolute = self.path().join(&directory);
        let absolute = absolute.to_str().unwrap().to_owned();
        self.device(&directory, name, number, sectors).link(&format!("sys/block/{name}"), &absolute)
    }

    fn device(self, directory: &str, name: &str, number: &str, sectors: u64) -> Self {
        let absolute = self.path().join(directory);
        for list in ["holders", "slaves"] {
            fs::create_dir_all(absolute.join(list)).unwrap();
        }
        let absolute = absolute.to_str().unwrap().to_owned();
        let node = format!("dev/{}", name.replace('!', "/"));
        self.file(&format!("{directory}/dev"), &format!("{number}\n"))
            .file(&format!("{directory}/size"), &format!("{sectors}\n"))
            .file(&format!("{directory}/ro"), "0\n")
            .file(&node, "")
            .link(&format!("sys/class/block/{name}"), &absolute)
            .link(&format!("sys/dev/block/{number}"), &absolute)
    }

    /// A partition of a disk.
    pub fn partition(self, disk: &str, name: &str, number: &str, start: u64, sectors: u64) -> Self {
        let directory = format!("sys/devices/{disk}/{name}");
        self.device(&directory, name, number, sectors)
            .file(&format!("{directory}/partition"), "1\n")
            .file(&format!("{directory}/start"), &format!("{start}\n"))
    }

    /// A device on others.
    pub fn stacked(self, name: &str, number: &str, sectors: u64, lower: &[&str]) -> Self {
        let mut system = self.disk(name, number, sectors);
        for below in lower {
            let (up, down) = (system.directory(name), system.directory(below));
            symlink(&up, down.join("holders").join(name)).unwrap();
            symlink(&down, up.join("slaves").join(below)).unwrap();
            system = Self { ..system };
        }
        system
    }

    /// A character device next to the disks.
    pub fn character(self, name: &str, number: &str, class: &str) -> Self {
        let directory = self.path().join("sys/devices").join(name);
        let class = self.path().join("sys/class").join(class);
        fs::create_dir_all(&class).unwrap();
        self.link(&format!("sys/devices/{name}/subsystem"), class.to_str().unwrap())
            .link(&format!("sys/dev/char/{number}"), directory.to_str().unwrap())
    }

    /// The character device of an NVMe namespace.
    pub fn namespace(self, name: &str, number: &str) -> Self {
        self.character(name, number, "nvme-generic")
    }

    /// An attribute of a device.
    pub fn attribute(self, device: &str, name: &str, text: &str) -> Self {
        let place = self.directory(device).join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, format!("{text}\n")).unwrap();
        self
    }

    /// A mounted file system.
    pub fn mount(
        self,
        number: &str,
        point: &str,
        file_system: &str,
        source: &str,
        options: &str,
    ) -> Self {
        let place = self.path().join("proc/self/mountinfo");
        let mut text = fs::read_to_string(&place).unwrap();
        let id = text.lines().count() + 20;
        writeln!(text, "{id} 1 {number} / {point} rw - {file_system} {source} {options}").unwrap();
        fs::write(place, text).unwrap();
        self
    }

    /// A swap area in use.
    pub fn swap(self, path: &str) -> Self {
        let place = self.path().join("proc/swaps");
        let mut text = fs::read_to_string(&place).unwrap();
        writeln!(text, "{path} partition 1024 0 -2").unwrap();
        fs::write(place, text).unwrap();
        self
    }

    fn directory(&self, device: &str) -> PathBuf {
        fs::canonicalize(self.path().join("sys/class/block").join(device)).unwrap()
    }
}
