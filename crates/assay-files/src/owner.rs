//! The owner of a file, and whether others can read or write it.

use rustix::process::geteuid;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Group and others, any permission.
const OTHERS: u32 = 0o077;
/// Group and others, the permission to write.
const OTHERS_WRITE: u32 = 0o022;

/// Whether a file belongs to neither this user nor root.
pub fn is_foreign(facts: &Metadata) -> bool {
    ![0, geteuid().as_raw()].contains(&facts.uid())
}

/// Whether everybody may write. A group may be one of the user alone.
pub fn is_writable_by_all(facts: &Metadata) -> bool {
    facts.mode() & 0o002 != 0
}

/// Whether others than the owner may write.
pub fn is_writable_by_others(facts: &Metadata) -> bool {
    facts.mode() & OTHERS_WRITE != 0
}

/// Refuses a file that others own, read or write.
///
/// # Errors
/// `PermissionDenied`, with what is wrong.
pub fn check_private(facts: &Metadata) -> io::Result<()> {
    let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if is_foreign(facts) {
        return refuse("it belongs to another user");
    }
    if facts.mode() & OTHERS != 0 {
        return refuse("other users can read or write it; run `chmod 600` on it");
    }
    Ok(())
}
