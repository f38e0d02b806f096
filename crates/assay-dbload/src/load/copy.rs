//! Rows in the binary form of COPY: a number of columns, then length and bytes of each.
//!
//! Source: PostgreSQL documentation, "COPY", section "Binary Format"; for numbers with a point `numeric_send` of its
//! source: base-10,000 digits, their weight, the sign and the digits behind the point.

use assay_loads::sink::Sink;
use std::sync::mpsc::SyncSender;

/// Microseconds from 1970 to 2000, where the server's time begins.
const EPOCH_US: i64 = 946_684_800_000_000;
/// Days from 1970 to 2000.
const EPOCH_DAYS: i32 = 10_957;
/// Marks a negative number.
const NEGATIVE: u16 = 0x4000;

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;

/// A chunk of whole rows, and how many they are.
pub type Chunk = (Vec<u8>, u64);

/// Rows that travel in chunks.
pub trait Chunked: Sink {
    /// Sends what is there.
    fn flush(&mut self);
}

/// Rows in the form of the server on their way into chunks.
#[derive(Debug)]
pub struct Rows<'a> {
    bytes: Vec<u8>,
    count: u64,
    to: &'a SyncSender<Chunk>,
    /// Nobody takes chunks any more.
    is_over: bool,
}

impl<'a> Rows<'a> {
    pub(super) const fn new(to: &'a SyncSender<Chunk>) -> Self {
        Self { bytes: Vec::new(), count: 0, to, is_over: false }
    }

    fn put(&mut self, value: &[u8]) {
        self.bytes.extend(u32::try_from(value.len()).unwrap_or(0).to_be_bytes());
        self.bytes.extend_from_slice(value);
    }
}

impl Chunked for Rows<'_> {
    fn flush(&mut self) {
        let bytes = std::mem::replace(&mut self.bytes, Vec::with_capacity(CHUNK_BYTES + 4096));
        let rows = std::mem::take(&mut self.count);
        self.is_over = self.is_over || self.to.send((bytes, rows)).is_err();
    }
}

impl Sink for Rows<'_> {
    fn row(&mut self, columns: u16) {
        if self.bytes.len() >= CHUNK_BYTES {
            self.flush();
        }
        self.count += 1;
        self.bytes.extend(columns.to_be_bytes());
    }

    fn integer(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    fn long(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    fn decimal(&mut self, value: i64, digits: u16) {
        let (fields, length) = numeric(value, digits);
        self.put(&fields[..length]);
    }

    fn text(&mut self, value: &[u8]) {
        self.put(value);
    }

    fn flag(&mut self, value: bool) {
        self.put(&[u8::from(value)]);
    }

    fn time(&mut self, unix_us: i64) {
        self.put(&(unix_us - EPOCH_US).to_be_bytes());
    }

    fn date(&mut self, unix_days: i32) {
        self.put(&(unix_days - EPOCH_DAYS).to_be_bytes());
    }

    fn null(&mut self) {
        self.bytes.extend(u32::MAX.to_be_bytes());
    }

    fn is_full(&self) -> bool {
        self.is_over
    }
}

/// A number as the server sends it, and its length in bytes. With four digits behind the point a group of four is one
/// base-10,000 digit; with two it is filled up with two zeros.
fn numeric(value: i64, digits: u16) -> ([u8; 32], usize) {
    let sign = if value < 0 { NEGATIVE } else { 0 };
    let filled = u128::from(value.unsigned_abs()) * if digits == 2 { 100 } else { 1 };
    // The groups before the point, the most significant first, then the one behind it.
    let mut groups = [0_u16; 8];
    let mut rest = filled;
    for group in groups.iter_mut().rev() {
        *group = u16::try_from(rest % 10_000).unwrap_or(0);
        rest /= 10_000;
    }
    let first = groups.iter().position(|group| *group != 0).unwrap_or(8);
    let last = groups.iter().rposition(|group| *group != 0).map_or(first, |last| last + 1);
    let used = &groups[first..last];
    // The group behind the point has the weight -1 and is the last of the eight.
    let weight = 6 - i16::try_from(first).unwrap_or(6);
    let weight = if used.is_empty() { 0 } else { weight };
    let mut fields = [0; 32];
    let count = u16::try_from(used.len()).unwrap_or(0);
    fields[..2].copy_from_slice(&count.to_be_bytes());
    fields[2..4].copy_from_slice(&weight.to_be_bytes());
    fields[4..6].copy_from_slice(&sign.to_be_bytes());
    fields[6..8].copy_from_slice(&digits.to_be_bytes());
    for (group, to) in used.iter().zip(fields[8..].chunks_exact_mut(2)) {
        to.copy_from_slice(&group.to_be_bytes());
    }
    (fields, 8 + 2 * used.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden bytes: `SELECT encode(numeric_send(x), 'hex')` of version 15.
    #[test]
    fn numbers_have_the_form_that_the_server_sends() {
        let sent = |value, digits| {
            let (fields, length) = numeric(value, digits);
            let hex = fields[..length].iter().map(|byte| format!("{byte:02x}"));
            hex.collect::<Vec<_>>().concat()
        };
        assert_eq!(sent(1234, 4), "0001ffff0000000404d2");
        assert_eq!(sent(30_000_000, 2), "0001000100000002001e");
        assert_eq!(sent(-1000, 2), "0001000040000002000a");
        assert_eq!(sent(0, 2), "0000000000000002");
        assert_eq!(sent(100, 4), "0001ffff000000040064");
        assert_eq!(sent(123_456_789, 2), "0003000100000002007b11d722c4");
        assert_eq!(sent(5, 2), "0001ffff0000000201f4");
    }

    #[test]
    fn rows_are_lengths_and_bytes_and_chunks_hold_whole_ones() {
        let (to, chunks) = std::sync::mpsc::sync_channel(100);
        let mut rows = Rows::new(&to);
        for _ in 0..50_000 {
            rows.row(3);
            rows.integer(1);
            rows.null();
            rows.time(EPOCH_US + 1);
        }
        rows.flush();
        drop(to);
        let all: Vec<Chunk> = chunks.iter().collect();
        assert_eq!(all.iter().map(|(_, rows)| rows).sum::<u64>(), 50_000);
        assert!(all.len() == 2 && all.iter().all(|(bytes, _)| bytes.len() % 26 == 0));
        assert_eq!(all[0].0[..10], [0, 3, 0, 0, 0, 4, 0, 0, 0, 1]);
        assert_eq!(all[0].0[10..14], [255; 4]);
    }
}
