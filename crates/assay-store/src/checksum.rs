//! Checksums of documents, in a file next to them.
//!
//! The sum is CRC-32 (IEEE 802.3), which notices every change within 32 bits in a row. It is
//! against storage that forgets and hands that slip, not against somebody who wants to deceive: he
//! computes it, too.

use crate::damage;
use crate::directory::Directory;
use crate::failure::refused;
use crate::lines::{LineFile, LineReader};
use crate::seal::digits;
use assay_model::Result;
use assay_model::number::count_of;
use serde::{Deserialize, Serialize};

/// The file next to the documents of a directory; without it they are unchecked, as those of
/// earlier versions.
pub(crate) const FILE_NAME: &str = "checksums.jsonl";

/// One line of the file: a document as it was, or will be in a moment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksumLine {
    /// Its name in the directory.
    file: String,
    /// Its length.
    bytes: u64,
    /// Its checksum.
    content_crc32: String,
}

impl ChecksumLine {
    fn of(name: &str, bytes: &[u8]) -> Self {
        Self { file: name.to_owned(), bytes: count_of(bytes.len()), content_crc32: digits(bytes) }
    }

    fn is_of(&self, bytes: &[u8]) -> bool {
        self.bytes == count_of(bytes.len()) && self.content_crc32 == digits(bytes)
    }
}

/// Puts a document in place with its checksum. The checksum comes first: whenever the program is
/// killed, the document is one of those whose checksums are there.
pub(crate) fn put(directory: &Directory, name: &str, bytes: &[u8]) -> Result<()> {
    let mut sums = LineFile::open(directory, FILE_NAME)?;
    sums.append(&ChecksumLine::of(name, bytes))?;
    sums.sync()?;
    directory
        .replace(name, bytes)
        .map_err(|error| refused("writing", &directory.path().join(name), &error))
}

/// Whether bytes that were read are a document's; one without a checksum cannot be asked.
pub(crate) fn check(directory: &Directory, name: &str, bytes: &[u8]) -> Result<()> {
    let mut sums = LineReader::<ChecksumLine>::open(directory, FILE_NAME)?;
    let mut known = false;
    for sum in sums.by_ref() {
        let sum = sum?;
        if sum.file == name {
            if sum.is_of(bytes) {
                return Ok(());
            }
            known = true;
        }
    }
    // A damaged checksum is detected by its own check, and says nothing against the document.
    if known && sums.damaged() == 0 {
        return Err(damage::error(
            &directory.path().join(name),
            None,
            "its checksum does not match its content",
        ));
    }
    Ok(())
}

/// Whether documents of a directory have checksums.
pub(crate) fn is_kept(directory: &Directory) -> bool {
    directory.has_file(FILE_NAME)
}
