//! Reading lines: one at a time, in flat memory, those that no crash can explain counted or refused.

use super::LINE_BYTES_MAX;
use crate::failure::refused;
use assay_model::{Error, Result};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The lines of a file as nouns; a file that is not there has none.
///
/// A line that is cut off ends the iteration. A line in the middle that is no JSON is counted as damaged and
/// left out; a line that is JSON but not ours is an error.
#[derive(Debug)]
pub(crate) struct Lines<T> {
    reader: Option<BufReader<File>>,
    path: PathBuf,
    buffer: Vec<u8>,
    number: u64,
    damaged: u64,
    noun: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Lines<T> {
    /// All lines of a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let reader = match File::open(path) {
            Ok(file) => Some(BufReader::with_capacity(1 << 17, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refused("reading", path, &error)),
        };
        Ok(Self {
            reader,
            path: path.to_owned(),
            buffer: Vec::new(),
            number: 0,
            damaged: 0,
            noun: PhantomData,
        })
    }

    /// Lines left out so far because they are no JSON.
    pub(crate) const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Reads the next whole line into the buffer; `false` at the end, or where the last line is cut off, even
    /// if a writer goes on with it meanwhile.
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
        Ok(whole)
    }

    /// The noun of the line in the buffer; nothing for a damaged line.
    fn parse(&mut self) -> Option<Result<T>> {
        match serde_json::from_slice(&self.buffer) {
            Ok(noun) => Some(Ok(noun)),
            Err(error) if error.is_data() => Some(Err(self.foreign(&error))),
            Err(_) => {
                self.damaged += 1;
                None
            }
        }
    }

    fn foreign(&self, error: &serde_json::Error) -> Error {
        Error::usage(
            format!("{}, line {}: {error}", self.path.display(), self.number),
            "the line is not of this version: open the run with the version of assay that wrote it",
        )
    }
}

impl<T: DeserializeOwned> Iterator for Lines<T> {
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
