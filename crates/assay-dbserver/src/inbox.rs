//! What came over a socket and is not yet read, so that an answer costs as few reads as it has
//! packets, and so that no server fills the memory.

use crate::ServerStream;
use crate::tls::Tls;
use assay_model::failure::{Answer, Failure};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All that a server may answer to a question, bytes: none of our questions needs a tenth of it.
pub const ANSWER_BYTES_MAX: usize = 32 << 20;
/// All that it may answer to an execution of a load, bytes: there are many sessions.
pub const EXECUTION_BYTES_MAX: usize = 1 << 20;
/// All that it may say until the login is over, bytes.
pub const LOGIN_BYTES_MAX: usize = 256 << 10;
/// Room that is made at once for a message that was announced; more only for what has come.
const AT_ONCE_BYTES: usize = 1 << 20;
/// Room that the sessions of this program may have beyond what they begin with, bytes.
const ROOMS_BYTES_MAX: usize = 64 << 20;

/// Room of all sessions beyond what they began with, bytes.
static ROOMS_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A socket with room for answers; the room grows for the longest one only.
#[derive(Debug)]
pub struct ReadBuffer {
    stream: ServerStream,
    room: Vec<u8>,
    /// What was received and not yet taken: `start..end` of the room.
    start: usize,
    end: usize,
    /// Room that was made beyond what it began with, bytes.
    made: usize,
    /// Bytes that may yet be answered.
    left: usize,
}

impl ReadBuffer {
    /// A socket, with `room_bytes` of room to begin with; the login comes first.
    pub fn over(stream: ServerStream, room_bytes: usize) -> Self {
        let room = vec![0; room_bytes];
        Self { stream, room, start: 0, end: 0, made: 0, left: LOGIN_BYTES_MAX }
    }

    /// The socket.
    pub const fn stream(&self) -> &ServerStream {
        &self.stream
    }

    /// The socket, to set its patience.
    pub const fn stream_mut(&mut self) -> &mut ServerStream {
        &mut self.stream
    }

    /// Encrypts everything from now on.
    ///
    /// # Errors
    /// When something has come that is not encrypted, which an attacker in between may have put
    /// there; and those of [`ServerStream::encrypt`].
    pub fn encrypt(&mut self, tls: &Tls, host: &str) -> Answer<()> {
        if self.start != self.end {
            return Err(injected());
        }
        self.stream.encrypt(tls, host)
    }

    /// Writes all bytes, and allows an answer of at most `answer_bytes_max`.
    #[inline]
    pub fn send(&mut self, bytes: &[u8], answer_bytes_max: usize) -> io::Result<()> {
        self.left = answer_bytes_max;
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
    /// As for [`peek`](Self::peek), and when the answer is longer than it may be.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> io::Result<Range<usize>> {
        self.charge(bytes)?;
        self.receive(bytes)?;
        let taken = self.start..self.start + bytes;
        self.start = taken.end;
        Ok(taken)
    }

    /// Counts bytes that an answer costs in addition to its own.
    ///
    /// # Errors
    /// When the answer is longer than it may be.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(endless)?;
        Ok(())
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
                self.make_room(bytes)?;
            }
            self.end += self.stream.receive(&mut self.room[self.end..])?;
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        self.room.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let wanted = if bytes <= AT_ONCE_BYTES || self.end < self.room.len() {
            bytes.min(AT_ONCE_BYTES)
        } else {
            bytes.min((2 * self.room.len()).max(AT_ONCE_BYTES))
        };
        let more = wanted.saturating_sub(self.room.len());
        if ROOMS_BYTES.fetch_add(more, Ordering::Relaxed) + more > ROOMS_BYTES_MAX {
            ROOMS_BYTES.fetch_sub(more, Ordering::Relaxed);
            return Err(endless());
        }
        self.made += more;
        self.room.resize(self.room.len() + more, 0);
        Ok(())
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        ROOMS_BYTES.fetch_sub(self.made, Ordering::Relaxed);
    }
}

/// Something came in clear where only encrypted messages may come.
pub fn injected() -> Failure {
    Failure::Unsafe {
        what: "unencrypted data followed the server's agreement to encrypt".to_owned(),
        hint: "the connection may have been tampered with: use another route to the server",
    }
}

#[cold]
fn endless() -> io::Error {
    io::Error::other("its answer is too long")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn pair() -> (UnixStream, ReadBuffer) {
        let (server, client) = UnixStream::pair().unwrap();
        (server, ReadBuffer::over(ServerStream::from(client), 64))
    }

    #[test]
    fn room_is_made_for_what_has_come_and_not_for_what_is_announced() {
        let (mut server, mut inbox) = pair();
        inbox.send(b"?", ANSWER_BYTES_MAX).unwrap();
        server.write_all(&[7; 100]).unwrap();
        drop(server);
        assert!(inbox.take(30 << 20).is_err());
        assert!(inbox.room.len() <= AT_ONCE_BYTES);
    }

    #[test]
    fn an_answer_has_an_end() {
        let (mut server, mut inbox) = pair();
        server.write_all(&[7; 300]).unwrap();
        inbox.send(b"?", 250).unwrap();
        assert_eq!(inbox.take(200).unwrap().len(), 200);
        let error = inbox.take(100).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        inbox.send(b"?", 250).unwrap();
        inbox.charge(240).unwrap();
        assert!(inbox.take(100).is_err());
    }

    #[test]
    fn long_messages_arrive_whole() {
        let (mut server, mut inbox) = pair();
        let sent: Vec<u8> = (0..5 << 20).map(|byte: u32| byte.to_le_bytes()[0]).collect();
        let copy = sent.clone();
        let writer = std::thread::spawn(move || server.write_all(&copy).unwrap());
        inbox.send(b"?", ANSWER_BYTES_MAX).unwrap();
        let taken = inbox.take(sent.len()).unwrap();
        assert!(inbox.room(taken) == sent);
        writer.join().unwrap();
        assert!(inbox.made > 0);
    }

    #[test]
    fn what_came_before_the_handshake_ends_it() {
        let (mut server, mut inbox) = pair();
        server.write_all(b"SELECT").unwrap();
        inbox.peek(1).unwrap();
        let tls = Tls::new(&crate::tls::Security::default()).unwrap();
        let failure = inbox.encrypt(&tls, "db.test").unwrap_err();
        assert!(failure.to_string().contains("unencrypted"), "{failure}");
    }
}
