//! The decision on a regular file: only one that Assay created, still what it was created as, may
//! be written to.

use super::lock::LockedFile;
use super::marker::{HEADER_BYTES, Marker, MarkerError, OwnerProcess};
use super::refusal::FileRefusal;
use super::usage::file_user;
use crate::root::SysRoot;
use rustix::fs::{Stat, fstat};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// The header of an open file; `None` where there is no Assay header, whole or damaged.
pub(super) fn read_marker(file: &File) -> Result<Marker, MarkerError> {
    let mut header = [0; HEADER_BYTES];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => Marker::parse(&header),
        Err(_) => Err(MarkerError::Foreign),
    }
}

/// Checks that an open file may be written to, by its own descriptor, and locks it.
pub(super) fn check_created(root: &SysRoot, file: &LockedFile) -> Result<Marker, FileRefusal> {
    let marker = check_ours(root, file)?;
    let status = fstat(file).map_err(|error| read_only(&error.into()))?;
    let size_bytes = u64::try_from(status.st_size).unwrap_or_default();
    if marker.size_bytes == size_bytes {
        return Ok(marker);
    }
    Err(FileRefusal::Resized { header_bytes: marker.size_bytes, size_bytes })
}

/// Checks that Assay created an open file for this user and that nobody uses it, and locks it. Its
/// size may be another: the program may have been killed before the space was allocated. File
/// systems whose files change their numbers, such as FAT after a new mount, make a file look like a
/// copy; then it is refused, which loses nothing.
pub(super) fn check_ours(root: &SysRoot, file: &LockedFile) -> Result<Marker, FileRefusal> {
    let status = fstat(file).map_err(|error| read_only(&error.into()))?;
    let links = links(&status);
    if links != 1 {
        return Err(FileRefusal::HardLinks(links));
    }
    if status.st_uid != geteuid().as_raw() {
        return Err(FileRefusal::OtherUser(status.st_uid));
    }
    let marker = read_marker(file).map_err(|error| match error {
        MarkerError::Foreign => FileRefusal::NotOurs,
        MarkerError::Format(format) => FileRefusal::Format(format),
        MarkerError::Damaged => FileRefusal::Damaged,
    })?;
    if marker.inode != status.st_ino {
        return Err(FileRefusal::Copy);
    }
    check_users(root, &status)?;
    if marker.maker.is_some_and(|maker| maker.is_elsewhere(&OwnerProcess::here(root))) {
        return Err(FileRefusal::OtherHost);
    }
    file.lock_surely()?;
    Ok(marker)
}

/// The type of this field differs between architectures.
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "needed on some architectures"
)]
fn links(status: &Stat) -> u64 {
    u64::try_from(status.st_nlink).unwrap_or(u64::MAX)
}

/// A loop device or the swapper does not show itself in the file.
fn check_users(root: &SysRoot, status: &Stat) -> Result<(), FileRefusal> {
    let same = |path: &Path| {
        let other = fs::metadata(path);
        other.is_ok_and(|other| (other.dev(), other.ino()) == (status.st_dev, status.st_ino))
    };
    match file_user(root, same) {
        Ok(None) => Ok(()),
        Ok(Some(by)) => Err(FileRefusal::InUse { by }),
        Err(error) => Err(FileRefusal::InUse {
            by: format!(
                "possibly something: the list of loop devices and swap areas cannot be read \
                 ({error}), which"
            ),
        }),
    }
}

pub(super) fn read_only(error: &io::Error) -> FileRefusal {
    FileRefusal::ReadOnly { reason: error.to_string() }
}
