//! One writer a run: a lock that the kernel takes back when the writer ends, however it ends.

use crate::directory::{Directory, FileAccess};
use crate::failure::refused;
use assay_model::{Error, Result};
use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

/// The file in a run's directory that is locked; it is never replaced, so all lock the same one.
pub(crate) const FILE_NAME: &str = "lock";
/// A reader that asks whether a run is being written holds the lock for a moment: a writer tries
/// again.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
/// Whoever may open a file may lock it, so nobody else may open this one.
const MINE_ALONE: Mode = Mode::from_raw_mode(0o600);
/// A holder writes a few words.
const HOLDER_BYTES_MAX: u64 = 4096;

/// Who writes a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// Number of the process.
    pub pid: u32,
    /// Name of its host.
    pub host: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} on {}", self.pid, self.host)
    }
}

/// The right to write a run, until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of a run, or says who holds it.
    pub(crate) fn take(run: &Directory) -> Result<Self> {
        let path = run.path().join(FILE_NAME);
        let mut file = open(run).map_err(|error| refused("opening", &path, &error))?;
        for _ in 0..ATTEMPTS {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    sign(&mut file).map_err(|error| refused("writing", &path, &error))?;
                    return Ok(Self { file });
                }
                Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(error) => return Err(refused("locking", &path, &error.into())),
            }
        }
        Err(taken(run.path(), holder(&mut file)))
    }
}

impl Drop for Lock {
    /// Closing is not enough: a program that another thread starts just then holds a copy of the
    /// file until it runs.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn open(run: &Directory) -> io::Result<File> {
    let file = run.open_file(FILE_NAME, FileAccess::Write(MINE_ALONE))?;
    // Earlier versions let others read it; a file system without rights has none to take away.
    let _ = fchmod(&file, MINE_ALONE);
    Ok(file)
}

/// Writes down who holds the lock; in place, because another file would be another lock.
fn sign(file: &mut File) -> io::Result<()> {
    let holder = Holder {
        pid: std::process::id(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    };
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, &holder)?;
    file.write_all(b"\n")
}

fn holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(HOLDER_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn taken(run: &Path, holder: Option<Holder>) -> Error {
    let who = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
    Error::environment(
        format!("{} is being written by {who}", run.display()),
        "wait until it finishes, or stop it with Ctrl-C or SIGTERM: it keeps the data measured so \
         far",
    )
    .of_kind(assay_model::ErrorKind::Busy)
}

/// Who writes a run now, if anybody does; a run that cannot be asked, as one of another user, is
/// written by nobody.
pub(crate) fn writer_of(run: &Directory) -> Option<Holder> {
    // Whatever lock it gets goes with it.
    let mut asked = Lock { file: run.open_file(FILE_NAME, FileAccess::Read).ok()? };
    match flock(&asked.file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {
            let unknown = || Holder { pid: 0, host: "an unknown host".to_owned() };
            Some(holder(&mut asked.file).unwrap_or_else(unknown))
        }
        _ => None,
    }
}
