//! Reading lines: one at a time, in flat memory, those that no crash can explain counted or
//! refused.

use super::LINE_BYTES_MAX;
use crate::damage;
use crate::directory::{Directory, FileAccess};
use crate::failure::refused;
use crate::seal::{LineSeal, unseal};
use assay_model::number::count_of;
use assay_model::{Error, Result};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::marker::PhantomData;
use std::path::PathBuf;

/// The lines of a file as nouns; a file that is not there has none.
///
/// A line that is cut off ends the iteration. A line in the middle whose checksum is wrong, or that
/// is not JSON, is counted and remembered as damaged and left out; a line that is JSON but not ours
/// is an error.
#[derive(Debug)]
pub(crate) struct LineReader<T> {
    reader: Option<BufReader<File>>,
    path: PathBuf,
    buffer: Vec<u8>,
    number: u64,
    damaged: u64,
    /// Whether a line had a checksum: from then on all have one.
    sealed: bool,
    noun: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> LineReader<T> {
    /// All lines of a file.
    pub(crate) fn open(directory: &Directory, name: &str) -> Result<Self> {
        let path = directory.path().join(name);
        let reader = match directory.open_file(name, FileAccess::Read) {
            Ok(file) => Some(BufReader::with_capacity(1 << 17, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refused("reading", &path, &error)),
        };
        Ok(Self {
            reader,
            path,
            buffer: Vec::new(),
            number: 0,
            damaged: 0,
            sealed: false,
            noun: PhantomData,
        })
    }

    /// Lines left out so far because they are not what was written.
    pub(crate) const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Reads the next whole line into the buffer; `false` at the end, or where the last line is cut
    /// off, even if a writer goes on with it meanwhile.
    fn advance(&mut self) -> Result<bool> {
        let Some(reader) = &mut self.reader else {
            return Ok(false);
        };
        self.buffer.clear();
        self.number += 1;
        let read = reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut self.buffer);
        let whole = self.buffer.last() == Some(&b'\n');
        if !whole {
            self.reader = None;
        }
        read.map_err(|error| refused("reading", &self.path, &error))?;
        if let (false, Some(why)) = (whole, self.cut_by_no_crash()) {
            self.leave_out(why);
        }
        self.buffer.pop();
        Ok(whole)
    }

    /// What is wrong with a last line without an end, when no crash has cut it off.
    fn cut_by_no_crash(&self) -> Option<&'static str> {
        if count_of(self.buffer.len()) >= LINE_BYTES_MAX {
            return Some("it is too long");
        }
        let mut but_its_end = self.buffer.clone();
        but_its_end.pop();
        (unseal(&mut but_its_end) == LineSeal::Whole).then_some("its end was changed")
    }

    fn leave_out(&mut self, why: &str) {
        self.damaged += 1;
        damage::note(&self.path, Some(self.number), why);
    }

    /// Whether the line is what was written, as far as its checksum can tell; takes the checksum
    /// off.
    fn is_sound(&mut self) -> bool {
        match unseal(&mut self.buffer) {
            LineSeal::Whole => self.sealed = true,
            LineSeal::None if !self.sealed => {}
            LineSeal::None => {
                self.leave_out("it has no checksum, unlike the lines before it");
                return false;
            }
            LineSeal::Broken => {
                self.sealed = true;
                self.leave_out("its checksum does not match its content");
                return false;
            }
        }
        true
    }

    /// The noun of the line in the buffer; nothing for a damaged line.
    fn parse(&mut self) -> Option<Result<T>> {
        if !self.is_sound() {
            return None;
        }
        match serde_json::from_slice(&self.buffer) {
            Ok(noun) => Some(Ok(noun)),
            Err(error) if error.is_data() => Some(Err(self.foreign(&error))),
            Err(_) => {
                self.leave_out("it is not JSON");
                None
            }
        }
    }

    fn foreign(&self, error: &serde_json::Error) -> Error {
        Error::usage(
            format!("{}, line {}: {error}", self.path.display(), self.number),
            "the line is from another version: open the run with the version of assay that wrote it",
        )
    }
}

impl<T: DeserializeOwned> Iterator for LineReader<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if let Some(noun) = self.parse() {
                return Some(noun);
            }
        }
    }
}
