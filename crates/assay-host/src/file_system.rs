//! What a file system is known by when it is mounted again.

use std::path::Path;

/// A file system that is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystemIdentity {
    /// The kernel's number of it: of ext4 and btrfs from their UUID, of XFS from the device.
    pub number: u64,
    /// Its size, bytes.
    pub size_bytes: u64,
}

impl FileSystemIdentity {
    /// That of a path, or of its nearest parent that exists; `None` if the system does not number
    /// it, as of FUSE.
    pub fn of(path: &Path) -> Option<Self> {
        let found = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
        let size_bytes = found.f_blocks.saturating_mul(found.f_frsize);
        (found.f_fsid != 0).then_some(Self { number: found.f_fsid, size_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_path_is_on_the_file_system_of_its_parent() {
        let parent = std::env::temp_dir();
        let Some(known) = FileSystemIdentity::of(&parent) else { return };
        assert_eq!(FileSystemIdentity::of(&parent.join("missing/file")), Some(known));
        assert!(known.size_bytes > 0);
        let other = FileSystemIdentity::of(Path::new("/proc/self"));
        assert_ne!(other.map(|other| other.number), Some(known.number));
    }
}
