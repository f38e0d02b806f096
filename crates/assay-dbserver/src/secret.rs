//! The secret of a server's user, and its way to a program: a file that has no name and that nobody
//! else can open.

use assay_model::{Error, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;
use std::io::{Seek, Write};

/// Letters that need no quotes anywhere, of 128 random bits.
///
/// # Errors
/// An environment error when the system gives no random bytes.
pub fn password() -> Result<String> {
    let mut bytes = [0_u8; 16];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    match drawn {
        Ok(16) => Ok(format!("{:032x}", u128::from_be_bytes(bytes))),
        _ => Err(Error::environment("the system did not provide random bytes", "try again")),
    }
}

/// A file without a name that holds a text; a program that is given it as its input reads it under
/// [`INPUT`].
pub fn nameless(text: &str) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("assay", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// The name under which every program finds its input as a file.
pub const INPUT: &str = "/proc/self/fd/0";
