//! Files of JSON lines that only grow: written line by line, cut off anywhere by a crash, and read
//! in flat memory.

use crate::directory::{Directory, FileAccess};
use crate::failure::refused;
use crate::seal::seal;
use assay_model::Result;
use assay_model::number::count_of;
use serde::Serialize;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

mod reader;

pub(crate) use reader::LineReader;

/// No line that Assay writes comes near; a file without line feeds must not fill the memory.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// A file of lines, open at its end.
#[derive(Debug)]
pub(crate) struct LineFile {
    file: File,
    path: PathBuf,
    bytes: u64,
    buffer: Vec<u8>,
}

impl LineFile {
    /// Opens or creates a file; a last line that was cut off is taken away, so that the next one
    /// stands alone.
    pub(crate) fn open(directory: &Directory, name: &str) -> Result<Self> {
        let path = directory.path().join(name);
        let opened = directory.open_file(name, FileAccess::Append).and_then(|mut file| {
            let bytes = whole_bytes(&mut file)?;
            file.set_len(bytes)?;
            Ok((file, bytes))
        });
        match opened {
            Ok((file, bytes)) => Ok(Self { file, path, bytes, buffer: Vec::new() }),
            Err(error) => Err(refused("opening", &path, &error)),
        }
    }

    /// Appends one line in one piece; when that fails nothing of it stays.
    pub(crate) fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let written =
            sealed(&mut self.buffer, line).and_then(|()| self.file.write_all(&self.buffer));
        if let Err(error) = written {
            // A reader drops the half line as well, should even this fail.
            let _ = self.file.set_len(self.bytes);
            return Err(refused("writing", &self.path, &error));
        }
        self.bytes += count_of(self.buffer.len());
        Ok(())
    }

    /// Bytes of all lines.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Waits until all lines are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| refused("syncing", &self.path, &error))
    }
}

/// The bytes of a line, with its checksum and its end.
pub(crate) fn sealed(buffer: &mut Vec<u8>, line: &impl Serialize) -> io::Result<()> {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, line)?;
    seal(buffer);
    buffer.push(b'\n');
    Ok(())
}

/// Length up to the end of the last line that is whole; a last line of anything but JSON, as the
/// zeros that a power failure leaves, is not whole.
fn whole_bytes(file: &mut File) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    let last = line_start(file, end)?;
    if last == end && end > 0 {
        let start = line_start(file, end - 1)?;
        let mut line = String::new();
        file.seek(SeekFrom::Start(start))?;
        let text = file.take(LINE_BYTES_MAX).read_to_string(&mut line);
        let whole = text.is_ok() && serde_json::from_str::<serde::de::IgnoredAny>(&line).is_ok();
        return Ok(if whole { end } else { start });
    }
    Ok(last)
}

/// Where the line that holds the byte before `end` begins, when that byte is not a line feed; else
/// `end`.
fn line_start(file: &mut File, end: u64) -> io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut chunk = Vec::new();
    let mut upper = end;
    while upper > 0 {
        if end - upper > LINE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, "its last line is too long"));
        }
        let lower = upper.saturating_sub(STEP);
        chunk.clear();
        file.seek(SeekFrom::Start(lower))?;
        file.take(upper - lower).read_to_end(&mut chunk)?;
        if let Some(place) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(lower + count_of(place) + 1);
        }
        upper = lower;
    }
    Ok(0)
}
