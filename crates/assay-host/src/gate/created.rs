//! Test files in a directory that Assay made for this user and nobody removed: found, taken over,
//! cleared away.

use super::SafetyGate;
use super::admission::AdmittedTarget;
use super::file::{check_ours, read_marker, read_only};
use super::lock::LockedFile;
use super::marker::Marker;
use super::open::OpenPlace;
use super::refusal::FileRefusal;
use super::refusal::failed;
use super::spot::Spot;
use assay_model::{Error, Result};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A test file that was found in a directory; both are held since.
#[derive(Debug)]
pub struct Created {
    spot: Spot,
    place: OpenPlace,
    marker: Marker,
}

impl Created {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.spot.path
    }

    /// What its header says.
    pub fn marker(&self) -> &Marker {
        &self.marker
    }
}

impl SafetyGate {
    /// Files in a directory that Assay created for this user and that nobody removed, for example
    /// after the program was killed; sorted by name. Nothing but regular files of this user is
    /// opened.
    pub fn find_created(&self, directory: &Path) -> Result<Vec<Created>> {
        let unreadable = |error: rustix::io::Errno| {
            Error::environment(
                format!("cannot read {}: {}", directory.display(), std::io::Error::from(error)),
                "check the permissions of the directory",
            )
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let held = open(directory, flags, Mode::empty()).map_err(unreadable)?;
        let names = names_in(&held).map_err(unreadable)?;
        let held = Arc::new(held);
        let spot = |name: OsString| Spot {
            path: directory.join(&name),
            directory: Arc::clone(&held),
            name,
        };
        Ok(names.into_iter().filter_map(|name| created_at(spot(name))).collect())
    }

    /// Opens a file that was found for writing.
    pub fn admit_created(&self, created: &Created) -> Result<AdmittedTarget> {
        let mut admission = self.admit_file(created.path(), &created.place)?;
        admission.spot = Some(created.spot.clone());
        Ok(admission)
    }

    /// Removes a file that was found, whole or cut short.
    ///
    /// # Errors
    /// An environment error when anybody uses it, or may on another host, or when its name leads to
    /// something else by now; then it stays.
    pub fn remove_created(&self, created: &Created) -> Result<()> {
        let refused = |refusal: FileRefusal| refusal.of(&created.path().display().to_string());
        let file = created.place.open(OFlags::RDWR);
        let file = file.map_err(|error| refused(read_only(&error.into())))?;
        let file = LockedFile::from(file);
        let marker = check_ours(self.root(), &file).map_err(refused)?;
        if marker.owner != created.marker.owner {
            return Err(refused(FileRefusal::OtherOwner));
        }
        let unlinked = created.spot.unlink(&file);
        unlinked.map_err(|error| failed(created.path(), "removing it", error))
    }
}

/// The names in an open directory, sorted.
fn names_in(directory: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// What lies there, when it is a regular file of this user with a header of its own.
fn created_at(spot: Spot) -> Option<Created> {
    let place = OpenPlace::within(&spot.directory, &spot.name).ok()?;
    let is_mine = place.status.st_uid == geteuid().as_raw();
    if place.file_type() != FileType::RegularFile || !is_mine {
        return None;
    }
    let file = place.open_to_read().ok()?;
    let same = fstat(&file).is_ok_and(|status| place.is_same(&status));
    let marker = read_marker(&file).ok()?;
    (same && marker.inode == place.status.st_ino).then_some(Created { spot, place, marker })
}
