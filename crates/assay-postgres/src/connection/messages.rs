//! Messages of the protocol: a letter, a length that counts itself, a body.

use crate::failure::{Answer, Failure, refused};
use assay_dbserver::{
    ANSWER_BYTES_MAX, EXECUTION_BYTES_MAX, LOGIN_BYTES_MAX, ReadBuffer, ServerStream,
};
use assay_model::failure::words;
pub use assay_model::row::Row;

/// Room for answers; it grows for the longest message only.
const ROOM_BYTES: usize = 8192;
/// No message of a server is as long; a longer one is not a message.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// What a row and a column of a row cost in addition to their bytes.
const ROW_COST_BYTES: usize = 48;

/// Ends a session.
pub(super) const TERMINATE: [u8; 5] = [b'X', 0, 0, 0, 4];

/// Messages over a socket.
#[derive(Debug)]
pub(super) struct Messages(ReadBuffer);

impl Messages {
    pub(super) fn over(stream: ServerStream) -> Self {
        Self(ReadBuffer::over(stream, ROOM_BYTES))
    }

    pub(super) const fn stream(&self) -> &ServerStream {
        self.0.stream()
    }

    pub(super) const fn stream_mut(&mut self) -> &mut ServerStream {
        self.0.stream_mut()
    }

    /// Sends a question.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8]) -> Answer<()> {
        Ok(self.0.send(bytes, ANSWER_BYTES_MAX)?)
    }

    /// Sends executions of a load, whose answers are short.
    #[inline]
    pub(super) fn send_executions(&mut self, bytes: &[u8]) -> Answer<()> {
        Ok(self.0.send(bytes, EXECUTION_BYTES_MAX)?)
    }

    /// Sends a step of the login.
    pub(super) fn send_login(&mut self, bytes: &[u8]) -> Answer<()> {
        Ok(self.0.send(bytes, LOGIN_BYTES_MAX)?)
    }

    /// Counts what a row in text form costs.
    pub(super) fn charge(&mut self, row: &Row) -> Answer<()> {
        Ok(self.0.charge(ROW_COST_BYTES * (row.0.len() + 1))?)
    }

    /// The next message: its letter and body.
    #[inline]
    pub(super) fn next(&mut self) -> Answer<(u8, &[u8])> {
        let head = self.0.peek(5)?;
        let (tag, length) = (head[0], big_endian(&head[1..5]));
        if !(4..MESSAGE_BYTES_MAX).contains(&length) {
            return Err(Failure::Protocol(format!("a message of {length} bytes")));
        }
        let body = self.0.take(1 + length)?;
        Ok((tag, &self.0.room(body)[5..]))
    }
}

/// Four bytes as a length.
#[inline]
pub(super) fn big_endian(bytes: &[u8]) -> usize {
    let four = bytes.first_chunk::<4>().copied().unwrap_or_default();
    usize::try_from(u32::from_be_bytes(four)).unwrap_or(usize::MAX)
}

/// Puts a message together; `fill` writes its body.
pub(super) fn message(to: &mut Vec<u8>, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    to.push(tag);
    let at = to.len();
    to.extend([0; 4]);
    fill(to);
    let length = u32::try_from(to.len() - at).unwrap_or(u32::MAX);
    to[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// A text with the zero at its end; zeros inside would end it early and are left out.
pub(super) fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend(text.bytes().filter(|byte| *byte != 0));
    to.push(0);
}

/// Statements as text.
pub(super) fn query(to: &mut Vec<u8>, sql: &str) {
    message(to, b'Q', |body| put_text(body, sql));
}

/// A text up to its zero, and what follows.
pub(super) fn zero_ended(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

/// The server's refusal: fields of a letter and a text.
pub(super) fn refusal(body: &[u8]) -> Failure {
    let (mut code, mut message, mut rest) = (String::new(), String::new(), body);
    while let Some((letter, field)) = rest.split_first().filter(|(letter, _)| **letter != 0) {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        // Before the encoding is agreed on, messages come in the server's own.
        let text = words(&field[..end]);
        match letter {
            b'C' => code = text,
            b'M' => message = text,
            _ => {}
        }
        rest = field.get(end + 1..).unwrap_or_default();
    }
    refused(&code, message)
}

/// A row in text form.
pub(super) fn row(body: &[u8]) -> Answer<Row> {
    let damaged = || Failure::Protocol("a damaged row".to_owned());
    let mut rest = body.get(2..).ok_or_else(damaged)?;
    let mut columns = Vec::new();
    while !rest.is_empty() {
        let length = big_endian(rest);
        rest = rest.get(4..).ok_or_else(damaged)?;
        if u32::try_from(length) == Ok(u32::MAX) {
            columns.push(None);
            continue;
        }
        let value = rest.get(..length).ok_or_else(damaged)?;
        columns.push(Some(String::from_utf8_lossy(value).into_owned()));
        rest = &rest[length..];
    }
    Ok(Row(columns))
}

/// A letter that has no place here.
pub(super) fn unexpected(tag: u8) -> Failure {
    Failure::Protocol(format!("message '{}'", char::from(tag).escape_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn messages_arrive_whole_however_they_are_cut() {
        let mut sent = Vec::new();
        for length in [0, 1, 3000, 20_000, 7] {
            message(&mut sent, b'D', |body| body.extend(vec![7; length]));
        }
        for cut in [1, 4, 5, 6, 1000, 8191, 8192, 9000] {
            let (mut server, client) = UnixStream::pair().unwrap();
            let pieces: Vec<Vec<u8>> = sent.chunks(cut).map(<[u8]>::to_vec).collect();
            let writer = std::thread::spawn(move || {
                for piece in &pieces {
                    server.write_all(piece).unwrap();
                }
            });
            let mut messages = Messages::over(ServerStream::from(client));
            for length in [0, 1, 3000, 20_000, 7] {
                let (tag, body) = messages.next().unwrap();
                assert_eq!((tag, body.len()), (b'D', length));
                assert!(body.iter().all(|byte| *byte == 7));
            }
            assert!(messages.next().unwrap_err().is_lost());
            writer.join().unwrap();
        }
    }

    #[test]
    fn refusals_and_rows_are_taken_apart() {
        let refused = refusal(b"SERROR\0C53100\0Mdisk full\0\0");
        assert_eq!(refused.to_string(), "disk full (53100)");
        let found = row(&[0, 2, 0, 0, 0, 2, b'4', b'2', 255, 255, 255, 255]).unwrap();
        assert_eq!((found.count(0), found.count(1), found.text(1)), (Some(42), None, ""));
        assert!(row(&[0, 1, 0, 0, 0, 9, b'x']).is_err());
        assert!(row(&[0]).is_err());
    }

    #[test]
    fn a_length_of_nothing_is_refused() {
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(&[b'Z', 0, 0, 0, 1]).unwrap();
        let failure = Messages::over(ServerStream::from(client)).next().unwrap_err();
        assert!(matches!(failure, Failure::Protocol(_)));
    }
}
