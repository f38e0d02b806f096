//! The secret of a server's user, and its way into a file that only its owner may read.

use assay_model::{Error, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Letters that need no quotes anywhere, of 128 random bits.
///
/// # Errors
/// An environment error when the system gives no random bytes.
pub fn password() -> Result<String> {
    let mut bytes = [0_u8; 16];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    match drawn {
        Ok(16) => Ok(format!("{:032x}", u128::from_be_bytes(bytes))),
        _ => Err(Error::environment("the system gave no random bytes", "try again")),
    }
}

/// Writes a new file that only its owner may read.
///
/// # Errors
/// What the system says.
pub fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}
