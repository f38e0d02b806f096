//! What the operating system's refusals mean for a person who keeps runs.

use assay_model::{Error, ErrorKind};
use std::io;
use std::path::Path;

/// The refusal of one step on one path, with what to do about it; `doing` reads like `writing`.
pub(crate) fn refused(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::environment(
        format!("{doing} {}: {}", path.display(), reason(error)),
        remedy(error.kind()),
    )
    .because(error)
}

/// The system's text without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_lowercase(),
        None => text,
    }
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a directory that you can write to with --store DIR, or change its permissions"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space or choose another --store DIR; the data measured so far are kept, and \
             --resume continues from there"
        }
        io::ErrorKind::InvalidData => {
            "the run was created or changed by others; nothing outside it was touched; copy what \
             you need, without links, to your own store"
        }
        io::ErrorKind::InvalidInput => "choose your own store with --store DIR",
        io::ErrorKind::NotFound => "check the path, or choose the store with --store DIR",
        io::ErrorKind::NotADirectory => {
            "a part of the path is a file; choose a directory with --store DIR"
        }
        _ => "check the file system of the store, or choose another with --store DIR",
    }
}

/// An Assay file that does not hold what it should.
pub(crate) fn damaged(path: &Path, what: &str) -> Error {
    Error::environment(
        format!("{} is damaged: {what}", path.display()),
        "the file was changed or its storage lost data; use a copy if there is one",
    )
    .of_kind(ErrorKind::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Blame;

    #[test]
    fn a_full_disk_is_the_environments_refusal_and_says_what_is_kept() {
        let full = io::Error::from(rustix::io::Errno::NOSPC);
        let error = refused("writing", Path::new("/runs/a"), &full);
        assert_eq!(error.blame(), Blame::Environment);
        assert_eq!(error.message(), "writing /runs/a: no space left on device");
        assert!(error.hint().contains("are kept"));
    }
}
