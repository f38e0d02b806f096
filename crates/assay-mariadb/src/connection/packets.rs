//! Packets of the protocol: three bytes of length, a number that counts up within a command, a
//! body.
//!
//! Source: MariaDB documentation, "0 - Packet".

use crate::failure::Answer;
use assay_dbserver::tls::Tls;
use assay_dbserver::{
    ANSWER_BYTES_MAX, EXECUTION_BYTES_MAX, LOGIN_BYTES_MAX, ReadBuffer, ServerStream,
};
use assay_model::row::Row;
use std::ops::Range;

/// Room for answers; it grows for the longest packet only.
const ROOM_BYTES: usize = 16_384;
/// A body of this length goes on in the next packet.
const WHOLE_BYTES: usize = 0xff_ffff;
/// What a row and a column of a row cost in addition to their bytes.
const ROW_COST_BYTES: usize = 48;
const HEAD_BYTES: usize = 4;

/// Packets over a socket.
#[derive(Debug)]
pub(super) struct Packets {
    inbox: ReadBuffer,
    /// The number of the next packet from here.
    number: u8,
    /// A body that came in more than one packet.
    joined: Vec<u8>,
    /// Bytes that the answer to a command may have.
    answer_bytes_max: usize,
}

impl Packets {
    /// The login comes first: its answers are short.
    pub(super) fn over(stream: ServerStream) -> Self {
        Self {
            inbox: ReadBuffer::over(stream, ROOM_BYTES),
            number: 0,
            joined: Vec::new(),
            answer_bytes_max: LOGIN_BYTES_MAX,
        }
    }

    /// The login is over: from now on a statement takes the time and the room that it needs.
    pub(super) fn logged_in(&mut self) -> Answer<()> {
        self.answer_bytes_max = ANSWER_BYTES_MAX;
        Ok(self.inbox.stream_mut().wait_as_needed()?)
    }

    /// Encrypts everything from now on.
    pub(super) fn encrypt(&mut self, tls: &Tls, host: &str) -> Answer<()> {
        self.inbox.encrypt(tls, host)
    }

    /// Counts what a row in text form costs.
    pub(super) fn charge(&mut self, row: &Row) -> Answer<()> {
        Ok(self.inbox.charge(ROW_COST_BYTES * (row.0.len() + 1))?)
    }

    pub(super) const fn stream_mut(&mut self) -> &mut ServerStream {
        self.inbox.stream_mut()
    }

    pub(super) const fn stream(&self) -> &ServerStream {
        self.inbox.stream()
    }

    /// Begins a new command: packets are counted from 0 again.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.number = 0;
    }

    /// Sends a body that was put together behind room for its head; see [`new_packet`].
    #[inline]
    pub(super) fn send(&mut self, packet: &mut Vec<u8>) -> Answer<()> {
        self.number = put_heads(packet, 0, self.number);
        Ok(self.inbox.send(packet, self.answer_bytes_max)?)
    }

    /// Sends an execution of a load, whose answer is short.
    #[inline]
    pub(super) fn send_execution(&mut self, packet: &mut Vec<u8>) -> Answer<()> {
        self.number = put_heads(packet, 0, self.number);
        self.send_sealed(packet)
    }

    /// Sends packets whose heads are written: executions of a load.
    #[inline]
    pub(super) fn send_sealed(&mut self, packets: &[u8]) -> Answer<()> {
        Ok(self.inbox.send(packets, EXECUTION_BYTES_MAX)?)
    }

    /// The next body.
    #[inline]
    pub(super) fn next(&mut self) -> Answer<&[u8]> {
        let body = self.piece()?;
        if body.len() < WHOLE_BYTES {
            return Ok(self.inbox.room(body));
        }
        self.join(body)
    }

    /// Where the body of the next packet lies in the room.
    #[inline]
    fn piece(&mut self) -> Answer<Range<usize>> {
        let head = self.inbox.peek(HEAD_BYTES)?;
        let bytes = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
        self.number = head[3].wrapping_add(1);
        let packet = self.inbox.take(HEAD_BYTES + bytes)?;
        Ok(packet.start + HEAD_BYTES..packet.end)
    }

    fn join(&mut self, first: Range<usize>) -> Answer<&[u8]> {
        self.joined.clear();
        self.joined.extend_from_slice(self.inbox.room(first));
        loop {
            let body = self.piece()?;
            let is_last = body.len() < WHOLE_BYTES;
            self.joined.extend_from_slice(self.inbox.room(body));
            if is_last {
                return Ok(&self.joined);
            }
        }
    }
}

/// Empties a packet for a new body: room for its head.
#[inline]
pub(super) fn new_packet(packet: &mut Vec<u8>) {
    packet.clear();
    packet.extend([0; HEAD_BYTES]);
}

/// Room for the head of a further packet; where it begins.
#[inline]
pub(super) fn new_packet_behind(packets: &mut Vec<u8>) -> usize {
    let start = packets.len();
    packets.extend([0; HEAD_BYTES]);
    start
}

/// Ends the last packet, which is a command of its own.
#[inline]
pub(super) fn seal(packets: &mut Vec<u8>, start: usize) {
    put_heads(packets, start, 0);
}

/// Writes the head of the packet that begins here, and cuts a long one into several; the number of
/// the next.
#[inline]
fn put_heads(packets: &mut Vec<u8>, start: usize, number: u8) -> u8 {
    let bytes = packets.len().saturating_sub(start + HEAD_BYTES);
    if bytes >= WHOLE_BYTES {
        return cut(packets, start, number);
    }
    if let Some(room) = packets.get_mut(start..start + HEAD_BYTES) {
        room.copy_from_slice(&head(bytes, number));
    }
    number.wrapping_add(1)
}

fn head(bytes: usize, number: u8) -> [u8; HEAD_BYTES] {
    let [low, middle, high, ..] = u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    [low, middle, high, number]
}

fn cut(packets: &mut Vec<u8>, start: usize, mut number: u8) -> u8 {
    let body = packets.split_off(start + HEAD_BYTES);
    packets.truncate(start);
    // A last piece of the whole length would go on: an empty one follows it.
    let pieces = body.len() / WHOLE_BYTES + 1;
    for piece in 0..pieces {
        let begin = piece * WHOLE_BYTES;
        let part = &body[begin..body.len().min(begin + WHOLE_BYTES)];
        packets.extend(head(part.len(), number));
        packets.extend(part);
        number = number.wrapping_add(1);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn bodies_of_every_length_arrive_whole() {
        for length in [0, 1, 16_000, 20_000, WHOLE_BYTES - 1, WHOLE_BYTES, WHOLE_BYTES + 7] {
            let (server, client) = UnixStream::pair().unwrap();
            let writer = std::thread::spawn(move || {
                let mut packet = Vec::new();
                new_packet(&mut packet);
                packet.extend(vec![7; length]);
                let mut server = Packets::over(ServerStream::from(server));
                server.send(&mut packet).unwrap();
                server
            });
            let mut packets = Packets::over(ServerStream::from(client));
            packets.logged_in().unwrap();
            packets.send(&mut vec![0; 4]).unwrap();
            let body = packets.next().unwrap();
            assert_eq!(body.len(), length);
            assert!(body.iter().all(|byte| *byte == 7));
            // It closes only now: our own bytes must find somebody.
            drop(writer.join().unwrap());
            assert!(packets.next().unwrap_err().is_lost());
        }
    }

    #[test]
    fn commands_behind_each_other_have_heads_of_their_own() {
        let mut packets = Vec::new();
        for body in [vec![1; 3], vec![2; WHOLE_BYTES], vec![3; 1]] {
            let start = new_packet_behind(&mut packets);
            packets.extend(body);
            seal(&mut packets, start);
        }
        let second = 4 + WHOLE_BYTES;
        assert_eq!(packets[..9], [3, 0, 0, 0, 1, 1, 1, 0xff, 0xff]);
        // A command of the whole length goes on, with nothing.
        assert_eq!(packets[7 + second..], [0, 0, 0, 1, 1, 0, 0, 0, 3]);
    }

    #[test]
    fn numbers_count_up_within_a_command_and_follow_the_server() {
        let (server, client) = UnixStream::pair().unwrap();
        let (mut here, mut there) =
            (Packets::over(ServerStream::from(client)), Packets::over(ServerStream::from(server)));
        let mut packet = Vec::new();
        new_packet(&mut packet);
        here.send(&mut packet).unwrap();
        there.next().unwrap();
        assert_eq!(there.number, 1);
        there.send(&mut packet).unwrap();
        here.next().unwrap();
        assert_eq!(here.number, 2);
        here.begin();
        assert_eq!(here.number, 0);
    }
}
