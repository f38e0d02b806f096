//! Documents that a person names: read whole, and never more of them than any document has.

use assay_files::{is_foreign, is_writable_by_all, read_bounded, read_plain, read_with_facts};
use assay_model::encoding;
use assay_model::{Error, Result};
use std::io;
use std::path::Path;

/// No document comes near; a device or a file of any length shall not fill the memory.
const DOCUMENT_BYTES_MAX: u64 = 32 << 20;

/// Logs of single transactions or I/Os are longer, and are read whole as well.
const FOREIGN_BYTES_MAX: u64 = 64 << 20;

/// Reads a document; `kind` names it in errors, for example `criteria`.
///
/// # Errors
/// A usage error when it is not there, not UTF-8 text, or longer than 32 MiB.
pub fn read_document(path: &Path, kind: &str) -> Result<String> {
    let bytes = read_bounded(path, DOCUMENT_BYTES_MAX);
    utf8_of(path, kind, bytes.map_err(|error| refusal(path, kind, &error))?)
}

/// Reads a file that another program wrote, in whatever encoding; `kind` names it in errors, for
/// example `result`.
///
/// # Errors
/// A usage error when it is not there, is empty, not text, or longer than 64 MiB.
pub fn read_foreign(path: &Path, kind: &str) -> Result<String> {
    foreign_text_of(path, kind, read_bounded(path, FOREIGN_BYTES_MAX))
}

/// The same for a plain file: what a folder of others holds under its name may be a pipe.
///
/// # Errors
/// The same, and a usage error for anything but a plain file.
pub fn read_foreign_plain(path: &Path, kind: &str) -> Result<String> {
    foreign_text_of(path, kind, read_plain(path, DOCUMENT_BYTES_MAX))
}

fn foreign_text_of(path: &Path, kind: &str, read: io::Result<Vec<u8>>) -> Result<String> {
    let bytes = read.map_err(|error| {
        let refused = refusal(path, kind, &error);
        match error.kind() {
            io::ErrorKind::FileTooLarge => Error::usage(
                refused.message(),
                format!(
                    "specify a shorter {kind}, or the program's printed output of the same run"
                ),
            ),
            _ => refused,
        }
    })?;
    let refused = |why: &str| Err(refusal(path, kind, &io::Error::other(why.to_owned())));
    if bytes.is_empty() {
        return refused("it is empty");
    }
    encoding::text_of(bytes).map_or_else(|| refused("it is not text"), Ok)
}

/// Reads a document, and says whether only this user and root can have written it.
///
/// # Errors
/// As for [`read_document`].
pub fn read_owned_document(path: &Path, kind: &str) -> Result<(String, bool)> {
    let read = read_with_facts(path, DOCUMENT_BYTES_MAX);
    let (bytes, facts) = read.map_err(|error| refusal(path, kind, &error))?;
    let is_own = !is_foreign(&facts) && !is_writable_by_all(&facts);
    Ok((utf8_of(path, kind, bytes)?, is_own))
}

/// Whether a name is that of a file. A name under which something ships means just that: who may
/// write into the working directory would choose what it means. A file is written with a slash or
/// its ending.
pub fn is_file_name(name: &str, is_built_in: bool) -> bool {
    Path::new(name).is_file() && (name.contains('/') || !is_built_in)
}

/// What is to be said where a file is called as something built in.
pub fn shadow_note(name: &str, is_built_in: bool) -> Option<String> {
    let is_shadowed = is_built_in && !name.contains('/') && Path::new(name).exists();
    is_shadowed.then(|| format!("note: {name} is the built-in; write ./{name} for the file"))
}

fn utf8_of(path: &Path, kind: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| refusal(path, kind, &io::Error::other("it is not UTF-8 text")))
}

fn refusal(path: &Path, kind: &str, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::FileTooLarge => format!("it is too long for a {kind}; specify another file"),
        _ => format!("specify a readable {kind} file"),
    };
    Error::usage(format!("reading the {kind} {}: {error}", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_a_folder_is_no_document() {
        let folder = std::env::temp_dir().join(format!("assay-folder-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let pipe = folder.join("iostat.out");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success() && read_foreign_plain(&pipe, "output").is_err());
        assert!(read_foreign_plain(Path::new("/dev/zero"), "output").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_built_in_name_never_means_a_file_and_a_path_always_does() {
        let folder = std::env::temp_dir().join(format!("assay-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("oltp");
        std::fs::write(&file, "").unwrap();
        let (path, missing) = (file.to_str().unwrap(), folder.join("scan"));
        assert!(is_file_name(path, true) && is_file_name(path, false));
        assert!(!is_file_name(missing.to_str().unwrap(), false));
        assert_eq!(shadow_note(path, true), None);
        assert_eq!(shadow_note("no such file here", true), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let error = read_document(Path::new("/dev/zero"), "criteria").unwrap_err();
        assert!(error.message().contains("longer than 32 MiB"), "{error}");
        assert!(read_document(Path::new("/nowhere"), "mix").is_err());
    }
}
