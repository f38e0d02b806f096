//! Opens a path in two steps, so that nothing is touched before it is known what it is, and what
//! was looked at is what is opened.

use super::refusal::PathRefusal;
use crate::device::number_of;
use assay_model::stack::DeviceNumber;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, SeekFrom, Stat};
use rustix::fs::{fstat, open, openat, openat2, seek};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A path that was looked at and not yet opened for reading or writing.
#[derive(Debug)]
pub(super) struct OpenPlace {
    /// A handle that stands for what the path leads to, and allows nothing but to look.
    handle: OwnedFd,
    /// What it is.
    pub(super) status: Stat,
    /// Whether the path itself is a symbolic link.
    pub(super) is_link: bool,
}

impl OpenPlace {
    /// Looks at a path, through symbolic links.
    pub(super) fn look(path: &Path) -> Result<Self, PathRefusal> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = open(path, flags, Mode::empty()).map_err(refused)?;
        let status = fstat(&handle).map_err(refused)?;
        let itself = open(path, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(refused)?;
        let itself = fstat(&itself).map_err(refused)?;
        let is_link = FileType::from_raw_mode(itself.st_mode) == FileType::Symlink;
        Ok(Self { handle, status, is_link })
    }

    /// Looks at a name in a directory that is held, and follows no link.
    pub(super) fn within(directory: &impl AsFd, name: &OsStr) -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let bounds = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let handle = match openat2(directory, name, flags, Mode::empty(), bounds) {
            // Kernels before 5.6, and what forbids what it does not know.
            Err(Errno::NOSYS | Errno::PERM) => openat(directory, name, flags, Mode::empty())?,
            other => other?,
        };
        let status = fstat(&handle)?;
        let is_link = FileType::from_raw_mode(status.st_mode) == FileType::Symlink;
        Ok(Self { handle, status, is_link })
    }

    pub(super) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.status.st_mode)
    }

    /// Number of a device node.
    pub(super) fn device_number(&self) -> DeviceNumber {
        number_of(self.status.st_rdev)
    }

    /// Opens exactly what was looked at, whatever the path leads to by now. A pipe, whose opening
    /// would wait, is recognised before this.
    pub(super) fn open(&self, flags: OFlags) -> rustix::io::Result<File> {
        let own = PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()));
        let file = openat(CWD, own, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?;
        Ok(File::from(file))
    }

    /// Opens it for reading, without leaving a time of access where that is allowed.
    pub(super) fn open_to_read(&self) -> Result<File, PathRefusal> {
        let quiet = self.open(OFlags::RDONLY | OFlags::NOATIME);
        let opened = match quiet {
            Err(Errno::PERM) => self.open(OFlags::RDONLY),
            other => other,
        };
        opened.map_err(|error| match error {
            // It was there a moment ago.
            Errno::NOENT => {
                PathRefusal::NotOpened { reason: "it vanished, or /proc is not mounted".into() }
            }
            other => refused(other),
        })
    }

    /// Whether this open file is what was looked at.
    pub(super) fn is_same(&self, other: &Stat) -> bool {
        let key = |status: &Stat| (status.st_dev, status.st_ino, status.st_rdev);
        key(&self.status) == key(other)
    }
}

fn refused(error: Errno) -> PathRefusal {
    if error == Errno::NOENT || error == Errno::NOTDIR {
        return PathRefusal::Missing;
    }
    PathRefusal::NotOpened { reason: io::Error::from(error).to_string() }
}

/// What to call a kind that cannot be measured; `None` for a file and a block device.
pub(super) fn unmeasurable(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile | FileType::BlockDevice => None,
        FileType::Directory => Some("directory"),
        FileType::CharacterDevice => Some("character device"),
        FileType::Fifo => Some("named pipe"),
        FileType::Socket => Some("socket"),
        _ => Some("thing of unknown kind"),
    }
}

/// Size of an open file or device, bytes; asked of the open file itself.
pub(super) fn size_of(file: &File, status: &Stat) -> io::Result<u64> {
    if FileType::from_raw_mode(status.st_mode) != FileType::BlockDevice {
        return Ok(u64::try_from(status.st_size).unwrap_or_default());
    }
    let size = seek(file, SeekFrom::End(0))?;
    seek(file, SeekFrom::Start(0))?;
    Ok(size)
}
