//! Where the name of a file stands: its directory, held open, and its name there.

use super::refusal::{PathRefusal, failed};
use super::unlink::unlink_same;
use assay_model::Result;
use rustix::fs::{Mode, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory that is held open, and the name in it.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) directory: Arc<OwnedFd>,
    pub(super) name: OsString,
    pub(super) path: PathBuf,
}

impl Spot {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let name = path.file_name().ok_or_else(|| PathRefusal::Missing.of(&shown))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self::within(parent.unwrap_or(Path::new(".")), name)
    }

    pub(super) fn within(directory: &Path, name: &OsStr) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::empty());
        let opened = opened
            .map_err(|error| failed(&directory.join(name), "opening the directory", error))?;
        Ok(Self { directory: Arc::new(opened), name: name.to_owned(), path: directory.join(name) })
    }

    /// Removes the name if it still leads to this file.
    pub(super) fn unlink(&self, file: &File) -> rustix::io::Result<()> {
        unlink_same(&self.directory, &self.name, file)
    }
}
