//! A ledger as a file: made new, locked, appended to, and never overwritten.

use crate::ledger::{Ledger, MAGIC};
use assay_model::Error;
use assay_model::number::count_of;
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
    /// Bytes of whole frames; behind them the next one is appended.
    whole_bytes: u64,
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
        Ok(Self { file, whole_bytes: count_of(MAGIC.len()) })
    }

    /// Opens one to go on behind its last whole frame.
    ///
    /// # Errors
    /// Those of the system, `WouldBlock` where somebody else appends to it; `InvalidData` where it is not a ledger, or damaged
    /// before its end.
    pub(crate) fn go_on(path: &Path) -> io::Result<(Self, Ledger)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let bytes = read_open(&mut file)?;
        let ledger = Ledger::parse(&bytes)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        if ledger.is_damaged {
            let damage = format!("it is damaged at byte {}", ledger.whole_bytes);
            return Err(io::Error::new(ErrorKind::InvalidData, damage));
        }
        // What a power cut or a full disk left of a frame would hide all that follows it.
        file.set_len(ledger.whole_bytes)?;
        file.seek(SeekFrom::Start(ledger.whole_bytes))?;
        Ok((Self { file, whole_bytes: ledger.whole_bytes }, ledger))
    }

    /// Appends whole frames, durable when this returns.
    ///
    /// # Errors
    /// Those of the system; what is there of them is taken away again, because nothing behind a part of a frame could be read.
    pub(crate) fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        let appended = self.file.write_all(frames).and_then(|()| self.file.sync_data());
        if appended.is_ok() {
            self.whole_bytes += count_of(frames.len());
        } else {
            self.file.set_len(self.whole_bytes)?;
            self.file.seek(SeekFrom::Start(self.whole_bytes))?;
        }
        appended
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
        ErrorKind::InvalidData => {
            "name a ledger that `assay verify` or `assay load` wrote; where one is damaged, keep it and begin a new one"
        }
        ErrorKind::StorageFull => "free space on its file system",
        ErrorKind::NotFound if doing == "reading" => {
            "name the ledger that was given to the run that wrote"
        }
        _ => "name a file on another device than the one under test, where there is room",
    };
    Error::environment(format!("{doing} the ledger {}: {error}", path.display()), hint)
}
