//! Frames from a connection: authenticated, complete, and limited in length.

use crate::frame::{Found, find};
use crate::sealed::changed;
use crate::token::{MessageSeal, PROOF_BYTES};
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A writer without a whole frame for this long has gone: it gives a sign of life every second.
const SILENCE: Duration = Duration::from_secs(30);

/// Reads frames from a stream.
pub(super) struct FrameReader {
    bytes: Vec<u8>,
    seal: MessageSeal,
    frames: u64,
    frames_before: u64,
    /// When the last whole frame came; bytes of one that never ends do not count.
    heard: Instant,
}

/// What a read of a stream came to.
pub(super) enum Received {
    /// Bytes.
    Some,
    /// The other end has said all.
    End,
}

impl FrameReader {
    pub(super) fn new(seal: MessageSeal) -> Self {
        Self { bytes: Vec::new(), seal, frames: 0, frames_before: 0, heard: Instant::now() }
    }

    /// Whether no whole frame has come for long.
    pub(super) fn is_silent(&self) -> bool {
        self.heard.elapsed() >= SILENCE
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
    /// `InvalidData` where what is there is not a frame, or not the next one that the client
    /// sealed.
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
            self.heard = Instant::now();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::acknowledged;
    use crate::token::SealedEnd;
    use crate::token::tests::token;

    #[test]
    fn bytes_of_a_frame_that_never_ends_are_no_sign_of_life() {
        let seal = || token("0123456789abcdef").seal(SealedEnd::Client, [&[1; 16], &[2; 16]]);
        let frame = acknowledged(1, &[]);
        let sealed = [frame.as_slice(), &seal().of_next(&frame)].concat();
        let heard = Instant::now().checked_sub(SILENCE).unwrap();
        let bytes = sealed[..sealed.len() - 1].to_vec();
        let mut reader = FrameReader { bytes, heard, ..FrameReader::new(seal()) };
        assert!(reader.whole().unwrap().is_empty() && reader.is_silent());
        reader.bytes = sealed;
        assert!(reader.whole().unwrap() == frame && !reader.is_silent());
    }
}
