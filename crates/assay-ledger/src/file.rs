//! A ledger as a file: made new, locked, appended to, and never overwritten.

use crate::ledger::{Ledger, MAGIC};
use assay_model::Error;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A longer file is not read: a ledger of a day at 100,000 acknowledgements a second has a tenth of that.
const LEDGER_BYTES_MAX: u64 = 16 << 30;

/// A ledger that is open and locked for appending.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    file: File,
}

impl LedgerFile {
    /// Makes a new one; the name of the file is durable when this returns.
    ///
    /// # Errors
    /// Those of the system: one that is there already is not touched.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create_new(true).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(MAGIC)?;
        file.sync_all()?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(Self { file })
    }

    /// Opens one to go on behind its last whole frame.
    ///
    /// # Errors
    /// Those of the system, `WouldBlock` where somebody else appends to it; `InvalidData` where it is not a ledger.
    pub(crate) fn go_on(path: &Path) -> io::Result<(Self, Ledger)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let bytes = read_open(&mut file)?;
        let ledger = Ledger::parse(&bytes)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        // What a power cut or a full disk left of a frame would hide all that follows it.
        file.set_len(ledger.whole_bytes)?;
        file.seek(SeekFrom::Start(ledger.whole_bytes))?;
        Ok((Self { file }, ledger))
    }

    /// Appends whole frames, durable when this returns.
    ///
    /// # Errors
    /// Those of the system; then a part of them may be there, and the next one who opens it removes it.
    pub(crate) fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        self.file.write_all(frames)?;
        self.file.sync_data()
    }
}

/// All bytes of a ledger.
///
/// # Errors
/// Those of the system, and `InvalidData` for what is too large to be one.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_open(&mut File::open(path)?)
}

fn read_open(file: &mut File) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LEDGER_BYTES_MAX {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a ledger"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the refusal of a ledger's file means.
pub(crate) fn refusal(doing: &str, path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::AlreadyExists => {
            "name a file that is not there yet; a ledger goes on with `assay verify --after --resume`"
        }
        ErrorKind::WouldBlock => {
            "another run appends to it: wait for its end, or name another file"
        }
        ErrorKind::InvalidData => "name the ledger that `assay verify` wrote",
        ErrorKind::StorageFull => "free space on its file system",
        _ => "name a file on another device than the one under test, where there is room",
    };
    Error::environment(format!("{doing} the ledger {}: {error}", path.display()), hint)
}
