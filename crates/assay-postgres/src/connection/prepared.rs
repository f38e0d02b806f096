//! Prepared statements: parsed once, then one packet out and one packet back for each execution.

use super::messages::{big_endian, message, put_text, refusal, unexpected};
use super::{Messages, PostgresConnection};
use crate::failure::{Answer, Failure};

/// What one execution came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The first column of the first row where it is a big integer, else rows touched.
    pub count: u64,
}

/// A statement with its parameters' places; the whole packet stands ready and only the parameters
/// change.
///
/// Parameters travel in binary form and keep their lengths.
#[derive(Clone, Debug)]
pub struct PostgresPrepared {
    packet: Vec<u8>,
    /// Where each parameter lies in the packet.
    places: Vec<(usize, usize)>,
}

impl PostgresPrepared {
    /// The packet of bind, execute and sync for parameters of these lengths, bytes.
    fn new(name: &str, lengths: &[usize]) -> Self {
        let (mut packet, mut places) = (Vec::new(), Vec::new());
        message(&mut packet, b'B', |body| {
            body.push(0);
            put_text(body, name);
            // One format for all parameters: binary.
            body.extend([0, 1, 0, 1]);
            body.extend(u16::try_from(lengths.len()).unwrap_or(0).to_be_bytes());
            for length in lengths {
                body.extend(u32::try_from(*length).unwrap_or(0).to_be_bytes());
                places.push((body.len(), *length));
                body.resize(body.len() + length, b' ');
            }
            // One format for all columns: binary.
            body.extend([0, 1, 0, 1]);
        });
        message(&mut packet, b'E', |body| body.extend([0; 5]));
        message(&mut packet, b'S', |_| {});
        Self { packet, places }
    }

    /// Sets an integer of eight bytes.
    #[inline]
    pub fn set_integer(&mut self, parameter: usize, value: i64) {
        self.set(parameter, &value.to_be_bytes());
    }

    /// Sets as many bytes as the parameter has; what is longer is cut.
    #[inline]
    pub fn set(&mut self, parameter: usize, value: &[u8]) {
        let (at, length) = self.places[parameter];
        let length = length.min(value.len());
        self.packet[at..at + length].copy_from_slice(&value[..length]);
    }
}

impl PostgresConnection {
    /// Prepares a statement whose parameters have these lengths, bytes.
    pub fn prepare(
        &mut self,
        name: &str,
        sql: &str,
        lengths: &[usize],
    ) -> Answer<PostgresPrepared> {
        self.scratch.clear();
        message(&mut self.scratch, b'P', |body| {
            put_text(body, name);
            put_text(body, sql);
            // The server finds the types.
            body.extend([0, 0]);
        });
        message(&mut self.scratch, b'S', |_| {});
        self.messages.send(&self.scratch)?;
        self.rows()?;
        Ok(PostgresPrepared::new(name, lengths))
    }

    /// Executes a prepared statement with its present parameters.
    #[inline]
    pub fn execute(&mut self, statement: &PostgresPrepared) -> Answer<Execution> {
        self.messages.send_executions(&statement.packet)?;
        answer(&mut self.messages)
    }
}

#[inline]
fn answer(messages: &mut Messages) -> Answer<Execution> {
    let (mut count, mut refused) = (None, None);
    loop {
        let (tag, body) = messages.next()?;
        match tag {
            b'2' | b'1' | b'N' | b'S' | b'I' => {}
            b'D' => count = count.or_else(|| first_integer(body)),
            b'C' => count = count.or_else(|| touched(body)),
            b'E' => refused = refused.or_else(|| Some(refusal(body))),
            b'Z' => break,
            other => return Err(unexpected(other)),
        }
    }
    match refused {
        Some(refused) => Err(refused),
        None => count
            .map(|count| Execution { count })
            .ok_or_else(|| Failure::Protocol("an execution without a count".to_owned())),
    }
}

/// The first column where it is an integer of eight bytes.
fn first_integer(body: &[u8]) -> Option<u64> {
    let column = body.get(2..14).filter(|column| big_endian(column) == 8)?;
    let bytes = column.get(4..)?.first_chunk::<8>()?;
    u64::try_from(i64::from_be_bytes(*bytes)).ok()
}

/// `UPDATE 8`.
pub(super) fn touched(body: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(body.strip_suffix(&[0])?).ok()?;
    text.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_the_packet() {
        let mut statement = PostgresPrepared::new("s", &[8, 3]);
        statement.set_integer(0, -2);
        statement.set(1, b"abcd");
        let text = statement.packet.clone();
        let place = text.windows(3).position(|window| window == b"abc");
        assert_eq!(place, Some(statement.places[1].0));
        assert_eq!(text[statement.places[0].0..][..8], (-2_i64).to_be_bytes());
        assert_eq!(&text[text.len() - 5..], [b'S', 0, 0, 0, 4]);
    }

    #[test]
    fn counts_are_read_from_rows_and_from_tags() {
        let mut row = vec![0, 1, 0, 0, 0, 8];
        row.extend(64_i64.to_be_bytes());
        assert_eq!(first_integer(&row), Some(64));
        assert_eq!(first_integer(&[0, 1, 255, 255, 255, 255]), None);
        assert_eq!(touched(b"UPDATE 8\0"), Some(8));
        assert_eq!(touched(b"CHECKPOINT\0"), None);
    }
}
