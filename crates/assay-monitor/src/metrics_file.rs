//! `OpenMetrics` text in a file that is replaced as a whole, as the collector of text files of a
//! node exporter reads it.

use crate::exposition::exposition;
use crate::monitor::Monitor;
use assay_files::open_plain;
use assay_model::number::count_of;
use assay_model::{Error, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the file is written.
const EVERY: Duration = Duration::from_secs(1);
/// How a file that Assay wrote begins.
const BEGIN: &str = "# TYPE assay_run info\n";

/// The file; it is written a last time when this is dropped, and stays.
pub struct MetricsFile {
    path: PathBuf,
    monitor: Monitor,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsFile {
    /// Writes a file every second; one that is there already is replaced only if it holds metrics
    /// of Assay.
    ///
    /// # Errors
    /// A usage error when the file holds something else, an environment error when it cannot be
    /// written.
    pub fn begin(path: &Path, monitor: &Monitor) -> Result<Self> {
        check_own(path)?;
        write(path, monitor).map_err(|error| failed(path, &error))?;
        let (end, wait) = channel::<()>();
        let (name, of) = (path.to_owned(), monitor.clone());
        let work = move || {
            while wait.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // A disk that is full may have room in a second.
                drop(write(&name, &of));
            }
        };
        let thread = thread::Builder::new().name("metrics".to_owned()).spawn(work);
        let thread = thread.map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            monitor: monitor.clone(),
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for MetricsFile {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        drop(write(&self.path, &self.monitor));
    }
}

/// Refuses a file that holds anything else, and everything that is not a file.
fn check_own(path: &Path) -> Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(path, &error)),
    };
    if found.is_file() && begins_as_own(path).unwrap_or(false) {
        return Ok(());
    }
    Err(Error::usage(
        format!("--openmetrics {}: it exists and is not a metrics file", path.display()),
        "specify a new file, or an address such as 127.0.0.1:9464",
    ))
}

/// Only the beginning is read: a file may be of any length.
fn begins_as_own(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    open_plain(path)?.take(count_of(BEGIN.len())).read_to_end(&mut begin)?;
    Ok(begin == BEGIN.as_bytes())
}

/// Writes next to the file and renames: a reader sees the old text or the new one.
///
/// The file next to it is made by this call: what others put there, a link for example, is neither
/// followed nor removed.
fn write(path: &Path, monitor: &Monitor) -> io::Result<()> {
    monitor.at_cost(|| {
        let text = monitor.look(|state| exposition(state, monitor.cost_s()));
        let next = next_to(path)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&next)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&next, path));
        if written.is_err() {
            drop(fs::remove_file(&next));
        }
        written
    })
}

/// A name that nobody can foresee. In a container a process has the same number at every start:
/// by its number alone, the file that a killed run left would stop all later ones.
fn next_to(path: &Path) -> io::Result<PathBuf> {
    let mut unique = [0; 8];
    rustix::rand::getrandom(&mut unique, rustix::rand::GetRandomFlags::empty())?;
    let mut next = path.as_os_str().to_owned();
    next.push(format!(".{:016x}", u64::from_ne_bytes(unique)));
    Ok(PathBuf::from(next))
}

fn failed(path: &Path, error: &io::Error) -> Error {
    let hint = "specify a file in a writable directory, or an address such as 127.0.0.1:9464";
    Error::environment(format!("--openmetrics {}: {error}", path.display()), hint).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_touched() {
        let folder = std::env::temp_dir().join(format!("assay-metrics-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, monitor) = (folder.join("assay.prom"), Monitor::new("assay"));
        drop(MetricsFile::begin(&path, &monitor).unwrap());
        let first = fs::read_to_string(&path).unwrap();
        assert!(first.starts_with(BEGIN) && first.ends_with("# EOF\n"), "{first}");
        monitor.note("one");
        drop(MetricsFile::begin(&path, &monitor).unwrap());
        assert!(fs::read_to_string(&path).unwrap().contains("assay_notes_total 1\n"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        // What a killed run of the same process number left, or others put there, stays as it is.
        let left = folder.join(format!("assay.prom.{}", std::process::id()));
        fs::write(&left, "left").unwrap();
        drop(MetricsFile::begin(&path, &monitor).unwrap());
        assert_eq!(fs::read_to_string(&left).unwrap(), "left");
        let other = folder.join("mine.txt");
        fs::write(&other, "mine").unwrap();
        let refused = MetricsFile::begin(&other, &monitor).err().unwrap();
        assert!(refused.message().contains("is not a metrics file"), "{refused}");
        assert!(MetricsFile::begin(&folder, &monitor).is_err());
        assert!(MetricsFile::begin(&folder.join("no/where"), &monitor).is_err());
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
        fs::remove_dir_all(&folder).unwrap();
    }
}
