//! Where the kernel shows itself: `/sys`, `/proc` and `/dev`, or a made-up system under another
//! directory.

use assay_model::environment::Unreadable;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The directory under which `sys`, `proc`, `dev` and `etc` are looked for.
#[derive(Clone, Debug)]
pub struct SysRoot {
    prefix: PathBuf,
}

impl SysRoot {
    /// The running system.
    pub fn live() -> Self {
        Self::under("/")
    }

    /// A system whose files lie under `prefix`.
    pub fn under(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The place of an absolute path of the described system.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.prefix.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// The described system's name of a path that lies under the prefix.
    pub fn shown(&self, place: &Path) -> PathBuf {
        match place.strip_prefix(&self.prefix) {
            Ok(rest) => Path::new("/").join(rest),
            Err(_) => place.to_owned(),
        }
    }

    /// The text of a file, without white space around it.
    ///
    /// # Errors
    /// What the system answered; bytes that are not text are replaced, never refused.
    pub fn text(&self, absolute: impl AsRef<Path>) -> io::Result<String> {
        text_of(&self.path(absolute))
    }
}

/// The text of a file, without white space around it.
pub(crate) fn text_of(place: &Path) -> io::Result<String> {
    let bytes = fs::read(place)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

/// Names in a directory, sorted; an absent directory has none.
pub(crate) fn names_in(place: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Reads facts and keeps a list of those that could not be read, so that nothing is guessed in
/// silence.
#[derive(Debug)]
pub struct Survey<'a> {
    root: &'a SysRoot,
    unreadable: RefCell<BTreeSet<Unreadable>>,
}

impl<'a> Survey<'a> {
    /// A survey of the described system.
    pub fn new(root: &'a SysRoot) -> Self {
        Self { root, unreadable: RefCell::default() }
    }

    /// The system that is surveyed.
    pub fn root(&self) -> &'a SysRoot {
        self.root
    }

    /// What could not be read so far, sorted.
    pub fn unreadable(&self) -> Vec<Unreadable> {
        self.unreadable.borrow().iter().cloned().collect()
    }

    /// Notes a fact that could not be read.
    pub fn note(&self, what: impl Into<String>, reason: impl Into<String>) {
        self.unreadable
            .borrow_mut()
            .insert(Unreadable { what: what.into(), reason: reason.into() });
    }

    /// The text of a file; `None` where this kernel has no such file or the file is empty, and,
    /// noted, where it cannot be read.
    pub(crate) fn text(&self, place: &Path) -> Option<String> {
        match text_of(place) {
            Ok(text) => (!text.is_empty()).then_some(text),
            Err(error) if absent(&error) => None,
            Err(error) => {
                self.note_failure(place, &error);
                None
            }
        }
    }

    /// A number, or anything else that a file says in one word.
    pub(crate) fn value<T: FromStr>(&self, place: &Path) -> Option<T> {
        let text = self.text(place)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.note(self.shown(place), format!("unexpected content '{text}'"));
        }
        parsed
    }

    /// `0` or `1`.
    pub(crate) fn flag(&self, place: &Path) -> Option<bool> {
        self.value::<u64>(place).map(|number| number != 0)
    }

    /// Names in a directory, sorted; none where it is absent, and, noted, where it cannot be read.
    pub(crate) fn names(&self, place: &Path) -> Vec<String> {
        names_in(place).unwrap_or_else(|error| {
            self.note_failure(place, &error);
            Vec::new()
        })
    }

    fn note_failure(&self, place: &Path, error: &io::Error) {
        self.note(self.shown(place), error.to_string());
    }

    fn shown(&self, place: &Path) -> String {
        self.root.shown(place).display().to_string()
    }
}

/// Whether the kernel says by this answer that it has no such fact (as sysfs does with `EINVAL` for
/// attributes that a driver does not fill), rather than that it refuses to answer.
fn absent(error: &io::Error) -> bool {
    const NOT_SUPPORTED: i32 = 95;
    has_gone(error)
        || matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput)
        || error.raw_os_error() == Some(NOT_SUPPORTED)
}

/// Whether the thing is not there, or is no longer: sysfs answers `ENODEV` to a reader who opened
/// an attribute just before its device went.
pub(crate) fn has_gone(error: &io::Error) -> bool {
    const NO_DEVICE: i32 = 19;
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_DEVICE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn the_prefix_moves_the_whole_system() {
        let root = SysRoot::under("/tmp/fake");
        assert_eq!(root.path("/sys/block"), Path::new("/tmp/fake/sys/block"));
        assert_eq!(root.shown(Path::new("/tmp/fake/dev/sda")), Path::new("/dev/sda"));
        assert_eq!(SysRoot::live().path("/proc/stat"), Path::new("/proc/stat"));
    }

    #[test]
    fn an_absent_fact_is_none_and_an_unreadable_one_is_noted() {
        let scratch = Scratch::new("survey");
        fs::create_dir(scratch.path().join("a_directory")).unwrap();
        fs::write(scratch.path().join("word"), " many \n").unwrap();
        let root = SysRoot::under(scratch.path());
        let survey = Survey::new(&root);
        assert_eq!(survey.text(&root.path("/nothing")), None);
        assert!(survey.unreadable().is_empty());
        assert_eq!(survey.text(&root.path("/a_directory")), None);
        assert_eq!(survey.value::<u64>(&root.path("/word")), None);
        let noted: Vec<_> = survey.unreadable().into_iter().map(|one| one.what).collect();
        assert_eq!(noted, ["/a_directory", "/word"]);
    }
}
