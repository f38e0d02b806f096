//! What came over a socket and is not yet read, so that an answer costs as few reads as it has packets.

use crate::Stream;
use std::io;
use std::ops::Range;

/// A socket with room for answers; the room grows for the longest one only.
#[derive(Debug)]
pub struct Inbox {
    stream: Stream,
    room: Vec<u8>,
    /// What was received and not yet taken: `start..end` of the room.
    start: usize,
    end: usize,
}

impl Inbox {
    /// A socket with so much room to begin with.
    pub fn over(stream: Stream, room_bytes: usize) -> Self {
        Self { stream, room: vec![0; room_bytes], start: 0, end: 0 }
    }

    /// The socket.
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// What the system says.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.send(bytes)
    }

    /// The next bytes, which stay.
    ///
    /// # Errors
    /// What the system says, and that the other side closed.
    #[inline]
    pub fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        self.receive(bytes)?;
        Ok(&self.room[self.start..self.start + bytes])
    }

    /// Takes the next bytes; where they lie in the room until the next call.
    ///
    /// # Errors
    /// As for [`peek`](Self::peek).
    #[inline]
    pub fn take(&mut self, bytes: usize) -> io::Result<Range<usize>> {
        self.receive(bytes)?;
        let taken = self.start..self.start + bytes;
        self.start = taken.end;
        Ok(taken)
    }

    /// Bytes that were taken last.
    #[inline]
    pub fn room(&self, taken: Range<usize>) -> &[u8] {
        &self.room[taken]
    }

    /// Reads until `bytes` are there.
    #[inline]
    fn receive(&mut self, bytes: usize) -> io::Result<()> {
        while self.end - self.start < bytes {
            if self.start == self.end {
                (self.start, self.end) = (0, 0);
            }
            if self.start + bytes > self.room.len() {
                self.make_room(bytes);
            }
            self.end += self.stream.receive(&mut self.room[self.end..])?;
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) {
        self.room.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.room.len() < bytes {
            self.room.resize(bytes, 0);
        }
    }
}
