//! An open target and what may be done with it: the same open file is checked, held and used.

use super::lock::LockedFile;
use super::marker::{DATA_START_BYTES, Marker, OwnerId};
use super::namespace::AdmittedNamespace;
use super::open::size_of;
use super::refusal::PathRefusal;
use super::spot::Spot;
use assay_model::stack::DeviceNumber;
use assay_model::target::{DirectIo, TargetKind};
use assay_model::{Error, Result};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, fdatasync, fstat, open};
use rustix::io::Errno;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What may be done with an open target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// It is open for reading only.
    Read,
    /// It may be read and overwritten within its range.
    Write,
}

/// A target that passed the gate. It owns the open file; a device stays exclusively held, and a
/// file that Assay created stays locked, until this value is dropped.
#[derive(Debug)]
pub struct AdmittedTarget {
    pub(super) file: LockedFile,
    pub(super) path: PathBuf,
    pub(super) mode: AccessMode,
    pub(super) kind: TargetKind,
    pub(super) device: DeviceNumber,
    pub(super) inode: u64,
    pub(super) size_bytes: u64,
    pub(super) range: Range<u64>,
    pub(super) logical_block_bytes: u64,
    pub(super) physical_block_bytes: Option<u64>,
    pub(super) marker: Option<Marker>,
    /// Its character device, where it was given by that.
    pub(super) namespace: Option<AdmittedNamespace>,
    pub(super) seen: Vec<String>,
    pub(super) unseen: Vec<String>,
    /// Where its name stands, when it was made or found in a directory that is held since.
    pub(super) spot: Option<Spot>,
}

impl AdmittedTarget {
    /// The open file; its offset is nobody's, so use positions.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What may be done.
    pub fn mode(&self) -> AccessMode {
        self.mode
    }

    /// File, block device, or block device that is reached past the block layer.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Number of the device itself, or of the device that a file lies on (major 0 where there is
    /// none).
    pub fn device(&self) -> DeviceNumber {
        self.device
    }

    /// Size when it was opened, bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The bytes that may be read or, where writing is allowed, overwritten. It begins behind our
    /// own header and ends at a multiple of 4 KiB.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Bytes of data: what of the target I/O may touch.
    pub fn data_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Whether a transfer lies wholly in the range.
    pub fn contains(&self, offset: u64, length: u64) -> bool {
        let end = offset.checked_add(length);
        offset >= self.range.start && end.is_some_and(|end| end <= self.range.end)
    }

    /// Smallest addressable unit of the storage below, bytes; direct I/O must be aligned to it.
    pub fn logical_block_bytes(&self) -> u64 {
        self.logical_block_bytes
    }

    /// Smallest unit that the storage below writes without reading first, bytes, where known.
    pub fn physical_block_bytes(&self) -> Option<u64> {
        self.physical_block_bytes
    }

    /// The character device of the NVMe namespace, where the target was given by that.
    pub fn namespace(&self) -> Option<&AdmittedNamespace> {
        self.namespace.as_ref()
    }

    /// The header of a file that Assay created.
    pub fn marker(&self) -> Option<&Marker> {
        self.marker.as_ref()
    }

    /// The owner of a file that Assay created.
    pub fn owner(&self) -> Option<OwnerId> {
        self.marker.as_ref().map(|marker| marker.owner)
    }

    /// What a reader of the result should know of how it was admitted, in sentences.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Users of a device that nobody could look for, in sentences.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// Checks that transfers of this size fit in and are aligned.
    ///
    /// # Errors
    /// A usage error that names the size and the block.
    pub fn check_transfer(&self, block_size_bytes: u64) -> Result<()> {
        let (block, path) = (self.logical_block_bytes, self.path.display());
        if block_size_bytes == 0 || !block_size_bytes.is_multiple_of(block) {
            return Err(Error::usage(
                format!(
                    "a block size of {block_size_bytes} bytes is not aligned to the blocks of {path}"
                ),
                format!("use a multiple of {block} bytes"),
            ));
        }
        if block_size_bytes > self.range.end - self.range.start {
            return Err(Error::usage(
                format!("a block size of {block_size_bytes} bytes does not fit into {path}"),
                "use a smaller block size or a larger target",
            ));
        }
        Ok(())
    }

    /// Turns direct I/O on or off for everybody who uses this open file; says what the file system
    /// answered.
    pub fn set_direct(&self, direct: bool) -> DirectIo {
        // Some file systems, such as those in user space, hear of it only when a file is opened.
        let asked = if direct { self.open_direct() } else { Ok(()) };
        let set = asked.and_then(|()| fcntl_getfl(&self.file));
        let set = set.and_then(|mut flags| {
            flags.set(OFlags::DIRECT, direct);
            fcntl_setfl(&self.file, flags)
        });
        match set {
            Ok(()) => DirectIo::Supported { offset_alignment_bytes: self.logical_block_bytes },
            Err(error) => DirectIo::Refused { reason: std::io::Error::from(error).to_string() },
        }
    }

    /// Opens the same target once more past the page cache; only a refusal of that matters here.
    fn open_direct(&self) -> rustix::io::Result<()> {
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        match open(own, flags, Mode::empty()) {
            Err(Errno::INVAL) => Err(Errno::INVAL),
            _ => Ok(()),
        }
    }

    /// What sets the target apart from all others: two paths to one file, or two nodes of one
    /// device, are the same.
    pub fn identity(&self) -> (DeviceNumber, u64) {
        match self.kind {
            TargetKind::BlockDevice | TargetKind::NvmeNamespace => (self.device, 0),
            TargetKind::File => (self.device, self.inode),
        }
    }

    /// Checks that the target is still what was admitted: the same device or file with the same
    /// size.
    ///
    /// # Errors
    /// An environment error that says what changed.
    pub fn recheck(&self) -> Result<()> {
        let changed =
            |what: String| PathRefusal::Changed { what }.of(&self.path.display().to_string());
        let status = fstat(&self.file)
            .map_err(|error| changed(format!("it could not be inspected ({error})")))?;
        let size = size_of(&self.file, &status)
            .map_err(|error| changed(format!("its size could not be read ({error})")))?;
        if status.st_ino != self.inode || size != self.size_bytes {
            return Err(changed(format!(
                "its size changed from {} to {size} bytes",
                self.size_bytes
            )));
        }
        Ok(())
    }

    /// Notes in the header of a file that Assay created how much of it is filled, and with what.
    /// The data must have been synced before; the header is when this returns.
    ///
    /// # Panics
    /// When the target is not such a file or is open for reading only: a bug of the caller.
    pub fn record_content(&mut self, filled_bytes: u64, content: &str) -> Result<()> {
        assert!(self.mode == AccessMode::Write, "a header is written where writing is allowed");
        let Some(marker) = &mut self.marker else {
            panic!("only a file that Assay created has a header");
        };
        marker.filled_bytes = filled_bytes;
        content.clone_into(&mut marker.content);
        write_header(&self.file, marker).map_err(|error| {
            Error::environment(
                format!("cannot write the header of {}: {error}", self.path.display()),
                "check the state of its file system",
            )
        })
    }
}

impl AsFd for AdmittedTarget {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Writes and syncs a header; its memory is aligned, so that it can also be written by direct I/O.
pub(super) fn write_header(file: &File, marker: &Marker) -> std::io::Result<()> {
    file.write_all_at(&marker.to_block().0, 0)?;
    Ok(fdatasync(file)?)
}

/// The range behind the header, cut to blocks.
pub(super) fn data_range(size_bytes: u64, own_header: bool) -> Range<u64> {
    const BLOCK: u64 = 4096;
    let start = if own_header { DATA_START_BYTES } else { 0 };
    let end = size_bytes / BLOCK * BLOCK;
    start..end.max(start)
}
