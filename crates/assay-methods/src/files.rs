//! Documents that a person names: read whole, and never more of them than any document has.

use assay_model::encoding::text_of;
use assay_model::number::count_of;
use assay_model::{Error, Result};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// No document comes near; a device or a file of any length shall not fill the memory.
const DOCUMENT_BYTES_MAX: u64 = 32 << 20;

/// Reads a document; `kind` names it in errors, for example `criteria`.
///
/// # Errors
/// A usage error when it is not there, not UTF-8 text, or longer than 32 MiB.
pub fn read_document(path: &Path, kind: &str) -> Result<String> {
    let bytes = read_bytes(path, kind)?;
    String::from_utf8(bytes)
        .map_err(|_| refused(path, kind, &io::Error::other("it is not UTF-8 text")))
}

/// Reads a file that another program wrote, in whatever encoding; `kind` names it in errors, for example `result`.
///
/// # Errors
/// A usage error when it is not there, is empty, not text, or longer than 32 MiB.
pub fn read_foreign(path: &Path, kind: &str) -> Result<String> {
    let bytes = read_bytes(path, kind)?;
    let refused = |why: &str| Err(refused(path, kind, &io::Error::other(why.to_owned())));
    if bytes.is_empty() {
        return refused("it is empty");
    }
    text_of(bytes).map_or_else(|| refused("it is not text"), Ok)
}

fn read_bytes(path: &Path, kind: &str) -> Result<Vec<u8>> {
    let refused = |error: io::Error| refused(path, kind, &error);
    let mut bytes = Vec::new();
    // A pipe that nobody writes to has no end that could be waited for; opened without waiting it is empty.
    let no_wait = OFlags::NONBLOCK.bits().cast_signed();
    let mut file =
        OpenOptions::new().read(true).custom_flags(no_wait).open(path).map_err(refused)?;
    if file.metadata().map_err(refused)?.is_dir() {
        return Err(refused(io::Error::other("it is a directory")));
    }
    let flags = rustix::fs::fcntl_getfl(&file).map_err(|error| refused(error.into()))?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)
        .map_err(|error| refused(error.into()))?;
    (&mut file).take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(refused)?;
    if count_of(bytes.len()) > DOCUMENT_BYTES_MAX {
        return Err(Error::usage(
            format!("reading the {kind} {}: it is longer than 32 MiB", path.display()),
            format!("no {kind} is as long; name another file"),
        ));
    }
    Ok(bytes)
}

fn refused(path: &Path, kind: &str, error: &io::Error) -> Error {
    Error::usage(
        format!("reading the {kind} {}: {error}", path.display()),
        format!("name a readable {kind} file"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_refused() {
        let error = read_document(Path::new("/dev/zero"), "criteria").unwrap_err();
        assert!(error.message().contains("longer than 32 MiB"), "{error}");
        assert!(read_document(Path::new("/nowhere"), "mix").is_err());
    }
}
