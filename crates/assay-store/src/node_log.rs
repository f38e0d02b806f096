//! What a node of a cluster keeps on its own host while it measures: lines that outlive its driver.

use crate::directory::Directory;
use crate::failure::refused;
use crate::lines::{LineFile, LineReader};
use assay_model::{Error, Result};
use rustix::fs::FileType;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a file before the next one is begun; of a log there are the last two.
const FILE_BYTES_MAX: u64 = 6 << 20;
/// What the name of the older half begins with.
const OLDER: &str = "older-";
const ENDING: &str = ".jsonl";

/// The log of one host's part of one run.
#[derive(Debug)]
pub struct NodeLog {
    directory: Directory,
    name: String,
    lines: LineFile,
}

impl NodeLog {
    /// Begins a log in a directory that only its user reads, in the place of an earlier one of the
    /// same name.
    ///
    /// # Errors
    /// An environment error when the directory cannot be made or written to.
    pub fn begin(place: &Path, run: &str, host: &str) -> Result<Self> {
        let name = file_name(run, host)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(place);
        let opened = made.and_then(|()| Directory::open(place));
        let directory = opened.map_err(|error| refused("opening", place, &error))?;
        remove_both(&directory, &name).map_err(|error| refused("emptying", place, &error))?;
        let lines = LineFile::open(&directory, &name)?;
        Ok(Self { directory, name, lines })
    }

    /// Appends a line, which survives the program's end at once. When there is much of it the older
    /// half goes.
    ///
    /// # Errors
    /// An environment error when the file system takes no more.
    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        if self.lines.bytes() >= FILE_BYTES_MAX {
            let moved = self.directory.rename(&self.name, &older(&self.name));
            moved.map_err(|error| refused("renaming", self.directory.path(), &error))?;
            self.lines = LineFile::open(&self.directory, &self.name)?;
        }
        self.lines.append(line)
    }

    /// Waits until it survives a power failure.
    ///
    /// # Errors
    /// What the file system says.
    pub fn sync(&self) -> Result<()> {
        self.lines.sync()
    }

    /// Empties it: another measurement begins.
    ///
    /// # Errors
    /// What the file system says.
    pub fn restart(&mut self) -> Result<()> {
        let emptied = remove_both(&self.directory, &self.name);
        emptied.map_err(|error| refused("emptying", self.directory.path(), &error))?;
        self.lines = LineFile::open(&self.directory, &self.name)?;
        Ok(())
    }

    /// The lines of a log, the older half first; none where there is no log.
    ///
    /// # Errors
    /// What the file system says, and that a line is not one of a log.
    pub fn read<T: DeserializeOwned>(place: &Path, run: &str, host: &str) -> Result<Vec<T>> {
        let name = file_name(run, host)?;
        let directory = match Directory::open(place) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(refused("opening", place, &error)),
        };
        let mut lines = Vec::new();
        for file in [older(&name), name] {
            for line in LineReader::open(&directory, &file)? {
                lines.push(line?);
            }
        }
        Ok(lines)
    }

    /// The logs in a directory, of which both halves are one; none where there is no directory.
    ///
    /// # Errors
    /// What the file system says.
    pub fn all(place: &Path) -> Result<Vec<LeftoverLog>> {
        let directory = match Directory::open(place) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(refused("opening", place, &error)),
        };
        let entries = directory.entries().map_err(|error| refused("reading", place, &error))?;
        let files = entries.into_iter().filter(|(_, kind)| *kind == FileType::RegularFile);
        let names: BTreeSet<String> = files
            .filter_map(|(name, _)| {
                let name = name.strip_prefix(OLDER).unwrap_or(&name);
                name.ends_with(ENDING).then(|| name.to_owned())
            })
            .collect();
        Ok(names.into_iter().map(|name| LeftoverLog { place: place.to_owned(), name }).collect())
    }

    /// Removes a log.
    ///
    /// # Errors
    /// What the file system says; one that is not there is no error.
    pub fn remove(place: &Path, run: &str, host: &str) -> Result<()> {
        let name = file_name(run, host)?;
        let removed = match Directory::open(place) {
            Ok(directory) => remove_both(&directory, &name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        removed.map_err(|error| refused("removing from", place, &error))
    }
}

fn remove_both(directory: &Directory, name: &str) -> io::Result<()> {
    directory.remove_file(&older(name))?;
    directory.remove_file(name)
}

/// A log of which nobody knows whether it is still needed.
#[derive(Debug)]
pub struct LeftoverLog {
    place: PathBuf,
    name: String,
}

impl LeftoverLog {
    /// The run and the host that it is of: `RUN.HOST`.
    pub fn name(&self) -> &str {
        self.name.strip_suffix(ENDING).unwrap_or(&self.name)
    }

    /// Bytes of both halves.
    pub fn bytes(&self) -> u64 {
        self.facts().map(|facts| facts.len()).sum()
    }

    /// Whether something was written within this time.
    pub fn is_fresh(&self, within: Duration) -> bool {
        let written = self.facts().filter_map(|facts| facts.modified().ok());
        written.into_iter().any(|at| at.elapsed().is_ok_and(|age| age < within))
    }

    fn facts(&self) -> impl Iterator<Item = Metadata> {
        let names = [older(&self.name), self.name.clone()];
        names.into_iter().filter_map(|name| self.place.join(name).symlink_metadata().ok())
    }

    /// Removes it.
    ///
    /// # Errors
    /// What the file system says.
    pub fn remove(&self) -> Result<()> {
        let opened = Directory::open(&self.place);
        let removed = opened.and_then(|directory| remove_both(&directory, &self.name));
        removed.map_err(|error| refused("removing from", &self.place, &error))
    }
}

fn older(name: &str) -> String {
    format!("{OLDER}{name}")
}

/// A plain file name, whatever a driver calls its run and its host.
fn file_name(run: &str, host: &str) -> Result<String> {
    let is_plain = |name: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
        !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
    };
    if is_plain(run) && is_plain(host) {
        return Ok(format!("{run}.{host}{ENDING}"));
    }
    Err(Error::environment(
        format!("'{run}' on '{host}' is not the run of a host"),
        "use the names that assay prints",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("assay-node-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&place));
        place
    }

    #[test]
    fn a_log_is_read_again_until_it_is_removed_and_only_by_its_user() {
        use std::os::unix::fs::PermissionsExt;
        let place = place("whole").join("below");
        assert!(NodeLog::read::<u64>(&place, "run", "hA").unwrap().is_empty());
        let mut log = NodeLog::begin(&place, "run", "hA").unwrap();
        (0..5).for_each(|number: u64| log.append(&serde_json::json!({ "n": number })).unwrap());
        log.sync().unwrap();
        let mode = std::fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let read = || NodeLog::read::<serde_json::Value>(&place, "run", "hA").unwrap();
        assert_eq!((read().len(), read()[4]["n"].as_u64()), (5, Some(4)));
        log.restart().unwrap();
        assert!(read().is_empty());
        log.append(&serde_json::json!({ "n": 7 })).unwrap();
        NodeLog::remove(&place, "run", "hA").unwrap();
        assert!(read().is_empty());
        std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_long_log_keeps_its_later_part() {
        let place = place("long");
        let mut log = NodeLog::begin(&place, "run", "hA").unwrap();
        let text = "x".repeat(1 << 20);
        (0..20).for_each(|number: u64| {
            log.append(&serde_json::json!({ "n": number, "text": text })).unwrap();
        });
        let kept = NodeLog::read::<serde_json::Value>(&place, "run", "hA").unwrap();
        let numbers: Vec<u64> = kept.iter().map(|line| line["n"].as_u64().unwrap()).collect();
        assert!(numbers.len() < 15 && numbers.len() > 5, "{numbers:?}");
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]) && numbers.ends_with(&[19]));
        std::fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn no_name_leads_out_of_the_place() {
        for (run, host) in [("../run", "hA"), ("run", "a/b"), ("", "hA"), (".run", "hA")] {
            assert!(NodeLog::remove(Path::new("/nowhere"), run, host).is_err(), "{run} {host}");
        }
    }
}
