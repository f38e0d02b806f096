//! Documents that a person names: read whole, and never more of them than any document has.

use assay_model::number::count_of;
use assay_model::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No document comes near; a device or a file of any length shall not fill the memory.
const DOCUMENT_BYTES_MAX: u64 = 32 << 20;

/// Reads a document; `kind` names it in errors, for example `criteria`.
///
/// # Errors
/// A usage error when it is not there, not text, or longer than 32 MiB.
pub fn read_document(path: &Path, kind: &str) -> Result<String> {
    let refused = |error: io::Error| {
        Error::usage(
            format!("reading the {kind} {}: {error}", path.display()),
            format!("name a readable {kind} file"),
        )
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refused)?;
    file.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(refused)?;
    if count_of(bytes.len()) > DOCUMENT_BYTES_MAX {
        return Err(Error::usage(
            format!("reading the {kind} {}: it is longer than 32 MiB", path.display()),
            format!("no {kind} is as long; name another file"),
        ));
    }
    String::from_utf8(bytes).map_err(|_| refused(io::Error::other("it is not UTF-8 text")))
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
