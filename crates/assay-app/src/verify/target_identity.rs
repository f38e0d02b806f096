//! What a target is known by when it is found again, and whether a ledger lies apart from it.

use crate::context::Context;
use assay_host::environment::read_storage;
use assay_host::file_system::FileSystemIdentity;
use assay_host::root::{Survey, SysRoot};
use assay_ledger::{LedgerId, LedgerPlace};
use assay_methods::target::TargetStorage;
use assay_model::environment::Storage as StorageFacts;
use assay_model::stack::DeviceNumber;
use assay_model::target::TargetKind;
use assay_model::{Error, Result};
use std::path::{Path, PathBuf};

/// File systems that go with the power of the machine.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// The kernel's number of the time since its start.
pub(crate) fn boot(root: &SysRoot) -> String {
    root.text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// What an opened target is known by: the ledger that its test file was made for, or the serial
/// number and size of the device.
pub(crate) fn identity(storage: &TargetStorage, id: LedgerId) -> String {
    let facts = storage.environment.storage.first();
    match facts.and_then(|facts| facts.target.as_ref()).map(|target| target.kind) {
        Some(TargetKind::BlockDevice | TargetKind::NvmeNamespace) => {
            facts.map(of_device).unwrap_or_default()
        }
        _ => of_file(&id.digits()),
    }
}

/// The identity of a test file that was made for a ledger.
pub(super) fn of_file(ledger: &str) -> String {
    format!("file of {ledger}")
}

/// What the directory of a test file is known by if the file is gone.
pub(super) struct KnownDirectory {
    /// Its path and the number of its file system.
    pub(super) identity: String,
    /// Size of the file system, bytes: no file on it is larger.
    pub(super) size_bytes: u64,
}

impl KnownDirectory {
    /// That of a directory, which may be gone as well; `None` if its file system has no number.
    pub(super) fn of(directory: &Path) -> Option<Self> {
        let path = canonical(directory)?;
        let file_system = FileSystemIdentity::of(&path)?;
        let identity = format!("{} on file system {:x}", path.display(), file_system.number);
        Some(Self { identity, size_bytes: file_system.size_bytes })
    }
}

/// A path without links, as far as it exists.
fn canonical(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|parent| {
        let rest = path.strip_prefix(parent).ok()?;
        Some(parent.canonicalize().ok()?.join(rest).components().collect())
    })
}

/// The identity of a device.
pub(super) fn of_device(storage: &StorageFacts) -> String {
    let layer = storage.stack.layers.first();
    let serial =
        layer.and_then(|layer| layer.serial.clone().or_else(|| layer.world_wide_name.clone()));
    let size_bytes = layer.map_or(0, |layer| layer.size_bytes);
    let name = serial.or_else(|| layer.map(|layer| layer.name.clone()));
    format!("device {} of {size_bytes} B", name.unwrap_or_default())
}

/// Refuses a ledger on the storage that it is about, and says where it would not outlive the
/// machine.
pub(crate) fn check_apart(place: &LedgerPlace, target: &str, context: &Context) -> Result<()> {
    let LedgerPlace::File(path) = place else { return Ok(()) };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let root = SysRoot::live();
    let survey = Survey::new(&root);
    let ledger = read_storage(&survey, parent.unwrap_or(Path::new(".")))?;
    let target_storage = read_storage(&survey, Path::new(target))?;
    let under = devices(&target_storage);
    if devices(&ledger).iter().any(|device| under.contains(device)) {
        return Err(Error::usage(
            format!("the ledger {} would be on the storage under test", path.display()),
            "specify a file on another device, or a witness on another machine",
        ));
    }
    let mount = ledger.stack.mount.as_ref();
    if mount.is_some_and(|mount| IN_MEMORY.contains(&mount.file_system.as_str())) {
        context.progress.say(&format!(
            "note: the ledger {} is in memory and is lost if this machine loses power",
            path.display()
        ));
    }
    Ok(())
}

/// The devices that a path stands on, or its file system where none is known.
fn devices(storage: &StorageFacts) -> Vec<DeviceNumber> {
    let bottom = storage.stack.layers.iter().filter(|layer| layer.lower.is_empty());
    let devices: Vec<DeviceNumber> = bottom.map(|layer| layer.device).collect();
    if !devices.is_empty() {
        return devices;
    }
    storage.stack.mount.as_ref().map(|mount| mount.device).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_again_when_it_is_gone() {
        let temporary = std::env::temp_dir();
        let Some(there) = KnownDirectory::of(&temporary) else { return };
        assert!(there.identity.starts_with('/') && there.identity.contains(" on file system "));
        let gone = KnownDirectory::of(&temporary.join("missing/")).unwrap();
        assert!(gone.identity.contains("/missing on file system "), "{}", gone.identity);
        assert_eq!(gone.size_bytes, there.size_bytes);
    }
}
