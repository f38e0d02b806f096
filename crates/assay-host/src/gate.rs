//! The safety gate: the only way to an open target. Reading is the default; writing needs a file
//! that Assay created, or a block device that is unused, carries nothing known, and was named by
//! the user.

mod admission;
mod create;
mod created;
mod device;
mod directory;
mod file;
mod lock;
mod mark;
mod marker;
mod namespace;
mod open;
mod refusal;
mod size;
mod spot;
mod unlink;
mod usage;
mod wipe;

pub use admission::{AccessMode, AdmittedTarget};
pub(crate) use create::capacity_and_free;
pub use create::{FILE_BYTES_MIN, reserve_bytes};
pub use created::Created;
pub use directory::{DIRECTORY_PREFIX, LeftoverDirectory, Leftovers, OwnedDirectory};
pub use marker::{DATA_START_BYTES, HEADER_BYTES, Marker, MarkerError, OwnerId, OwnerProcess};
pub use namespace::AdmittedNamespace;
pub use refusal::{CreateRefusal, DeviceRefusal, FileRefusal, InUse, PathRefusal, RefusedUsage};
pub use size::{SizeInputs, SizePlan, plan_file_size};

use crate::device::{BlockDevice, number_of};
use crate::namespace::{NamespaceQueue, block_device_of};
use crate::root::SysRoot;
use crate::signatures::{FileImage, Image};
use admission::data_range;
use assay_model::stack::DeviceNumber;
use assay_model::target::TargetKind;
use assay_model::{Error, Result};
use device::DeviceCandidate;
use lock::LockedFile;
use open::{OpenPlace, size_of, unmeasurable};
use rustix::fs::{Advice, AtFlags, FileType, OFlags, Stat, StatxFlags, fadvise, fstat, statx};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Least size of a target, bytes.
pub const TARGET_BYTES_MIN: u64 = 1 << 20;

/// Where the file system does not say, as on a network or in memory, bytes.
const LOGICAL_BLOCK_BYTES: u64 = 512;

/// What a person gives up of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataLossPermission<'a> {
    /// The device: its serial number or, where it has none, its exact size.
    pub token: Option<&'a str>,
    /// The known data on it: the words of all that is found there, joined by commas; nothing, or
    /// `none`, where nothing is found.
    pub wipe: Option<&'a str>,
}

impl<'a> DataLossPermission<'a> {
    /// A device that carries nothing known.
    pub fn device(token: &'a str) -> Self {
        Self { token: Some(token), wipe: None }
    }
}

/// Decides on targets of one system.
#[derive(Clone, Debug)]
pub struct SafetyGate {
    root: SysRoot,
}

/// What a path leads to.
struct LookedPath {
    /// What is admitted: a file or a block device.
    place: OpenPlace,
    /// The character device of the same namespace, where the path is one.
    character: Option<OpenPlace>,
}

impl SafetyGate {
    /// The gate of a system; on a computer, of [`SysRoot::live`].
    pub fn new(root: SysRoot) -> Self {
        Self { root }
    }

    /// The system that it decides on.
    pub fn root(&self) -> &SysRoot {
        &self.root
    }

    /// Opens a regular file or a block device for reading only; symbolic links are followed. The
    /// character device of an NVMe namespace is opened with its block device, by which
    /// everything is decided.
    ///
    /// # Errors
    /// An environment error when the path is missing, of another kind, too small or not readable.
    pub fn admit_read(&self, path: &Path) -> Result<AdmittedTarget> {
        let shown = path.display().to_string();
        let LookedPath { place, character } = self.look(path, &shown)?;
        let refused = |refusal: PathRefusal| refusal.of(&shown);
        let file = place.open_to_read().map_err(refused)?;
        let status = verify(&place, &file, &shown)?;
        let admission = self.finish(path, file.into(), &status, AccessMode::Read)?;
        self.with_namespace(admission, character.as_ref())
    }

    /// Opens a target for writing. A regular file must be one that Assay created (what is given up
    /// means nothing for it); a block device must be unused and given up.
    ///
    /// # Errors
    /// An environment error that names what is in the way; then nothing was written.
    pub fn admit_write(
        &self,
        path: &Path,
        given_up: DataLossPermission<'_>,
    ) -> Result<AdmittedTarget> {
        let shown = path.display().to_string();
        let LookedPath { place, character } = self.look(path, &shown)?;
        if place.file_type() == FileType::BlockDevice {
            let admission = self.admit_device(path, &place, given_up)?;
            return self.with_namespace(admission, character.as_ref());
        }
        let refused = |refusal: FileRefusal| refusal.of(&shown);
        if place.is_link {
            return Err(refused(FileRefusal::Link));
        }
        self.admit_file(path, &place)
    }

    /// A regular file that was looked at.
    fn admit_file(&self, path: &Path, place: &OpenPlace) -> Result<AdmittedTarget> {
        let shown = path.display().to_string();
        let refused = |refusal: FileRefusal| refusal.of(&shown);
        // The header is read before the file is opened for writing: a foreign file is not even
        // opened so.
        let reader = place.open_to_read().map_err(|refusal| refusal.of(&shown))?;
        let reader = LockedFile::from(reader);
        file::check_created(&self.root, &reader).map_err(refused)?;
        drop(reader);
        let file = place.open(OFlags::RDWR);
        let file = file.map_err(|error| refused(file::read_only(&error.into())))?;
        let file = LockedFile::from(file);
        file::check_created(&self.root, &file).map_err(refused)?;
        let status = verify(place, &file, &shown)?;
        self.finish(path, file, &status, AccessMode::Write)
    }

    fn admit_device(
        &self,
        path: &Path,
        place: &OpenPlace,
        given_up: DataLossPermission<'_>,
    ) -> Result<AdmittedTarget> {
        let shown = path.display().to_string();
        let number = place.device_number();
        let before = self.candidate(number, &shown)?;
        before.check_use()?;
        let Some(token) = given_up.token.filter(|token| before.is_named_by(token)) else {
            let reader = place.open_to_read().map_err(|refusal| refusal.of(&shown))?;
            let seen = self.check_content(&before, &reader, place, given_up.wipe)?;
            return Err(before.refuse_token(given_up.token, seen.join("; ")));
        };
        let file = open_exclusively(place, &shown)?;
        let status = verify(place, &file, &shown)?;
        let held = self.candidate(number, &shown)?;
        let size = size_of(&file, &status)
            .map_err(|error| changed(&shown, format!("its size could not be read ({error})")))?;
        if held.identity() != before.identity()
            || size != held.size_bytes
            || !held.is_named_by(token)
        {
            return Err(changed(&shown, "the device was replaced or resized".into()));
        }
        // Nobody can mount, hold or swap to it any more, so what is seen now stays true.
        let unseen = held.check_use()?;
        let seen = self.check_content(&held, &file, place, given_up.wipe)?;
        let mut admission = self.finish(path, file.into(), &status, AccessMode::Write)?;
        (admission.seen, admission.unseen) = (seen, unseen);
        Ok(admission)
    }

    fn look(&self, path: &Path, shown: &str) -> Result<LookedPath> {
        let place = OpenPlace::look(path).map_err(|refusal| refusal.of(shown))?;
        if place.file_type() == FileType::CharacterDevice {
            let device = block_device_of(&self.root, place.device_number());
            let device = device
                .map_err(|error| unclear(shown, "the block device of the namespace", &error))?;
            if let Some(device) = device {
                let block = self.node_of(&device).map_err(|error| unclear(shown, "it", &error))?;
                return Ok(LookedPath { place: block, character: Some(place) });
            }
        }
        match unmeasurable(place.file_type()) {
            Some(kind) => Err(PathRefusal::WrongKind { kind }.of(shown)),
            None => Ok(LookedPath { place, character: None }),
        }
    }

    /// An admitted block device, with its character device where the path was that.
    fn with_namespace(
        &self,
        mut admission: AdmittedTarget,
        character: Option<&OpenPlace>,
    ) -> Result<AdmittedTarget> {
        let Some(place) = character else { return Ok(admission) };
        let shown = admission.path().display().to_string();
        let flags = match admission.mode() {
            AccessMode::Read => OFlags::RDONLY,
            AccessMode::Write => OFlags::RDWR,
        };
        let file = place.open(flags).map_err(|error| {
            PathRefusal::NotOpened { reason: io::Error::from(error).to_string() }.of(&shown)
        })?;
        verify(place, &file, &shown)?;
        let queue = BlockDevice::by_number(&self.root, admission.device());
        let queue = queue.and_then(|device| NamespaceQueue::read(&device));
        let queue = queue.map_err(|error| unclear(&shown, "its driver's information", &error))?;
        admission.kind = TargetKind::NvmeNamespace;
        admission.namespace = Some(AdmittedNamespace { file, queue });
        Ok(admission)
    }

    fn candidate(&self, number: DeviceNumber, shown: &str) -> Result<DeviceCandidate<'_>> {
        let device = BlockDevice::by_number(&self.root, number)
            .map_err(|error| unclear(shown, "its entry in sysfs", &error))?;
        DeviceCandidate::read(&self.root, device, shown)
    }

    /// Looks for known data on the device and, when it is a partition, on its disk.
    fn check_content(
        &self,
        candidate: &DeviceCandidate,
        file: &File,
        place: &OpenPlace,
        wipe: Option<&str>,
    ) -> Result<Vec<String>> {
        advise(file, Advice::Random);
        let image = FileImage::new(file, candidate.size_bytes);
        let disk = self.open_disk(place.device_number());
        let disk = disk.map_err(|error| unclear(candidate.path(), "the disk around it", &error))?;
        let disk_image = disk.as_ref().map(|(disk, size)| FileImage::new(disk, *size));
        let around = disk_image.as_ref().map(|image| -> &dyn Image { image });
        let seen = candidate.check_content(&image, around, wipe);
        advise(file, Advice::Normal);
        seen
    }

    fn open_disk(&self, number: DeviceNumber) -> io::Result<Option<(File, u64)>> {
        let Some(disk) = BlockDevice::by_number(&self.root, number)?.disk()? else {
            return Ok(None);
        };
        let place = self.node_of(&disk)?;
        Ok(Some((place.open(OFlags::RDONLY)?, disk.size_bytes()?)))
    }

    /// The node of a block device under `/dev`.
    fn node_of(&self, device: &BlockDevice) -> io::Result<OpenPlace> {
        let place = OpenPlace::look(&self.root.path(device.node()));
        let same = place.ok().filter(|place| {
            place.file_type() == FileType::BlockDevice && place.device_number() == device.number()
        });
        same.ok_or_else(|| io::Error::other(format!("{} is not its node", device.node())))
    }

    fn finish(
        &self,
        path: &Path,
        file: LockedFile,
        status: &Stat,
        mode: AccessMode,
    ) -> Result<AdmittedTarget> {
        let shown = path.display().to_string();
        let size_bytes = size_of(&file, status)
            .map_err(|error| changed(&shown, format!("its size could not be read ({error})")))?;
        if size_bytes < TARGET_BYTES_MIN {
            let least_bytes = TARGET_BYTES_MIN;
            let small = PathRefusal::TooSmall { size_bytes, least_bytes };
            return Err(small.of(&shown));
        }
        let is_device = FileType::from_raw_mode(status.st_mode) == FileType::BlockDevice;
        let kind = if is_device { TargetKind::BlockDevice } else { TargetKind::File };
        let device = number_of(if is_device { status.st_rdev } else { status.st_dev });
        let marker = file::read_marker(&file)
            .ok()
            .filter(|marker| !is_device && marker.inode == status.st_ino);
        let (logical_block_bytes, physical_block_bytes) = self.blocks_under(&file, device);
        Ok(AdmittedTarget {
            path: path.to_owned(),
            range: data_range(size_bytes, marker.is_some()),
            inode: status.st_ino,
            seen: Vec::new(),
            unseen: Vec::new(),
            spot: None,
            mode,
            kind,
            device,
            size_bytes,
            logical_block_bytes,
            physical_block_bytes,
            marker,
            namespace: None,
            file,
        })
    }

    /// Logical and physical block of the storage under an open file, bytes: what the file system
    /// asks of direct I/O, else what the device says.
    fn blocks_under(&self, file: &File, number: DeviceNumber) -> (u64, Option<u64>) {
        let device = BlockDevice::by_number(&self.root, number).ok();
        let disk = device.as_ref().and_then(|device| device.disk().ok().flatten());
        let attribute = |name: &str| -> Option<u64> {
            let queue = disk.as_ref().or(device.as_ref())?;
            queue.text(name).ok()??.parse().ok()
        };
        let asked = direct_alignment(file).or_else(|| attribute("queue/logical_block_size"));
        (asked.unwrap_or(LOGICAL_BLOCK_BYTES), attribute("queue/physical_block_size"))
    }
}

/// Read-ahead is of no use for scattered blocks; this is advice only, so its failure costs nothing.
pub(crate) fn advise(file: &File, advice: Advice) {
    let _ = fadvise(file, 0, None, advice);
}

/// What the file system asks of direct I/O, from Linux 6.1 on, bytes.
fn direct_alignment(file: &File) -> Option<u64> {
    let status = statx(file.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::DIOALIGN);
    (known && status.stx_dio_offset_align > 0).then(|| u64::from(status.stx_dio_offset_align))
}

/// The open file must be what was looked at.
fn verify(place: &OpenPlace, file: &File, shown: &str) -> Result<Stat> {
    let status = fstat(file)
        .map_err(|error| changed(shown, format!("it could not be inspected ({error})")))?;
    if place.is_same(&status) {
        return Ok(status);
    }
    Err(changed(shown, "it was replaced".into()))
}

/// `O_EXCL` without `O_CREAT` claims a block device: it fails when a file system or a volume
/// manager has it, and keeps them away from then on.
fn open_exclusively(place: &OpenPlace, shown: &str) -> Result<File> {
    place.open(OFlags::RDWR | OFlags::EXCL).map_err(|error| match error {
        Errno::BUSY => DeviceRefusal::Busy.of(shown),
        Errno::ROFS | Errno::ACCESS | Errno::PERM => DeviceRefusal::ReadOnly.of(shown),
        other => PathRefusal::NotOpened { reason: io::Error::from(other).to_string() }.of(shown),
    })
}

fn changed(shown: &str, what: String) -> Error {
    PathRefusal::Changed { what }.of(shown)
}

fn unclear(shown: &str, what: &str, error: &io::Error) -> Error {
    PathRefusal::Unclear { what: what.to_owned(), reason: error.to_string() }.of(shown)
}
