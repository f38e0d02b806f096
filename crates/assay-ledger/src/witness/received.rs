//! Frames from a connection: authenticated, complete, and limited in length.

use crate::frame::{Found, find};
use crate::sealed::changed;
use crate::token::{PROOF_BYTES, Seal};
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;

/// Reads frames from a stream.
pub(super) struct FrameReader {
    bytes: Vec<u8>,
    seal: Seal,
    frames: u64,
    frames_before: u64,
}

/// What a read of a stream came to.
pub(super) enum Received {
    /// Bytes.
    Some,
    /// The other end has said all.
    End,
}

impl FrameReader {
    pub(super) const fn new(seal: Seal) -> Self {
        Self { bytes: Vec::new(), seal, frames: 0, frames_before: 0 }
    }

    /// Waits for more bytes.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn receive(&mut self, stream: &mut TcpStream) -> io::Result<Received> {
        let mut piece = [0; 8 << 10];
        let length = stream.read(&mut piece)?;
        self.bytes.extend_from_slice(&piece[..length]);
        Ok(if length == 0 { Received::End } else { Received::Some })
    }

    /// All whole frames that are there, without their seals.
    ///
    /// # Errors
    /// `InvalidData` where what is there is not a frame, or not the next one that the client sealed.
    pub(super) fn whole(&mut self) -> io::Result<Vec<u8>> {
        let (mut frames, mut used) = (Vec::new(), 0);
        self.frames_before = self.frames;
        loop {
            let here = &self.bytes[used..];
            let length = match find(here) {
                Found::Whole(_, _, length) => length,
                Found::Short(_) => break,
                Found::Foreign => return Err(ErrorKind::InvalidData.into()),
            };
            let Some(seal) = here.get(length..length + PROOF_BYTES) else { break };
            if !self.seal.is_next(&here[..length], seal) {
                return Err(changed());
            }
            frames.extend_from_slice(&here[..length]);
            used += length + PROOF_BYTES;
            self.frames += 1;
        }
        self.bytes.drain(..used);
        Ok(frames)
    }

    /// Frames so far.
    pub(super) const fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames before those that came last.
    pub(super) const fn frames_before(&self) -> u64 {
        self.frames_before
    }
}
