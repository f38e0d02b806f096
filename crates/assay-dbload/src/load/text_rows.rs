//! Rows in the text form of LOAD DATA: tabs between columns, a line end behind each row, a
//! backslash before what would be taken for one of them.
//!
//! Source: MariaDB documentation, "LOAD DATA INFILE".

use super::chunks::Chunks;
use assay_loads::sink::RowSink;
use assay_model::calendar::date;
use memchr::memchr3;
use std::io::Write;

const DAY_US: i64 = 86_400_000_000;

/// Encodes rows for LOAD DATA.
#[derive(Debug)]
pub struct TextRows<'a> {
    chunks: Chunks<'a>,
    /// Whether the next column is the first of its row.
    is_first: bool,
}

impl<'a> TextRows<'a> {
    pub(super) const fn new(chunks: Chunks<'a>) -> Self {
        Self { chunks, is_first: true }
    }

    #[inline]
    fn begin_column(&mut self) {
        if !self.is_first {
            self.chunks.bytes.push(b'\t');
        }
        self.is_first = false;
    }

    fn end_row(&mut self) {
        if !self.chunks.is_empty() {
            self.chunks.bytes.push(b'\n');
        }
    }
}

impl RowSink for TextRows<'_> {
    fn row(&mut self, _columns: u16) {
        self.end_row();
        self.chunks.row();
        self.is_first = true;
    }

    fn integer(&mut self, value: u32) {
        self.begin_column();
        // What lies below nothing comes as its bits; writing to memory does not fail.
        let _ = write!(self.chunks.bytes, "{}", value.cast_signed());
    }

    fn decimal(&mut self, value: i64, digits: u16) {
        self.begin_column();
        let sign = if value < 0 { "-" } else { "" };
        let unit = 10_u64.pow(u32::from(digits));
        let (whole, rest) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        let width = usize::from(digits);
        let _ = write!(self.chunks.bytes, "{sign}{whole}.{rest:0width$}");
    }

    fn text(&mut self, value: &[u8]) {
        self.begin_column();
        let mut rest = value;
        while let Some(at) = memchr3(b'\\', b'\t', b'\n', rest) {
            self.chunks.bytes.extend_from_slice(&rest[..at]);
            self.chunks.bytes.extend([b'\\', rest[at]]);
            rest = &rest[at + 1..];
        }
        self.chunks.bytes.extend_from_slice(rest);
    }

    fn time(&mut self, unix_us: i64) {
        self.begin_column();
        let (year, month, day) = date(unix_us.div_euclid(DAY_US));
        let of_day = unix_us.rem_euclid(DAY_US);
        let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let _ = write!(
            self.chunks.bytes,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"
        );
    }

    fn null(&mut self) {
        self.begin_column();
        self.chunks.bytes.extend(b"\\N");
    }

    fn long(&mut self, value: i64) {
        self.begin_column();
        let _ = write!(self.chunks.bytes, "{value}");
    }

    fn flag(&mut self, value: bool) {
        self.begin_column();
        self.chunks.bytes.push(b'0' + u8::from(value));
    }

    fn date(&mut self, unix_days: i32) {
        self.begin_column();
        let (year, month, day) = date(i64::from(unix_days));
        let _ = write!(self.chunks.bytes, "{year:04}-{month:02}-{day:02}");
    }

    fn is_full(&self) -> bool {
        self.chunks.is_over()
    }

    fn finish(&mut self) {
        self.end_row();
        self.chunks.send();
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunks::Chunk;
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn rows_are_lines_of_columns() {
        let (to, chunks) = sync_channel(10);
        let mut rows = TextRows::new(Chunks::new(&to));
        rows.row(5);
        rows.integer(7);
        rows.integer((-3_i32).cast_unsigned());
        rows.decimal(-1005, 2);
        rows.text(b"a\tb\\");
        rows.null();
        rows.row(2);
        rows.decimal(34, 4);
        rows.time(1_700_000_000_000_001);
        rows.finish();
        drop(to);
        let all: Vec<Chunk> = chunks.iter().collect();
        let text = String::from_utf8(all[0].0.clone()).unwrap();
        assert_eq!(text, "7\t-3\t-10.05\ta\\\tb\\\\\t\\N\n0.0034\t2023-11-14 22:13:20.000001\n");
        assert_eq!((all.len(), all[0].1), (1, 2));
    }
}
