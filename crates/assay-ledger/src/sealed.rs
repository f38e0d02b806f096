//! Authenticated messages: changed, lost, repeated or forged ones are detected at both ends.

use crate::ledger::LEDGER_BYTES_MAX;
use crate::token::{MessageSeal, PROOF_BYTES};
use assay_files::is_ending;
use assay_model::number::{count_of, index_of};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Content of one piece of a ledger at most.
pub(crate) const PIECE_BYTES_MAX: usize = 64 << 10;
/// How often one that waits looks whether it is to end.
const SLICE: Duration = Duration::from_millis(200);
/// How long a whole ledger may take, whatever its length.
const LEDGER_TIME: Duration = Duration::from_secs(15);
/// What it must come to in the time behind that, bytes per second.
const LEDGER_BYTES_PER_S: u64 = 1 << 20;

/// Until when a peer is waited for, and whether Ctrl-C ends that before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWait {
    until: Instant,
    heeds_ending: bool,
}

impl PeerWait {
    /// As long as this, or until the program is to end.
    pub(crate) fn of(time: Duration) -> Self {
        Self { until: Instant::now() + time, heeds_ending: true }
    }

    /// As long as this, also where the program is to end: what was done must still be heard of.
    pub(crate) fn at_the_end(time: Duration) -> Self {
        Self { until: Instant::now() + time, heeds_ending: false }
    }

    fn left(&self) -> io::Result<Duration> {
        if self.heeds_ending && is_ending() {
            // Not `Interrupted`, after which readers try again.
            return Err(io::Error::new(ErrorKind::ConnectionAborted, "it was stopped"));
        }
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::Error::new(ErrorKind::TimedOut, "it did not answer in time")),
            left => Ok(left.min(SLICE)),
        }
    }
}

/// Whether an operation on a socket has only waited.
pub(crate) fn is_waiting(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Fills the bytes, all of them within the time.
///
/// # Errors
/// Those of the system, `TimedOut`, and `ConnectionAborted` where the program is to end.
pub(crate) fn read_within(
    stream: &mut TcpStream,
    mut bytes: &mut [u8],
    wait: PeerWait,
) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_read_timeout(Some(wait.left()?))?;
        match stream.read(bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes = &mut bytes[read..],
            Err(error) if is_waiting(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// That a message is not the next one of the other end.
pub(crate) fn changed() -> io::Error {
    let what = "the data were altered in transit";
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Sends a piece of a ledger; an empty one is the last.
///
/// # Errors
/// Those of the system.
pub(crate) fn send_piece(
    stream: &mut TcpStream,
    seal: &mut MessageSeal,
    content: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut message = length.to_le_bytes().to_vec();
    message.extend_from_slice(content);
    let sealed = seal.of_next(&message);
    message.extend_from_slice(&sealed);
    stream.write_all(&message)
}

/// A ledger that comes in sealed pieces.
pub(crate) struct SealedPieces {
    stream: TcpStream,
    seal: MessageSeal,
    piece: Vec<u8>,
    used: usize,
    begun: Instant,
    came: u64,
    is_at_end: bool,
}

impl SealedPieces {
    pub(crate) fn new(stream: TcpStream, seal: MessageSeal) -> Self {
        let begun = Instant::now();
        Self { stream, seal, piece: Vec::new(), used: 0, begun, came: 0, is_at_end: false }
    }

    /// Reads the first piece; whether there is any ledger.
    ///
    /// # Errors
    /// As for [`Read`].
    pub(crate) fn has_any(&mut self) -> io::Result<bool> {
        self.next_piece()?;
        Ok(!self.is_at_end)
    }

    /// A sender may be slow, and not for ever.
    fn wait(&self) -> PeerWait {
        let earned = Duration::from_secs(self.came / LEDGER_BYTES_PER_S);
        PeerWait { until: self.begun + LEDGER_TIME + earned, heeds_ending: true }
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let wait = self.wait();
        let mut length = [0; 4];
        read_within(&mut self.stream, &mut length, wait)?;
        let content = index_of(u64::from(u32::from_le_bytes(length)));
        self.came += count_of(content);
        if content > PIECE_BYTES_MAX || self.came > LEDGER_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, "its file is not a ledger"));
        }
        let mut message = vec![0; 4 + content];
        message[..4].copy_from_slice(&length);
        read_within(&mut self.stream, &mut message[4..], wait)?;
        let mut seal = [0; PROOF_BYTES];
        read_within(&mut self.stream, &mut seal, wait)?;
        if !self.seal.is_next(&message, &seal) {
            return Err(changed());
        }
        self.is_at_end = content == 0;
        (self.piece, self.used) = (message, 4);
        Ok(())
    }
}

impl Read for SealedPieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.len() && !self.is_at_end {
            self.next_piece()?;
        }
        let here = &self.piece[self.used..];
        let length = here.len().min(buffer.len());
        buffer[..length].copy_from_slice(&here[..length]);
        self.used += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::SealedEnd;
    use crate::token::tests::token;
    use std::net::TcpListener;

    /// What a peer sent of a ledger that began so long ago.
    fn late(elapsed: Duration, sent: &[u8]) -> io::Error {
        let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let stream = TcpStream::connect(socket.local_addr().unwrap()).unwrap();
        let (mut peer, _) = socket.accept().unwrap();
        peer.write_all(sent).unwrap();
        let seal = token("0123456789abcdef").seal(SealedEnd::Witness, [&[1; 16], &[2; 16]]);
        let begun = Instant::now().checked_sub(elapsed).unwrap();
        SealedPieces { begun, ..SealedPieces::new(stream, seal) }.has_any().unwrap_err()
    }

    #[test]
    fn a_peer_that_is_slow_without_end_is_given_up() {
        // A piece begins to come, and its rest does not.
        let error = late(LEDGER_TIME.saturating_sub(Duration::from_millis(300)), &[0, 0, 1]);
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        let error = late(LEDGER_TIME, &[1, 0, 0, 0, b'x']);
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    }

    #[test]
    fn a_piece_that_is_larger_than_pieces_are_is_refused_before_it_is_read() {
        let error = late(Duration::ZERO, &u32::MAX.to_le_bytes());
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    }
}
