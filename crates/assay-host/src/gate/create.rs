//! Creates files to measure on, and removes them again: never anything that was not created here.

use super::SafetyGate;
use super::admission::{AccessMode, AdmittedTarget, data_range, write_header};
use super::lock::LockedFile;
use super::marker::{DATA_START_BYTES, Marker, OwnerId, OwnerProcess};
use super::refusal::{CreateRefusal, FileRefusal, PathRefusal, failed};
use super::spot::Spot;
use crate::clock::unix_ns;
use crate::device::number_of;
use assay_model::Result;
use assay_model::target::TargetKind;
use rustix::fs::{FallocateFlags, Mode, OFlags, StatVfs};
use rustix::fs::{fallocate, fstat, fstatvfs, fsync, ftruncate, openat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// Least size of a file that is created: its header's room and as much data, bytes.
pub const FILE_BYTES_MIN: u64 = 2 * DATA_START_BYTES;

/// Space that is left free when a file is created: 5% of the file system, at most 1 GiB.
/// File systems slow down when they are full, and others may share this one.
pub fn reserve_bytes(capacity_bytes: u64) -> u64 {
    (capacity_bytes / 20).min(1 << 30)
}

impl SafetyGate {
    /// Creates a file of `size_bytes` to measure on, at a new path or, under a name of its own, in
    /// a directory. The space is allocated where the file system can, the header is written and
    /// synced, and the file is locked; its data is for the caller to write before it is read.
    ///
    /// # Errors
    /// An environment error when something of that name exists, the space does not suffice (see
    /// [`reserve_bytes`]) or the system refuses; then nothing is left behind.
    pub fn create_file(&self, path: &Path, size_bytes: u64) -> Result<AdmittedTarget> {
        let owner = new_owner(path)?;
        let spot = if path.is_dir() {
            let name = format!("assay-{}.dat", &owner.to_string()[..12]);
            Spot::within(path, OsStr::new(&name))?
        } else {
            Spot::of(path)?
        };
        let shown = spot.path.display().to_string();
        if size_bytes < FILE_BYTES_MIN {
            let least_bytes = FILE_BYTES_MIN;
            let small = PathRefusal::TooSmall { size_bytes, least_bytes };
            return Err(small.of(&shown));
        }
        check_space(&spot, size_bytes)?;
        let file = LockedFile::from(create(&spot)?);
        // Locked before it can be known as ours: nobody may take it for one that was left behind.
        file.lock().map_err(|refusal| refusal.of(&shown))?;
        match prepare(&file, size_bytes, owner, OwnerProcess::here(self.root())) {
            Ok(marker) => self.admit_new(spot, file, marker),
            Err((doing, error)) => {
                // The failure is what the user must hear of; a name that cannot be removed again
                // stays visible.
                let _ = spot.unlink(&file);
                Err(failed(&spot.path, doing, error))
            }
        }
    }

    fn admit_new(&self, spot: Spot, file: LockedFile, marker: Marker) -> Result<AdmittedTarget> {
        fsync(&spot.directory)
            .map_err(|error| failed(&spot.path, "syncing the directory", error))?;
        let status = fstat(&file).map_err(|error| failed(&spot.path, "inspecting it", error))?;
        let device = number_of(status.st_dev);
        let (logical, physical) = self.blocks_under(&file, device);
        Ok(AdmittedTarget {
            range: data_range(marker.size_bytes, true),
            size_bytes: marker.size_bytes,
            inode: status.st_ino,
            path: spot.path.clone(),
            mode: AccessMode::Write,
            kind: TargetKind::File,
            logical_block_bytes: logical,
            physical_block_bytes: physical,
            marker: Some(marker),
            namespace: None,
            seen: Vec::new(),
            unseen: Vec::new(),
            spot: Some(spot),
            device,
            file,
        })
    }

    /// Makes an admitted file that Assay created larger, in place; what is filled of it stays. The
    /// header says the new size before the space is allocated, so that a file that is left
    /// behind when the program is killed is known as ours.
    ///
    /// # Errors
    /// An environment error when the space does not suffice (see [`reserve_bytes`]) or the system
    /// refuses; then the file keeps its size.
    ///
    /// # Panics
    /// When Assay did not create the file, or it would become smaller: a bug of the caller.
    pub fn extend_file(&self, admission: &mut AdmittedTarget, size_bytes: u64) -> Result<()> {
        let before_bytes = admission.size_bytes;
        assert!(size_bytes >= before_bytes, "a file is never cut");
        let (Some(spot), Some(marker)) = (&admission.spot, &admission.marker) else {
            panic!("only a file that Assay created is made larger");
        };
        check_more_space(spot, size_bytes, size_bytes - before_bytes)?;
        let path = &admission.path;
        let header = |size_bytes| {
            write_header(&admission.file, &Marker { size_bytes, ..marker.clone() }).map_err(
                |error| {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
                    failed(path, "writing its header", errno)
                },
            )
        };
        header(size_bytes)?;
        if let Err(error) = allocate(&admission.file, size_bytes) {
            // What the user must hear of is the failure; a size that cannot be put back is refused
            // by the next run.
            let _ = ftruncate(&admission.file, before_bytes);
            let _ = header(before_bytes);
            return Err(failed(path, "allocating its space", error));
        }
        if let Some(marker) = &mut admission.marker {
            marker.size_bytes = size_bytes;
        }
        admission.size_bytes = size_bytes;
        admission.range = data_range(size_bytes, true);
        Ok(())
    }

    /// Removes an admitted file that Assay created, under the lock that came with its admission: it
    /// goes even while an I/O on it has not come back. Its space is free when the last handle
    /// is closed.
    ///
    /// # Errors
    /// An environment error when Assay did not create it, somebody else measures on it, or its path
    /// leads to something else by now; then it stays.
    pub fn remove(&self, admission: &AdmittedTarget) -> Result<()> {
        let path = admission.path();
        let refused = |refusal: FileRefusal| refusal.of(&path.display().to_string());
        if admission.marker.is_none() {
            return Err(refused(FileRefusal::NotOurs));
        }
        let unlinked = if let Some(spot) = &admission.spot {
            // Made or taken over here, so that its lock is ours where there are locks at all.
            spot.unlink(&admission.file)
        } else {
            // One that is open for reading only has no lock yet.
            admission.file.lock_surely().map_err(refused)?;
            Spot::of(path)?.unlink(&admission.file)
        };
        unlinked.map_err(|error| failed(path, "removing it", error))
    }
}

pub(super) fn new_owner(path: &Path) -> Result<OwnerId> {
    let mut bytes = [0; 16];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    let drawn = drawn.map_err(|error| failed(path, "drawing an owner id", error))?;
    if drawn == bytes.len() {
        return Ok(OwnerId(bytes));
    }
    Err(failed(path, "drawing an owner id", Errno::IO))
}

pub(super) fn check_space(spot: &Spot, size_bytes: u64) -> Result<()> {
    check_more_space(spot, size_bytes, size_bytes)
}

/// Whether a file may have `size_bytes`, for which `more_bytes` are still to be allocated.
fn check_more_space(spot: &Spot, size_bytes: u64, more_bytes: u64) -> Result<()> {
    let shown = spot.path.display().to_string();
    if let Some(limit_bytes) =
        getrlimit(Resource::Fsize).current.filter(|limit| *limit < size_bytes)
    {
        return Err(CreateRefusal::Limit { limit_bytes }.of(&shown));
    }
    let space = fstatvfs(&spot.directory);
    let space = space.map_err(|error| failed(&spot.path, "asking for free space", error))?;
    let (capacity_bytes, free_bytes) = capacity_and_free(&space);
    let reserve_bytes = reserve_bytes(capacity_bytes);
    if more_bytes.saturating_add(reserve_bytes) > free_bytes {
        let refusal =
            CreateRefusal::NoSpace { wanted_bytes: more_bytes, free_bytes, reserve_bytes };
        return Err(refusal.of(&shown));
    }
    Ok(())
}

/// Size of a file system and what is free on it for this user, bytes.
pub(crate) fn capacity_and_free(space: &StatVfs) -> (u64, u64) {
    let unit = space.f_frsize;
    (space.f_blocks.saturating_mul(unit), space.f_bavail.saturating_mul(unit))
}

fn create(spot: &Spot) -> Result<File> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
    match openat(&spot.directory, &spot.name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::EXIST) => Err(CreateRefusal::Exists.of(&spot.path.display().to_string())),
        Err(error) => Err(failed(&spot.path, "creating it", error)),
    }
}

/// Gives a new file its header and its space. The header comes first, so that a file that is left
/// behind when the program is killed is known as ours.
fn prepare(
    file: &File,
    size_bytes: u64,
    owner: OwnerId,
    maker: OwnerProcess,
) -> std::result::Result<Marker, (&'static str, Errno)> {
    let status = fstat(file).map_err(|error| ("inspecting it", error))?;
    let marker = Marker {
        owner,
        size_bytes,
        inode: status.st_ino,
        created_unix_ns: unix_ns(),
        filled_bytes: 0,
        content: String::new(),
        maker: Some(maker),
    };
    write_header(file, &marker).map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        ("writing its header", errno)
    })?;
    allocate(file, size_bytes).map_err(|error| ("allocating its space", error))?;
    Ok(marker)
}

/// Where the file system cannot allocate ahead, the file only gets its size.
fn allocate(file: &File, size_bytes: u64) -> rustix::io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => ftruncate(file, size_bytes)?,
        other => other?,
    }
    fsync(file)
}
