//! Documents that a person names: read whole, and never more of them than any document has.

use assay_files::{read_bounded, read_plain};
use assay_model::{Error, Result};
use std::io;
use std::path::Path;

/// No document comes near; a device or a file of any length shall not fill the memory.
const DOCUMENT_BYTES_MAX: u64 = 32 << 20;

/// Reads a document; `kind` names it in errors, for example `criteria`.
///
/// # Errors
/// A usage error when it is not there, not text, or longer than 32 MiB.
pub fn read_document(path: &Path, kind: &str) -> Result<String> {
    let bytes = read_bounded(path, DOCUMENT_BYTES_MAX);
    let bytes = bytes.map_err(|error| refusal(path, kind, &error))?;
    text_of(path, kind, bytes)
}

/// Reads a document that is a plain file: what a folder of others holds under its name may be a pipe.
///
/// # Errors
/// The same, and a usage error for anything but a plain file.
pub fn read_plain_document(path: &Path, kind: &str) -> Result<String> {
    let bytes = read_plain(path, DOCUMENT_BYTES_MAX);
    text_of(path, kind, bytes.map_err(|error| refusal(path, kind, &error))?)
}

fn text_of(path: &Path, kind: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| refusal(path, kind, &io::Error::other("it is not UTF-8 text")))
}

fn refusal(path: &Path, kind: &str, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::FileTooLarge => format!("no {kind} is as long; name another file"),
        _ => format!("name a readable {kind} file"),
    };
    Error::usage(format!("reading the {kind} {}: {error}", path.display()), hint)
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
