//! Files that did not exist before: nothing of the user's is ever overwritten.

use assay_model::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file that does not exist yet: nothing of the user's is ever overwritten.
///
/// # Errors
/// An environment error when it is there already or cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let refused = |error: io::Error| {
        Error::environment(
            format!("writing {}: {error}", path.display()),
            "specify a new file in a directory that you can write to",
        )
    };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(refused)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(refused)?;
    file.write_all(bytes).map_err(refused)
}
