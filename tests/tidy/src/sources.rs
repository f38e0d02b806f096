//! The files of the repository: what git tracks or would track, read as text.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// A text file, with its path relative to the repository's root (`/` between the parts).
#[derive(Clone, Debug)]
pub struct Source {
    /// Relative to the root.
    pub path: String,
    /// The whole file.
    pub text: String,
}

impl Source {
    /// A file that needs no disk.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether the name ends in `.extension`.
    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// The repository's root, two folders above this crate.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// All files that git tracks, and those it would track on the next `git add`.
///
/// # Errors
/// When git cannot be asked or a file cannot be read.
pub fn read_all(root: &Path) -> io::Result<Vec<Source>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()?;
    if !listed.status.success() {
        let complaint = String::from_utf8_lossy(&listed.stderr).into_owned();
        return Err(io::Error::other(format!("git ls-files: {complaint}")));
    }
    let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut sources = Vec::new();
    for path in paths.split('\0').filter(|path| !path.is_empty()) {
        sources.extend(read(root, path)?);
    }
    Ok(sources)
}

/// The text of one file, empty when it is not UTF-8, for links may lead to a picture; nothing when
/// it is a link, or deleted and not yet committed so.
fn read(root: &Path, path: &str) -> io::Result<Option<Source>> {
    let full = root.join(path);
    let is_file = fs::symlink_metadata(&full).is_ok_and(|found| found.is_file());
    if !is_file {
        return Ok(None);
    }
    let text = String::from_utf8(fs::read(full)?).unwrap_or_default();
    Ok(Some(Source::new(path, &text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_is_among_the_files_of_the_repository() {
        let sources = read_all(&root()).unwrap();
        assert!(sources.iter().any(|source| source.path == "tests/tidy/src/sources.rs"));
        assert!(!sources.iter().any(|source| source.path.starts_with("target/")));
    }
}
