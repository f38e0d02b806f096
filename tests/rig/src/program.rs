//! Calls of the machine's own administration programs, whose refusal is a reason to skip.

use crate::skip::Skip;
use std::ffi::OsStr;
use std::process::Command;

/// What the program printed, or why it did not do its work.
pub(crate) fn run(program: &str, arguments: &[&OsStr]) -> Result<String, Skip> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| Skip::new(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(Skip::new(format!("{program}: {}", complaint.trim())))
}

/// Whether this process may attach, mount and limit devices.
pub(crate) fn need_root(what: &str) -> Result<(), Skip> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Skip::new(format!("{what} needs root")))
}
