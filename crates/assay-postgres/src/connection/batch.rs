//! Executions that travel together: one packet out, one wait for all answers, so that a transaction
//! of many statements costs few round trips.
//!
//! Source: PostgreSQL documentation, "Frontend/Backend Protocol", section "Pipelining".

use super::messages::{big_endian, message, put_text, refusal, unexpected};
use super::prepared::touched;
use super::{Messages, PostgresConnection};
use crate::failure::Answer;
use std::ops::Range;

/// Binary format of a single-dimensional array of integers of four bytes: its element's type
/// number.
const INTEGER_TYPE: u32 = 23;

/// Executions of prepared statements in the order in which they were added.
#[derive(Debug, Default)]
pub struct PostgresBatch {
    packet: Vec<u8>,
}

/// The parameters of one execution; all travel in binary form.
#[derive(Debug)]
pub struct PostgresValues<'a> {
    body: &'a mut Vec<u8>,
    count: u16,
}

/// What the executions of a batch gave; kept from batch to batch, so that memory is allocated once.
#[derive(Debug, Default)]
pub struct PostgresAnswers {
    cells: Vec<u8>,
    /// Number of the execution, and where its row lies.
    rows: Vec<(usize, Range<usize>)>,
    touched: Vec<u64>,
}

/// A row in binary form.
#[derive(Clone, Copy, Debug)]
pub struct PostgresFields<'a>(&'a [u8]);

impl PostgresBatch {
    /// Forgets all executions.
    pub fn clear(&mut self) {
        self.packet.clear();
    }

    /// Adds an execution of a statement that was parsed under this name.
    #[inline]
    pub fn execute(&mut self, name: &str, fill: impl FnOnce(&mut PostgresValues<'_>)) {
        message(&mut self.packet, b'B', |body| {
            body.push(0);
            put_text(body, name);
            // One format for all parameters: binary.
            body.extend([0, 1, 0, 1]);
            let at = body.len();
            body.extend([0, 0]);
            let mut values = PostgresValues { body, count: 0 };
            fill(&mut values);
            let count = values.count.to_be_bytes();
            body[at..at + 2].copy_from_slice(&count);
            // One format for all columns: binary.
            body.extend([0, 1, 0, 1]);
        });
        message(&mut self.packet, b'E', |body| body.extend([0; 5]));
    }
}

impl PostgresValues<'_> {
    #[inline]
    fn put(&mut self, value: &[u8]) {
        self.count += 1;
        self.body.extend(u32::try_from(value.len()).unwrap_or(0).to_be_bytes());
        self.body.extend(value);
    }

    /// An integer of four bytes; what is larger is cut to the largest.
    #[inline]
    pub fn integer(&mut self, value: u32) -> &mut Self {
        self.put(&i32::try_from(value).unwrap_or(i32::MAX).to_be_bytes());
        self
    }

    /// An integer of four bytes that may be less than nothing.
    #[inline]
    pub fn signed(&mut self, value: i32) -> &mut Self {
        self.put(&value.to_be_bytes());
        self
    }

    /// An integer of eight bytes.
    #[inline]
    pub fn long(&mut self, value: i64) -> &mut Self {
        self.put(&value.to_be_bytes());
        self
    }

    /// A text.
    #[inline]
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.put(value.as_bytes());
        self
    }

    /// An array of integers of four bytes.
    pub fn integers(&mut self, values: impl ExactSizeIterator<Item = u32>) -> &mut Self {
        self.count += 1;
        let at = self.body.len();
        self.body.extend([0; 4]);
        let count = u32::try_from(values.len()).unwrap_or(0);
        // Dimensions, nulls, type, length of the dimension, its first index.
        for word in [1, 0, INTEGER_TYPE, count, 1] {
            self.body.extend(word.to_be_bytes());
        }
        for value in values {
            self.body.extend([0, 0, 0, 4]);
            self.body.extend(i32::try_from(value).unwrap_or(i32::MAX).to_be_bytes());
        }
        let length = u32::try_from(self.body.len() - at - 4).unwrap_or(0).to_be_bytes();
        self.body[at..at + 4].copy_from_slice(&length);
        self
    }
}

impl PostgresConnection {
    /// Parses a statement under a name, for use in batches.
    pub fn parse(&mut self, name: &str, sql: &str) -> Answer<()> {
        self.prepare(name, sql, &[]).map(drop)
    }

    /// Sends a batch and reads all its answers. Outside of a transaction all of it is one.
    ///
    /// # Errors
    /// The first refusal; what follows it in the batch was not done.
    pub fn exchange(
        &mut self,
        batch: &mut PostgresBatch,
        answers: &mut PostgresAnswers,
    ) -> Answer<()> {
        message(&mut batch.packet, b'S', |_| {});
        self.messages.send_executions(&batch.packet)?;
        answers.receive(&mut self.messages)
    }
}

impl PostgresAnswers {
    fn receive(&mut self, messages: &mut Messages) -> Answer<()> {
        self.cells.clear();
        self.rows.clear();
        self.touched.clear();
        let mut refused = None;
        loop {
            let (tag, body) = messages.next()?;
            match tag {
                b'D' => {
                    let start = self.cells.len();
                    self.cells.extend(body);
                    self.rows.push((self.touched.len(), start..self.cells.len()));
                }
                b'C' => self.touched.push(touched(body).unwrap_or(0)),
                b'2' | b'1' | b'N' | b'S' | b'I' => {}
                b'E' => refused = refused.or_else(|| Some(refusal(body))),
                b'Z' => return refused.map_or(Ok(()), Err),
                other => return Err(unexpected(other)),
            }
        }
    }

    /// The rows of an execution, by its number from 0.
    pub fn rows(&self, execution: usize) -> impl Iterator<Item = PostgresFields<'_>> {
        let of_it = self.rows.iter().filter(move |(number, _)| *number == execution);
        of_it.map(|(_, place)| PostgresFields(&self.cells[place.clone()]))
    }

    /// The first row of an execution.
    pub fn row(&self, execution: usize) -> Option<PostgresFields<'_>> {
        self.rows(execution).next()
    }

    /// Rows that an execution gave or changed.
    pub fn touched(&self, execution: usize) -> u64 {
        self.touched.get(execution).copied().unwrap_or(0)
    }
}

impl<'a> PostgresFields<'a> {
    /// The bytes of a column; `None` for null.
    pub fn bytes(self, column: usize) -> Option<&'a [u8]> {
        let mut rest = self.0.get(2..)?;
        for _ in 0..column {
            let length = length(rest);
            rest = rest.get(4..)?.get(length.unwrap_or(0)..)?;
        }
        rest.get(4..)?.get(..length(rest)?)
    }

    /// A whole number of two, four or eight bytes.
    pub fn integer(self, column: usize) -> Option<i64> {
        let bytes = self.bytes(column)?;
        match bytes.len() {
            2 => bytes.first_chunk().map(|two| i64::from(i16::from_be_bytes(*two))),
            4 => bytes.first_chunk().map(|four| i64::from(i32::from_be_bytes(*four))),
            8 => bytes.first_chunk().map(|eight| i64::from_be_bytes(*eight)),
            _ => None,
        }
    }

    /// A text; empty for null.
    pub fn text(self, column: usize) -> &'a str {
        self.bytes(column).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }
}

/// The length before a value; `None` for null.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = big_endian(bytes.get(..4)?);
    (u32::try_from(length) != Ok(u32::MAX)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use assay_dbserver::ServerStream;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn parameters_of_every_kind_are_counted_and_measured() {
        let mut batch = PostgresBatch::default();
        batch.execute("s", |values| {
            values.integer(7).text("ab").integers([1, 2].into_iter()).long(-1);
        });
        let packet = &batch.packet;
        // Letter, length, unnamed portal, "s", formats: then the count.
        assert_eq!(packet[12..14], [0, 4]);
        assert_eq!(packet[14..22], [0, 0, 0, 4, 0, 0, 0, 7]);
        assert_eq!(packet[22..28], [0, 0, 0, 2, b'a', b'b']);
        assert_eq!(packet[28..32], [0, 0, 0, 36]);
        let length = big_endian(&packet[1..5]);
        assert_eq!(packet[1 + length], b'E');
    }

    /// A server that gives these messages.
    fn answers(sent: &[u8]) -> (PostgresAnswers, Answer<()>) {
        let (mut server, client) = UnixStream::pair().unwrap();
        server.write_all(sent).unwrap();
        let mut answers = PostgresAnswers::default();
        let end = answers.receive(&mut Messages::over(ServerStream::from(client)));
        (answers, end)
    }

    fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
        let mut sent = Vec::new();
        message(&mut sent, b'D', |body| {
            body.extend(u16::try_from(values.len()).unwrap().to_be_bytes());
            for value in values {
                let length = value.map_or(u32::MAX, |value| u32::try_from(value.len()).unwrap());
                body.extend(length.to_be_bytes());
                body.extend(value.unwrap_or_default());
            }
        });
        sent
    }

    #[test]
    fn rows_belong_to_their_executions() {
        let mut sent = row(&[None, Some(&7_i32.to_be_bytes()), Some(b"x")]);
        message(&mut sent, b'C', |body| put_text(body, "SELECT 1"));
        message(&mut sent, b'C', |body| put_text(body, "UPDATE 0"));
        sent.extend(row(&[Some(&9_i64.to_be_bytes())]));
        sent.extend(row(&[Some(&(-2_i16).to_be_bytes())]));
        message(&mut sent, b'C', |body| put_text(body, "SELECT 2"));
        message(&mut sent, b'Z', |body| body.push(b'I'));
        let (answers, end) = answers(&sent);
        end.unwrap();
        let first = answers.row(0).unwrap();
        assert_eq!((first.integer(0), first.integer(1), first.text(2)), (None, Some(7), "x"));
        assert_eq!((answers.touched(0), answers.touched(1), answers.rows(1).count()), (1, 0, 0));
        let last: Vec<_> = answers.rows(2).map(|row| row.integer(0)).collect();
        assert_eq!(last, [Some(9), Some(-2)]);
        assert!(first.integer(3).is_none() && first.text(3).is_empty());
    }

    #[test]
    fn the_first_refusal_is_told_when_all_is_read() {
        let mut sent = Vec::new();
        message(&mut sent, b'C', |body| put_text(body, "BEGIN"));
        message(&mut sent, b'E', |body| body.extend(b"C40P01\0Mdeadlock detected\0\0"));
        message(&mut sent, b'Z', |body| body.push(b'E'));
        let (_, end) = answers(&sent);
        assert!(matches!(end, Err(Failure::Refused { code, .. }) if code == "40P01"));
    }
}
