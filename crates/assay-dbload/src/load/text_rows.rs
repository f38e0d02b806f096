//! Rows in the text form of LOAD DATA: tabs between columns, a line end behind each row, a backslash before what would be
//! taken for one of them.
//!
//! Source: MariaDB documentation, "LOAD DATA INFILE".

use super::copy::{Chunk, Chunked};
use assay_loads::sink::Sink;
use assay_model::calendar::date;
use std::io::Write;
use std::sync::mpsc::SyncSender;

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;
const DAY_US: i64 = 86_400_000_000;

/// Rows on their way into chunks.
#[derive(Debug)]
pub struct TextRows<'a> {
    bytes: Vec<u8>,
    count: u64,
    /// Whether the next column is the first of its row.
    is_first: bool,
    to: &'a SyncSender<Chunk>,
    is_over: bool,
}

impl<'a> TextRows<'a> {
    pub(super) const fn new(to: &'a SyncSender<Chunk>) -> Self {
        Self { bytes: Vec::new(), count: 0, is_first: true, to, is_over: false }
    }

    fn begin_column(&mut self) {
        if !self.is_first {
            self.bytes.push(b'\t');
        }
        self.is_first = false;
    }

    fn end_row(&mut self) {
        if self.count > 0 {
            self.bytes.push(b'\n');
        }
    }
}

impl Chunked for TextRows<'_> {
    fn flush(&mut self) {
        self.end_row();
        let bytes = std::mem::replace(&mut self.bytes, Vec::with_capacity(CHUNK_BYTES + 4096));
        let rows = std::mem::take(&mut self.count);
        self.is_over = self.is_over || self.to.send((bytes, rows)).is_err();
    }
}

impl Sink for TextRows<'_> {
    fn row(&mut self, _columns: u16) {
        if self.bytes.len() >= CHUNK_BYTES {
            self.flush();
        } else {
            self.end_row();
        }
        self.count += 1;
        self.is_first = true;
    }

    fn integer(&mut self, value: u32) {
        self.begin_column();
        // What lies below nothing comes as its bits; writing to memory does not fail.
        let _ = write!(self.bytes, "{}", value.cast_signed());
    }

    fn decimal(&mut self, value: i64, digits: u16) {
        self.begin_column();
        let sign = if value < 0 { "-" } else { "" };
        let unit = 10_u64.pow(u32::from(digits));
        let (whole, rest) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        let width = usize::from(digits);
        let _ = write!(self.bytes, "{sign}{whole}.{rest:0width$}");
    }

    fn text(&mut self, value: &[u8]) {
        self.begin_column();
        for byte in value {
            if matches!(byte, b'\\' | b'\t' | b'\n') {
                self.bytes.push(b'\\');
            }
            self.bytes.push(*byte);
        }
    }

    fn time(&mut self, unix_us: i64) {
        self.begin_column();
        let (year, month, day) = date(unix_us.div_euclid(DAY_US));
        let of_day = unix_us.rem_euclid(DAY_US);
        let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let _ = write!(
            self.bytes,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"
        );
    }

    fn null(&mut self) {
        self.begin_column();
        self.bytes.extend(b"\\N");
    }

    fn long(&mut self, value: i64) {
        self.begin_column();
        let _ = write!(self.bytes, "{value}");
    }

    fn flag(&mut self, value: bool) {
        self.begin_column();
        self.bytes.push(b'0' + u8::from(value));
    }

    fn date(&mut self, unix_days: i32) {
        self.begin_column();
        let (year, month, day) = date(i64::from(unix_days));
        let _ = write!(self.bytes, "{year:04}-{month:02}-{day:02}");
    }

    fn is_full(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn rows_are_lines_of_columns() {
        let (to, chunks) = sync_channel(10);
        let mut rows = TextRows::new(&to);
        rows.row(5);
        rows.integer(7);
        rows.integer((-3_i32).cast_unsigned());
        rows.decimal(-1005, 2);
        rows.text(b"a\tb\\");
        rows.null();
        rows.row(2);
        rows.decimal(34, 4);
        rows.time(1_700_000_000_000_001);
        rows.flush();
        drop(to);
        let all: Vec<Chunk> = chunks.iter().collect();
        let text = String::from_utf8(all[0].0.clone()).unwrap();
        assert_eq!(text, "7\t-3\t-10.05\ta\\\tb\\\\\t\\N\n0.0034\t2023-11-14 22:13:20.000001\n");
        assert_eq!((all.len(), all[0].1), (1, 2));
    }
}
