//! A ledger as a file: made new, locked, appended to, and never overwritten.

use crate::ledger::{LEDGER_BYTES_MAX, Ledger, MAGIC};
use assay_files::open_plain;
use assay_model::number::count_of;
use assay_model::{Error, Result};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A ledger that is open and locked for appending.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    file: File,
    path: PathBuf,
    /// Bytes of whole frames; behind them the next one is appended.
    whole_bytes: u64,
}

impl LedgerFile {
    /// Makes a new one; the name of the file is durable when this returns. Where that fails no file
    /// is left.
    ///
    /// # Errors
    /// Those of the system: one that is there already is not touched.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        let mut ledger = Self { file, path: path.to_owned(), whole_bytes: 0 };
        match ledger.begin() {
            Ok(()) => Ok(ledger),
            Err(error) => {
                ledger.remove_if_empty();
                Err(error)
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive)?;
        self.file.write_all(MAGIC)?;
        self.file.sync_all()?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        self.whole_bytes = count_of(MAGIC.len());
        Ok(())
    }

    /// Removes a file without any frame, which is this one's: it is locked.
    fn remove_if_empty(&self) {
        if self.whole_bytes <= count_of(MAGIC.len()) {
            // What cannot be removed says nothing wrong: it holds no promise.
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Opens one to go on behind its last whole frame.
    ///
    /// # Errors
    /// Those of the system, `WouldBlock` where somebody else appends to it; `InvalidData` where it
    /// is not a ledger, or damaged before its end.
    pub(crate) fn go_on(path: &Path) -> io::Result<(Self, Ledger)> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        // Whoever appends needs no promises.
        let ledger = read_open(&file, 0)?
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        if ledger.is_damaged {
            let damage = format!("it is damaged at byte {}", ledger.whole_bytes);
            return Err(io::Error::new(ErrorKind::InvalidData, damage));
        }
        // What a power cut or a full disk left of a frame would hide all that follows it.
        file.set_len(ledger.whole_bytes)?;
        file.seek(SeekFrom::Start(ledger.whole_bytes))?;
        Ok((Self { file, path: path.to_owned(), whole_bytes: ledger.whole_bytes }, ledger))
    }

    /// Appends whole frames, durable when this returns.
    ///
    /// # Errors
    /// `FileTooLarge` where the ledger could not be read back. Those of the system; what is there
    /// of the frames is then taken away again, because nothing behind a part of a frame could
    /// be read.
    pub(crate) fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        if self.whole_bytes + count_of(frames.len()) > LEDGER_BYTES_MAX {
            let what = format!("it has reached {} GiB", LEDGER_BYTES_MAX >> 30);
            return Err(io::Error::new(ErrorKind::FileTooLarge, what));
        }
        let appended = self.file.write_all(frames).and_then(|()| self.file.sync_data());
        if appended.is_ok() {
            self.whole_bytes += count_of(frames.len());
        } else {
            self.remove_if_empty();
            self.file.set_len(self.whole_bytes)?;
            self.file.seek(SeekFrom::Start(self.whole_bytes))?;
        }
        appended
    }
}

/// Reads a ledger, a frame at a time.
///
/// # Errors
/// Those of the system, and `InvalidData` for what is too large to be one; inside, that it is none.
pub(crate) fn read_ledger(path: &Path, target_bytes: u64) -> io::Result<Result<Ledger>> {
    read_open(&open_plain(path)?, target_bytes)
}

fn read_open(file: &File, target_bytes: u64) -> io::Result<Result<Ledger>> {
    let facts = file.metadata()?;
    if !facts.is_file() || facts.len() > LEDGER_BYTES_MAX {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a ledger"));
    }
    Ledger::read(file.take(LEDGER_BYTES_MAX), target_bytes)
}

/// What the refusal of a ledger's file means.
pub(crate) fn refusal(doing: &str, path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::AlreadyExists => {
            "specify a new file; continue a ledger with `assay verify --after --resume`"
        }
        ErrorKind::WouldBlock => {
            "another run is appending to it: wait until it ends, or specify another file"
        }
        ErrorKind::InvalidData => {
            "specify a ledger that `assay verify` or `assay bench` wrote; if it is damaged, keep \
             it and start a new one"
        }
        ErrorKind::StorageFull => "free space on its file system",
        ErrorKind::FileTooLarge => "start a new ledger",
        ErrorKind::NotFound if doing == "reading" => {
            "specify the ledger of the run that wrote the data"
        }
        _ => "specify a file on another device with free space, not the one under test",
    };
    Error::environment(format!("{doing} the ledger {}: {error}", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_whose_first_frame_cannot_be_written_leaves_no_file() {
        let name = format!("assay-ledger-first-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut ledger = LedgerFile::create(&path).unwrap();
        // A handle that cannot write stands for a disk that takes nothing.
        ledger.file = File::open(&path).unwrap();
        assert!(ledger.append(b"a frame").is_err());
        assert!(!path.exists());
    }

    #[test]
    fn a_ledger_takes_no_more_than_can_be_read_back() {
        let name = format!("assay-ledger-long-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut ledger = LedgerFile::create(&path).unwrap();
        ledger.whole_bytes = LEDGER_BYTES_MAX - 7;
        let error = ledger.append(b"8 bytes.").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), MAGIC);
        assert!(ledger.append(b"7 bytes").is_ok());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_no_plain_file_is_refused_and_not_waited_for() {
        let folder = std::env::temp_dir().join(format!("assay-ledger-pipe-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let pipe = folder.join("a.ledger");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero"), &folder] {
            assert!(read_ledger(path, 0).is_err(), "{}", path.display());
        }
        assert!(LedgerFile::go_on(&pipe).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
